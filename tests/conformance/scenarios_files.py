"""Files, checkpoints, summaries, serialised tensors and examples, samplers of boxes."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from scenario import Run, rows, scenario


@scenario
def files(tf: Any, raw: Any, run: Run) -> None:
    path = run.path("deep/file.txt")
    run(raw.WriteFile(filename=path, contents=b"bytes\x00\xff"))
    run(raw.ReadFile(filename=path))
    run(raw.ReadFile(filename=run.path("none")))
    run(raw.WriteFile(filename=run.path("deep"), contents="a folder"))
    run(*(raw.WriteFile(filename=run.path(name), contents="") for name in ("b1", "b2", "c")))
    for pattern in ("b*", "*", "none*", "[bc]?", "deep/*"):
        run(raw.MatchingFiles(pattern=run.path(pattern)))
    run(raw.MatchingFiles(pattern=[run.path("b1"), run.path("c*")]))
    run(raw.ShardedFilename(basename="base", shard=3, num_shards=17), raw.ShardedFilespec(basename="base", num_shards=17))
    run(raw.ReadFile(filename=[path, path]))


@scenario
def checkpoints(tf: Any, raw: Any, run: Run) -> None:
    a, b = np.float32([[1, 2, 3], [4, 5, 6]]), np.array(["x", "yy"], "O")
    names = {"tensor_names": ["a", "b"], "shape_and_slices": ["", ""]}
    run(raw.SaveV2(prefix=run.path("one"), **names, tensors=[a, b]))
    run(lambda: raw.RestoreV2(prefix=run.path("one"), **names, dtypes=[tf.float32, tf.string]))
    run(lambda: raw.RestoreV2(prefix=run.path("one"), tensor_names=["a"], shape_and_slices=["2 3 1,1:0,2"], dtypes=[tf.float32]))
    run(lambda: raw.RestoreV2(prefix=run.path("one"), tensor_names=["c"], shape_and_slices=[""], dtypes=[tf.float32]))
    run(lambda: raw.RestoreV2(prefix=run.path("one"), tensor_names=["a"], shape_and_slices=[""], dtypes=[tf.int32]))
    run(lambda: raw.RestoreV2(prefix=run.path("none"), **names, dtypes=[tf.float32, tf.string]))
    run(lambda: raw.SaveV2(prefix=run.path("bad"), tensor_names=["a"], shape_and_slices=["", ""], tensors=[a]))
    parts = [run.path("p0"), run.path("p1")]
    for i, p in enumerate(parts):
        run(raw.SaveV2(prefix=p, tensor_names=["v"], shape_and_slices=[f"4 3 {2 * i},2:-"], tensors=[a + 10 * i]))
    run(raw.MergeV2Checkpoints(checkpoint_prefixes=parts, destination_prefix=run.path("all"), delete_old_dirs=False))
    run(lambda: raw.RestoreV2(prefix=run.path("all"), tensor_names=["v"], shape_and_slices=[""], dtypes=[tf.float32]))
    run(raw.MergeV2Checkpoints(checkpoint_prefixes=[run.path("none")], destination_prefix=run.path("not")))


@scenario
def summaries(tf: Any, raw: Any, run: Run) -> None:
    one = raw.ScalarSummary(tags=["a", "b"], values=[1.0, 2.5])
    two = raw.HistogramSummary(tag="h", values=[1.0, 2.0, 2.0, -3.0, 0.0])
    run(one)
    run(two)
    run(raw.MergeSummary(inputs=[one, two]))
    run(raw.MergeSummary(inputs=[one, one]))
    run(raw.ScalarSummary(tags=["a"], values=[1.0, 2.0]))
    run(raw.HistogramSummary(tag="h", values=[np.float32(np.nan)]))
    run(raw.TensorSummary(tensor=[1, 2], description="d", labels=["l"], display_name="n"))
    run(raw.TensorSummaryV2(tag="t", tensor=[[1.0]], serialized_summary_metadata=b""))
    run(raw.TensorSummaryV2(tag="t", tensor=["x"], serialized_summary_metadata=b""))
    sound = np.float32([[[0.0], [0.5], [-0.5], [1.0]]])
    run(raw.AudioSummaryV2(tag="s", tensor=sound, sample_rate=8000.0))
    run(raw.AudioSummaryV2(tag="s", tensor=sound[..., 0], sample_rate=8000.0, max_outputs=1))
    run(raw.AudioSummaryV2(tag="s", tensor=sound, sample_rate=0.0))
    run(raw.ImageSummary(tag="i", tensor=np.zeros((2, 2), np.float32)))


@scenario
def summary_of_a_picture(tf: Any, raw: Any, run: Run) -> None:
    """The pixels come back; how PNG packs them is no one's concern."""
    for pixels in (np.uint8(np.arange(24).reshape(2, 3, 4)[None]), np.float32([[[[0.5], [1.0]], [[0.0], [np.nan]]]]), np.float32([[[[-1.0], [2.0]]]])):
        made = run.values(raw.ImageSummary(tag="i", tensor=pixels, max_images=2))[0]
        head, mark, png = made.partition(b"\x89PNG")
        run.note(head[-1:])
        run(raw.DecodePng(contents=mark + png, channels=0))


@scenario
def serialised(tf: Any, raw: Any, run: Run) -> None:
    for x in (np.float32([[1, 2]]), np.int64(7), np.array(["a", "bc"], "O"), np.zeros((0, 2), np.uint8), np.array([True, False])):
        text = raw.SerializeTensor(tensor=x)
        run(text)
        run(raw.ParseTensor(serialized=text, out_type=tf.as_dtype(x.dtype) if x.dtype != object else tf.string))
        run(raw.ParseTensor(serialized=text, out_type=tf.int8))
    run(raw.ParseTensor(serialized="\xff nonsense", out_type=tf.int8))


@scenario
def serialised_sparse(tf: Any, raw: Any, run: Run) -> None:
    at, values, shape = np.int64([[0, 1], [2, 0]]), np.float32([5, 6]), np.int64([3, 2])
    given = {"sparse_indices": at, "sparse_values": values, "sparse_shape": shape}
    one, many = raw.SerializeSparse(**given), raw.SerializeManySparse(**given)
    run(one, many)
    run(*raw.DeserializeSparse(serialized_sparse=one, dtype=tf.float32))
    run(*raw.DeserializeSparse(serialized_sparse=tf.stack([one, one]), dtype=tf.float32))
    run(*raw.DeserializeManySparse(serialized_sparse=tf.stack([one, one]), dtype=tf.float32))
    run(*raw.DeserializeManySparse(serialized_sparse=many, dtype=tf.float32))
    run(*raw.DeserializeSparse(serialized_sparse=one, dtype=tf.int32))
    run(*raw.DeserializeSparse(serialized_sparse=raw.SerializeSparse(**given, out_type=tf.variant), dtype=tf.float32))
    run(*raw.DeserializeSparse(serialized_sparse=raw.SerializeManySparse(**given, out_type=tf.variant), dtype=tf.float32))
    run(*raw.DeserializeManySparse(serialized_sparse=[["a", "b", "c"]], dtype=tf.float32))


@scenario
def compressed(tf: Any, raw: Any, run: Run) -> None:
    text = b"some text " * 30
    deflate = zlib.compressobj(wbits=-15)
    packed = {"ZLIB": zlib.compress(text), "GZIP": zlib.compressobj(wbits=31), "": text, "RAW": deflate}
    packed["GZIP"] = packed["GZIP"].compress(text) + packed["GZIP"].flush()
    for kind in ("ZLIB", "GZIP", ""):
        run(raw.DecodeCompressed(bytes=[packed[kind]], compression_type=kind))
        run(raw.DecodeCompressed(bytes=[b"not " + packed[kind]], compression_type=kind))
    run(raw.DecodeCompressed(bytes=[text], compression_type="LZW"))


def _varint(n: int) -> bytes:
    return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + _varint(n >> 7)


def _field(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _feature(*values: Any) -> bytes:
    if not values:
        return b""
    if isinstance(values[0], bytes):
        return _field(1, b"".join(_field(1, v) for v in values))
    if isinstance(values[0], float):
        return _field(2, _field(1, np.float32(values).tobytes()))
    return _field(3, _field(1, b"".join(_varint(v) for v in values)))


def _features(table: dict[str, Any]) -> bytes:
    return b"".join(_field(1, _field(1, key.encode()) + _field(2, _feature(*values))) for key, values in table.items())


def _lists(table: dict[str, Any]) -> bytes:
    return b"".join(_field(1, _field(1, key.encode()) + _field(2, b"".join(_field(1, _feature(*v)) for v in values))) for key, values in table.items())


def _example(**table: Any) -> bytes:
    return _field(1, _features(table))


def _sequence(context: dict[str, Any], lists: dict[str, Any]) -> bytes:
    return _field(1, _features(context)) + _field(2, _lists(lists))


EXAMPLES = [_example(d=[1.0, 2.0], s=[5, 6, 7], r=[b"a"]), _example(d=[3.0, 4.0]), _example(s=[8], r=[b"b", b"c"])]
BAD = {"short": _example(d=[1.0]), "type": _example(d=[1, 2]), "nonsense": b"text"}


def _examples(given: list[bytes], default: Any = (9.0, 9.0)) -> Any:
    def build(tf: Any, raw: Any, run: Run) -> None:
        d = np.float32(default)
        run(raw.ParseExample(
            serialized=given, names=["n"] * len(given), sparse_keys=["s"], dense_keys=["d"], dense_defaults=[d], sparse_types=[tf.int64], dense_shapes=[[2]]))
        run(raw.ParseExampleV2(
            serialized=given, names=[], sparse_keys=["s"], dense_keys=["d"], ragged_keys=["r"], dense_defaults=[d], num_sparse=1, sparse_types=[tf.int64],
            ragged_value_types=[tf.string], ragged_split_types=[tf.int64], dense_shapes=[[2]]))
        for one in given:
            run(raw.ParseSingleExample(
                serialized=one, dense_defaults=[d], num_sparse=1, sparse_keys=["s"], dense_keys=["d"], sparse_types=[tf.int64], dense_shapes=[[2]]))

    return build


rows("examples_", {"whole": _examples(EXAMPLES), "without_default": _examples(EXAMPLES, ()), **{k: _examples([v]) for k, v in BAD.items()}})

SEQUENCES = [
    _sequence({"cs": [1, 2], "cd": [1.5]}, {"fs": [[b"a"], [b"b", b"c"]], "fd": [[1.0, 2.0], [3.0, 4.0]]}),
    _sequence({"cd": [2.5]}, {"fd": [[5.0, 6.0]]}),
]
WRONG = {
    "without_a_list": _sequence({"cd": [2.5]}, {}), "without_a_value": _sequence({}, {"fd": [[5.0, 6.0]]}),
    "of_another_length": _sequence({"cd": [2.5]}, {"fd": [[5.0]]}),
}


def _sequences(given: list[bytes]) -> Any:
    def build(tf: Any, raw: Any, run: Run) -> None:
        none = np.float32([])
        attrs: dict[str, Any] = {
            "context_sparse_types": [tf.int64], "feature_list_dense_types": [tf.float32], "context_dense_shapes": [[1]],
            "feature_list_sparse_types": [tf.string], "feature_list_dense_shapes": [[2]]}
        counts = {"Ncontext_sparse": 1, "Nfeature_list_sparse": 1, "Nfeature_list_dense": 1}
        run(raw.ParseSequenceExample(
            serialized=given, debug_name=[], context_dense_defaults=[none], feature_list_dense_missing_assumed_empty=[], context_sparse_keys=["cs"],
            context_dense_keys=["cd"], feature_list_sparse_keys=["fs"], feature_list_dense_keys=["fd"], Ncontext_dense=1, **counts, **attrs))
        run(raw.ParseSequenceExampleV2(
            serialized=given, debug_name=[], context_sparse_keys=["cs"], context_dense_keys=["cd"], context_ragged_keys=np.array([], "S"),
            feature_list_sparse_keys=["fs"], feature_list_dense_keys=["fd"], feature_list_ragged_keys=["fr"], feature_list_dense_missing_assumed_empty=[False],
            context_dense_defaults=[none], feature_list_ragged_value_types=[tf.string], feature_list_ragged_split_types=[tf.int32], **counts, **attrs))
        for one in given:
            run(raw.ParseSingleSequenceExample(
                serialized=one, feature_list_dense_missing_assumed_empty=np.array([], "S"), context_sparse_keys=["cs"], context_dense_keys=["cd"],
                feature_list_sparse_keys=["fs"], feature_list_dense_keys=["fd"], context_dense_defaults=[none], debug_name="name", **attrs))

    return build


rows("sequences_", {"whole": _sequences(SEQUENCES), **{k: _sequences([v]) for k, v in WRONG.items()}})


@scenario
def boxes_drawn(tf: Any, raw: Any, run: Run) -> None:
    box = np.float32([[[0.1, 0.2, 0.8, 0.9], [0.0, 0.0, 0.3, 0.3]]])
    size = np.int32([40, 60, 3])
    one = raw.SampleDistortedBoundingBox(image_size=size, bounding_boxes=box, seed=3, seed2=5)
    two = raw.SampleDistortedBoundingBoxV2(image_size=size, bounding_boxes=box, min_object_covered=0.5, seed=3, seed2=5)
    for _ in range(3):
        run(*one, *two)
    run(*raw.SampleDistortedBoundingBoxV2(image_size=size, bounding_boxes=np.zeros((0, 0, 4), np.float32), min_object_covered=0.5, seed=1, seed2=2))
    run(*raw.SampleDistortedBoundingBox(image_size=size, bounding_boxes=np.zeros((0, 0, 4), np.float32), seed=1, seed2=2, use_image_if_no_bounding_boxes=True))
    run(*raw.SampleDistortedBoundingBox(image_size=size, bounding_boxes=box + 5, seed=1, seed2=2))


@scenario
def time_passes(tf: Any, raw: Any, run: Run) -> None:
    now = raw.Timestamp()
    run(tf.greater(now, 1.6e9), tf.shape(now))
