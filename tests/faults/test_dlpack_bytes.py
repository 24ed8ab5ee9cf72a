"""DLPack capsules of anyone's making: dtypes, shapes, strides and offsets that make no sense are refused, not read."""

import ctypes
import random

import pytest

import emplace as tf

KEPT: list[object] = []


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("offset", ctypes.c_uint64)]  # fmt: skip


class Managed(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.CFUNCTYPE(None, ctypes.c_void_p))]


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


def capsule(rng: random.Random) -> object:
    """Of memory for 4096 bytes, at most; what it claims of them may be wrong in dtype and device, not in size."""
    memory = (ctypes.c_char * 4096)()
    rank = rng.choice([0, 1, 2, 3, 8])
    shape = (ctypes.c_int64 * max(rank, 1))(*[rng.choice([0, 1, 2, 3, -1]) for _ in range(rank)] or [0])
    strides = (ctypes.c_int64 * max(rank, 1))(*[rng.choice([0, 1, 2]) for _ in range(rank)] or [0])
    m = Managed()
    m.tensor = Tensor(ctypes.cast(memory, ctypes.c_void_p), rng.choice([0, 1, 1, 1, 2, 99]), rng.choice([0, 0, 7]), rank,
                      rng.randrange(8), rng.choice([0, 1, 8, 16, 32, 64, 128, 255]), rng.choice([0, 1, 1, 1, 2]), shape,
                      strides if rng.random() < 0.5 else None, rng.choice([0, 0, 0, 8, 64]))  # fmt: skip
    KEPT.append((memory, shape, strides, m))
    return new_capsule(ctypes.addressof(m), rng.choice([b"dltensor", b"dltensor", b"dltensor", b"used_dltensor", b"other"]), None)


@pytest.mark.parametrize("seed", range(5))
def test_capsules_are_read_or_refused(seed: int) -> None:
    rng = random.Random(seed)
    outcomes = set()
    for _ in range(400):
        try:
            t = tf.experimental.dlpack.from_dlpack(capsule(rng))
            t.numpy()
            outcomes.add("read")
        except (tf.errors.OpError, ValueError, TypeError, BufferError, RuntimeError):
            outcomes.add("refused")
    assert outcomes == {"read", "refused"}


@pytest.mark.parametrize("given", [None, 7, b"bytes", object()])
def test_what_is_no_capsule_is_refused(given: object) -> None:
    with pytest.raises((TypeError, ValueError, AttributeError, tf.errors.OpError)):
        tf.experimental.dlpack.from_dlpack(given)
