import emplace.compat.v1 as tf

asked = []


def by_type(op):
    asked.append("%s(%s)" % (op.name, op.type))
    return {"Const": "/cpu:1", "MatMul": "/cpu:2"}.get(op.type, "")


def append_task(op):
    return "/job:worker"


with tf.device(by_type):
    a = tf.constant([[1.0]], name="a")
    b = tf.matmul(a, a, name="b")
    c = tf.negative(b, name="c")
    with tf.device("/cpu:0"):
        d = tf.constant(1.0, name="d")
    with tf.device(None):
        e = tf.constant(1.0, name="e")
print(asked)
with tf.device(append_task):
    with tf.device("/cpu:0"):
        f = tf.constant(1.0, name="f")
with tf.device("/job:worker/cpu:1"):
    with tf.device(lambda op: "/gpu:0" if op.type == "Neg" else ""):
        g = tf.constant(1.0, name="g")
        h = tf.negative(g, name="h")
with tf.device("/job:ps"):
    with tf.device("/task:3"):
        with tf.device("/gpu:1"):
            i = tf.constant(1.0, name="i")
            with tf.device("/job:worker"):
                j = tf.constant(1.0, name="j")
            with tf.device(""):
                k = tf.constant(1.0, name="k")
            with tf.device(None):
                m = tf.constant(1.0, name="m")
                with tf.device("/cpu:*"):
                    n = tf.constant(1.0, name="n")
for x in (a, b, c, d, e, f, g, h, i, j, k, m, n):
    print(x.op.name, repr(x.device))
variables = []


def round_robin(op):
    if op.type in ("Variable", "VariableV2"):
        variables.append(op.name)
        return "/cpu:%d" % (len(variables) % 3)
    return "/cpu:0"


with tf.device(round_robin):
    vs = [tf.Variable(float(n), name="v%d" % n) for n in range(4)]
    total = tf.add_n(vs, name="total")
print([(v.op.name, v.device, v.initializer.device) for v in vs], total.device)
