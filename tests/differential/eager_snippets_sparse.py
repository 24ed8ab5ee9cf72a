"""Eager snippets: sparse tensors, what counts and crosses them, sequences; each also within a function."""

import numpy as np

from snippet import Table

snippet = Table()


def _a(tf):
    return tf.SparseTensor([[0, 1], [1, 0], [1, 2]], [3.0, 1.0, -2.0], [3, 4])


def _b(tf):
    return tf.SparseTensor([[0, 1], [2, 3]], [10.0, 20.0], [3, 4])


def _disordered(tf):
    return tf.SparseTensor([[1, 2], [0, 1], [1, 0]], [3.0, 1.0, -2.0], [3, 4])


def _whole(tf):
    return tf.SparseTensor([[0, 1], [1, 0], [1, 2]], [3, 1, 2], [3, 4])


def _none(tf):
    return tf.SparseTensor(np.zeros((0, 2), np.int64), np.zeros(0, np.float32), [3, 4])


def _words(tf):
    return tf.SparseTensor([[0, 0], [1, 1]], ["x", "yy"], [2, 2])


def _dense(tf):
    return tf.reshape(tf.range(12.0), [3, 4])


def _small(tf):
    return tf.SparseTensor([[0, 0]], [1.0], [2, 2])


def _bags(tf):
    ids = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [1, 3, 0], [3, 2])
    return tf.reshape(tf.range(12.0), [4, 3]), ids, ids.with_values(tf.constant([1.0, 2.0, 0.5]))


def _scores(tf):
    return tf.constant(np.random.RandomState(0).randn(5, 2, 4).astype(np.float32))


def _letters(tf):
    return tf.SparseTensor([[0, 0], [0, 1], [1, 0]], ["a", "b", "c"], [2, 2]), tf.SparseTensor([[0, 0], [1, 0], [1, 1]], ["a", "c", "d"], [2, 2])


def _rows(tf):
    return tf.ragged.constant([[1, 2, 2], [], [0]])


def _parts(*ragged):
    return [part for rows in ragged for part in (rows.flat_values, *rows.nested_row_splits)]


CASES = {
    "add": lambda tf: tf.sparse.add(_a(tf), _b(tf)),
    "add_threshold": lambda tf: tf.sparse.add(_a(tf), _b(tf), threshold=15.0),
    "add_dense": lambda tf: tf.sparse.add(_a(tf), _dense(tf)),
    "add_to_dense": lambda tf: tf.sparse.add(_dense(tf), _a(tf)),
    "add_nothing": lambda tf: tf.sparse.add(_a(tf), _none(tf)),
    "concat": lambda tf: tf.sparse.concat(0, [_a(tf), _b(tf)]),
    "concat_columns": lambda tf: tf.sparse.concat(1, [_a(tf), _b(tf)]),
    "concat_disordered": lambda tf: tf.sparse.concat(-1, [_a(tf), _disordered(tf)]),
    "concat_expanding": lambda tf: tf.sparse.concat(0, [_a(tf), tf.SparseTensor([[0, 0]], [1.0], [1, 6])], expand_nonconcat_dims=True),
    "expand_dims": lambda tf: [tf.sparse.expand_dims(_a(tf), axis) for axis in (None, 0, -2)],
    "eye": lambda tf: [tf.sparse.eye(3), tf.sparse.eye(2, 4, dtype=tf.int32)],
    "fill_empty_rows": lambda tf: [*tf.sparse.fill_empty_rows(_a(tf), 7.0), *tf.sparse.fill_empty_rows(_none(tf), 7.0), *tf.sparse.fill_empty_rows(_words(tf), "d")],
    "from_dense": lambda tf: [tf.sparse.from_dense(v) for v in ([[0, 1], [2, 0]], ["", "a"], [True, False])],
    "maximum": lambda tf: [tf.sparse.maximum(_a(tf), _b(tf)), tf.sparse.minimum(_a(tf), _b(tf))],
    "reduce_sum": lambda tf: [tf.sparse.reduce_sum(_a(tf)), tf.sparse.reduce_sum(_a(tf), 0), tf.sparse.reduce_sum(_a(tf), [1], keepdims=True)],
    "reduce_sum_of_nothing": lambda tf: tf.sparse.reduce_sum(_none(tf), 1),
    "reduce_sum_sparse": lambda tf: tf.sparse.reduce_sum(_a(tf), 1, output_is_sparse=True),
    "reduce_max": lambda tf: [tf.sparse.reduce_max(_a(tf), 1), tf.sparse.reduce_max(_a(tf)), tf.sparse.reduce_max(_whole(tf), 0, keepdims=True)],
    "reduce_max_sparse": lambda tf: tf.sparse.reduce_max(_a(tf), 0, output_is_sparse=True),
    "reorder": lambda tf: [tf.sparse.reorder(_disordered(tf)), tf.sparse.reorder(_none(tf))],
    "reset_shape": lambda tf: [tf.sparse.reset_shape(_a(tf)), tf.sparse.reset_shape(_a(tf), [5, 5]), tf.sparse.reset_shape(_none(tf))],
    "reshape": lambda tf: [tf.sparse.reshape(_a(tf), s) for s in ([4, 3], [-1], [2, -1, 3])],
    "retain": lambda tf: [tf.sparse.retain(_a(tf), [True, False, True]), tf.sparse.retain(_a(tf), _a(tf).values > 0)],
    "slice": lambda tf: [tf.sparse.slice(_a(tf), [0, 1], [2, 2]), tf.sparse.slice(_a(tf), [2, 2], [9, 9])],
    "softmax": lambda tf: [tf.sparse.softmax(_a(tf)), tf.sparse.softmax(tf.sparse.reshape(_a(tf), [1, 3, 4]))],
    "split": lambda tf: [*tf.sparse.split(sp_input=_a(tf), num_split=2, axis=1), *tf.sparse.split(sp_input=_a(tf), num_split=2, axis=0)],
    "matmul": lambda tf: [tf.sparse.sparse_dense_matmul(_a(tf), tf.ones([4, 2])), tf.sparse.sparse_dense_matmul(_a(tf), tf.ones([3, 2]), adjoint_a=True)],
    "matmul_from_left": lambda tf: tf.sparse.sparse_dense_matmul(tf.ones([2, 3]), _a(tf)),
    "matmul_adjoint": lambda tf: tf.sparse.sparse_dense_matmul(_a(tf), tf.ones([2, 4]), adjoint_b=True),
    "to_dense": lambda tf: [tf.sparse.to_dense(_a(tf)), tf.sparse.to_dense(_a(tf), -1.0), tf.sparse.to_dense(_disordered(tf), validate_indices=False), tf.sparse.to_dense(_words(tf))],
    "to_indicator": lambda tf: tf.sparse.to_indicator(_whole(tf), 5),
    "transpose": lambda tf: [tf.sparse.transpose(_a(tf)), tf.sparse.transpose(_a(tf), [0, 1]), tf.sparse.transpose(tf.sparse.reshape(_a(tf), [1, 3, 4]), [2, 0, 1])],
    "map_values": lambda tf: [tf.sparse.map_values(tf.abs, _a(tf)), tf.sparse.map_values(tf.add, _a(tf), _a(tf)), tf.sparse.map_values(tf.add, _a(tf), 5.0)],
    "times": lambda tf: [_a(tf) * 2.0, _a(tf) * _dense(tf), tf.constant(2.0) * _a(tf), _a(tf) / 2.0, _whole(tf) / 2],
    "bincount": lambda tf: [tf.sparse.bincount(v, axis=axis) for v in ([[1, 1], [3, 0]], _whole(tf), _rows(tf)) for axis in (0, -1)],
    "bincount_within": lambda tf: [tf.sparse.bincount([[1, 1], [3, 0]], axis=-1, **how) for how in ({"minlength": 6}, {"maxlength": 2}, {"binary_output": True})],
    "bincount_weights": lambda tf: [tf.sparse.bincount([1, 1, 2], weights=[0.5, 1.0, 2.0]), tf.sparse.bincount(_whole(tf), weights=_a(tf), axis=-1)],
    "cross_of_rows": lambda tf: _parts(tf.ragged.cross([_rows(tf), [["a"], ["b"], ["c"]]]), tf.ragged.cross_hashed([_rows(tf), [["a"], ["b"], ["c"]]], num_buckets=100)),
    "cross": lambda tf: [tf.sparse.cross([_words(tf), tf.constant([[1, 2], [3, 4]])]), tf.sparse.cross([_words(tf), _words(tf)], separator="-")],
    "edit_distance": lambda tf: [tf.edit_distance(*_letters(tf)), tf.edit_distance(*_letters(tf), normalize=False)],
    "isotonic": lambda tf: [*tf.nn.isotonic_regression([[3.0, 1.0, 2.0], [1.0, 2.0, 3.0]]), *tf.nn.isotonic_regression([3, 1, 2])],
    "isotonic_rising": lambda tf: [*tf.nn.isotonic_regression([[3.0, 1.0, 2.0], [1.0, 2.0, 3.0]], decreasing=False)],
    "isotonic_columns": lambda tf: [*tf.nn.isotonic_regression([[3.0, 1.0, 2.0], [1.0, 2.0, 3.0]], axis=0)],
    "greedy_labels": lambda tf: tf.nn.ctc_greedy_decoder(_scores(tf), [5, 3]),
    "greedy_labels_unmerged": lambda tf: tf.nn.ctc_greedy_decoder(_scores(tf), [5, 3], merge_repeated=False, blank_index=0),
    "bags": lambda tf: [tf.nn.embedding_lookup_sparse(_bags(tf)[0], *bag, combiner=how) for how in ("mean", "sum", "sqrtn") for bag in (_bags(tf)[1:], (_bags(tf)[1], None))],
    "bags_of_rows": lambda tf: tf.nn.embedding_lookup_sparse(_bags(tf)[0], tf.cast(_rows(tf), tf.int64), None),
    "safe_bags": lambda tf: [tf.nn.safe_embedding_lookup_sparse(*_bags(tf), combiner=how) for how in ("mean", "sum", "sqrtn")],
    "safe_bags_default": lambda tf: tf.nn.safe_embedding_lookup_sparse(*_bags(tf)[:2], default_id=2),
    "boxes": lambda tf: tf.image.draw_bounding_boxes(tf.ones([1, 6, 7, 3]), [[[0.1, 0.2, 0.6, 0.8], [0.5, -0.2, 1.3, 0.4]]], None),
    "boxes_in_colours": lambda tf: tf.image.draw_bounding_boxes(tf.zeros([1, 6, 7, 3]), [[[0.1, 0.2, 0.6, 0.8]]], [[0.25, 0.5, 1.0]]),
    "ngrams": lambda tf: _parts(*(tf.strings.ngrams(tf.ragged.constant([["a", "b", "c"], [], ["d"]]), w, **how) for w in (2, [1, 3]) for how in ({}, {"pad_values": ("L", "R")}, {"preserve_short_sequences": True}))),
    "ngrams_padded": lambda tf: [tf.strings.ngrams(["a", "b", "c"], 3, pad_values="x", padding_width=n) for n in (1, 5)],
}
REFUSED = {
    "add_two_dense": lambda tf: tf.sparse.add(_dense(tf), _dense(tf)),
    "add_other_shape": lambda tf: tf.sparse.add(_a(tf), _small(tf)),
    "concat_other_shape": lambda tf: tf.sparse.concat(0, [_a(tf), tf.SparseTensor([[0, 0]], [1.0], [1, 6])]),
    "concat_axis": lambda tf: tf.sparse.concat(5, [_a(tf), _b(tf)]),
    "maximum_other_shape": lambda tf: tf.sparse.maximum(_a(tf), _small(tf)),
    "reduce_axis": lambda tf: tf.sparse.reduce_sum(_a(tf), 7),
    "reset_shape_too_small": lambda tf: tf.sparse.reset_shape(_a(tf), [1, 1]),
    "reshape_other_size": lambda tf: tf.sparse.reshape(_a(tf), [5, 5]),
    "retain_too_few": lambda tf: tf.sparse.retain(_a(tf), [True]),
    "slice_rank": lambda tf: tf.sparse.slice(_a(tf), [0], [1]),
    "split_too_many": lambda tf: tf.sparse.split(sp_input=_a(tf), num_split=9, axis=0),
    "split_of_nothing": lambda tf: tf.sparse.split(_a(tf)),
    "matmul_shape": lambda tf: tf.sparse.sparse_dense_matmul(_a(tf), tf.ones([3, 3])),
    "to_dense_disordered": lambda tf: tf.sparse.to_dense(_disordered(tf)),
    "to_dense_of_dense": lambda tf: tf.sparse.to_dense(_dense(tf)),
    "map_values_elsewhere": lambda tf: tf.sparse.map_values(tf.add, _a(tf), _b(tf)),
    "map_values_of_dense": lambda tf: tf.sparse.map_values(tf.add, 1.0, 2.0),
    "bincount_negative": lambda tf: tf.sparse.bincount([1, -1]),
    "bincount_axis": lambda tf: tf.sparse.bincount([1], axis=1),
    "bincount_too_few_weights": lambda tf: tf.sparse.bincount([1, 2], weights=[1.0]),
    "bincount_weights_of_bits": lambda tf: tf.sparse.bincount([1, 2], weights=[1.0, 2.0], binary_output=True),
    "greedy_blank": lambda tf: tf.nn.ctc_greedy_decoder(_scores(tf), [5, 3], blank_index=7),
    "bags_of_a_list": lambda tf: tf.nn.embedding_lookup_sparse(_bags(tf)[0], [1], None),
    "bags_combiner": lambda tf: tf.nn.embedding_lookup_sparse(*_bags(tf)[:2], None, combiner="x"),
}


def _gradient(of):
    def snippet_of(tf):
        values = tf.constant([3.0, 1.0, -2.0])
        with tf.GradientTape() as tape:
            tape.watch(values)
            made = of(tf, lambda sparse: sparse.with_values(values))
        return tape.gradient(made, values)

    return snippet_of


GRADIENTS = {
    "reorder": lambda tf, of: tf.sparse.to_dense(tf.sparse.reorder(of(_disordered(tf)))) * _dense(tf),
    "reshape": lambda tf, of: tf.sparse.to_dense(tf.sparse.reshape(of(_a(tf)), [4, 3])) ** 2,
    "slice": lambda tf, of: tf.sparse.slice(of(_a(tf)), [0, 1], [2, 2]).values ** 2,
    "add": lambda tf, of: tf.sparse.to_dense(tf.sparse.add(of(_a(tf)), _b(tf))),
    "add_dense": lambda tf, of: tf.sparse.add(of(_a(tf)), _dense(tf)) * _dense(tf),
    "reduce_sum": lambda tf, of: tf.sparse.reduce_sum(of(_a(tf)), 0) * tf.constant([1.0, 2.0, 3.0, 4.0]),
    "softmax": lambda tf, of: tf.sparse.softmax(of(_a(tf))).values * tf.constant([1.0, 2.0, 3.0]),
    "fill_empty_rows": lambda tf, of: tf.sparse.fill_empty_rows(of(_a(tf)), 7.0)[0].values ** 2,
    "matmul": lambda tf, of: tf.sparse.sparse_dense_matmul(of(_a(tf)), tf.ones([4, 2])),
    "transpose": lambda tf, of: tf.sparse.transpose(of(_a(tf))).values ** 2,
    "expand_dims": lambda tf, of: tf.sparse.expand_dims(of(_a(tf)), 0).values * 2,
    "times": lambda tf, of: (of(_a(tf)) * _dense(tf)).values,
    "map_values": lambda tf, of: tf.sparse.map_values(tf.square, of(_a(tf))).values,
}

snippet.one_liners("sparse", list(CASES.items()))
snippet.one_liners("sparse_in_function", [(name, lambda tf, case=case: tf.function(lambda: case(tf))()) for name, case in CASES.items()])
snippet.one_liners("refused_sparse", list(REFUSED.items()))
snippet.one_liners("sparse_gradient", [(name, _gradient(of)) for name, of in GRADIENTS.items()])
