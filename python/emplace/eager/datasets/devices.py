"""Elements on devices: what makes them runs on the host, the copy on the thread of the buffer behind it."""

from __future__ import annotations

from typing import Any

from emplace.eager import context, tensor_spec
from emplace.eager.datasets import building, functions, structure
from emplace.framework import constant_op, control_flow_ops, dtypes, errors, gen, ops


def copied(dataset: Any, device: Any) -> Any:
    """Text stays where it is."""
    return dataset._stage("_CopyToDeviceDataset", "_CopyToDeviceDataset", [], dataset.element_spec, device=str(device))


@building.in_their_mode
class OwnedMultiDeviceIterator:
    """Deals the elements of a dataset out to devices in turn. Each device has a buffer of `max_buffer_size` on the host and
    one of `prefetch_buffer_size` of its own, to which elements are copied ahead."""

    _of_graph_program = False  # the class of graph programs builds where this one runs

    @building.in_its_mode
    def __init__(
        self, dataset: Any = None, devices: Any = None, max_buffer_size: int = 1, prefetch_buffer_size: int = 1, source_device: str = "/cpu:0",
    ) -> None:
        if devices is None:
            raise ValueError("`devices` must be provided.")
        self._devices, self._dataset, self._spec = list(devices), dataset, dataset.element_spec
        self._room, self._ahead = max(max_buffer_size, prefetch_buffer_size), prefetch_buffer_size
        with ops.device(source_device):
            self._multi_device_iterator_resource = self._resource({"devices": self._devices, **structure.attributes(self._spec)})
            self._incarnation = gen.apply("MultiDeviceIteratorInit", [dataset._variant_tensor, self._multi_device_iterator_resource, self._room], {})
            shares = [self._share(i, d) for i, d in enumerate(self._devices)]
            self._device_iterators = [self._iterator(share) for share in shares]

    def _resource(self, attrs: Any) -> Any:
        return gen.apply("AnonymousMultiDeviceIteratorV3", [], attrs)

    def _iterator(self, share: Any) -> Any:
        return iter(share)

    def _share(self, number: int, device: Any) -> Any:
        """What one device gets, as a dataset."""
        attrs = structure.attributes(self._spec)

        def begin() -> Any:
            return constant_op.constant(0, dtypes.int64)

        def following(_: Any) -> Any:
            made = gen.apply("MultiDeviceIteratorGetNextFromShard", [self._multi_device_iterator_resource, number, self._incarnation], attrs)
            return structure.from_tensors(self._spec, made if isinstance(made, (list, tuple)) else [made])

        def end(_: Any) -> Any:
            return constant_op.constant(0, dtypes.int64)

        at = tensor_spec.TensorSpec([], dtypes.int64)
        traced = [functions.Traced(begin, "device_generator", ()), functions.Traced(following, "device_generator", at), functions.Traced(end, "device_generator", at)]
        names = dict(zip(("init_func", "next_func", "finalize_func"), (t.name for t in traced)))
        made = type(self._dataset)._made(
            "_PerDeviceGenerator", "GeneratorDataset", [t.captured for t in traced], self._spec, functions=traced, **names
        )
        made = copied(made, device)
        return made.prefetch(self._ahead) if self._ahead > 0 else made

    @property
    def element_spec(self) -> Any:
        """What an element looks like."""
        return self._spec

    def get_next(self, device: Any = None) -> Any:
        """The next element of a device, or those of all in a list."""
        if device is not None:
            return self._device_iterators[self._devices.index(device)].get_next()
        return [it.get_next() for it in self._device_iterators]

    def get_next_as_optional(self) -> Any:
        """The next elements as Optionals, empty at the end."""
        return [it.get_next_as_optional() for it in self._device_iterators]

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        try:
            return self.get_next()
        except errors.OutOfRangeError:
            raise StopIteration from None

    def next(self) -> Any:
        """The next elements of all devices."""
        return self.__next__()


@building.in_their_mode
class MultiDeviceIterator(OwnedMultiDeviceIterator):
    """… in a graph, where `initializer` puts it at the start."""

    _of_graph_program = True

    def _resource(self, attrs: Any) -> Any:
        if context.executing_eagerly():
            return super()._resource(attrs)
        return gen.apply("MultiDeviceIterator", [], {"shared_name": "", "container": "", **attrs})

    def _iterator(self, share: Any) -> Any:
        return super()._iterator(share) if context.executing_eagerly() else share.make_initializable_iterator()

    @property
    def initializer(self) -> Any:
        """The operation that puts it at the start; run at once outside of graphs."""
        if context.executing_eagerly():
            self.__init__(self._dataset, self._devices, self._room, self._ahead)  # type: ignore[misc]
            return None
        return control_flow_ops.group(*(it.initializer for it in self._device_iterators))
