#!/usr/bin/env python3
"""Writes net_kernels.txt: convolutions, pools, normalisation and images as TensorFlow answers.

usage: make_net_kernels.py > net_kernels.txt        (needs TensorFlow; the tests need only the file)

The form is that of make_cpu_kernels.py. TensorFlow's CPU has no kernels for channels first and none
for most dilations: those answers are TensorFlow's for the same values turned, or dilated by hand.
"""
import inspect

import make_cpu_kernels as base
import numpy as np
import tensorflow as tf
from make_cpu_kernels import FLOATS, case

TURN = {4: [0, 3, 1, 2], 5: [0, 4, 1, 2, 3]}
r = tf.raw_ops
i32 = lambda *v: np.array(v, "int32")  # noqa: E731


def short(t) -> str:
    """As base.text, floats with the fewest digits that give them back."""
    a = np.asarray(t.numpy() if hasattr(t, "numpy") else t)
    if "float" not in a.dtype.name:
        return long_text(t)
    shape = ",".join(str(d) for d in a.shape) or "-"
    return " ".join([tf.as_dtype(t.dtype).name, shape, *(str(x) for x in a.reshape(-1))])


long_text, base.text = base.text, short


def sample(dtype, shape, low=-3, high=3):
    """Numbers with few digits: the file stays small."""
    values = base.sample(dtype, shape, low, high)
    if dtype in ("float32", "float64"):
        return values.round(2)
    digits = 0 if high - low > 3 else 1  # whole numbers have exact sums in half and bfloat16
    return tf.cast(tf.constant(values, tf.float32).numpy().round(digits), dtype).numpy() if "float" in dtype else values


def emit(op, inputs, attrs, outputs, error) -> None:
    base.emit(op, [short(t) for t in inputs], attrs, outputs, error)


def first(x):
    return tf.transpose(x, TURN[len(x.shape)])


def first_list(v):
    return [v[k] for k in TURN[len(v)]]


def channels_first(op, inputs, turned, attrs, result_turned=True) -> None:
    """`inputs` channels last; those named in `turned` are given channels first."""
    function = getattr(r, op)
    names = list(inspect.signature(function).parameters)[: len(inputs)]
    out = function(**dict(zip(names, map(tf.constant, inputs))), **attrs)
    own = dict(attrs)
    for name in ("strides", "dilations", "ksize"):
        if name in own:
            own[name] = first_list(own[name])
    given = [first(tf.constant(x)) if k in turned else tf.constant(x) for k, x in enumerate(inputs)]
    own["data_format"] = "NCDHW" if any(len(x.shape) == 5 for x in given) else "NCHW"
    emit(op, given, own, [first(out) if result_turned else out], None)


def dilated(f, rate):
    """A filter with zeros between its taps."""
    h, w, i, o = f.shape
    wide = np.zeros(((h - 1) * rate + 1, (w - 1) * rate + 1, i, o), f.dtype)
    wide[::rate, ::rate] = f
    return wide


def convolutions() -> None:
    for t in FLOATS + ["int32"]:
        case("Conv2D", sample(t, (2, 5, 6, 3)), sample(t, (3, 2, 3, 4)), strides=[1, 1, 1, 1], padding="SAME")
    x, f = sample("float32", (2, 7, 6, 4)), sample("float32", (3, 2, 4, 6))
    for t in FLOATS[:2]:
        for strides in ([1, 1, 1, 1], [1, 2, 3, 1]):
            for padding in ("SAME", "VALID"):
                a, b = x.astype(t), f.astype(t)
                attrs = dict(strides=strides, padding=padding)
                y = r.Conv2D(input=a, filter=b, **attrs)
                dy = sample(t, tuple(y.shape))
                case("Conv2D", a, b, **attrs)
                case("Conv2DBackpropInput", i32(*x.shape), b, dy, **attrs)
                case("Conv2DBackpropFilter", a, i32(*f.shape), dy, **attrs)
                channels_first("Conv2D", [a, b], [0], attrs)
    around = dict(strides=[1, 1, 2, 1], padding="EXPLICIT", explicit_paddings=[0, 0, 2, 1, 0, 1, 0, 0])
    dy = sample("float32", tuple(r.Conv2D(input=x, filter=f, **around).shape))
    case("Conv2D", x, f, **around)
    case("Conv2DBackpropInput", i32(*x.shape), f, dy, **around)
    case("Conv2DBackpropFilter", x, i32(*f.shape), dy, **around)
    case("Conv2DBackpropInput", i32(7, 6), f, sample("float32", (2, 5, 5, 6)), strides=[1, 1, 1, 1], padding="VALID")
    case("Conv2D", x, sample("float32", (2, 2, 2, 6)), strides=[1, 1, 1, 1], padding="SAME")  # two groups
    for rate in (2, 3):
        attrs = dict(strides=[1, 1, 1, 1], padding="SAME", dilations=[1, rate, rate, 1])
        g = sample("float32", (2, 2, 4, 3))
        case("Conv2D", x, g, **attrs)
        dy, plain = sample("float32", (2, 7, 6, 3)), dict(strides=[1, 1, 1, 1], padding="SAME")
        wide = dilated(g, rate)
        emit("Conv2DBackpropInput", list(map(tf.constant, (i32(*x.shape), g, dy))), attrs,
             [r.Conv2DBackpropInput(input_sizes=x.shape, filter=wide, out_backprop=dy, **plain)], None)
        dw = r.Conv2DBackpropFilter(input=x, filter_sizes=wide.shape, out_backprop=dy, **plain)
        emit("Conv2DBackpropFilter", list(map(tf.constant, (x, i32(*g.shape), dy))), attrs, [dw[::rate, ::rate]], None)
    big = sample("float32", (1, 24, 20, 8))
    case("Conv2D", big, sample("float32", (5, 5, 8, 16)), strides=[1, 1, 1, 1], padding="SAME")
    for t in ("float16", "bfloat16"):
        case("Conv2DBackpropFilter", sample(t, (1, 4, 4, 2)), i32(2, 2, 2, 3), sample(t, (1, 3, 3, 3)), strides=[1, 1, 1, 1], padding="VALID")
        case("Conv2DBackpropInput", i32(1, 4, 4, 2), sample(t, (2, 2, 2, 3)), sample(t, (1, 3, 3, 3)), strides=[1, 1, 1, 1], padding="VALID")
    case("Conv2D", np.zeros((0, 4, 4, 2), "float32"), sample("float32", (2, 2, 2, 3)), strides=[1, 1, 1, 1], padding="SAME")
    for a, b, attrs in (((1, 5, 5, 3), (2, 2, 4, 2), {}), ((1, 5, 5, 6), (2, 2, 3, 3), {}), ((1, 5, 5, 3), (0, 2, 3, 2), {}),
                        ((1, 5, 5), (2, 2, 3, 2), {}), ((1, 5, 5, 3), (2, 2, 3, 2), dict(strides=[2, 1, 1, 1])),
                        ((1, 5, 5, 3), (2, 2, 3, 2), dict(strides=[1, 0, 1, 1])), ((1, 5, 5, 3), (2, 2, 3, 2), dict(strides=[1, 1, 1])),
                        ((1, 5, 5, 3), (2, 2, 3, 2), dict(dilations=[1, 0, 1, 1])),
                        ((1, 5, 5, 3), (2, 2, 3, 2), dict(padding="EXPLICIT", explicit_paddings=[0, 0, 1]))):
        case("Conv2D", np.ones(a, "float32"), np.ones(b, "float32"), **{"strides": [1, 1, 1, 1], "padding": "VALID", **attrs})
    for sizes, out in (((1, 5, 5, 3), (1, 4, 3, 2)), ((1, 5, 5, 3), (2, 4, 4, 2)), ((1, 5, 5, 4), (1, 4, 4, 2))):
        case("Conv2DBackpropInput", i32(*sizes), np.ones((2, 2, 3, 2), "float32"), np.ones(out, "float32"), strides=[1, 1, 1, 1], padding="VALID")
    for sizes in ((2, 2, 4, 2), (2, 2, 3, 3)):
        case("Conv2DBackpropFilter", np.ones((1, 5, 5, 3), "float32"), i32(*sizes), np.ones((1, 4, 4, 2), "float32"), strides=[1, 1, 1, 1], padding="VALID")


def volumes_and_depths() -> None:
    for t in FLOATS:
        x, f = sample(t, (2, 3, 4, 5, 2)), sample(t, (2, 2, 3, 2, 3))
        attrs = dict(strides=[1, 1, 2, 1, 1], padding="SAME")
        dy = sample(t, tuple(r.Conv3D(input=x, filter=f, **attrs).shape))
        case("Conv3D", x, f, **attrs)
        case("Conv3DBackpropInputV2", i32(*x.shape), f, dy, **attrs)
        case("Conv3DBackpropFilterV2", x, i32(*f.shape), dy, **attrs)
        if t == "float32":
            channels_first("Conv3D", [x, f], [0], attrs)
    case("Conv3D", np.ones((1, 3, 3, 3, 3), "float32"), np.ones((1, 1, 1, 2, 2), "float32"), strides=[1, 1, 1, 1, 1], padding="VALID")
    for t in FLOATS:
        for m in (1, 3):
            x, f = sample(t, (2, 5, 6, 4)), sample(t, (3, 2, 4, m))
            for attrs in (dict(strides=[1, 1, 1, 1], padding="SAME"), dict(strides=[1, 2, 2, 1], padding="VALID")):
                dy = sample(t, tuple(r.DepthwiseConv2dNative(input=x, filter=f, **attrs).shape))
                case("DepthwiseConv2dNative", x, f, **attrs)
                case("DepthwiseConv2dNativeBackpropInput", i32(*x.shape), f, dy, **attrs)
                case("DepthwiseConv2dNativeBackpropFilter", x, i32(*f.shape), dy, **attrs)
                if t == "float32":
                    channels_first("DepthwiseConv2dNative", [x, f], [0], attrs)
    case("DepthwiseConv2dNative", np.ones((1, 5, 5, 4), "float32"), np.ones((2, 2, 3, 2), "float32"), strides=[1, 1, 1, 1], padding="VALID")


def pools() -> None:
    flat = [dict(ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID"), dict(ksize=[1, 3, 2, 1], strides=[1, 1, 2, 1], padding="SAME")]
    for t in FLOATS + ["int8", "int32", "uint16"]:
        for attrs in flat:
            x = sample(t, (2, 5, 6, 3), -9, 9)
            y = r.MaxPool(input=x, **attrs)
            case("MaxPool", x, **attrs)
            case("MaxPoolGrad", x, y.numpy(), sample(t, tuple(y.shape)), **attrs)
            case("MaxPoolGradGrad", x, y.numpy(), sample(t, (2, 5, 6, 3)), **attrs)
            case("MaxPoolWithArgmax", x, **attrs)
            if "float" in t:
                case("AvgPool", x, **attrs)
                case("AvgPoolGrad", i32(2, 5, 6, 3), sample(t, tuple(y.shape)), **attrs)
            if t == "float32":
                channels_first("MaxPool", [x], [0], attrs), channels_first("AvgPool", [x], [0], attrs)
                channels_first("MaxPoolGrad", [x, y, sample(t, tuple(y.shape))], [0, 1, 2], attrs)
    x = np.array([1, 1, 2, 2, 1, 1, 2, 2, 0, 3, 3, 3], "float32").reshape(1, 3, 4, 1)  # equals
    for attrs in flat:
        y = r.MaxPool(input=x, **attrs).numpy()
        case("MaxPoolGrad", x, y, np.arange(1, y.size + 1, dtype="float32").reshape(y.shape), **attrs)
        case("MaxPoolGradGrad", x, y, np.arange(12, dtype="float32").reshape(1, 3, 4, 1), **attrs)
        case("MaxPoolWithArgmax", x, include_batch_in_index=True, Targmax=tf.int32, **attrs)
        _, at = r.MaxPoolWithArgmax(input=x, **attrs)
        case("MaxPoolGradWithArgmax", x, y + 1, at.numpy(), **attrs)
    around = dict(ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1], padding="EXPLICIT", explicit_paddings=[0, 0, 1, 1, 0, 1, 0, 0])
    case("MaxPool", sample("float32", (1, 4, 4, 2)), **around)
    case("MaxPool", sample("float32", (1, 2, 2, 6)), ksize=[1, 1, 1, 3], strides=[1, 1, 1, 3], padding="VALID")
    case("MaxPoolV2", sample("float32", (1, 4, 4, 2)), i32(1, 2, 2, 1), i32(1, 2, 1, 1), padding="VALID")
    x2, y2 = sample("float32", (1, 4, 4, 2)), np.zeros((1, 2, 3, 2), "float32")
    case("MaxPoolGradV2", x2, y2, y2 + 1, i32(1, 2, 2, 1), i32(1, 2, 1, 1), padding="VALID")
    case("MaxPoolGradGradV2", x2, r.MaxPool(input=x2, ksize=[1, 2, 2, 1], strides=[1, 2, 1, 1], padding="VALID").numpy(), x2, i32(1, 2, 2, 1), i32(1, 2, 1, 1), padding="VALID")
    deep = [dict(ksize=[1, 2, 2, 2, 1], strides=[1, 1, 2, 1, 1], padding=p) for p in ("SAME", "VALID")]
    for t in ("float32", "bfloat16"):
        for attrs in deep:
            x = sample(t, (2, 3, 4, 3, 2), -9, 9)
            y = r.MaxPool3D(input=x, **attrs)
            case("MaxPool3D", x, **attrs), case("AvgPool3D", x, **attrs)
            case("MaxPool3DGrad", x, y.numpy(), sample(t, tuple(y.shape)), **attrs)
            case("MaxPool3DGradGrad", x, y.numpy(), sample(t, tuple(x.shape)), **attrs)
            case("AvgPool3DGrad", i32(*x.shape), sample(t, tuple(y.shape)), **attrs)
            if t == "float32":
                channels_first("MaxPool3D", [x], [0], attrs)
    ones = np.ones((1, 5, 5, 3), "float32")
    for attrs in (dict(ksize=[1, 0, 1, 1]), dict(strides=[1, 0, 1, 1]), dict(ksize=[2, 1, 1, 1]), dict(ksize=[1, 1, 1, 2], strides=[1, 1, 1, 2])):
        case("MaxPool", ones, **{"ksize": [1, 1, 1, 1], "strides": [1, 1, 1, 1], "padding": "VALID", **attrs})
    case("MaxPoolGrad", ones, np.ones((1, 4, 4, 3), "float32"), np.ones((1, 4, 3, 3), "float32"), ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1], padding="VALID")


def normalisation() -> None:
    for t in ("float32", "float16", "bfloat16"):
        for fmt, shape in (("NHWC", (2, 3, 4, 5)), ("NCHW", (2, 5, 3, 4)), ("NDHWC", (2, 2, 3, 2, 5)), ("NCDHW", (2, 5, 2, 2, 2))):
            for training in (True, False):
                x, scale, offset = sample(t, shape), sample("float32", (5,), 0.5, 2), sample("float32", (5,))
                mean, variance = sample("float32", (5,)), sample("float32", (5,), 0.5, 2)
                attrs = dict(epsilon=0.001, data_format=fmt, is_training=training)
                if training:
                    case("FusedBatchNormV3", x, scale, offset, mean, variance, exponential_avg_factor=0.75, **attrs)
                    case("FusedBatchNormV3", x, scale, offset, mean[:0], variance[:0], **attrs)
                if not training and fmt.startswith("NC"):
                    continue  # TensorFlow refuses
                case("FusedBatchNormGradV3", sample(t, shape), x, scale, mean, variance, np.float32([0]), **attrs)
                if len(shape) == 4 and t == "float32":
                    case("FusedBatchNormGrad", sample(t, shape), x, scale, mean, variance, **attrs)
                    case("FusedBatchNormGradV2", sample(t, shape), x, scale, mean, variance, **attrs)
                    if training:
                        case("FusedBatchNorm", x, scale, offset, mean, variance, **attrs)
                        case("FusedBatchNormV2", x, scale, offset, mean, variance, **attrs)
    for t in ("float32", "float16"):
        for attrs in (dict(), dict(depth_radius=1, bias=2.0, alpha=0.5, beta=0.75), dict(depth_radius=2, beta=1.0)):
            x = sample(t, (1, 2, 3, 7))
            y = r.LRN(input=x, **attrs)
            case("LRN", x, **attrs)
            case("LRNGrad", sample(t, (1, 2, 3, 7)), x, y.numpy(), **attrs)
    case("LRN", np.ones((2, 3, 4), "float32"))


def images() -> None:
    shapes = ((5, 7), (2, 2), (4, 3), (1, 9))
    for op in "ResizeBilinear ResizeNearestNeighbor ResizeBicubic ResizeArea".split():
        for t in FLOATS + ["uint8", "int32"]:
            case(op, sample(t, (2, 4, 3, 2), 0, 9), i32(5, 7))
        for size in shapes:
            for attrs in (dict(align_corners=True), dict(half_pixel_centers=True)) if op != "ResizeArea" else (dict(align_corners=True), {}):
                case(op, sample("float32", (1, 4, 3, 2)), i32(*size), **attrs)
        case(op, np.ones((1, 2, 2, 1), "float32"), i32(0, 2)), case(op, np.ones((2, 2, 1), "float32"), i32(2, 2))
    for size in shapes:
        for attrs in (dict(), dict(align_corners=True), dict(half_pixel_centers=True)):
            g = sample("float32", (2, *size, 2))
            for t in FLOATS:
                case("ResizeBilinearGrad", g, sample(t, (2, 4, 3, 2)), **attrs)
            case("ResizeBicubicGrad", g, sample("float32", (2, 4, 3, 2)), **attrs)
            sample("float64", (2, 4, 3, 2))  # TensorFlow rounds its weights otherwise there
            case("ResizeNearestNeighborGrad", g, i32(4, 3), **attrs)
    boxes = np.array([[0, 0, 1, 1], [0.2, 0.1, 0.7, 0.9], [0.9, 0.8, 0.1, 0.2], [-0.5, 0.5, 1.5, 0.6]], "float32")
    at = i32(0, 1, 1, 0)
    for method in ("bilinear", "nearest"):
        for size in ((3, 4), (1, 1), (5, 1)):
            for t in ("float32", "uint8", "float16"):
                case("CropAndResize", sample(t, (2, 5, 6, 2), 0, 9), boxes, at, i32(*size), method=method, extrapolation_value=-1.0)
            g = sample("float32", (4, *size, 2))
            case("CropAndResizeGradImage", g, boxes, at, i32(2, 5, 6, 2), T=tf.float32, method=method)
            if method == "bilinear":
                case("CropAndResizeGradBoxes", g, sample("float32", (2, 5, 6, 2)), boxes, at)
    case("CropAndResize", np.ones((2, 4, 4, 3), "float32"), boxes[:2], i32(0, 2), i32(3, 3))
    case("CropAndResize", np.ones((2, 4, 4, 3), "float32"), boxes[:2], i32(0, 1), i32(3, 0))
    for t in FLOATS:
        case("RGBToHSV", sample(t, (3, 4, 3), 0, 1)), case("HSVToRGB", sample(t, (3, 4, 3), 0, 1))
    case("RGBToHSV", np.array([[0, 0, 0], [1, 1, 1], [0.5, 0.5, 0.2], [1, 0, 0], [0, 0, 2]], "float32"))
    x = sample("float32", (2, 3, 4, 3), 0, 1)
    case("AdjustContrastv2", x, np.float32(1.7)), case("AdjustContrastv2", x[0, 0], np.float32(1.7))
    for d in (-0.8, 0.3, 0.9):
        case("AdjustHue", x, np.float32(d)), case("AdjustSaturation", x, np.float32(d + 1))
    for t in ("float32", "int8", "complex64", "bfloat16"):
        case("ExtractImagePatches", sample(t, (2, 5, 6, 2)), ksizes=[1, 3, 2, 1], strides=[1, 2, 1, 1], rates=[1, 1, 2, 1], padding="SAME")
    case("ExtractImagePatches", sample("float32", (1, 5, 6, 2)), ksizes=[1, 3, 2, 1], strides=[1, 2, 1, 1], rates=[1, 1, 2, 1], padding="VALID")
    case("ExtractVolumePatches", sample("float32", (1, 3, 4, 3, 2)), ksizes=[1, 2, 2, 2, 1], strides=[1, 1, 2, 1, 1], padding="SAME")
    for t in ("float32", "float64", "int32"):
        a, b = sample(t, (2, 5, 6, 2), -9, 9), sample(t, (3, 2, 2), -9, 9)
        attrs = dict(strides=[1, 2, 1, 1], rates=[1, 1, 2, 1], padding="SAME")
        g = sample(t, tuple(r.Dilation2D(input=a, filter=b, **attrs).shape))
        case("Dilation2D", a, b, **attrs)
        case("Dilation2DBackpropInput", a, b, g, **attrs), case("Dilation2DBackpropFilter", a, b, g, **attrs)


def boxes() -> None:
    corners = np.array([[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11], [0, 10.1, 1, 11.1], [1, 101, 0, 100]], "float32")
    scores, f = np.array([0.9, 0.75, 0.6, 0.95, 0.5, 0.3], "float32"), np.float32
    case("NonMaxSuppression", corners, scores, np.int32(3), iou_threshold=0.5)
    for most in (0, 2, 6):
        case("NonMaxSuppressionV2", corners, scores, np.int32(most), f(0.5))
        case("NonMaxSuppressionV3", corners, scores, np.int32(most), f(0.5), f(0.4))
        for pad in (False, True):
            case("NonMaxSuppressionV4", corners, scores, np.int32(most), f(0.5), f(0.4), pad_to_max_output_size=pad)
            for sigma in (0, 0.5):
                case("NonMaxSuppressionV5", corners, scores, np.int32(most), f(0.5), f(0.05), f(sigma), pad_to_max_output_size=pad)
    case("NonMaxSuppressionV5", corners, scores, np.int32(6), f(1.0), f(0.0), f(0.5))
    case("NonMaxSuppressionWithOverlaps", np.eye(6, dtype="float32") + 0.3, scores, np.int32(4), f(0.2), f(0))
    case("NonMaxSuppressionWithOverlaps", np.eye(6, dtype="float32"), scores, np.int32(4), f(0.2), f(0))
    case("NonMaxSuppressionV3", corners, scores[:2], np.int32(2), f(0.5), f(0.1))
    case("NonMaxSuppressionV3", corners, scores, np.int32(-1), f(0.5), f(0.1))
    case("NonMaxSuppressionV3", corners, scores, np.int32(1), f(1.5), f(0.1))


def twins() -> None:
    """Ops without a kernel in TensorFlow's CPU, answered by those that do the same."""
    as_tensors = lambda *v: list(map(tf.constant, v))  # noqa: E731
    flat, deep = dict(strides=[1, 2, 1, 1], padding="SAME"), dict(strides=[1, 1, 2, 1, 1], padding="SAME")
    x, f, g = sample("float32", (2, 5, 4, 2)), sample("float32", (2, 3, 2, 3)), sample("float32", (2, 3, 4, 3))
    emit("Conv2DBackpropInputV2", as_tensors(x, f, g), flat, [r.Conv2DBackpropInput(input_sizes=x.shape, filter=f, out_backprop=g, **flat)], None)
    emit("Conv2DBackpropFilterV2", as_tensors(x, f, g), flat, [r.Conv2DBackpropFilter(input=x, filter_sizes=f.shape, out_backprop=g, **flat)], None)
    x, f, g = sample("float32", (1, 3, 4, 3, 2)), sample("float32", (2, 2, 2, 2, 3)), sample("float32", (1, 3, 2, 3, 3))
    emit("Conv3DBackpropInput", as_tensors(x, f, g), deep, [r.Conv3DBackpropInputV2(input_sizes=x.shape, filter=f, out_backprop=g, **deep)], None)
    emit("Conv3DBackpropFilter", as_tensors(x, f, g), deep, [r.Conv3DBackpropFilterV2(input=x, filter_sizes=f.shape, out_backprop=g, **deep)], None)
    x, window = sample("float32", (2, 4, 4, 2), -9, 9), dict(ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID")
    y, at = r.MaxPoolWithArgmax(input=x, **window)
    g = sample("float32", (2, 4, 4, 2))
    emit("MaxPoolGradGradWithArgmax", as_tensors(x, g, at), window, [r.MaxPoolGradGrad(orig_input=x, orig_output=y, grad=g, **window)], None)


if __name__ == "__main__":
    for part in (convolutions, volumes_and_depths, pools, normalisation, images, boxes, twins):
        part()
