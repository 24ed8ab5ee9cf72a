import emplace.compat.v1 as tf

NAMES = [
    "/cpu:0",
    "/CPU:0",
    "/gpu:3",
    "/device:CPU:1",
    "/device:GPU:*",
    "/job:worker",
    "/job:w1/task:2",
    "/job:w/replica:3/task:4/cpu:5",
    "/cpu:0/job:w/task:1",
    "/task:7",
    "/replica:2",
    "/",
    "",
    "/device:TPU:0",
    "/gpu:*",
    "cpu:0",
    "CPU:0",
    "GPU:1",
]
BAD = ["/cpu:0/gpu:0", "nonsense", "/task:x", "/devise:CPU:0", "/cpu:0/"]
for index, name in enumerate(NAMES):
    try:
        with tf.device(name):
            print(repr(name), repr(tf.constant(0, name="c%d" % index).device))
    except ValueError as error:
        print(repr(name), "ValueError -", error)
for name in BAD:
    try:
        with tf.device(name):
            print(repr(name), repr(tf.constant(0, name="bad").device))
    except ValueError as error:
        print(repr(name), "ValueError -", error)
with tf.device("/job:worker/replica:0"):
    with tf.device("/task:1"):
        with tf.device("/gpu:2"):
            print(tf.no_op().device)
            with tf.device("/cpu:0"):
                print(tf.no_op().device)
            with tf.device("/device:CPU:*"):
                print(tf.no_op().device)
            with tf.device("/job:ps/task:0"):
                print(tf.no_op().device)
manager = tf.device("/cpu:0")
with manager:
    pass
print(tf.no_op().device == "")
