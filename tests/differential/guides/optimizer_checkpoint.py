"""An optimizer in a checkpoint, restored before and after its first step."""
import tempfile

import tensorflow as tf


def make(): return tf.Variable([1.,2.]), tf.optimizers.Adam(.1)
v,o=make(); c=tf.train.Checkpoint(v=v,opt=o,step=tf.Variable(1))
for _ in range(3): o.apply_gradients([(tf.constant([1.,3.]),v)])
p=c.save(tempfile.mkdtemp()+'/c'); x=v.numpy().tolist()
o.apply_gradients([(tf.constant([5.,-3.]),v)]); want=v.numpy().tolist(); c.restore(p); print(v.numpy().tolist()==x, o.iterations.numpy()); o.apply_gradients([(tf.constant([5.,-3.]),v)]); print(v.numpy().tolist()==want)
v2,o2=make(); c2=tf.train.Checkpoint(v=v2,opt=o2,step=tf.Variable(0)); c2.restore(p); o2.apply_gradients([(tf.constant([5.,-3.]),v2)]); print(v2.numpy().tolist()==want, int(o2.iterations), int(c2.step))
@tf.function
def step():
    with tf.GradientTape() as t: l=tf.reduce_sum(v**2)
    o.apply_gradients([(t.gradient(l,v),v)]); return l
print(step(), step(), o.iterations.numpy(), float(o.learning_rate))
