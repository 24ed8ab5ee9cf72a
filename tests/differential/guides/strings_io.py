import os
import tempfile
import tensorflow as tf

# Strings, protos, records, files.
s = tf.constant(["Hello World", "  spaced  ", "a,b,,c", "ünïcödé"])
print(tf.strings.lower(s), tf.strings.upper(s, encoding="utf-8"), tf.strings.strip(s), tf.strings.length(s, unit="UTF8_CHAR"))
print(tf.strings.split(s, ","), tf.strings.split(s[0]), tf.strings.substr(s, 1, 3), tf.strings.substr("hello", [0, 2], [1, 2]))
print(tf.strings.regex_replace(s, "[aeiou]", "_"), tf.strings.regex_full_match(s, ".*,.*"), tf.strings.join([s, s], "|")[2])
print(tf.strings.format("x: {} and {}", (tf.range(3), tf.constant("q"))), tf.strings.as_string([1.5, 2.25], precision=1), tf.strings.as_string(7, width=3, fill="0"))
print(tf.strings.to_hash_bucket("abc", 100), tf.strings.to_hash_bucket_fast(["abc", "d"], 100), tf.strings.to_hash_bucket_strong("abc", 100, [1, 2]))
print(tf.strings.unicode_decode("né", "UTF-8"), tf.strings.unicode_encode(tf.ragged.constant([[72, 105], [0x263A]]), "UTF-8"), tf.strings.unicode_transcode("é", "UTF-8", "UTF-16-BE"))
print(tf.strings.ngrams(["a", "b", "c"], 2, separator="-"), tf.strings.reduce_join([["a", "b"], ["c", "d"]], 0), tf.strings.reduce_join([["a", "b"], ["c", "d"]], keepdims=True))
print(tf.strings.to_number(["1", "2.5e3"]), tf.strings.to_number("7", tf.int32), tf.strings.bytes_split(["ab", "c"]), tf.strings.unicode_split_with_offsets("aé", "UTF-8"))
try:
    tf.strings.to_number("x1")
except Exception as e:
    print(type(e).__name__, e)
print(tf.io.decode_csv(["1,a,2.5", "4,b,"], [0, "", 9.0]), tf.io.decode_base64(tf.io.encode_base64("hello!")), tf.io.decode_raw(["abcd"], tf.int16))


def _bytes(v):
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[v]))


def _floats(v):
    return tf.train.Feature(float_list=tf.train.FloatList(value=v))


def _ints(v):
    return tf.train.Feature(int64_list=tf.train.Int64List(value=v))


def serialize(i):
    feature = {"id": _ints([i]), "name": _bytes(b"n%d" % i), "values": _floats([0.5 * i] * i)}
    return tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()


folder = tempfile.mkdtemp()
path = os.path.join(folder, "a.tfrecord")
with tf.io.TFRecordWriter(path) as w:
    for i in range(4):
        w.write(serialize(i))
description = {"id": tf.io.FixedLenFeature([], tf.int64, default_value=0), "name": tf.io.FixedLenFeature([], tf.string), "values": tf.io.VarLenFeature(tf.float32)}
raw = tf.data.TFRecordDataset([path])
for rec in raw.map(lambda r: tf.io.parse_single_example(r, description)):
    print(rec["id"].numpy(), rec["name"].numpy(), tf.sparse.to_dense(rec["values"]).numpy())
for rec in raw.batch(4).map(lambda r: tf.io.parse_example(r, {**description, "values": tf.io.RaggedFeature(tf.float32)})):
    print(rec["id"], rec["values"])
example = tf.train.Example.FromString(next(iter(raw)).numpy())
print(sorted(example.features.feature), example.features.feature["name"].bytes_list.value[0])
t = tf.io.serialize_tensor(tf.constant([[1.5, 2.0]]))
print(tf.io.parse_tensor(t, tf.float32), t.dtype)
tf.io.write_file(os.path.join(folder, "x.txt"), "some text")
print(tf.io.read_file(os.path.join(folder, "x.txt")), tf.io.gfile.exists(path), sorted(tf.io.gfile.listdir(folder)))
with tf.io.gfile.GFile(os.path.join(folder, "y.txt"), "w") as f:
    f.write("line 1\nline 2\n")
with tf.io.gfile.GFile(os.path.join(folder, "y.txt")) as f:
    print(f.readline(), f.read(), f.size())
tf.io.gfile.makedirs(os.path.join(folder, "d/e"))
tf.io.gfile.copy(os.path.join(folder, "y.txt"), os.path.join(folder, "d/z.txt"))
print([(d.replace(folder, ""), sorted(s), sorted(f)) for d, s, f in tf.io.gfile.walk(folder)], len(tf.io.gfile.glob(folder + "/*.txt")), tf.io.gfile.isdir(folder))
try:
    tf.io.read_file(folder + "/missing")
except tf.errors.NotFoundError as e:
    print(type(e).__name__, "missing" in e.message)
img = tf.cast(tf.reshape(tf.range(48), [4, 4, 3]), tf.uint8)
png = tf.io.encode_png(img)
print(tf.reduce_all(tf.io.decode_png(png) == img).numpy(), tf.io.decode_image(png).shape, tf.image.decode_jpeg(tf.io.encode_jpeg(img, quality=100)).dtype)
print(tf.strings.unsorted_segment_join(["x", "y", "z"], [0, 1, 0], 2, ":"), tf.constant(b"\xff\x00"), tf.constant("tab\t\"q\" 'z'"), tf.constant([["a"], ["b"]]))
print(tf.compat.as_bytes("é"), tf.compat.as_text(b"abc"), tf.compat.as_str_any(3), tf.compat.path_to_str(folder) == folder)
