"""tf.layers: layers as classes, each with a variable scope of its own, and as functions."""

from __future__ import annotations

import contextlib
import math
import re
from typing import TYPE_CHECKING, Any, Iterator

from emplace.framework import array_ops, constant_op, dtypes, index_values, init_ops, moving_averages, nn_ops, ops, partitioned_variables, tensordot, variable_scope, variables
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import GraphKeys

if TYPE_CHECKING:
    from emplace.framework.tensor import Tensor


def snake_case(name: str) -> str:
    """`MyLayer` as a scope is named by default: my_layer."""
    return re.sub("([a-z])([A-Z])", r"\1_\2", re.sub("(.)([A-Z][a-z0-9]+)", r"\1_\2", name)).lower()


class Layer:
    """Variables are made at the first call, when the shape of the input is known."""

    _base = "layer"

    def __init__(self, trainable: bool = True, name: str | None = None, dtype: Any = None, **how: Any) -> None:
        self.trainable, self._given_name, self._dtype = trainable, name, dtype
        self._reuse, self._scope = how.pop("_reuse", None), how.pop("_scope", None)
        how.pop("activity_regularizer", None)
        if how:
            raise TypeError(f"{type(self).__name__}() got an unexpected keyword argument '{next(iter(how))}'")
        self.built = False
        self._weights: list[Any] = []
        self._updates: list[Any] = []

    @property
    def name(self) -> str:
        self._ensure_scope()
        return self._scope.name.split("/")[-1]

    @property
    def dtype(self) -> Any:
        return self._dtype

    @property
    def variables(self) -> list[Any]:
        return list(self._weights)

    weights = variables

    @property
    def trainable_variables(self) -> list[Any]:
        return [w for w in self._weights if w.trainable] if self.trainable else []

    trainable_weights = trainable_variables

    @property
    def non_trainable_variables(self) -> list[Any]:
        return [w for w in self._weights if w not in self.trainable_variables]

    @property
    def updates(self) -> list[Any]:
        return list(self._updates)

    @property
    def losses(self) -> list[Any]:
        return [r for r in ops.get_collection(GraphKeys.REGULARIZATION_LOSSES) if any(r.name.startswith(w.op.name + "/") for w in self._weights)]

    def _ensure_scope(self) -> None:
        if isinstance(self._scope, variable_scope.VariableScope):
            return
        with variable_scope.variable_scope(self._scope or self._given_name, default_name=self._base, reuse=self._reuse) as scope:
            self._scope = scope

    @contextlib.contextmanager
    def _entered(self) -> Iterator[None]:
        with variable_scope.variable_scope(self._scope, reuse=self._reuse, auxiliary_name_scope=False):
            with ops.name_scope(self._scope.original_name_scope):
                yield

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        inputs = ops.convert_to_tensor(inputs)
        self._ensure_scope()
        with self._entered():
            if not self.built:
                self._dtype = self._dtype or inputs.dtype.base_dtype
                self.build(inputs.shape)
                self.built = True
            return self.call(inputs, *args, **kwargs)

    def _expect(self, inputs: Any, axis: int, size: int) -> None:
        """What the kernel was built for."""
        have = None if inputs.shape.rank is None else inputs.shape.as_list()[axis]
        if have is not None and have != size:
            raise ValueError(f"Input 0 of layer \"{self.name}\" is incompatible with the layer: expected axis {axis} of input shape to have value {size}, but received input with shape {tuple(inputs.shape.as_list())}")

    def apply(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Calls the layer: builds its variables the first time, then does its work."""
        return self(inputs, *args, **kwargs)

    def build(self, input_shape: Any) -> None:
        """Makes the variables."""

    def call(self, inputs: Any) -> Any:
        """What the layer does with its inputs. Layers override it; call the layer itself, which builds it first."""
        raise NotImplementedError

    def add_variable(self, name: str, shape: Any, dtype: Any = None, initializer: Any = None, regularizer: Any = None, trainable: bool = True, constraint: Any = None) -> Any:
        """Makes, or with reuse finds, a variable in the layer's scope; a regularizer's loss goes to the graph's collection."""
        before = {id(v) for v in variables.global_variables()} if regularizer is not None else set()
        made = variable_scope.get_variable(
            name, shape, dtype=dtypes.as_dtype(dtype or self._dtype or dtypes.float32), initializer=initializer,
            trainable=trainable and self.trainable, constraint=constraint,
        )
        for part in made if isinstance(made, partitioned_variables.PartitionedVariable) else [made]:
            if regularizer is None or id(part) in before:
                continue
            with ops.name_scope(part.op.name + "/Regularizer/"):
                loss = regularizer(part)
            if loss is not None:
                ops.add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)
        self._weights.append(made)
        return made

    add_weight = add_variable

    def add_update(self, updates: Any) -> None:
        """Adds ops that must run in each step, to the layer and to the graph's UPDATE_OPS."""
        for u in updates if isinstance(updates, (list, tuple)) else [updates]:
            self._updates.append(u)
            ops.add_to_collection(GraphKeys.UPDATE_OPS, u)


def _last(shape: Any, layer: str, axis: int = -1) -> int:
    size = None if shape.rank is None else shape.as_list()[axis]
    if size is None:
        raise ValueError(f"The {'last ' if axis == -1 else ''}dimension of the inputs to `{layer}` should be defined. Found `None`.")
    return size


class Dense(Layer):
    """A layer of `units` outputs, each a weighted sum of all inputs plus a bias, then the activation."""

    _base = "dense"

    def __init__(
        self, units: int, activation: Any = None, use_bias: bool = True, kernel_initializer: Any = None, bias_initializer: Any = init_ops.Zeros(),
        kernel_regularizer: Any = None, bias_regularizer: Any = None, activity_regularizer: Any = None, kernel_constraint: Any = None,
        bias_constraint: Any = None, trainable: bool = True, name: str | None = None, **how: Any,
    ) -> None:
        super().__init__(trainable, name, **how)
        self.units, self.activation, self.use_bias = int(units), activation, use_bias
        self._kernel = {"initializer": kernel_initializer, "regularizer": kernel_regularizer, "constraint": kernel_constraint}
        self._bias = {"initializer": bias_initializer, "regularizer": bias_regularizer, "constraint": bias_constraint}
        self.kernel = self.bias = None

    def build(self, input_shape: Any) -> None:
        self.kernel = self.add_variable("kernel", [_last(input_shape, "Dense"), self.units], **self._kernel)
        if self.use_bias:
            self.bias = self.add_variable("bias", [self.units], **self._bias)

    def call(self, inputs: Any) -> Any:
        self._expect(inputs, -1, self.kernel.shape.as_list()[0])
        rank = inputs.shape.rank
        if rank is not None and rank > 2:
            out = tensordot.tensordot(inputs, self.kernel, [[rank - 1], [0]])
            if isinstance(out, ops.Tensor) and inputs.shape.rank is not None:
                out.set_shape([*inputs.shape.as_list()[:-1], self.units])
        else:
            out = _op("MatMul", [inputs, self.kernel], {})
        if self.use_bias:
            out = nn_ops.bias_add(out, self.bias)
        return out if self.activation is None else self.activation(out)


def _pair(value: Any, what: str) -> tuple[int, int]:
    if isinstance(value, int):
        return value, value
    value = tuple(value)
    if len(value) != 2:
        raise ValueError(f"The `{what}` argument must be a tuple of 2 integers. Received: {value}")
    return value  # type: ignore[return-value]


def _tf_format(data_format: str) -> str:
    formats = {"channels_last": "NHWC", "channels_first": "NCHW"}
    if data_format not in formats:
        raise ValueError(f"The `data_format` argument must be one of 'channels_first', 'channels_last'. Received: {data_format}")
    return formats[data_format]


class Conv2D(Layer):
    """A layer of 2-D convolution with `filters` outputs, bias and activation."""

    _base = "conv2d"

    def __init__(
        self, filters: int, kernel_size: Any, strides: Any = (1, 1), padding: str = "valid", data_format: str = "channels_last",
        dilation_rate: Any = (1, 1), activation: Any = None, use_bias: bool = True, kernel_initializer: Any = None,
        bias_initializer: Any = init_ops.Zeros(), kernel_regularizer: Any = None, bias_regularizer: Any = None,
        activity_regularizer: Any = None, kernel_constraint: Any = None, bias_constraint: Any = None, trainable: bool = True,
        name: str | None = None, **how: Any,
    ) -> None:
        super().__init__(trainable, name, **how)
        self.filters, self.kernel_size, self.strides = filters, _pair(kernel_size, "kernel_size"), _pair(strides, "strides")
        self.padding, self.data_format, self.dilation_rate = padding.upper(), _tf_format(data_format), _pair(dilation_rate, "dilation_rate")
        self.activation, self.use_bias = activation, use_bias
        self._kernel = {"initializer": kernel_initializer, "regularizer": kernel_regularizer, "constraint": kernel_constraint}
        self._bias = {"initializer": bias_initializer, "regularizer": bias_regularizer, "constraint": bias_constraint}
        self.kernel = self.bias = None

    def build(self, input_shape: Any) -> None:
        channels = _last(input_shape, "Conv2D", 1 if self.data_format == "NCHW" else -1)
        self.kernel = self.add_variable("kernel", [*self.kernel_size, channels, self.filters], **self._kernel)
        if self.use_bias:
            self.bias = self.add_variable("bias", [self.filters], **self._bias)

    def call(self, inputs: Any) -> Any:
        self._expect(inputs, 1 if self.data_format == "NCHW" else -1, self.kernel.shape.as_list()[2])
        out = nn_ops.conv2d(inputs, self.kernel, list(self.strides), self.padding, data_format=self.data_format, dilations=list(self.dilation_rate), name="Conv2D")
        if self.use_bias:
            out = nn_ops.bias_add(out, self.bias, data_format=self.data_format if self.data_format != "NHWC" else None)
        return out if self.activation is None else self.activation(out)


class _Pooling2D(Layer):
    _function: Any = None

    def __init__(self, pool_size: Any, strides: Any, padding: str = "valid", data_format: str = "channels_last", name: str | None = None, **how: Any) -> None:
        super().__init__(name=name, **how)
        self.pool_size, self.strides = _pair(pool_size, "pool_size"), _pair(strides, "strides")
        self.padding, self.data_format = padding.upper(), _tf_format(data_format)

    def call(self, inputs: Any) -> Any:
        wide = (lambda p: [1, 1, *p]) if self.data_format == "NCHW" else (lambda p: [1, *p, 1])
        return type(self)._function(inputs, wide(self.pool_size), wide(self.strides), self.padding, data_format=self.data_format)


class MaxPooling2D(_Pooling2D):
    """A layer of the largest value of each window of an image."""

    _base = "max_pooling2d"
    _function = staticmethod(nn_ops.max_pool)


class AveragePooling2D(_Pooling2D):
    """A layer of the mean of each window of an image."""

    _base = "average_pooling2d"
    _function = staticmethod(nn_ops.avg_pool)


class Flatten(Layer):
    """A layer that makes all dimensions but the first one."""

    _base = "flatten"

    def __init__(self, data_format: str = "channels_last", name: str | None = None, **how: Any) -> None:
        super().__init__(name=name, **how)
        self.data_format = data_format

    def call(self, inputs: Any) -> Any:
        if self.data_format == "channels_first" and (inputs.shape.rank or 0) > 1:
            inputs = array_ops.transpose(inputs, [0, *range(2, inputs.shape.rank), 1])
        sizes = inputs.shape.as_list() if inputs.shape.rank is not None else None
        if sizes is None:
            return array_ops.reshape(inputs, [array_ops.shape(inputs)[0], -1])
        known = sizes[1:]
        if None in known:
            return array_ops.reshape(inputs, [sizes[0] if sizes[0] is not None else array_ops.shape(inputs)[0], -1])
        out = array_ops.reshape(inputs, constant_op.constant([-1, math.prod(known)], dtype=dtypes.int32))
        out.set_shape([sizes[0], math.prod(known)])
        return out


class Dropout(Layer):
    """A layer that in training drops elements at `rate` and scales up the rest."""

    _base = "dropout"

    def __init__(self, rate: Any = 0.5, noise_shape: Any = None, seed: Any = None, name: str | None = None, **how: Any) -> None:
        super().__init__(name=name, **how)
        self.rate, self.noise_shape, self.seed = rate, noise_shape, seed

    def call(self, inputs: Any, training: Any = False) -> Any:
        dropped = lambda: nn_ops.dropout(inputs, noise_shape=self.noise_shape, seed=self.seed, rate=self.rate)  # noqa: E731
        return _choose(training, dropped, lambda: array_ops.identity(inputs))


def _choose(pred: Any, yes: Any, no: Any) -> Any:
    """By a Python value or one known while building; otherwise by a branch in the graph."""
    value = constant_op.constant_value(pred) if isinstance(pred, ops.Tensor) else pred
    if value is not None:
        return yes() if bool(value) else no()
    from emplace.framework import cond

    return cond.cond(pred, yes, no)


class BatchNormalization(Layer):
    """Over images the fused operation; over anything else moments and elementary operations."""

    _base = "batch_normalization"

    def __init__(
        self, axis: int = -1, momentum: float = 0.99, epsilon: float = 1e-3, center: bool = True, scale: bool = True,
        beta_initializer: Any = init_ops.Zeros(), gamma_initializer: Any = init_ops.Ones(), moving_mean_initializer: Any = init_ops.Zeros(),
        moving_variance_initializer: Any = init_ops.Ones(), beta_regularizer: Any = None, gamma_regularizer: Any = None,
        beta_constraint: Any = None, gamma_constraint: Any = None, renorm: bool = False, renorm_clipping: Any = None,
        renorm_momentum: float = 0.99, fused: Any = None, trainable: bool = True, virtual_batch_size: Any = None, adjustment: Any = None,
        name: str | None = None, **how: Any,
    ) -> None:
        super().__init__(trainable, name, **how)
        if renorm or virtual_batch_size is not None or adjustment is not None:
            raise NotImplementedError("batch normalization with renorm, virtual batches or an adjustment")
        self.axis, self.momentum, self.epsilon, self.center, self.scale, self.fused = axis, momentum, epsilon, center, scale, fused
        self._made = {
            "gamma": {"initializer": gamma_initializer, "regularizer": gamma_regularizer, "constraint": gamma_constraint},
            "beta": {"initializer": beta_initializer, "regularizer": beta_regularizer, "constraint": beta_constraint},
            "moving_mean": {"initializer": moving_mean_initializer, "trainable": False},
            "moving_variance": {"initializer": moving_variance_initializer, "trainable": False},
        }
        self.gamma = self.beta = self.moving_mean = self.moving_variance = None

    def build(self, input_shape: Any) -> None:
        rank = input_shape.rank
        if rank is None:
            raise ValueError("Input has undefined rank.")
        axis = self.axis[0] if isinstance(self.axis, (list, tuple)) else self.axis
        self._at = index_values.axis(axis, rank)
        size = _last(input_shape, "BatchNormalization", self._at)
        self._fused_now = rank == 4 and self._at in (1, 3) if self.fused is None else bool(self.fused)
        wanted = {"gamma": self.scale, "beta": self.center}
        for name, how in self._made.items():
            if wanted.get(name, True):
                setattr(self, name, self.add_variable(name, [size], **how))

    def call(self, inputs: Any, training: Any = False) -> Any:
        return self._fused_call(inputs, training) if self._fused_now else self._plain_call(inputs, training)

    def _fused_call(self, inputs: Any, training: Any) -> Any:
        data_format = "NCHW" if self._at == 1 else "NHWC"
        size = inputs.shape.as_list()[self._at]
        scale = self.gamma if self.scale else constant_op.constant(1.0, shape=[size])
        offset = self.beta if self.center else constant_op.constant(0.0, shape=[size])
        train = lambda: nn_ops.fused_batch_norm(inputs, scale, offset, self.moving_mean, self.moving_variance, self.epsilon, data_format)  # noqa: E731
        infer = lambda: nn_ops.fused_batch_norm(  # noqa: E731
            inputs, scale, offset, self.moving_mean, self.moving_variance, self.epsilon, data_format, is_training=False
        )
        out, mean, variance = _choose(training, train, infer)
        known = constant_op.constant_value(training) if isinstance(training, ops.Tensor) else training
        if known is None or bool(known):
            decay = _choose(training, lambda: constant_op.constant(self.momentum), lambda: constant_op.constant(1.0)) if known is None else constant_op.constant(self.momentum)
            self._follow(mean, variance, decay)
        return out

    def _plain_call(self, inputs: Any, training: Any) -> Any:
        axes = [i for i in range(inputs.shape.rank) if i != self._at]
        known = constant_op.constant_value(training) if isinstance(training, ops.Tensor) else training
        if known is not None and not bool(known):
            mean, variance = self.moving_mean, self.moving_variance
        else:
            mean, variance = nn_ops.moments(inputs, axes)
            if known is None:
                batch_mean, batch_variance = mean, variance
                mean = _choose(training, lambda: batch_mean, lambda: ops.convert_to_tensor(self.moving_mean))
                variance = _choose(training, lambda: batch_variance, lambda: ops.convert_to_tensor(self.moving_variance))
            self._follow(mean, variance, self.momentum)
        spread = self._spreading(inputs)
        return nn_ops.batch_normalization(
            inputs, spread(mean), spread(variance), spread(self.beta) if self.center else None, spread(self.gamma) if self.scale else None, self.epsilon
        )

    def _spreading(self, inputs: Any) -> Any:
        rank = inputs.shape.rank
        if self._at == rank - 1:
            return lambda v: v
        shape = [1] * rank
        shape[self._at] = inputs.shape.as_list()[self._at]
        return lambda v: array_ops.reshape(v, shape)

    def _follow(self, mean: Any, variance: Any, decay: Any) -> None:
        for kept, value in ((self.moving_mean, mean), (self.moving_variance, variance)):
            with ops.colocate_with(kept):
                self.add_update(moving_averages.assign_moving_average(kept, value, decay, zero_debias=False).op)


# ---- As functions.


def _function(kind: type[Layer], python_name: str, at_call: tuple[str, ...] = ()) -> Any:
    def function(inputs: Any, *args: Any, **kwargs: Any) -> Tensor:
        called = {k: kwargs.pop(k) for k in at_call if k in kwargs}
        reuse = kwargs.pop("reuse", None)
        layer = kind(*args, _reuse=reuse, _scope=kwargs.get("name"), **kwargs)
        return layer.apply(inputs, **called)

    function.__name__ = function.__qualname__ = python_name
    function.__doc__ = kind.__doc__
    return function


dense = _function(Dense, "dense")
conv2d = _function(Conv2D, "conv2d")
max_pooling2d = _function(MaxPooling2D, "max_pooling2d")
average_pooling2d = _function(AveragePooling2D, "average_pooling2d")
flatten = _function(Flatten, "flatten")
dropout = _function(Dropout, "dropout", ("training",))
batch_normalization = _function(BatchNormalization, "batch_normalization", ("training",))
