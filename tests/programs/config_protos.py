import emplace.compat.v1 as tf

config = tf.ConfigProto(allow_soft_placement=True, device_count={"CPU": 2})
config.gpu_options.per_process_gpu_memory_fraction = 0.25
config.gpu_options.allow_growth = True
config.gpu_options.visible_device_list = "0,1"
config.graph_options.optimizer_options.opt_level = tf.OptimizerOptions.L0
config.inter_op_parallelism_threads = 2
config.session_inter_op_thread_pool.add(num_threads=3, global_name="pool")
config.device_filters.append("/job:ps")
print(config)
copy = tf.ConfigProto()
copy.CopyFrom(config)
print(copy == config, copy.HasField("gpu_options"), tf.ConfigProto().HasField("gpu_options"))
copy.intra_op_parallelism_threads = 5
print(copy == config, copy.intra_op_parallelism_threads, config.intra_op_parallelism_threads)
copy.Clear()
print(copy == tf.ConfigProto(), repr(str(copy)))
wire = tf.ConfigProto.FromString(config.SerializeToString())
print(wire == config, wire.device_count["CPU"], dict(wire.device_count))
other = tf.ConfigProto()
other.MergeFrom(config)
other.gpu_options.CopyFrom(tf.GPUOptions(allow_growth=False, per_process_gpu_memory_fraction=0.5))
print(other.gpu_options)
options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE, timeout_in_ms=1000)
print(options, tf.RunOptions.NO_TRACE, tf.RunOptions.HARDWARE_TRACE, options.trace_level)
print(tf.ConfigProto.DESCRIPTOR.name, tf.RunMetadata().ByteSize())
for bad in (
    lambda: setattr(config, "log_device", True),
    lambda: tf.ConfigProto(logging=True),
    lambda: setattr(config, "inter_op_parallelism_threads", "two"),
    lambda: setattr(config, "gpu_options", tf.GPUOptions()),
    lambda: setattr(config.gpu_options, "allow_growth", "yes"),
    lambda: config.gpu_options.nothing,
):
    try:
        bad()
        print("accepted")
    except (AttributeError, TypeError, ValueError) as error:
        print(type(error).__name__)
with tf.Session(
    config=tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
) as sess:
    print(sess.run(tf.constant("ok")))
