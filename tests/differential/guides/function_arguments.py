"""How arguments of functions are called inside."""
import tensorflow as tf
import numpy as np, collections
c=tf.constant
A=collections.namedtuple('A','x y')
@tf.function
def f(a,b=3,*args,k=None,**kw):
    print(a,b,args,k,kw); return 1
f(c(1)); f([c(1),c(2)]); f({'p':c(1),'q':[c(2),5,c(3)]}); f(c(1.),c(2),c(3),c(4)); f(1,c(2),k=c(3)); f(1,2,k=[c(3),c(3)],z=c(1),w={'u':c(1)}); f(A(c(1),c(2)),(c(1),)); f(np.ones(3)); f([np.ones(2),3])
f(((c(1),c(2)),[c(3)]))
class M(tf.Module):
    @tf.function
    def __call__(self,x,training=True): print(x,training); return x
m=M(); m(c(1)); m(c(1.),c(True)); m(x=c(1.),training=c(True))
@tf.function
def g(x): print(x); return x
g(tf.ragged.constant([[1],[2,3]])); g(tf.sparse.from_dense([0,1])); g(tf.Variable(1.))
@tf.function(input_signature=[tf.TensorSpec([None],tf.float32),tf.TensorSpec([],tf.int32,name='zz')])
def h(p,q): print(p,q); return p
h(c([1.]),c(1))
print(h.get_concrete_function())
print(g.get_concrete_function(c(1)).structured_input_signature, g.get_concrete_function(c(1)))
@tf.function
def o(x,y): return {'s':x+y,'d':(x-y,)}
cf=o.get_concrete_function(c(1.),tf.TensorSpec([2],tf.float32,name='why'))
print(cf); print(cf.structured_outputs); print([i.name for i in cf.inputs],[i.name for i in cf.outputs])
print(sorted(n.name for n in cf.graph.as_graph_def().node))
print(tf.function(lambda x:(print(x),x)[1])(c(1)))
emb=tf.Variable(tf.ones([4,2]))
@tf.function
def gr(i):
    with tf.GradientTape() as t: l=tf.reduce_sum(tf.gather(emb,i)**2)
    return t.gradient(l,emb)
r=gr(c([1,2,1])); print(r); print(tf.convert_to_tensor(r)); print(type(r).__name__)
tf.debugging.assert_all_finite([1.],'m')
b=tf.losses.BinaryCrossentropy(); print(b([0.,1.],[.2,.3]), b(np.array([0.,1.]),np.array([.2,.3])))
print(tf.losses.MeanSquaredError()(tf.constant([1,2]),tf.constant([1,3])))
print(tf.losses.SparseCategoricalCrossentropy(from_logits=True)(tf.constant([1,2]),tf.ones([2,3])))
print(tf.losses.SparseCategoricalCrossentropy(from_logits=True,dtype='float64')(tf.constant([1,2]),tf.ones([2,3])))
