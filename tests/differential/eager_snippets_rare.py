"""Eager snippets: rarer functions (quantized numbers, beams, pools, glimpses, sequences of examples)."""

import numpy as np

from snippet import Table

snippet = Table()


def _logits(tf):
    return tf.constant(np.random.RandomState(0).randn(5, 2, 4).astype(np.float32))


def _picture(tf):
    return tf.constant(np.random.RandomState(1).rand(1, 5, 6, 2).astype(np.float32))


def _example(tf):
    numbers = lambda *v: tf.train.Feature(int64_list=tf.train.Int64List(value=v))
    reals = lambda *v: tf.train.Feature(float_list=tf.train.FloatList(value=v))
    lists = {"words": [numbers(1, 2), numbers(), numbers(7)], "marks": [reals(0.5, 1.5), reals(2.5, 3.5)]}
    return tf.train.SequenceExample(
        context=tf.train.Features(feature={"id": numbers(9), "tags": numbers(4, 5)}),
        feature_lists=tf.train.FeatureLists(feature_list={k: tf.train.FeatureList(feature=v) for k, v in lists.items()}),
    ).SerializeToString()


def _wanted(tf):
    context = {"id": tf.io.FixedLenFeature([], tf.int64), "tags": tf.io.VarLenFeature(tf.int64), "none": tf.io.FixedLenFeature([2], tf.float32, [1.0, 2.0])}
    lists = {
        "words": tf.io.VarLenFeature(tf.int64), "marks": tf.io.FixedLenSequenceFeature([2], tf.float32),
        "lack": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
    }
    return context, lists


def _dense(tf, found):
    return {k: tf.sparse.to_dense(v) if isinstance(v, tf.SparseTensor) else v for k, v in found.items()}


def _beams(tf, **how):
    decoded, chances = tf.nn.ctc_beam_search_decoder(_logits(tf), [5, 3], **how)
    return [tf.sparse.to_dense(d, -1) for d in decoded], chances


def _single(tf):
    return [_dense(tf, f) for f in tf.io.parse_single_sequence_example(_example(tf), *_wanted(tf))]


def _several(tf):
    short = tf.train.SequenceExample().SerializeToString()
    context, lists = _wanted(tf)
    del context["id"], lists["marks"]
    found = tf.io.parse_sequence_example([_example(tf), short], context, lists)
    return [_dense(tf, f) for f in found]


def _section(tf):
    section, v = tf.CriticalSection(), tf.Variable(1.0)

    def more():
        v.assign_add(2.0)
        return v.read_value()

    return [section.execute(more) for _ in range(2)]


def _nested_failure(tf):
    section = tf.CriticalSection()

    def fails():
        raise KeyError("inside")

    try:
        section.execute(fails)
    except KeyError:
        pass
    return section.execute(lambda: tf.constant(3))


def _map(tf):
    ops, m = tf.raw_ops, tf.raw_ops.EmptyTensorMap()
    for key, value in ((1, [1.0, 2.0]), (7, 3.0), (1, 5.0)):
        m = ops.TensorMapInsert(input_handle=m, key=key, value=value)
    return m


def _of_map(tf):
    ops, m = tf.raw_ops, _map(tf)
    smaller = ops.TensorMapErase(input_handle=m, key=7, value_dtype=tf.float32)
    return [
        ops.TensorMapSize(input_handle=m), ops.TensorMapSize(input_handle=smaller), ops.TensorMapLookup(input_handle=m, key=1, value_dtype=tf.float32),
        ops.TensorMapHasKey(input_handle=m, key=7), ops.TensorMapHasKey(input_handle=smaller, key=7),
        tf.sort(ops.TensorMapStackKeys(input_handle=m, key_dtype=tf.int32)),
    ]


snippet.one_liners(
    "rare",
    [
        ("which_version", lambda tf: tf.constant([int(tf.__version__.split(".")[0]), tf.__version__ == tf.version.VERSION])),
        ("map", _of_map),
        ("quantize", lambda tf: tf.cast(tf.quantization.quantize([-1.0, 0.3, 2.0], -1.0, 2.0, tf.quint8)[0], tf.int32)),
        ("quantize_scaled", lambda tf: tf.quantization.quantize([-1.0, 0.3, 2.0], -1.0, 2.0, tf.qint8, "SCALED")[1:]),
        ("dequantize", lambda tf: tf.quantization.dequantize(tf.quantization.quantize([-1.0, 0.3, 2.0], -1.0, 2.0, tf.qint8)[0], -1.0, 2.0)),
        ("beams", lambda tf: _beams(tf, beam_width=8, top_paths=3)),
        ("fractional_max_pool", lambda tf: tf.nn.fractional_max_pool(_picture(tf), [1.0, 1.5, 2.0, 1.0], seed=5)[1:]),
        ("fractional_avg_pool", lambda tf: tf.nn.fractional_avg_pool(_picture(tf), [1.0, 1.4, 1.4, 1.0], True, True, seed=9)),
        ("glimpse", lambda tf: tf.image.extract_glimpse(_picture(tf), [2, 3], [[0.1, -0.2]])),
        ("glimpse_outside", lambda tf: tf.image.extract_glimpse(_picture(tf), [2, 3], [[0.9, 0.9]], noise="zero")),
        ("no_files", lambda tf: tf.io.matching_files("/no/such/*.file")),
        ("sequence_example", _single),
        ("sequence_examples", _several),
        ("critical_section", _section),
        ("critical_section_after_failure", _nested_failure),
        ("ragged_fill", lambda tf: tf.raw_ops.RaggedFillEmptyRows(value_rowids=tf.constant([0, 0, 2], tf.int64), values=[1.0, 2.0, 3.0], nrows=tf.constant(4, tf.int64), default_value=9.0)),
        ("true_of_nothing", lambda tf: tf.raw_ops.ToBool(input=tf.zeros([0]))),
        ("device_index", lambda tf: tf.raw_ops.DeviceIndex(device_names=["GPU", "CPU"])),
        ("fake_param", lambda tf: tf.shape(tf.raw_ops.FakeParam(dtype=tf.float32, shape=[2, 3]))),
        ("bytes_product", lambda tf: tf.raw_ops.BatchMatMulV3(x=tf.constant([[1, 2]], tf.int8), y=tf.constant([[3], [4]], tf.int8), Tout=tf.int32)),
    ],
)

def _summaries(tf):
    histogram = tf.compat.v1.HistogramProto
    return histogram.DESCRIPTOR.full_name, [h.SerializeToString() for h in (histogram(bucket=[1, 2, 3], min=0.5), histogram(bucket=[7]), histogram())]


snippet.one_liners(
    "proto",
    [
        ("numbers", lambda tf: tuple(tf.io.decode_proto(_summaries(tf)[1], _summaries(tf)[0], ["bucket", "min", "max"], [tf.double] * 3))),
        ("of_tensorflow", lambda tf: tuple(tf.io.decode_proto([_summaries(tf)[1]], "tensorflow.HistogramProto", ["bucket"], [tf.double]))),
        ("of_text", lambda tf: tuple(tf.io.decode_proto(["min: 3 bucket: 4 bucket: 5"], _summaries(tf)[0], ["bucket"], [tf.double], message_format="text"))),
        (
            "written",
            lambda tf: tf.io.encode_proto(
                [[2, 0], [1, 1]], [tf.constant([[1.0, 2.0], [3.0, 4.0]], tf.double), tf.constant([[9.0], [8.0]], tf.double)], ["bucket", "min"], _summaries(tf)[0]
            ),
        ),
    ],
)


snippet.put("refused_proto_cut_off", lambda tf: tf.io.decode_proto([b"\x32\x01\xff"], _summaries(tf)[0], ["bucket_limit"], [tf.double]))


def _json(*features):
    return '{"features": {"feature": {%s}}}' % ", ".join(features)


snippet.one_liners(
    "json_example",
    [
        (name, lambda tf, text=text: tf.io.decode_json_example(text))
        for name, text in [
            ("in_order", _json('"b": {"floatList": {"value": [1.5, 2]}}', '"a": {"int64List": {"value": ["7", 300]}}')),
            ("texts", [_json('"a": {"bytesList": {"value": ["YWI=", "Yw=="]}}'), "{}"]),
            ("empty", _json('"a": {"floatList": {"value": []}}', '"c": {}')),
        ]
    ],
)


@snippet
def hue_of_integers(tf):
    image = tf.reshape(tf.range(1, 19), [3, 2, 3])
    return [tf.image.adjust_hue(image, 0.2), tf.image.adjust_hue(image, -0.45), tf.image.adjust_hue(tf.cast(image, tf.uint8) * 13, 0.7)]


@snippet
def trackable_resource(tf):
    class Shared(tf.saved_model.experimental.TrackableResource):
        def __init__(self):
            super().__init__()
            self._initialize()

        def _create_resource(self):
            return tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[2], shared_name="trackable_resource")

        def _initialize(self):
            tf.raw_ops.AssignVariableOp(resource=self.resource_handle, value=tf.ones([2]))

        def _destroy_resource(self):
            tf.raw_ops.DestroyResourceOp(resource=self.resource_handle)

    shared = Shared()
    tf.raw_ops.AssignAddVariableOp(resource=shared.resource_handle, value=[1.0, 2.0])
    return tf.raw_ops.ReadVariableOp(resource=shared.resource_handle, dtype=tf.float32)


snippet.one_liners(
    "refused_rare",
    [
        ("gradient_of_two_sizes", lambda tf: tf.raw_ops.TanhGrad(y=tf.ones([]), dy=tf.ones([4]))),
        ("map_no_key", lambda tf: tf.raw_ops.TensorMapLookup(input_handle=_map(tf), key=9, value_dtype=tf.float32)),
        ("map_no_such_type", lambda tf: tf.raw_ops.TensorMapLookup(input_handle=_map(tf), key=7, value_dtype=tf.int32)),
        ("beams_too_many", lambda tf: _beams(tf, beam_width=2, top_paths=3)),
        ("fractional_ratio_of_one_number", lambda tf: tf.nn.fractional_avg_pool(_picture(tf), 1.4, True, True, seed=9)),
        ("sequence_example_nothing", lambda tf: tf.io.parse_single_sequence_example("")),
        ("sequence_example_missing", lambda tf: tf.io.parse_single_sequence_example(_example(tf), None, {"no": tf.io.FixedLenSequenceFeature([], tf.int64)})),
        ("removed_cholesky", lambda tf: tf.raw_ops.BatchCholesky(input=tf.eye(2))),
        ("removed_eigenvalues", lambda tf: tf.raw_ops.SelfAdjointEig(input=tf.eye(2))),
        ("removed_array", lambda tf: tf.raw_ops.TensorArrayV2(size=1, dtype=tf.float32)),
    ],
)
