"""Initializers: a seed gives the same numbers."""
import tensorflow as tf
I=tf.initializers
for f in ['RandomNormal(seed=1)','RandomUniform(seed=1)','TruncatedNormal(seed=1)','GlorotUniform(seed=1)','GlorotNormal(seed=1)','HeNormal(seed=1)','HeUniform(seed=1)','LecunNormal(seed=1)','LecunUniform(seed=1)','VarianceScaling(seed=1)','VarianceScaling(scale=2.,mode="fan_out",distribution="untruncated_normal",seed=3)','Orthogonal(seed=1)','Identity(2.)','Constant(4)','RandomNormal(1.,2.,seed=7)','RandomUniform(0,1,seed=7)']:
    i=eval('I.'+f); print(f,i([2,3]).numpy().tolist() if 'Ident' not in f else i([2,2]).numpy().tolist(), i([2,3]).numpy().tolist()[0] if 'Ident' not in f else '')
for f in ['random_normal_initializer(seed=1)','random_uniform_initializer(seed=1)','random_uniform_initializer(-1,1,seed=5)','random_normal_initializer(1.,.1,seed=5)','constant_initializer([1,2])','ones_initializer()','zeros_initializer()']:
    i=eval('tf.'+f); print(f,i([2]).numpy().tolist(), i([2],dtype=tf.float64).dtype)
tf.random.set_seed(3)
print(tf.random_normal_initializer()([2]).numpy().tolist(), tf.random_uniform_initializer()([2]).numpy().tolist())
def t(f):
    try: print(f())
    except BaseException as e: print(type(e).__name__,str(e)[:200])
t(lambda: tf.zeros_initializer()([2],dtype=tf.string)); t(lambda: tf.constant_initializer([1,2,3])([2])); t(lambda: I.get('bogus')); print(type(I.get('glorot_uniform')).__name__, I.HeNormal(seed=3).get_config(), tf.random_normal_initializer(seed=2).get_config())
