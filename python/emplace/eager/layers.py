"""`tf.keras.layers`: layers with weights, called with tensors or with the symbols that models are described by.

The part of Keras that needs no training loop: `Layer` to build on, the plainest layers, `Input`; models stand in
`models.py`.
"""

from __future__ import annotations

import contextlib
import inspect
from typing import Any, Iterator

import numpy as np

from emplace.eager import context, initializers, module, nest, tensor_spec, variables
from emplace.eager.optimizers import _own_name
from emplace.framework import array_ops, constant_op, dtypes, math_ops, ops, tensor_shape
from emplace.framework.thread_state import own


def _around() -> list[Any]:
    return own.layer_calls


class KerasTensor:
    """A symbol in the description of a model: shape and dtype of what will be there."""

    def __init__(self, shape: Any, dtype: Any = "float32", sparse: bool = False, ragged: bool = False, name: str | None = None, history: Any = None) -> None:
        self.shape, self.dtype = tuple(tensor_shape.as_shape(shape).as_list()), dtypes.as_dtype(dtype).name
        self.sparse, self.ragged, self.name = bool(sparse), bool(ragged), name or _own_name("KerasTensor")
        self._history = history  # (layer, arguments, keywords, outputs): what makes it

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __repr__(self) -> str:
        return f"<KerasTensor shape={self.shape}, dtype={self.dtype}, sparse={self.sparse}, ragged={self.ragged}, name={self.name}>"


def _refuse(value: Any, dtype: Any = None, name: str | None = None, as_ref: bool = False) -> Any:
    raise ValueError(
        "A KerasTensor cannot be used as input to a TensorFlow function. A KerasTensor is a symbolic placeholder for a shape and dtype, used when "
        "constructing Keras Functional models or Keras Functions. You can only use it as input to a Keras layer or a Keras operation (from the "
        "namespaces `keras.layers` and `keras.ops`)."
    )


constant_op.register_tensor_conversion_function(KerasTensor, _refuse)


def _is_symbol(value: Any) -> bool:
    return isinstance(value, KerasTensor)


class Weight(variables.Owned):
    """A variable of a layer, printed with the layers around it."""

    def __init__(self, value: Any, path: str, name: str, trainable: bool) -> None:
        variables.Variable.__init__(self, value, trainable=trainable, name=name)
        self.path = path


class Layer(module.Module):
    """`build` makes the weights when the first input is known, `call` computes."""

    _ignored = module.Module._ignored | {"_own_weights", "_own_losses"}

    def __init__(
        self, *, activity_regularizer: Any = None, trainable: bool = True, dtype: Any = None, autocast: bool = True, name: str | None = None,
        **kwargs: Any,
    ) -> None:
        shape = kwargs.pop("input_shape", None)
        if kwargs:
            raise ValueError(f"Unrecognized keyword arguments passed to {type(self).__name__}: {kwargs}")
        super().__init__(None)
        self._name = name or _own_name(type(self).__name__)
        self.built, self._own_weights, self._own_losses = False, [], []
        self._trainable, self._dtype, self._autocast = trainable, dtypes.as_dtype(dtype or dtypes.float32), autocast
        if shape is not None:
            self._input_shape = shape

    # ---- What a layer is made of.

    def build(self, input_shape: Any) -> None:
        """Makes the weights once the shape of the input is known; called before the first `call`. Layers override it."""
        self.built = True

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """What the layer does with its inputs. Layers override it; call the layer itself, which builds it first."""
        raise NotImplementedError(f"Layer {type(self).__name__} does not have a `call` method implemented.")

    def add_weight(
        self, shape: Any = None, initializer: Any = None, dtype: Any = None, trainable: bool = True, autocast: bool = True, regularizer: Any = None,
        constraint: Any = None, aggregation: Any = None, overwrite_with_gradient: bool = False, name: str | None = None,
    ) -> Any:
        """Makes a variable that belongs to the layer. Without an initializer floats start Glorot-uniform, others as zeros."""
        kind = self._dtype if dtype is None else dtypes.as_dtype(dtype)
        make = initializers.get(initializer or ("glorot_uniform" if kind.is_floating else "zeros"))
        sizes = tensor_shape.as_shape(() if shape is None else shape).as_list()
        with context.eager_mode():  # once, also where a function is being traced
            value = make(sizes, kind)
            said = name or "variable"
            made = Weight(value, "/".join([layer.name for layer in _inside(self)] + [said]), said, trainable)
        self._own_weights.append(made)
        return made

    def add_loss(self, loss: Any) -> None:
        """Adds one or more losses to `losses`, until the outermost layer is called again."""
        self._own_losses += nest.flatten(loss)

    def _sublayers(self) -> list["Layer"]:
        found: dict[int, Layer] = {}
        for key, value in vars(self).items():
            if key not in self._ignored and value is not None:
                found.update((id(leaf), leaf) for leaf in nest.flatten(value) if isinstance(leaf, Layer))
        return list(found.values())

    @property
    def _layers_below(self) -> list["Layer"]:
        """This one and all below it, each once."""
        found: dict[int, Layer] = {}
        waiting: list[Layer] = [self]
        while waiting:
            layer = waiting.pop(0)
            if id(layer) not in found:
                found[id(layer)] = layer
                waiting = layer._sublayers() + waiting
        return list(found.values())

    def _own(self) -> list[Any]:
        """The variables of this layer itself, as they were made, then those it was given."""
        held = (leaf for k, v in vars(self).items() if k not in self._ignored and v is not None for leaf in nest.flatten(v))
        given = [leaf for leaf in held if isinstance(leaf, variables.Variable)]
        return list({id(v): v for v in [*self._own_weights, *given]}.values())

    @property
    def weights(self) -> list[Any]:
        return list({id(v): v for layer in self._layers_below for v in layer._own()}.values())

    variables = weights

    @property
    def trainable_weights(self) -> list[Any]:
        if not self._trainable:
            return []
        frozen = {id(v) for layer in self._layers_below if not layer._trainable for inner in layer._layers_below for v in inner._own()}
        return [v for v in self.weights if v.trainable and id(v) not in frozen]

    trainable_variables = trainable_weights

    @property
    def non_trainable_weights(self) -> list[Any]:
        trained = {id(v) for v in self.trainable_weights}
        return [v for v in self.weights if id(v) not in trained]

    non_trainable_variables = non_trainable_weights

    @property
    def trainable(self) -> bool:
        return self._trainable

    @trainable.setter
    def trainable(self, value: bool) -> None:
        for layer in self._layers_below:
            layer._trainable = bool(value)

    @property
    def losses(self) -> list[Any]:
        return [loss() if callable(loss) else loss for layer in self._layers_below for loss in layer._own_losses]

    @property
    def metrics(self) -> list[Any]:
        from emplace.eager.metrics import Metric

        return [v for layer in self._layers_below for v in vars(layer).values() if isinstance(v, Metric)]

    @property
    def dtype(self) -> str:
        return self._dtype.name

    compute_dtype = variable_dtype = dtype

    def get_weights(self) -> list[Any]:
        """The values of all weights as arrays, in the order of `weights`."""
        return [v.numpy() for v in self.weights]

    def set_weights(self, weights: Any) -> None:
        """Gives all weights new values: arrays of their shapes, in the order of `weights`."""
        own = self.weights
        if len(own) != len(weights):
            raise ValueError(
                f"You called `set_weights(weights)` on layer '{self.name}' with a weight list of length {len(weights)}, but the layer was "
                f"expecting {len(own)} weights."
            )
        for v, value in zip(own, weights):
            given = tuple(np.shape(value))
            if given != tuple(v.shape):
                raise ValueError(f"Layer {self.name} weight shape {tuple(v.shape)} is not compatible with provided weight shape {given}.")
            v.assign(value)

    def count_params(self) -> int:
        """The number of single numbers in all weights."""
        return sum(int(np.prod(v.shape.as_list())) for v in self.weights)

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        from emplace.eager import checkpoint

        return {k: v for k, v in vars(self).items() if k not in self._ignored and checkpoint._is_trackable(v) and checkpoint.holds(v)}

    def __repr__(self) -> str:
        return f"<{type(self).__name__} name={self.name}, built={self.built}>"

    # ---- Being called.

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if any(map(_is_symbol, nest.flatten([args, kwargs]))):
            return self._described(args, kwargs)
        context._state.eager += 1
        try:
            args = nest.map_structure(self._taken, args)
            self._build_for(args)
            return self._run(args, kwargs)
        finally:
            context._state.eager -= 1

    def _taken(self, value: Any) -> Any:
        if value is None or isinstance(value, (bool, str)) or hasattr(value, "_parts"):
            return value
        value = ops.convert_to_tensor(value)
        cast = self._autocast and value.dtype.is_floating and value.dtype.base_dtype != self._dtype
        return math_ops.cast(value, self._dtype) if cast else value

    def _build_for(self, args: Any) -> None:
        if self.built or not args:
            return
        shapes = nest.map_structure(lambda t: tuple(t.shape) if _is_symbol(t) else tuple(t.shape.as_list()), args[0])
        with self._entered(None):
            self.build(shapes)
        self.built = True

    def _run(self, args: Any, kwargs: Any) -> Any:
        if not _around():  # the outermost call begins anew
            for layer in self._layers_below:
                layer._own_losses.clear()
        training = kwargs.get("training")
        if training is None:
            training = next((t for _, t in reversed(_around()) if t is not None), None)
        takes = "training" in inspect.signature(self.call).parameters
        kwargs = {**kwargs, "training": training} if takes and training is not None else {k: v for k, v in kwargs.items() if takes or k != "training"}
        with self._entered(training):
            return self.call(*args, **kwargs)

    @contextlib.contextmanager
    def _entered(self, training: Any) -> Iterator[None]:
        _around().append((self, training))
        try:
            yield
        finally:
            _around().pop()

    def _described(self, args: Any, kwargs: Any) -> Any:
        """The symbols of what a call would give: found by tracing one."""
        from emplace.eager import function

        self._build_for(args)
        symbols = [v for v in nest.flatten([args, kwargs]) if _is_symbol(v)]

        def run(*given: Any) -> Any:
            rest = iter(given)
            filled = nest.map_structure(lambda v: next(rest) if _is_symbol(v) else v, [args, kwargs])
            return self._run(*filled)

        specs = [tensor_spec.TensorSpec(s.shape, dtypes.as_dtype(s.dtype)) for s in symbols]
        found = function.Function(run, None, True, False).get_concrete_function(*specs).structured_outputs
        node: list[Any] = [self, args, kwargs, None]
        node[3] = nest.map_structure(lambda t: None if t is None else KerasTensor(t.shape, t.dtype, history=node), found)
        for layer in self._layers_below:
            layer._own_losses.clear()
        return node[3]

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of what the layer gives for inputs of a shape, found by tracing it."""
        return nest.map_structure(lambda s: s.shape, self._described((KerasTensor(input_shape, self._dtype),), {}))


def _inside(layer: Layer) -> list[Layer]:
    around = [one for one, _ in _around()]
    return around if layer in around else [*around, layer]


class InputLayer(Layer):
    """Stands for an input of a model."""

    def call(self, inputs: Any) -> Any:
        return inputs


def Input(  # noqa: N802
    shape: Any = None, batch_size: int | None = None, dtype: Any = None, sparse: bool = False, ragged: bool = False, batch_shape: Any = None,
    name: str | None = None, tensor: Any = None, optional: bool = False,
) -> KerasTensor:
    """A placeholder from which a functional `Model` is built. `shape` is without the batch, `batch_shape` with it."""
    if shape is None and batch_shape is None:
        raise ValueError("You must pass a `shape` argument.")
    layer = InputLayer(name=name)
    layer.built = True
    whole = batch_shape if batch_shape is not None else [batch_size, *tensor_shape.as_shape(shape).as_list()]
    node: list[Any] = [layer, (), {}, None]
    node[3] = KerasTensor(whole, dtype or "float32", sparse, ragged, name, node)
    return node[3]


# ---- The plainest layers.

_ACTIVATIONS = {
    "relu": "nn.relu", "sigmoid": "nn.sigmoid", "tanh": "nn.tanh", "softmax": "nn.softmax", "log_softmax": "nn.log_softmax", "softplus": "nn.softplus",
    "softsign": "nn.softsign", "elu": "nn.elu", "selu": "nn.selu", "relu6": "nn.relu6", "silu": "nn.silu", "swish": "nn.silu", "exponential": "math.exp",
}  # fmt: skip


def activation_of(identifier: Any) -> Any:
    """The function of that name, or as it is."""
    if identifier is None or identifier == "linear":
        return lambda x: x
    if callable(identifier):
        return identifier
    if identifier not in _ACTIVATIONS:
        raise ValueError(f"Could not interpret activation function identifier: {identifier}")
    from emplace.eager import namespace

    return namespace.lookup(_ACTIVATIONS[identifier])


class Dense(Layer):
    """`activation(x @ kernel + bias)` over the last axis."""

    def __init__(
        self, units: int, activation: Any = None, use_bias: bool = True, kernel_initializer: Any = "glorot_uniform", bias_initializer: Any = "zeros",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if not isinstance(units, int) or units <= 0:
            raise ValueError(f"Received an invalid value for `units`, expected a positive integer. Received: units={units}")
        self.units, self.activation, self.use_bias = units, activation_of(activation), use_bias
        self.kernel_initializer, self.bias_initializer = initializers.get(kernel_initializer), initializers.get(bias_initializer)
        self.bias: Any = None

    def build(self, input_shape: Any) -> None:
        self._size = tensor_shape.as_shape(input_shape).as_list()[-1]
        with self._entered(None) if not any(layer is self for layer, _ in _around()) else contextlib.nullcontext():
            self._kernel = self.add_weight((self._size, self.units), self.kernel_initializer, name="kernel")
            if self.use_bias:
                self.bias = self.add_weight((self.units,), self.bias_initializer, name="bias")
        self.built = True

    @property
    def kernel(self) -> Any:
        if not self.built:
            raise AttributeError("You must build the layer before accessing `kernel`.")
        return self._kernel

    def call(self, inputs: Any) -> Any:
        shape = inputs.shape.as_list()
        if shape[-1] != self._size:
            raise ValueError(
                f"Input 0 with name 'None' of layer '{self.name}' is incompatible with the layer: expected axis -1 of input shape to have value "
                f"{self._size}, but received input with shape {tuple(shape)}"
            )
        x = math_ops.matmul(inputs, self.kernel) if len(shape) == 2 else math_ops.tensordot(inputs, ops.convert_to_tensor(self.kernel), [[len(shape) - 1], [0]])
        return self.activation(x if self.bias is None else x + self.bias)


class Lambda(Layer):
    """A function as a layer."""

    def __init__(self, function: Any, output_shape: Any = None, mask: Any = None, arguments: Any = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.function, self.arguments = function, arguments or {}

    def call(self, inputs: Any, training: Any = None) -> Any:
        more = {"training": training} if "training" in inspect.signature(self.function).parameters else {}
        return self.function(inputs, **self.arguments, **more)


class Activation(Layer):
    """A layer that applies a function, given itself or by a name such as "relu", to each element."""

    def __init__(self, activation: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.activation = activation_of(activation)

    def call(self, inputs: Any) -> Any:
        return self.activation(inputs)


class Flatten(Layer):
    """All axes but the first as one."""

    def call(self, inputs: Any) -> Any:
        sizes = inputs.shape.as_list()[1:]
        return array_ops.reshape(inputs, [-1, int(np.prod(sizes))] if None not in sizes else [array_ops.shape(inputs)[0], -1])


class Dropout(Layer):
    """Drops values while a model is trained."""

    def __init__(self, rate: float, noise_shape: Any = None, seed: Any = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if not 0 <= rate <= 1:
            raise ValueError(f"Invalid value received for argument `rate`. Expected a float value between 0 and 1. Received: rate={rate}")
        self.rate, self._noise_shape, self._seed = rate, noise_shape, seed

    def call(self, inputs: Any, training: Any = False) -> Any:
        from emplace.eager.functions import nn

        if not training or not self.rate:
            return inputs
        return array_ops.zeros_like(inputs) if self.rate == 1 else nn.dropout(inputs, self.rate, self._noise_shape, self._seed)
