"""Modules, checkpoints, saved models, nests, tables."""
import os
import tempfile

import tensorflow as tf

folder = tempfile.mkdtemp()


class Block(tf.Module):
    def __init__(self, size, name=None):
        super().__init__(name)
        with self.name_scope:
            self.w = tf.Variable(tf.ones([size, size]), name="w")
        self.parts = {"scale": tf.Variable(2.0, name="scale"), "rest": [tf.Variable(0.0, trainable=False)]}

    @tf.Module.with_name_scope
    def __call__(self, x):
        self.last = tf.Variable(1.0, name="made") if not hasattr(self, "last") else self.last
        return x @ self.w * self.parts["scale"]


m = Block(2, name="block")
print(m(tf.ones([1, 2])), [(v.name, v.shape) for v in m.variables], [v.name for v in m.trainable_variables], m.last.name)
try:
    print(tf.Module(name="1bad").name)
except ValueError as e:
    print(e)
ckpt = tf.train.Checkpoint(step=tf.Variable(1), model=m)
manager = tf.train.CheckpointManager(ckpt, folder, max_to_keep=2)
for i in range(3):
    ckpt.step.assign_add(1)
    m.parts["scale"].assign(float(i))
    print(os.path.basename(manager.save()))
print([os.path.basename(c) for c in manager.checkpoints], os.path.basename(manager.latest_checkpoint), os.path.basename(tf.train.latest_checkpoint(folder)))
m.parts["scale"].assign(99.0)
status = ckpt.restore(manager.checkpoints[0])
print(status.assert_consumed() is not None, ckpt.step.numpy(), m.parts["scale"].numpy())
print(tf.train.list_variables(manager.latest_checkpoint))
reader = tf.train.load_checkpoint(folder)
print(sorted(reader.get_variable_to_shape_map().items()), reader.get_tensor("step/.ATTRIBUTES/VARIABLE_VALUE"))
fresh = tf.train.Checkpoint(step=tf.Variable(0), extra=tf.Variable(0.0))
status = fresh.read(manager.latest_checkpoint)
for check in (status.assert_consumed, status.assert_existing_objects_matched):
    try:
        check()
    except AssertionError as e:
        print(str(e).splitlines()[0][:60])
status.expect_partial()
try:
    tf.train.Checkpoint(step=tf.Variable([1, 2])).restore(manager.latest_checkpoint)
except Exception as e:
    print(type(e).__name__)
try:
    ckpt.restore(os.path.join(folder, "nothing"))
except tf.errors.NotFoundError as e:
    print("NotFoundError", str(e)[:40])


class Adder(tf.Module):
    def __init__(self):
        super().__init__()
        self.v = tf.Variable(10.0)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def add(self, x):
        return {"sum": x + self.v, "n": tf.size(x)}


adder = Adder()
path = os.path.join(folder, "saved")
tf.saved_model.save(adder, path)
adder.v.assign(20.0)
tf.saved_model.save(adder, path, signatures=adder.add)
loaded = tf.saved_model.load(path)
print(sorted(loaded.add(tf.constant([1.0])).items()), loaded.v, list(loaded.signatures), sorted(loaded.signatures["serving_default"](x=tf.constant([1.0, 2.0])).items()))
print(loaded.signatures["serving_default"].structured_input_signature, sorted(loaded.signatures["serving_default"].structured_outputs.items()))
try:
    loaded.add(tf.constant(1.0))
except (TypeError, ValueError) as e:
    print(str(e).partition("Received args")[0])
s = {"b": [1, (2, 3)], "a": {"z": 4}}
print(tf.nest.flatten(s), tf.nest.pack_sequence_as(s, ["p", "q", "r", "t"]), tf.nest.map_structure(lambda x, y: x + y, s, s), tf.nest.is_nested("abc"))
table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), default_value=-1)
print(table.lookup(tf.constant(["b", "z"])), table.size(), table[tf.constant("a")])
mutable = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
mutable.insert(tf.constant(["x", "y"]), tf.constant([5, 6], tf.int64))
mutable.remove(tf.constant(["x"]))
print(mutable.lookup(tf.constant(["x", "y"])), mutable.export())
vocab = tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([0, 1], tf.int64)), num_oov_buckets=2)
print(vocab.lookup(tf.constant(["a", "q"])), vocab.size())
ex = tf.train.Example(features=tf.train.Features(feature={"n": tf.train.Feature(int64_list=tf.train.Int64List(value=[1, 2])), "s": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"hi"]))}))
with tf.io.TFRecordWriter(os.path.join(folder, "r.tfrecord")) as writer:
    for _ in range(2):
        writer.write(ex.SerializeToString())
for raw in tf.data.TFRecordDataset(os.path.join(folder, "r.tfrecord")):
    print(tf.io.parse_single_example(raw, {"n": tf.io.FixedLenFeature([2], tf.int64), "s": tf.io.FixedLenFeature([], tf.string, ""), "v": tf.io.VarLenFeature(tf.float32)})["n"])
print(tf.io.parse_example([ex.SerializeToString()], {"s": tf.io.FixedLenFeature([], tf.string)}), tf.train.Example.FromString(ex.SerializeToString()).features.feature["n"].int64_list.value)
tf.io.write_file(os.path.join(folder, "t.txt"), "one\ntwo\n")
print(tf.io.read_file(os.path.join(folder, "t.txt")), [x.numpy() for x in tf.data.TextLineDataset(os.path.join(folder, "t.txt"))], tf.io.gfile.exists(folder), tf.io.serialize_tensor([1, 2]), tf.io.parse_tensor(tf.io.serialize_tensor([1, 2]), tf.int32), tf.io.decode_raw(b"\x01\x02", tf.uint8), tf.io.decode_csv("1,x", [[0], [""]]), tf.io.encode_base64("hi"))
