"""Images, words and ragged rows inside a traced function, where sizes are not known."""

import numpy as np
import tensorflow as tf

image = np.arange(48, dtype=np.float32).reshape(4, 4, 3) / 48


@tf.function(input_signature=[tf.TensorSpec([None, None, 3])])
def fitted(v):
    cut, padded = tf.image.resize_with_crop_or_pad(v, 2, 6), tf.image.resize_with_pad(v, 7, 5)
    print(cut.shape, padded.shape, tf.image.pad_to_bounding_box(v, 1, 1, 12, 12).shape, tf.image.crop_to_bounding_box(v, 0, 0, 2, 2).shape)
    return cut, padded


@tf.function(input_signature=[tf.TensorSpec([None, None, None])])
def edges(v):
    boxed = tf.image.draw_bounding_boxes(tf.ensure_shape(v, [None, None, 3])[None], [[[0.0, 0.0, 0.5, 0.5]]], [[1.0, 0.0, 0.0]])
    return tf.image.sobel_edges(v[None])[0, 1, 1, 0], boxed[0, 0, 0]


print(fitted(image)[1][:, :, 0])
print(fitted(np.ones([9, 3, 3], np.float32))[1][:, :, 0])
print(fitted(image)[0][:, :, 0])
print(edges(image))
try:
    print(tf.image.grayscale_to_rgb(tf.constant(image)))
except ValueError as e:
    print(e)


@tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
def words(s):
    split = tf.strings.split(s)
    pairs = tf.strings.ngrams(split, 2, pad_values="#", padding_width=1, preserve_short_sequences=True)
    return tf.strings.ngrams(split, 2).to_tensor(), pairs.to_tensor(), tf.strings.ngrams(s, [2, 3], pad_values=("<", ">")), tf.tile(split, [1, 2]).to_tensor()


for row in words(tf.constant(["ab c", "d f g"])):
    print(row.numpy())
print(tf.function(lambda v: tf.sparse.mask(tf.IndexedSlices(v, [0, 1]), [0]).values)(tf.constant([[1.0], [2.0]])))
