"""Eager snippets: the wider namespaces (signal, linalg, sets, queue, tensor arrays)."""

import numpy as np

from snippet import Table

snippet = Table()


def _wave(tf):
    return tf.constant(np.random.RandomState(0).randn(2, 8).astype(np.float32))


def _long(tf):
    return tf.reshape(_wave(tf), [-1])


def _rows(tf):
    return tf.constant([[1, 2, 3], [4, 5, 6]])


def _others(tf):
    return tf.constant([[2, 3, 9], [6, 4, 8]])


snippet.one_liners(
    "signal",
    [
        ("rfft", lambda tf: tf.signal.rfft(_wave(tf))),
        ("rfft_shorter", lambda tf: tf.signal.rfft(_wave(tf), [6])),
        ("rfft_longer", lambda tf: tf.signal.rfft(_wave(tf), fft_length=[10])),
        ("irfft", lambda tf: tf.signal.irfft(tf.signal.rfft(_wave(tf)))),
        ("irfft_odd", lambda tf: tf.signal.irfft(tf.signal.rfft(_wave(tf)), [7])),
        ("rfft2d", lambda tf: tf.signal.rfft2d(_wave(tf))),
        ("irfft2d", lambda tf: tf.signal.irfft2d(tf.signal.rfft2d(_wave(tf)))),
        ("stft", lambda tf: tf.abs(tf.signal.stft(_long(tf), 8, 4))),
        ("stft_pad_end", lambda tf: tf.abs(tf.signal.stft(_long(tf), 6, 4, pad_end=True))),
        (
            "inverse_stft",
            lambda tf: tf.signal.inverse_stft(
                tf.signal.stft(_long(tf), 8, 4), 8, 4, window_fn=tf.signal.inverse_stft_window_fn(4)
            ),
        ),
        ("mel_weights", lambda tf: tf.signal.linear_to_mel_weight_matrix(4, 9)),
        ("mfccs", lambda tf: tf.signal.mfccs_from_log_mel_spectrograms(_wave(tf))),
        ("kaiser_bessel", lambda tf: tf.signal.kaiser_bessel_derived_window(8)),
        ("fftshift", lambda tf: tf.signal.fftshift(tf.range(5))),
        ("ifftshift", lambda tf: tf.signal.ifftshift(tf.reshape(tf.range(6), [2, 3]), axes=[1])),
    ],
)

snippet.one_liners(
    "solvers",
    [
        ("lu_reconstruct", lambda tf: tf.linalg.lu_reconstruct(*tf.linalg.lu([[3.0, 4], [6, 2]]))),
        ("lu_solve", lambda tf: tf.linalg.lu_solve(*tf.linalg.lu([[3.0, 4], [6, 2]]), rhs=[[1.0], [2]])),
        ("lu_inverse", lambda tf: tf.linalg.lu_matrix_inverse(*tf.linalg.lu([[3.0, 4], [6, 2]]))),
        (
            "tridiagonal",
            lambda tf: tf.linalg.tridiagonal_solve(
                tf.constant([[1.0, 1, 0], [4, 4, 4], [0, 1, 1]]), tf.constant([1.0, 2, 3])
            ),
        ),
        (
            "tridiagonal_sequence",
            lambda tf: tf.linalg.tridiagonal_solve(
                [tf.constant(d) for d in ([1.0, 1], [4.0, 4, 4], [1.0, 1])],
                tf.constant([1.0, 2, 3]),
                diagonals_format="sequence",
            ),
        ),
        (
            "tridiagonal_matmul",
            lambda tf: tf.linalg.tridiagonal_matmul(
                tf.constant([[1.0, 1, 0], [4, 4, 4], [0, 1, 1]]), tf.constant([[1.0], [2], [3]])
            ),
        ),
        ("eigh_tridiagonal", lambda tf: tf.linalg.eigh_tridiagonal([1.0, 2, 3], [0.5, 0.5])),
    ],
)

snippet.one_liners(
    "sets",
    [
        ("intersection", lambda tf: tf.sparse.to_dense(tf.sets.intersection(_rows(tf), _others(tf)))),
        ("difference", lambda tf: tf.sparse.to_dense(tf.sets.difference(_rows(tf), _others(tf)))),
        (
            "other_difference",
            lambda tf: tf.sparse.to_dense(tf.sets.difference(_rows(tf), _others(tf), aminusb=False)),
        ),
        (
            "sparse_minus_dense",
            lambda tf: tf.sparse.to_dense(
                tf.sets.difference(tf.sparse.from_dense(_others(tf)), _rows(tf))
            ),
        ),
        ("union", lambda tf: tf.sparse.to_dense(tf.sets.union(_rows(tf), _others(tf)))),
        ("size", lambda tf: tf.sets.size(tf.sparse.from_dense([[1, 1, 2], [0, 3, 0]]))),
    ],
)


@snippet
def wider_queue_fifo(tf):
    q = tf.queue.FIFOQueue(3, [tf.int32, tf.string], [[], []])
    q.enqueue((1, "a"))
    q.enqueue_many(([2, 3], ["b", "c"]))
    return [q.size(), *q.dequeue(), *q.dequeue_many(2), q.is_closed(), q.name]


snippet.put("refused_mel_above_nyquist", lambda tf: tf.signal.linear_to_mel_weight_matrix(4, 9, 2000))
snippet.put("refused_set_size_of_dense", lambda tf: tf.sets.size([[1]]))


@snippet(words=False)
def refused_queue_closed(tf):
    q = tf.queue.FIFOQueue(3, tf.int32)
    q.close()
    return q.dequeue()


@snippet
def wider_queue_priority(tf):
    q = tf.queue.PriorityQueue(10, [tf.string], [[]])
    for rank, word in ((3, "c"), (1, "a"), (2, "b")):
        q.enqueue((rank, word))
    return [q.dequeue()[1] for _ in range(3)]


@snippet
def wider_queue_padding(tf):
    q = tf.queue.PaddingFIFOQueue(10, [tf.int32], [[None]])
    q.enqueue([[1]])
    q.enqueue([[2, 3]])
    return q.dequeue_many(2)


@snippet
def wider_queue_in_function(tf):
    q = tf.queue.FIFOQueue(10, tf.int32, [[]])

    @tf.function
    def put(x):
        q.enqueue(x)
        return q.size()

    return [put(tf.constant(3)), put(tf.constant(4)), q.dequeue_many(2)]


@snippet
def wider_array_scatter_and_split(tf):
    scattered = tf.TensorArray(tf.float32, 3).scatter([2, 0, 1], [[1.0], [2.0], [3.0]])
    parts = tf.TensorArray(tf.float32, 3, infer_shape=False).split([1.0, 2, 3, 4, 5, 6], [1, 2, 3])
    return [scattered.stack(), parts.read(1), parts.read(2)]


@snippet
def wider_array_scatter_and_split_in_function(tf):
    @tf.function
    def f():
        scattered = tf.TensorArray(tf.float32, 3).scatter([2, 0, 1], [[1.0], [2.0], [3.0]])
        parts = tf.TensorArray(tf.float32, 3, infer_shape=False)
        parts = parts.split([1.0, 2, 3, 4, 5, 6], [1, 2, 3])
        return scattered.stack(), parts.concat(), parts.read(1)

    return list(f())


@snippet
def wider_variable_scatter(tf):
    v = tf.Variable([4.0, 2.0, 3.0])
    v.scatter_max(tf.IndexedSlices(tf.constant([5.0]), tf.constant([1])))
    v.scatter_min(tf.IndexedSlices(tf.constant([1.0]), tf.constant([2])))
    v.scatter_div(tf.IndexedSlices(tf.constant([2.0]), tf.constant([0])))
    v.scatter_mul(tf.IndexedSlices(tf.constant([3.0]), tf.constant([1])))
    w = tf.Variable([[1.0, 2, 3], [4, 5, 6]])
    w.batch_scatter_update(tf.IndexedSlices(tf.constant([[9.0], [8.0]]), tf.constant([[1], [2]])))
    return [v.read_value(), w.read_value()]
