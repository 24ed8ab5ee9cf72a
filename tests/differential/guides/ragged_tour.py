import math
import tensorflow as tf

digits = tf.ragged.constant([[3, 1, 4, 1], [], [5, 9, 2], [6], []])
words = tf.ragged.constant([["So", "long"], ["thanks", "for", "all", "the", "fish"]])
print(tf.add(digits, 3), tf.reduce_mean(digits, axis=1), tf.concat([digits, [[5, 3]]], axis=0), tf.tile(digits, [1, 2]))
print(tf.strings.substr(words, 0, 2), tf.map_fn(tf.math.square, digits))
print(digits[0], digits[:, :2], digits[:, -2:], digits[0, 1], digits[::2])
print(digits + 3, digits + tf.ragged.constant([[1, 2, 3, 4], [], [5, 6, 7], [8], []]), digits * digits, 2 * digits, digits > 3)
times_two_plus_one = lambda x: x * 2 + 1
print(tf.ragged.map_flat_values(times_two_plus_one, digits), digits.to_list(), digits.numpy())
print(tf.RaggedTensor.from_value_rowids(values=[3, 1, 4, 1, 5, 9, 2], value_rowids=[0, 0, 0, 0, 2, 2, 3]))
print(tf.RaggedTensor.from_row_lengths(values=[3, 1, 4, 1, 5, 9, 2], row_lengths=[4, 0, 2, 1]))
print(tf.RaggedTensor.from_row_splits(values=[3, 1, 4, 1, 5, 9, 2], row_splits=[0, 4, 4, 6, 7]))
try:
    tf.ragged.constant([["one", "two"], [3, 4]])
except Exception as e:
    print(type(e).__name__, e)
try:
    tf.ragged.constant(["A", ["B", "C"]])
except Exception as e:
    print(type(e).__name__, e)
queries = tf.ragged.constant([["Who", "is", "Dan", "Smith"], ["Pause"], ["Will", "it", "rain", "later", "today"]])
buckets = 16
table = tf.Variable(tf.random.stateless_truncated_normal([buckets, 4], [3, 3], stddev=1.0 / math.sqrt(4)))
word_buckets = tf.strings.to_hash_bucket_fast(queries, buckets)
emb = tf.nn.embedding_lookup(table, word_buckets)
marker = tf.fill([queries.nrows(), 1], "#")
padded = tf.concat([marker, queries, marker], axis=1)
bigrams = tf.strings.join([padded[:, :-1], padded[:, 1:]], separator="+")
print(word_buckets, emb.shape, bigrams)
all_emb = tf.concat([emb, tf.nn.embedding_lookup(table, tf.strings.to_hash_bucket_fast(bigrams, buckets))], axis=1)
print(tf.reduce_mean(all_emb, axis=1).shape, all_emb.ragged_rank, all_emb.flat_values.shape)
print(tf.ragged.constant([[1], [2, 3]]).shape, tf.RaggedTensor.from_row_splits(tf.ones([7, 3]), [0, 4, 7]).shape)
print(digits.bounding_shape(), digits.row_splits, digits.row_lengths(), digits.value_rowids(), digits.row_starts(), digits.nrows(), digits.values)
sparse = digits.to_sparse()
print(sparse.indices[:3], tf.RaggedTensor.from_sparse(sparse), digits.to_tensor(default_value=-1), digits.to_tensor(shape=[None, 2]))
r3 = tf.ragged.constant([[[1, 2], [3]], [], [[4, 5, 6]]])
print(r3, r3.shape, r3.ragged_rank, r3.merge_dims(0, 1), r3[0], r3[:, 0:1], r3.nested_row_splits, tf.reduce_sum(r3, axis=2), tf.reduce_sum(r3, axis=[1, 2]))
print(tf.ragged.stack([digits, digits + 1]).shape, tf.ragged.range([3, 0, 2]), tf.gather(digits, [2, 0]), tf.boolean_mask([1, 2, 3], [True, False, True]))
print(tf.ragged.boolean_mask(digits, digits > 2), tf.expand_dims(digits, 1).shape, tf.sort(tf.constant([3, 1])), tf.where(digits > 3, digits, -digits))
print(tf.cast(digits, tf.float32).dtype, tf.zeros_like(digits), tf.ones_like(digits), tf.size(digits), tf.rank(r3), digits == digits)


@tf.function
def make_palindrome(x, axis):
    return tf.concat([x, tf.reverse(x, [axis])], axis)


print(make_palindrome(tf.constant([[1, 2], [3, 4]]), axis=1))
print(make_palindrome(tf.ragged.constant([[1, 2], [3], [4, 5, 6]]), axis=1))
ds = tf.data.Dataset.from_tensor_slices(digits)
print(ds.element_spec, [e.numpy().tolist() for e in ds])
print([b.to_list() for b in ds.batch(2)])
for row in tf.data.Dataset.range(1, 4).map(tf.range).ragged_batch(2):
    print(row)
for row in digits:
    print(row.numpy(), end=" ")
print(tf.strings.join(words, "-") if False else tf.strings.reduce_join(words, axis=-1, separator=" "), tf.RaggedTensorSpec([None, None], tf.int32, 1))
