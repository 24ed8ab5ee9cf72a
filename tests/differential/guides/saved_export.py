import os
import tempfile
import tensorflow as tf

# Modules saved and loaded again, with signatures, assets-free; concrete functions; freezing.
folder = tempfile.mkdtemp()


class Flexible(tf.Module):
    def __init__(self):
        super().__init__(name="flex")
        self.v = tf.Variable(2.0, name="v")
        self.table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def scale(self, x):
        return x * self.v

    @tf.function
    def train(self, by):
        self.v.assign_add(by)
        return {"now": self.v.read_value()}

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def look(self, words):
        return self.table.lookup(words)


m = Flexible()
print(m.scale([1.0, 2.0]), m.train(1.0), m.look(tf.constant(["a", "z"])))
m.train(tf.constant(0.5))
tf.saved_model.save(m, os.path.join(folder, "m"), signatures={"serving_default": m.scale, "look": m.look})
print(sorted(set(os.listdir(os.path.join(folder, "m"))) - {"fingerprint.pb"}), tf.saved_model.contains_saved_model(os.path.join(folder, "m")))
again = tf.saved_model.load(os.path.join(folder, "m"))
print(again.scale(tf.constant([1.0, 3.0])), again.v, again.train(tf.constant(1.0)), again.look(tf.constant(["b"])))
print(sorted(again.signatures), again.signatures["serving_default"](tf.constant([4.0])), again.signatures["look"](words=tf.constant(["a"])))
print(again.signatures["serving_default"].structured_input_signature, again.signatures["serving_default"].structured_outputs)
try:
    again.scale(tf.constant([[1.0]]))
except (ValueError, TypeError) as e:
    print(type(e).__name__, str(e).splitlines()[0][:60])
f = m.scale.get_concrete_function()
print(b"__inference_scale" in f.name, [t.name for t in f.inputs][:1], [t.shape for t in f.outputs], [v.name for v in f.variables], f.graph.get_operations()[0].name)
ck = tf.train.Checkpoint(model=m)
path = ck.write(os.path.join(folder, "ck"))
m.v.assign(0.0)
ck.read(path).assert_consumed()
print(m.v.numpy(), tf.train.load_variable(path, "model/v/.ATTRIBUTES/VARIABLE_VALUE"))


class Stack(tf.Module):
    def __init__(self):
        self.parts = [tf.Variable([float(i)]) for i in range(3)]
        self.named = {"x": tf.Variable(9.0), "inner": (tf.Variable(1), tf.Variable("s"))}
        self.child = Flexible()


s = Stack()
print([v.name for v in s.variables], len(s.trainable_variables), [x.name for x in s.submodules])
ck = tf.train.Checkpoint(s)
print([n for n, _ in tf.train.list_variables(ck.save(os.path.join(folder, "stack")))])
gd = f.graph.as_graph_def()
print(sorted({n.op for n in gd.node}), len(gd.library.function))
with tf.Graph().as_default() as g:
    tf.import_graph_def(gd, name="") if False else None
    a = tf.constant([1.0, 2.0], name="a")
    b = tf.identity(a * 2, name="b")
    with tf.compat.v1.Session() as sess:
        print(sess.run(b), b.name, [o.name for o in g.get_operations()])
print(tf.executing_eagerly(), tf.io.write_graph(gd, folder, "g.pbtxt").replace(folder, ""))
