import emplace.compat.v1 as tf

spec = tf.DeviceSpec(job="ps", task=1, device_type="CPU", device_index=0)
print(spec.to_string())
print(tf.DeviceSpec().to_string() == "")
for text in (
    "/job:worker/replica:1/task:2/gpu:3",
    "/cpu:0",
    "/device:GPU:*",
    "/job:a",
    "",
    "/task:5/job:b",
):
    s = tf.DeviceSpec.from_string(text)
    print(repr(text), s.job, s.replica, s.task, s.device_type, s.device_index, repr(s.to_string()))
s = tf.DeviceSpec(job="worker")
s.task = 4
s.device_type = "GPU"
print(s.to_string())
s.merge_from(tf.DeviceSpec(device_index=2, job="ps"))
print(s.to_string())
print(s.parse_from_string("/job:x/cpu:7").to_string())
print(tf.DeviceSpec.from_string("/job:a") == tf.DeviceSpec(job="a"))
print(tf.DeviceSpec.from_string("/job:a") == tf.DeviceSpec(job="b"))
print(len({tf.DeviceSpec(job="a"), tf.DeviceSpec.from_string("/job:a")}))
with tf.device(tf.DeviceSpec(job="worker", device_type="GPU", device_index=1)):
    print(tf.constant(1.0).device)
    with tf.device(tf.DeviceSpec(device_type="CPU", device_index=0)):
        print(tf.constant(1.0).device)
for bad in ("/cpu:0/gpu:0", "garbage:1", "/job:a/unknown"):
    try:
        tf.DeviceSpec.from_string(bad)
    except ValueError as error:
        print("ValueError -", error)
