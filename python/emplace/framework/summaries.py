"""tf.summary: operations that make messages for event files."""

from __future__ import annotations

import re
from typing import Any

from emplace.framework import ops
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import GraphKeys


def _clean(name: str) -> str:
    return re.sub(r"[^-/\w\.]", "_", name).lstrip("/")


def _collect(made: Any, collections: Any) -> Any:
    for c in [GraphKeys.SUMMARIES] if collections is None else list(collections):
        ops.add_to_collection(c, made)
    return made


def _tagged(op: str, name: str, values: Any, collections: Any, family: str | None, tag_argument: str) -> Any:
    name = _clean(name)
    family = None if family is None else _clean(family)
    with ops.name_scope(f"{family}/{name}" if family else name, values=[values]) as scope:
        tag = scope.rstrip("/")
        if family:
            tag = f"{family}/{tag}"
        tags = ops.convert_to_tensor(tag, name=tag_argument)
        return _collect(_op(op, [tags, values], {}, scope), collections)


def scalar(name: str, tensor: Any, collections: Any = None, family: str | None = None) -> Any:
    return _tagged("ScalarSummary", name, tensor, collections, family, "tags")


def histogram(name: str, values: Any, collections: Any = None, family: str | None = None) -> Any:
    return _tagged("HistogramSummary", name, values, collections, family, "tag")


def merge(inputs: Any, collections: Any = None, name: str | None = None) -> Any:
    with ops.name_scope(name, "Merge", inputs):
        made = _op("MergeSummary", [list(inputs)], {}, name)
        for c in collections or ():
            ops.add_to_collection(c, made)
        return made


def merge_all(key: Any = GraphKeys.SUMMARIES, scope: str | None = None, name: str | None = None) -> Any:
    found = ops.get_collection(key, scope)
    return merge(found, name=name) if found else None


# ---- Pictures, sound and text: Python makes the messages.


def _message(function: Any, name: str, inputs: list[Any], collections: Any, family: str | None) -> Any:
    """An operation whose result is the message that `function(tag, *values)` gives."""
    from emplace.framework import dtypes, py_functions

    name = _clean(name)
    with ops.name_scope(f"{family}/{name}" if family else name, values=inputs) as scope:
        tag = scope.rstrip("/")
        tag = f"{family}/{tag}" if family else tag
        made = py_functions._make("PyFuncStateless", py_functions._Function(lambda *values: function(tag, *values).SerializeToString()), inputs, [dtypes.string], scope)[0]
        made.set_shape([])
        return _collect(made, collections)


def _png(pixels: Any) -> bytes:
    """Rows of bytes, [height, width, channels], as a PNG file."""
    import struct
    import zlib

    height, width, channels = pixels.shape
    rows = b"".join(b"\0" + pixels[y].tobytes() for y in range(height))

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, {1: 0, 2: 4, 3: 2, 4: 6}[channels], 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def _pixels(image: Any) -> Any:
    """Floats are scaled so that they fill 0 … 255, around 127 where there are negative ones."""
    import numpy as np

    if image.dtype == np.uint8:
        return image
    finite = np.isfinite(image)
    values = np.where(finite, image, 0).astype(np.float32)
    low, high = values.min(initial=0), values.max(initial=0)
    if low < 0:
        most = max(abs(low), abs(high))
        scale, offset = (127.0 / most if most > 1e-4 else 0.0), 128.0
    else:
        scale, offset = (255.0 / high if high > 1e-4 else 0.0), 0.0
    made = (values * scale + offset).astype(np.uint8)
    made[~finite.all(axis=-1)] = ([255, 0, 0, 255] if image.shape[-1] != 1 else [255])[: image.shape[-1]]
    return made


def image(name: str, tensor: Any, max_outputs: int = 3, collections: Any = None, family: str | None = None) -> Any:
    from emplace.proto.event_pb2 import Summary

    def made(tag: str, images: Any) -> Any:
        message = Summary()
        for i, one in enumerate(images[:max_outputs]):
            value = message.value.add(tag=f"{tag}/image" if max_outputs == 1 else f"{tag}/image/{i}")
            value.image.height, value.image.width, value.image.colorspace = one.shape
            value.image.encoded_image_string = _png(_pixels(one))
        return message

    return _message(made, name, [ops.convert_to_tensor(tensor)], collections, family)


def audio(name: str, tensor: Any, sample_rate: Any, max_outputs: int = 3, collections: Any = None, family: str | None = None) -> Any:
    import io
    import wave

    import numpy as np

    from emplace.proto.event_pb2 import Summary

    def made(tag: str, sounds: Any, rate: Any) -> Any:
        message = Summary()
        for i, sound in enumerate(sounds[:max_outputs]):
            sound = sound if sound.ndim == 2 else sound[:, None]
            file = io.BytesIO()
            with wave.open(file, "wb") as out:
                out.setnchannels(sound.shape[1])
                out.setsampwidth(2)
                out.setframerate(int(rate))
                out.writeframes((np.clip(sound, -1, 1) * 32767).astype("<i2").tobytes())
            value = message.value.add(tag=f"{tag}/audio" if max_outputs == 1 else f"{tag}/audio/{i}")
            value.audio.sample_rate, value.audio.num_channels, value.audio.length_frames = float(rate), sound.shape[1], sound.shape[0]
            value.audio.encoded_audio_string, value.audio.content_type = file.getvalue(), "audio/wav"
        return message

    return _message(made, name, [ops.convert_to_tensor(tensor), ops.convert_to_tensor(sample_rate)], collections, family)


def tensor_summary(
    name: str, tensor: Any, summary_description: Any = None, collections: Any = None, summary_metadata: Any = None,
    family: str | None = None, display_name: Any = None,
) -> Any:
    from emplace.framework import graph_io
    from emplace.proto.event_pb2 import Summary

    def made(tag: str, value: Any) -> Any:
        message = Summary()
        one = message.value.add(tag=tag)
        one.tensor.CopyFrom(graph_io.make_tensor_proto(value))
        if summary_metadata is not None:
            one.metadata.CopyFrom(summary_metadata)
        return message

    return _message(made, name, [ops.convert_to_tensor(tensor)], collections, family)


def text(name: str, tensor: Any, collections: Any = None) -> Any:
    from emplace.framework import dtypes
    from emplace.proto.event_pb2 import SummaryMetadata

    tensor = ops.convert_to_tensor(tensor)
    if tensor.dtype != dtypes.string:
        raise ValueError(f"Expected tensor {tensor.name} to have dtype string, got {tensor.dtype}")
    about = SummaryMetadata()
    about.plugin_data.plugin_name = "text"
    return tensor_summary(name, tensor, collections=collections, summary_metadata=about)
