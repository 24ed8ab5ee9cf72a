"""Names that mean the same in TensorFlow 2: their functions, run on the default graph."""

from __future__ import annotations

import functools
import inspect
import types
from typing import Any

from emplace.framework import dispatch, ops

NAMES = frozenset(
    """
    RaggedTensor RaggedTensorSpec ragged IndexedSlicesSpec OptionalSpec SparseTensorSpec type_spec_from_value is_symbolic_tensor vectorized_map recompute_grad
    fftnd ifftnd rfftnd irfftnd sysconfig version placement
    config.experimental_connect_to_cluster config.experimental_connect_to_host
    config.experimental_functions_run_eagerly config.experimental_run_functions_eagerly config.functions_run_eagerly config.run_functions_eagerly
    config.get_soft_device_placement config.set_soft_device_placement config.threading config.optimizer
    config.experimental.VirtualDeviceConfiguration config.experimental.enable_tensor_float_32_execution
    config.experimental.get_device_policy config.experimental.get_synchronous_execution config.experimental.get_virtual_device_configuration
    config.experimental.set_device_policy config.experimental.set_synchronous_execution config.experimental.set_virtual_device_configuration
    config.experimental.tensor_float_32_execution_enabled
    debugging.disable_traceback_filtering debugging.enable_traceback_filtering debugging.is_traceback_filtering_enabled
    math.approx_max_k math.approx_min_k nn.approx_max_k nn.approx_min_k nn.compute_average_loss nn.scale_regularization_loss
    quantization.quantize_and_dequantize quantization.quantize_and_dequantize_v2
    random.Algorithm random.create_rng_state random.fold_in random.split random.stateless_binomial random.stateless_poisson
    random.stateless_parameterized_truncated_normal sparse.cross_hashed
    strings.bytes_split strings.ngrams strings.unicode_decode strings.unicode_decode_with_offsets strings.unicode_encode
    strings.unicode_split strings.unicode_split_with_offsets strings.unsorted_segment_join io.RaggedFeature io.deserialize_many_sparse
    Module autograph fingerprint debugging.assert_all_finite nn.experimental nn.space_to_batch
    nn.depthwise_conv2d_backprop_filter nn.depthwise_conv2d_backprop_input nn.depthwise_conv2d_native_backprop_filter
    nn.depthwise_conv2d_native_backprop_input nn.max_pool_v2 nn.avg_pool_v2 nn.ctc_loss_v2 image.non_max_suppression_padded
    sparse.cross random.Generator random.get_global_generator random.set_global_generator random.experimental
    COMPILER_VERSION GIT_VERSION GRAPH_DEF_VERSION GRAPH_DEF_VERSION_MIN_CONSUMER GRAPH_DEF_VERSION_MIN_PRODUCER
    saved_model.SaveOptions saved_model.LoadOptions
    """.split()
)
_RAGGED = frozenset(("RaggedTensorValue", "constant_value", "placeholder"))  # graph programs alone have them
_ELSEWHERE = {  # names that are longer, or shorter, in TensorFlow 2
    "nn.max_pool_v2": "nn.max_pool", "nn.avg_pool_v2": "nn.avg_pool", "nn.ctc_loss_v2": "nn.ctc_loss",
    "nn.depthwise_conv2d_native_backprop_filter": "nn.depthwise_conv2d_backprop_filter",
    "nn.depthwise_conv2d_native_backprop_input": "nn.depthwise_conv2d_backprop_input",
    **{n: f"version.{n}" for n in ("COMPILER_VERSION", "GIT_VERSION", "GRAPH_DEF_VERSION", "GRAPH_DEF_VERSION_MIN_CONSUMER", "GRAPH_DEF_VERSION_MIN_PRODUCER")},
}
_BELOW = ("autograph.", "random.experimental.", "nn.experimental.", "ragged.", "config.threading.", "config.optimizer.", "linalg.LinearOperator", "version.", "sysconfig.", "placement.")


@functools.cache
def names() -> frozenset[str]:
    """All that `found` finds, from the list of names alone."""
    from emplace.eager import names as listed

    index = listed.index()
    below = {n for n in (*index, *listed.spaces(index)) if n.startswith(_BELOW)}
    return frozenset(NAMES | below | {f"ragged.{n}" for n in _RAGGED})


def found(public: str) -> Any:
    """What stands behind a shared name; None if it is not one."""
    if public not in NAMES and not public.startswith(_BELOW):
        return None
    from emplace.eager import namespace

    public = _ELSEWHERE.get(public, public)
    if public == "autograph.to_graph":
        return _to_graph
    if public.lower().startswith("ragged"):
        from emplace.eager.ragged import values

        _take_composites()

        if public.rpartition(".")[2] in _RAGGED:
            return _in_graph(value) if isinstance(value := getattr(values, public[7:]), types.FunctionType) else value
    if public in namespace._spaces:
        from emplace.compat import v1

        return v1._Namespace(public, {})
    if public not in namespace._names:
        return None
    module, attribute = namespace._names[public]
    if module == "op":
        from emplace.framework import gen

        return gen.make_function(attribute, public.rpartition(".")[2])
    value = namespace.behind(module, attribute)
    return _in_graph(value) if isinstance(value, types.FunctionType) else value


@functools.cache
def _take_composites() -> None:
    """From now on the functions of tensors take ragged ones too."""
    from emplace.compat import v1

    for space in (v1, v1.math, v1.nn, v1.strings, v1.dtypes, v1.bitwise):
        for name, value in list(vars(space).items()):
            if isinstance(value, types.FunctionType) and not name.startswith("_"):
                setattr(space, name, _on_composites(value, name))


def _on_composites(function: Any, name: str) -> Any:
    from emplace.eager import context

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except context.CompositeGiven as given:
            return _in_graph(context.handle_composite)(call, given, args, kwargs)

    call.__name__ = name
    return call


def ready(name: str, value: Any) -> Any:
    """A value as a namespace gives it: once ragged tensors are in use, functions take them."""
    taken = _take_composites.cache_info().currsize > 0 and isinstance(value, types.FunctionType)
    return _on_composites(value, name) if taken else value


def eager_outside_graphs(of_graphs: Any) -> Any:
    """Version 1's control flow as an eager program meets it: TensorFlow 2's outside of graphs and in functions."""
    from emplace.eager import flow_graph
    from emplace.eager.functions import flow

    other, said = getattr(flow, of_graphs.__name__), inspect.signature(of_graphs)
    renamed, taken = {"fn1": "true_fn", "fn2": "false_fn"}, inspect.signature(other).parameters

    @functools.wraps(of_graphs)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not dispatch.executing_eagerly() and not flow_graph.inside_function():
            return of_graphs(*args, **kwargs)
        given = {renamed.get(k, k): v for k, v in said.bind(*args, **kwargs).arguments.items()}
        result = other(**{k: v for k, v in given.items() if k in taken})
        alone = of_graphs.__name__ == "while_loop" and not given.get("return_same_structure") and isinstance(result, (list, tuple)) and len(result) == 1
        return result[0] if alone else result

    return call


def _to_graph(entity: Any, *args: Any, **kwargs: Any) -> Any:
    """`tf.autograph.to_graph`: what it gives works in the default graph."""
    from emplace.eager import namespace

    return _in_graph(namespace.behind(*namespace._names["autograph.to_graph"])(entity, *args, **kwargs))


def _in_graph(function: Any) -> Any:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        with ops.get_default_graph().as_default():
            return function(*args, **kwargs)

    return call
