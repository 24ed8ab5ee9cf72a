"""Device names taken apart and put together: TensorFlow 1's mutable specs and TensorFlow 2's."""

import pytest

import emplace.compat.v1 as tf
from emplace.framework import device_spec
from emplace.framework.device_spec import DeviceSpec, DeviceSpecV2

BOTH = pytest.mark.parametrize("spec", [DeviceSpec, DeviceSpecV2])


@BOTH
def test_empty(spec):
    assert spec().to_string() == ""
    assert spec.from_string("").to_string() == ""


@BOTH
def test_constructor(spec):
    d = spec(job="j", replica=0, task=1, device_type="CPU", device_index=2)
    assert (d.job, d.replica, d.task, d.device_type, d.device_index) == ("j", 0, 1, "CPU", 2)
    assert d.to_string() == "/job:j/replica:0/task:1/device:CPU:2"
    assert spec(device_type="GPU", device_index=0).to_string() == "/device:GPU:0"


@BOTH
def test_lower_case_types_are_written_large(spec):
    assert spec(job="foo").to_string() == "/job:foo"
    assert spec(job="foo", task=3).to_string() == "/job:foo/task:3"
    assert spec(job="foo", task=3, device_type="cpu", device_index=0).to_string() == "/job:foo/task:3/device:CPU:0"
    assert spec(job="foo", replica=12, task=3, device_type="gpu", device_index=0).to_string() == "/job:foo/replica:12/task:3/device:GPU:0"


@BOTH
def test_a_type_without_a_number(spec):
    assert spec(job="foo", device_type="gpu").to_string() == "/job:foo/device:GPU:*"
    assert spec.from_string("/device:GPU:*").to_string() == "/device:GPU:*"
    assert spec.from_string("/gpu").to_string() == "/device:GPU:*"


@BOTH
def test_replace(spec):
    d = spec.from_string("/job:foo/replica:0/task:0/device:CPU:0")
    for field, value, text in (
        ("job", "bar", "/job:bar/replica:0/task:0/device:CPU:0"),
        ("task", 3, "/job:foo/replica:0/task:3/device:CPU:0"),
        ("device_type", "GPU", "/job:foo/replica:0/task:0/device:GPU:0"),
        ("device_index", None, "/job:foo/replica:0/task:0/device:CPU:*"),
    ):
        assert d.replace(**{field: value}).to_string() == text
    assert d.to_string() == "/job:foo/replica:0/task:0/device:CPU:0"


@BOTH
def test_parse(spec):
    d = spec.from_string("/job:foo/replica:0")
    assert (d.job, d.replica, d.task) == ("foo", 0, None)
    d = spec.from_string("/replica:1/task:0/cpu:0")
    assert d.to_string() == "/replica:1/task:0/device:CPU:0"
    d = spec.from_string("/job:muu/gpu:2")
    assert d.to_string() == "/job:muu/device:GPU:2"
    with pytest.raises(ValueError, match="Multiple device types"):
        spec.from_string("/job:muu/gpu:2/cpu:0")
    with pytest.raises(ValueError, match="Unknown attribute"):
        spec.from_string("/job:muu/gpus")


@BOTH
def test_round_trip(spec):
    for text in ("/job:foo/replica:0", "/replica:1/task:0/device:CPU:0", "/job:muu/device:MyFunnyDevice:2", "/device:TPU:*", "/device:*:1"):
        assert spec.from_string(text).to_string() == text
    with pytest.raises(ValueError, match="Multiple device types"):
        spec.from_string("/job:muu/device:GPU:2/cpu:0")


def test_merging_in_place():
    d = DeviceSpec.from_string("/job:foo/replica:0")
    d.merge_from(DeviceSpec.from_string("/task:1/device:GPU:2"))
    assert d.to_string() == "/job:foo/replica:0/task:1/device:GPU:2"
    d.merge_from(DeviceSpec.from_string("/device:CPU:0"))
    assert d.to_string() == "/job:foo/replica:0/task:1/device:CPU:0"
    d.job = "bar"
    d.device_type = "gpu"
    assert d.to_string() == "/job:bar/replica:0/task:1/device:GPU:0"
    d.parse_from_string("/task:4")
    assert d.to_string() == "/task:4"


def test_the_second_generation_does_not_change():
    d = DeviceSpecV2.from_string("/job:foo/replica:0")
    for field in ("job", "replica", "task", "device_type", "device_index"):
        with pytest.raises(AttributeError):
            setattr(d, field, 1)
    assert not hasattr(d, "merge_from")
    assert d.parse_from_string("/task:4").to_string() == "/task:4"
    assert d.to_string() == "/job:foo/replica:0"
    assert hash(d) == hash(DeviceSpecV2.from_string("/job:foo/replica:0"))


@BOTH
def test_combining_lets_the_second_win(spec):
    one = spec.from_string("/job:foo/replica:0/task:0/device:CPU:0")
    two = spec.from_string("/job:bar/device:GPU:1")
    assert one.make_merged_spec(two).to_string() == "/job:bar/replica:0/task:0/device:GPU:1"
    assert one.to_string() == "/job:foo/replica:0/task:0/device:CPU:0"


def test_merge_device_fills_in_what_is_open():
    with tf.Graph().as_default():
        with tf.device(device_spec.merge_device("/device:GPU:0")):
            a = tf.constant(1.0)
            with tf.device(device_spec.merge_device("/job:worker/replica:3")):
                b = tf.constant(1.0)
                with tf.device(device_spec.merge_device("/device:CPU:1")):
                    c = tf.constant(1.0)
                    with tf.device(device_spec.merge_device(None)):
                        d = tf.constant(1.0)
    assert [t.device for t in (a, b, c, d)] == [
        "/device:GPU:0", "/job:worker/replica:3/device:GPU:0", "/job:worker/replica:3/device:CPU:1", "/job:worker/replica:3/device:CPU:1",
    ]


def test_canonical_names():
    assert device_spec.canonical_name(None) == ""
    assert device_spec.canonical_name("") == ""
    full = "/job:foo/replica:10/task:3/device:CPU:0"
    for text in (full, "/job:foo/task:3/replica:10/device:CPU:0", "/device:CPU:0/job:foo/replica:10/task:3", "/job:foo/task:3/replica:10/cpu:0"):
        assert device_spec.canonical_name(text) == full
    assert device_spec.canonical_name(DeviceSpec.from_string("/job:foo/gpu:2")) == "/job:foo/device:GPU:2"


def test_names_are_checked():
    for name in ("/job:foo/replica:0", "/gpu:0", "/device:CPU:0"):
        device_spec.check_valid(name)
    for name in ("/job:j/replica:foo", "/job:j/task:bar", "/barcpu:0", "/cpu:0/gpu:0", "/job:a:b"):
        with pytest.raises(ValueError):
            device_spec.check_valid(name)
