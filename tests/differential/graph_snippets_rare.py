"""Graph snippets: rarer functions (accumulators, critical sections, quantized numbers, sequences of examples)."""

import numpy as np

from snippet import Steps, Table

snippet = Table()


def _logits(tf):
    return tf.constant(np.random.RandomState(0).randn(5, 2, 4).astype(np.float32))


def _picture(tf):
    return tf.constant(np.random.RandomState(1).rand(1, 5, 6, 2).astype(np.float32))


def _example(tf):
    numbers = lambda *v: tf.train.Feature(int64_list=tf.train.Int64List(value=v))
    lists = {"words": [numbers(1, 2), numbers(), numbers(7)], "marks": [numbers(3), numbers(4)]}
    return tf.train.SequenceExample(
        context=tf.train.Features(feature={"id": numbers(9), "tags": numbers(4, 5)}),
        feature_lists=tf.train.FeatureLists(feature_list={k: tf.train.FeatureList(feature=v) for k, v in lists.items()}),
    ).SerializeToString()


def _sequence(tf):
    context = {"id": tf.FixedLenFeature([], tf.int64), "tags": tf.VarLenFeature(tf.int64)}
    lists = {"words": tf.VarLenFeature(tf.int64), "marks": tf.FixedLenSequenceFeature([], tf.int64)}
    first, second = tf.parse_single_sequence_example(_example(tf), context, lists)
    return [first["id"], first["tags"].values, second["words"].indices, second["words"].dense_shape, second["marks"]]


def _mean(tf, kind="MEAN"):
    a = tf.ConditionalAccumulator(tf.float32, shape=[2], reduction_type=kind)
    first, second = a.apply_grad([1.0, 2.0], 0), a.apply_grad([3.0, 5.0], 0)
    return Steps([first, second, a.num_accumulated(), a.take_grad(2), first, a.num_accumulated(), a.set_global_step(0), first, a.num_accumulated()])


def _rows(tf):
    a = tf.SparseConditionalAccumulator(tf.float32, shape=[9, 1])
    first, second = a.apply_grad([4, 1], [[1.0], [2.0]]), a.apply_grad([4], [[5.0]])
    return Steps([first, second, list(a.take_grad(2))])


def _section(tf):
    v = tf.get_variable("v", [], initializer=tf.zeros_initializer(), use_resource=True)
    section = tf.CriticalSection(name="section")

    def more():
        with tf.control_dependencies([v.assign_add(1.0)]):
            return v.read_value()

    both = [section.execute(more) for _ in range(2)]
    return Steps([tf.add_n(both), v.read_value()])


def _beams(tf):
    decoded, chances = tf.nn.ctc_beam_search_decoder(_logits(tf), [5, 3], beam_width=8, top_paths=2)
    return [d.values for d in decoded] + [chances]


def _pool_gradient(tf, pool):
    x = _picture(tf)
    return tf.gradients(pool(x, [1.0, 1.5, 2.0, 1.0], deterministic=True, seed=5, seed2=7)[0], [x])


def _lstm_gradient(tf):
    rng = np.random.RandomState(3)
    v = lambda *shape: tf.constant(rng.randn(*shape).astype(np.float32))
    x, cs, h, w, b = v(3, 2, 3), v(2, 4), v(2, 4), v(7, 16), v(16)
    zeros = tf.zeros([4])
    out = tf.raw_ops.BlockLSTM(seq_len_max=tf.constant(3, tf.int64), x=x, cs_prev=cs, h_prev=h, w=w, wci=zeros, wcf=zeros, wco=zeros, b=b)
    return tf.gradients(out.h, [x, cs, h, w, b])


snippet.one_liners(
    "rare",
    [
        ("mean", _mean),
        ("sum", lambda tf: _mean(tf, "SUM")),
        ("rows", _rows),
        ("critical_section", _section),
        ("sequence_example", _sequence),
        ("quantize", lambda tf: list(tf.quantize_v2([-1.0, 0.3, 2.0], -1.0, 2.0, tf.quint8))[1:]),
        ("dequantize", lambda tf: tf.dequantize(tf.quantize([-1.0, 0.3, 2.0], -1.0, 2.0, tf.qint8)[0], -1.0, 2.0)),
        ("beams", _beams),
        ("fractional_max_pool", lambda tf: list(tf.nn.fractional_max_pool(_picture(tf), [1.0, 1.5, 2.0, 1.0], deterministic=True, seed=5, seed2=7))),
        ("fractional_max_gradient", lambda tf: _pool_gradient(tf, tf.nn.fractional_max_pool)),
        ("fractional_avg_gradient", lambda tf: _pool_gradient(tf, tf.nn.fractional_avg_pool)),
        ("lstm_gradient", _lstm_gradient),
        ("glimpse", lambda tf: tf.image.extract_glimpse(_picture(tf), [2, 3], [[0.1, -0.2]])),
        ("no_files", lambda tf: tf.matching_files("/no/such/*.file")),
    ],
    nodes=False,
)

snippet.one_liners("refused_rare", [("removed", lambda tf: tf.raw_ops.BatchMatrixInverse(input=tf.eye(2)))])
