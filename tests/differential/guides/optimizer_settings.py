"""What optimizers and metrics say of themselves."""

import tensorflow as tf

for kind in ("SGD", "Adam", "RMSprop", "Adagrad", "Adadelta", "Adamax", "Ftrl", "AdamW"):
    v = tf.Variable([1.0, -2.0], name="layer/w")
    o = getattr(tf.optimizers, kind)(learning_rate=0.1)
    o.apply_gradients([(2 * v, v)])
    print(kind, [x.name for x in o.variables], {k: x for k, x in o.get_config().items() if k != "name"})
o = tf.optimizers.SGD(0.5, momentum=0.5, clipnorm=1.0, name="mine")
v = tf.Variable(2.0)
o.apply_gradients([(tf.constant(5.0), v)])
print(o.variables, o.get_config(), v)
for given in ([], [(tf.constant(1.0), tf.Variable(1.0))]):
    try:
        o.apply_gradients(given)
    except ValueError as e:
        print(e)
m = tf.metrics.Mean(name="loss")
m.update_state([1.0, 3.0])
print(m.variables, m.result())
