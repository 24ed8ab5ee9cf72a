"""`tf.keras.Model` and `tf.keras.Sequential`: layers as one layer, written as a class or described by symbols."""

from __future__ import annotations

from typing import Any

from emplace.eager import nest
from emplace.eager.layers import InputLayer, KerasTensor, Layer
from emplace.eager.optimizers import _own_name


class Model(Layer):
    """A class's own `call`, or what lies between symbols: `Model(inputs, outputs)`."""

    _ignored = Layer._ignored | {"inputs", "outputs", "_inputs", "_outputs", "_nodes"}

    def __init__(self, inputs: Any = None, outputs: Any = None, *, name: str | None = None, **kwargs: Any) -> None:
        described = inputs is not None and outputs is not None
        super().__init__(name=name or (_own_name("Functional") if described and type(self) is Model else None), **kwargs)
        if described:
            self._describe(inputs, outputs)

    def _describe(self, inputs: Any, outputs: Any) -> None:
        self._inputs, self._outputs = inputs, outputs
        self.inputs, self.outputs = nest.flatten(inputs), nest.flatten(outputs)
        for symbol in (*self.inputs, *self.outputs):
            if not isinstance(symbol, KerasTensor):
                raise ValueError(f"All `inputs` and `outputs` values must be KerasTensors. Received: {symbol!r} of type {type(symbol)}")
        self._nodes = _in_order(self.inputs, self.outputs)
        heads = [s._history[0] for s in self.inputs]
        self._operations = list({id(layer): layer for layer in [*heads, *(n[0] for n in self._nodes)]}.values())
        self.built = True

    @property
    def layers(self) -> list[Layer]:
        return list(self._operations) if hasattr(self, "_operations") else self._sublayers()

    def get_layer(self, name: str | None = None, index: int | None = None) -> Layer:
        """The layer of a name, or at an index; ValueError if there is none of that name."""
        if index is not None:
            return self.layers[index]
        found = next((layer for layer in self.layers if layer.name == name), None)
        if found is None:
            raise ValueError(f"No such layer: {name}. Existing layers are: {[layer.name for layer in self.layers]}.")
        return found

    @property
    def input_shape(self) -> Any:
        return nest.map_structure(lambda s: s.shape, self._inputs)

    @property
    def output_shape(self) -> Any:
        return nest.map_structure(lambda s: s.shape, self._outputs)

    def build(self, input_shape: Any) -> None:
        self.built = True

    def call(self, inputs: Any, training: Any = None) -> Any:
        if not hasattr(self, "_nodes"):
            raise NotImplementedError(f"Model {type(self).__name__} does not have a `call()` method implemented.")
        given = nest.flatten(inputs)
        if len(given) != len(self.inputs):
            raise ValueError(f"Function `{self.name}` expects {len(self.inputs)} input(s). Received {len(given)} instead.")
        known = {id(symbol): value for symbol, value in zip(self.inputs, given)}

        def value(leaf: Any) -> Any:
            return known[id(leaf)] if isinstance(leaf, KerasTensor) else leaf

        for layer, args, kwargs, made in self._nodes:
            result = layer(*nest.map_structure(value, args), **nest.map_structure(value, kwargs))
            known.update((id(s), v) for s, v in zip(nest.flatten(made), nest.flatten(result)))
        return nest.map_structure(value, self._outputs)


def _in_order(inputs: list[Any], outputs: list[Any]) -> list[Any]:
    """The calls between them, each behind what it needs."""
    known, done, found = {id(s) for s in inputs}, set(), []
    stack = [s for s in reversed(outputs) if id(s) not in known]
    while stack:
        node = stack[-1]._history
        if node is None or isinstance(node[0], InputLayer):
            raise ValueError(f"`inputs` not connected to `outputs`: {stack[-1]!r} is needed.")
        needed = [v for v in nest.flatten([node[1], node[2]]) if isinstance(v, KerasTensor) and id(v) not in known]
        if needed:
            stack.extend(needed)
            continue
        stack.pop()
        if id(node) not in done:
            done.add(id(node))
            found.append(node)
            known.update(id(s) for s in nest.flatten(node[3]))
    return found


class _Chain:
    """What a Sequential's checkpoint has below it: the input's place, then the layers."""

    def __init__(self, owner: "Sequential") -> None:
        self._owner = owner

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        return {"_operations": self._owner._operations}


class Sequential(Model):
    """Layers one after the other."""

    def __init__(self, layers: Any = None, trainable: bool = True, name: str | None = None) -> None:
        super().__init__(trainable=trainable, name=name)
        self._layers: list[Layer] = []
        self._head: Any = None
        self._operations, self._functional = [{}], _Chain(self)
        for layer in layers or ():
            self.add(layer)

    _ignored = Model._ignored | {"_head", "_operations", "_functional"}

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        return {"_functional": self._functional}  # as Keras calls it

    def add(self, layer: Any) -> None:
        """Puts a layer, or an `Input(…)` first of all, at the end."""
        if isinstance(layer, KerasTensor):
            self._head, layer = layer, None
        elif isinstance(layer, InputLayer):
            raise ValueError("Pass `Input(…)` to a Sequential, not its layer.")
        elif callable(layer) and not isinstance(layer, Layer):
            raise ValueError(f"Only instances of `keras.Layer` can be added to a Sequential model. Received: {layer} (of type {type(layer)})")
        if layer is not None:
            self._layers.append(layer)
            self._operations.append(layer)
        if self._head is not None:
            self._go_on(self._head if layer is None else self._outputs, self._layers if layer is None else [layer])

    def _go_on(self, symbol: Any, layers: list[Layer]) -> None:
        """What comes out once these layers are behind what is known."""
        for layer in layers:
            symbol = layer(symbol)
        self.inputs, self.outputs, self._inputs, self._outputs = [self._head], [symbol], self._head, symbol
        self.built = True

    def pop(self) -> Layer:
        """Takes the last layer out and returns it."""
        last = self._layers.pop()
        self._operations.pop()
        if self._head is not None:
            self._go_on(self._head, self._layers)
        return last

    @property
    def layers(self) -> list[Layer]:
        return list(self._layers)

    def call(self, inputs: Any, training: Any = None) -> Any:
        for layer in self._layers:
            inputs = layer(inputs)
        return inputs
