"""Functions of signals and of sparse tensors inside a traced function, where sizes are not known."""

import numpy as np
import tensorflow as tf


def told(name, function, *args):
    specs = [tf.TensorSpec([None] * np.ndim(a), tf.convert_to_tensor(a).dtype) for a in args]
    made = tf.function(function, input_signature=specs)(*args)
    print(name, tf.nest.map_structure(lambda v: v.numpy(), made))


x = np.sin(np.arange(16)).astype(np.float32)
S = tf.signal
told("stft", lambda v: S.stft(v, 8, 4)[0, :2], x)
told("frame", lambda v: S.frame(v, 6, 5), x)
told("frame to the end", lambda v: S.frame(v, 6, 5, pad_end=True, pad_value=9), x)
told("overlap_and_add", lambda v: S.overlap_and_add(v, 2), np.ones((3, 4), np.float32))
told("inverse_stft", lambda v: S.inverse_stft(S.stft(v, 8, 4), 8, 4)[4:8], x)
for kind in (1, 2, 3, 4):
    told(f"dct {kind}", lambda v: S.dct(v, type=kind), x[:4])
for kind in (2, 3, 4):
    told(f"orthogonal idct {kind}", lambda v: S.idct(v, type=kind, norm="ortho"), x[:4])
told("mdct", lambda v: S.mdct(v, 8), x)
told("irfft", lambda v: S.irfft(S.rfft(v))[:2], x)
told("mfccs", lambda v: S.mfccs_from_log_mel_spectrograms(v)[:, 0], np.ones((2, 4), np.float32))
told("fftshift", lambda v: S.fftshift(v), x[:5])
told("hann_window", lambda n: S.hann_window(n), 4)
told("hamming_window", lambda n: S.hamming_window(n, periodic=False), 5)
print(S.dct(x[:4], type=1))

table = np.array([[0, 1.0, 2.0], [3.0, 0, 0]], np.float32)
P, sparse, dense = tf.sparse, tf.sparse.from_dense, tf.sparse.to_dense
told("softmax", lambda v: dense(P.softmax(sparse(v))), table)
told("transpose", lambda v: dense(P.transpose(sparse(v))), table)
told("reduce_sum", lambda v: P.reduce_sum(sparse(v), 1), table)
told("reduce_sum of a name", lambda v: P.reduce_sum(sparse(v), axis=1, name="rows"), table)
told("reduce_max", lambda v: P.reduce_max(sparse(v), 0), table)
told("concat", lambda v: dense(P.concat(1, [sparse(v), sparse(v)])), table)
told("slice", lambda v: dense(P.slice(sparse(v), [0, 1], [2, 2])), table)
told("split", lambda v: [dense(p) for p in P.split(sparse(v), 3, 1)], table)
told("reshape", lambda v: dense(P.reshape(sparse(v), [3, 2])), table)
told("retain", lambda v: dense(P.retain(sparse(v), sparse(v).values > 1)), table)
told("fill_empty_rows", lambda v: dense(P.fill_empty_rows(sparse(v * [[1.0], [0.0]]), 7.0)[0]), table)
told("expand_dims", lambda v: dense(P.expand_dims(sparse(v), 0)), table)
told("add", lambda v: dense(P.add(sparse(v), sparse(v))), table)
told("maximum", lambda v: dense(P.maximum(sparse(v), sparse(v) * 2.0)), table)
told("reorder", lambda v: dense(P.reorder(sparse(v))), table)
told("to_indicator", lambda v: P.to_indicator(sparse(tf.cast(v, tf.int32)), 5), table)
told("reset_shape", lambda v: dense(P.reset_shape(sparse(v), [2, 4])), table)
told("eye", lambda v: dense(P.eye(tf.shape(v)[0])), table)
print(P.mask(tf.IndexedSlices([1, 2], [0, 1]), [0]))

for wrong in (
    lambda: S.dct(x, type=9),
    lambda: S.frame(x, 6, 3, axis=5),
    lambda: S.hann_window(4, dtype=tf.int32),
):
    try:
        print(wrong())
    except (ValueError, IndexError) as e:
        print(type(e).__name__, e)
