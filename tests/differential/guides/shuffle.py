"""The order a seed gives."""
import tensorflow as tf
import numpy as np
L=lambda d:[int(x) if np.ndim(x)==0 else x.tolist() for x in d.as_numpy_iterator()]
R=tf.data.Dataset.range
d=R(10).shuffle(10,seed=1); print(1,L(d),L(d),L(d))
d=R(10).shuffle(3,seed=1); print(2,L(d),L(d))
d=R(10).shuffle(10,seed=1,reshuffle_each_iteration=False); print(3,L(d),L(d))
d=R(5).shuffle(10,seed=42).repeat(3); print(4,L(d),L(d))
d=R(5).shuffle(3,seed=42).repeat(3); print(5,L(d))
d=R(5).repeat(2).shuffle(4,seed=42); print(6,L(d))
tf.random.set_seed(5)
d=R(10).shuffle(10); print(7,L(d),L(d))
tf.random.set_seed(5)
d=R(10).shuffle(10,seed=3); print(8,L(d),L(d))
d=R(10).shuffle(10,seed=3).batch(4); print(9,L(d)); 
for e in range(2): print(10,[x.numpy().tolist() for x in d])
d=R(10).shuffle(10,seed=3).take(3); print(11,L(d),L(d))
d=R(100).shuffle(20,seed=0); print(12,L(d))
d=tf.data.Dataset.from_tensor_slices(([1,2,3,4],['a','b','c','d'])).shuffle(4,seed=7); print(13,[(int(a),b.numpy()) for a,b in d])
print(14,L(tf.data.Dataset.random(seed=4).take(6)))
d=R(5).shuffle(5,seed=42,reshuffle_each_iteration=False).repeat(2); print(15,L(d))
d=R(3).shuffle(3,seed=42).repeat(2).shuffle(2,seed=1); print(16,L(d),L(d))
d=R(6).shuffle(6,seed=42).batch(2).repeat(2); print(17,L(d))
d=R(6).shuffle(6,seed=42).map(lambda x:x*2).repeat(2); print(18,L(d))
tf.random.set_seed(1)
d=R(6).shuffle(6); e=R(6).shuffle(6); print(19,L(d),L(e),tf.random.uniform([2]).numpy().tolist(), L(tf.data.Dataset.zip((d,e)).map(lambda a,b:a*10+b)))
d=R(12).shuffle(4,seed=9,reshuffle_each_iteration=True).cache(); print(20,L(d),L(d))
d=tf.data.Dataset.sample_from_datasets([R(5),R(10,15)],seed=3); print(21,L(d))
tf.random.set_seed(2); d=tf.data.Dataset.sample_from_datasets([R(5),R(10,15)],weights=[.2,.8]); print(22,L(d))
d=R(5).shuffle(buffer_size=5,seed=2**40+3); print(23,L(d))
d=R(7).shuffle(7,seed=0); print(24,L(d))
d=R(8).shuffle(8,seed=3).prefetch(2); it=iter(d); print(25,[int(next(it)) for _ in range(4)],L(d))
d=R(6).shuffle(3,seed=3).repeat(); it=iter(d); print(26,[int(next(it)) for _ in range(20)])
