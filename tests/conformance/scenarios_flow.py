"""Control flow of both kinds, calls of functions, placeholders, Python functions, printing."""

from __future__ import annotations

from typing import Any

import numpy as np

from scenario import Func, Run, as_of, imported, rows, scenario


def _switch(ref: bool) -> Any:
    def build(tf: Any, raw: Any, run: Run) -> None:
        switch, merge = (raw.RefSwitch, raw.RefMerge) if ref else (raw.Switch, raw.Merge)
        data: Any = tf.constant([1.0, 2.0])
        if ref:
            data = raw.VariableV2(shape=[2], dtype=tf.float32)
            run(raw.Assign(ref=data, value=[1.0, 2.0]))
        for pred in (True, False):
            off, on = switch(data=data, pred=pred)
            merged = merge(inputs=[off if ref else raw.Neg(x=off), on])
            run(*merged)
            run(raw.Identity(input=on))  # dead in one of them
        run(*switch(data=data, pred=[True]))

    return build


rows("switch_", {"of_values": _switch(False), "of_references": _switch(True)})


@scenario
def reference_selected(tf: Any, raw: Any, run: Run) -> None:
    refs = [raw.VariableV2(shape=[], dtype=tf.int32) for _ in range(2)]
    run(*(raw.Assign(ref=r, value=i + 5) for i, r in enumerate(refs)))
    for i in (1, 0, 2):
        run(raw.RefSelect(index=i, inputs=refs))


def _loop(ref: bool) -> Any:
    """While i < 4: i += 1; of references: the variable is counted up in the loop."""

    def build(tf: Any, raw: Any, run: Run) -> None:
        t, r = {"T": tf.int32}, "Ref" if ref else ""
        frame = {"frame_name": "loop", **t}
        start: Any = ("start", "Const", [], {"dtype": tf.int32, "value": np.array(0, np.int32)})
        if ref:
            start = ("start", "VariableV2", [], {"shape": tf.TensorShape([]), "dtype": tf.int32})
        step = ("next", "AssignAdd", ["on:1", "one"], t) if ref else ("next", "AddV2", ["on:1", "one"], t)
        nodes = [
            start, ("limit", "Const", [], {"dtype": tf.int32, "value": np.array(4, np.int32)}), ("far", "Enter", ["limit"], {**frame, "is_constant": True}),
            ("in", f"{r}Enter", ["start"], frame), ("i", f"{r}Merge", ["in", "back"], {**t, "N": 2}), ("less", "Less", ["i", "far"], t),
            ("test", "LoopCond", ["less"]), ("on", f"{r}Switch", ["i", "test"], t),
            ("one", "Const", ["^i"], {"dtype": tf.int32, "value": np.array(1, np.int32)}), step,
            ("back", f"{r}NextIteration", ["next"], t), ("out", f"{r}Exit", ["on"], t), ("done", "ControlTrigger", ["^out"]),
        ]
        begin, out = imported(tf, nodes, ["start:0", "out:0"])
        if ref:
            run(raw.Assign(ref=begin, value=1))
        run(out)
        run(out)
        run(tf.get_default_graph().get_operation_by_name("done"))

    return build


rows("loop_", {"of_values": _loop(False), "of_references": _loop(True)})


def _functions(tf: Any) -> dict[str, Any]:
    """x + 1, x * 2, x < 9: of one integer."""
    i, b = tf.int32, tf.bool

    def of(op: str, number: int, out: Any = i) -> Any:
        body = [("c", "Const", [], {"dtype": i, "value": np.array(number, np.int32)}), ("y", op, ["x", "c:output:0"], {"T": i})]
        return {"x": i}, {"out": (out, "y:z:0")}, body

    return {"add": of("AddV2", 1), "double": of("Mul", 2), "small": of("Less", 9, b)}


_IF = {"then_branch": Func("add"), "else_branch": Func("double")}
CALLS: dict[str, tuple[Any, dict[str, Any]]] = {
    "If": (bool, _IF), "StatelessIf": (bool, _IF),
    "Case": (int, {"branches": [Func("add"), Func("double")]}), "StatelessCase": (int, {"branches": [Func("add"), Func("double")]}),
    "While": (None, {"cond": Func("small"), "body": Func("double")}), "StatelessWhile": (None, {"cond": Func("small"), "body": Func("double")}),
    "PartitionedCall": (None, {"f": Func("double")}), "StatefulPartitionedCall": (None, {"f": Func("double")}),
}


def _call(op: str, first: Any, funcs: dict[str, Any]) -> Any:
    def build(tf: Any, raw: Any, run: Run) -> None:
        i = [tf.int32]
        kinds: dict[str, Any] = {"T": i} if "While" in op else {"Tin": i, "Tout": i}
        chosen = {bool: tf.bool, int: tf.int32}.get(first)
        inputs = ["which", "x"] if chosen else ["x"]
        if first is bool:
            kinds["Tcond"] = chosen
        nodes: list[Any] = [("x", "Placeholder", [], {"dtype": tf.int32, "shape": tf.TensorShape([])}), ("call", op, inputs, {**kinds, **funcs})]
        if chosen:
            nodes.insert(0, ("which", "Placeholder", [], {"dtype": chosen, "shape": tf.TensorShape([])}))
        x, out, *which = imported(tf, nodes, ["x:0", "call:0", *(["which:0"] if chosen else [])], _functions(tf))
        for value in (3, 20):
            for choice in {bool: (True, False), int: (0, 1, 2, -1)}.get(first, (None,)):
                run(out, feeds={x: value, **({which[0]: choice} if which else {})})

    return build


rows("call_", {op: _call(op, *given) for op, given in CALLS.items()})


@scenario
def constants_of_all_kinds(tf: Any, raw: Any, run: Run) -> None:
    value = {"dtype": tf.float32, "value": np.float32([1, 2])}
    run(*imported(tf, [("a", "Const", [], value), ("b", "HostConst", [], value)], ["a:0", "b:0"]))
    run(*imported(tf, [("tf32", "IsTensorFloat32Enabled")], ["tf32:0"]))
    run(raw.NoOp(), raw.ControlTrigger())
    run(raw.DeviceIndex(device_names=["CPU", "GPU"]), raw.DeviceIndex(device_names=["GPU"]))


@scenario
def placeholders(tf: Any, raw: Any, run: Run) -> None:
    as_of(tf, 20)
    one, two, three = raw.Placeholder(dtype=tf.int32), raw.PlaceholderV2(dtype=tf.int32, shape=[2]), raw.PlaceholderWithDefault(input=[1, 2, 3], shape=[None])
    run(three)
    run(raw.Neg(x=one), raw.Neg(x=two), raw.Neg(x=three), feeds={one: 1, two: [2, 3], three: [4]})
    run(raw.Neg(x=one))
    run(raw.Neg(x=two), feeds={two: [1, 2, 3]})


@scenario
def failing(tf: Any, raw: Any, run: Run) -> None:
    run(raw.Assert(condition=True, data=["fine"]))
    run(raw.Assert(condition=False, data=["broken", [1, 2, 3, 4]], summarize=2))
    run(raw.Assert(condition=[True], data=["a"]))


@scenario
def abort_left(tf: Any, raw: Any, run: Run) -> None:
    """Never run: it ends TensorFlow's process."""
    off, _ = raw.Switch(data=1, pred=True)
    with tf.control_dependencies([raw.Identity(input=off)]):
        stop = raw.Abort(error_msg="never")
    run(stop)


@scenario
def printing(tf: Any, raw: Any, run: Run) -> None:
    run(raw.Print(input=[1, 2], data=[[3.0], "text"], message="says ", summarize=2))
    run(raw.PrintV2(input="a line"), raw.PrintV2(input="on the other", output_stream="stdout", end=""))
    run(raw.PrintV2(input=["two", "lines"]))


@scenario
def python_functions(tf: Any, raw: Any, run: Run) -> None:
    for stateful in (True, False):
        run(tf.py_func(lambda x, y: x + y, [np.float32([1, 2]), np.float32(3)], tf.float32, stateful=stateful))
    run(tf.py_function(lambda x: x * 2, [np.float32([1, 2])], tf.float32))
    run(tf.py_func(lambda x: np.int64(1), [1], tf.float32))
    run(tf.py_func(lambda: 1 // 0, [], tf.int64))


@scenario
def of_no_kernel(tf: Any, raw: Any, run: Run) -> None:
    """Operations that TensorFlow knows and runs nowhere."""
    as_of(tf, 1)
    x = np.float32([[1, 2], [3, 4]])
    c = np.complex64(x)
    run(raw.AdjustContrast(images=x[..., None], contrast_factor=2.0, min_value=0.0, max_value=9.0))
    for op in ("BatchFFT", "BatchFFT2D", "BatchIFFT", "BatchIFFT2D"):
        run(getattr(raw, op)(input=c))
    for op in ("BatchFFT3D", "BatchIFFT3D"):
        run(getattr(raw, op)(input=c[None]))
    for op in ("SegmentMaxV2", "SegmentMinV2", "SegmentProdV2", "SegmentSumV2"):
        run(getattr(raw, op)(data=x, segment_ids=[0, 1], num_segments=2))
    v = np.float32([1, 2])
    norm = {"t": x[None, None], "m": v, "v": v, "gamma": v, "variance_epsilon": 0.1, "scale_after_normalization": True}
    run(raw.BatchNormWithGlobalNormalization(beta=v, **norm))
    run(*raw.BatchNormWithGlobalNormalizationGrad(backprop=x[None, None], **norm))
    run(raw.MatrixExponential(input=x))
    run(raw.RandomCrop(image=np.uint8(np.arange(60).reshape(4, 5, 3)), size=np.int64([2, 3]), seed=1, seed2=2))
    run(raw.RandomPoisson(shape=[3], rate=x, seed=1, seed2=2))
    run(raw.TileGrad(input=x, multiples=[2, 1]))


@scenario
def of_graphs_only(tf: Any, raw: Any, run: Run) -> None:
    """Operations that a session rewrites."""
    run(raw.AccumulateNV2(inputs=[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], shape=[2]))
    run(raw.AccumulateNV2(inputs=[[1.0, 2.0]], shape=[2]))
    run(raw.ParallelConcat(values=[[[1, 2]], [[3, 4]]], shape=[2, 2]))


@scenario
def one_way_of_many(tf: Any, raw: Any, run: Run) -> None:
    """What TensorFlow makes of Case."""
    i = {"T": tf.int32}
    ways = [(f"way{k}", "Add", [f"ways:{k}", f"n{k}"], i) for k in range(3)]
    numbers = [(f"n{k}", "Const", [f"^at{k}"], {"dtype": tf.int32, "value": np.array(10 * k, np.int32)}) for k in range(3)]
    at = [(f"at{k}", "Identity", [f"ways:{k}"], i) for k in range(3)]
    which, out, index = imported(tf, [
        ("which", "Placeholder", [], {"dtype": tf.int32, "shape": tf.TensorShape([])}), ("x", "Const", [], {"dtype": tf.int32, "value": np.array(3, np.int32)}),
        ("ways", "_SwitchN", ["x", "which"], {"num_outs": 3, **i}), *at, *numbers, *ways, ("out", "Merge", ["way0", "way1", "way2"], {"N": 3, **i}),
    ], ["which:0", "out:0", "out:1"])
    for k in (0, 1, 2, 7):
        run(out, index, feeds={which: k})
