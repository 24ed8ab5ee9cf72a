"""Writes cases.txt: arrays and what NumPy 2.4 prints for them.

A case is a line `= dtype shape data`, then the printed lines, each after `|`. The shape is
`2,3` (`-` for a scalar); the data are the elements' bytes in hex, `.` for none, repeated until
the shape is full; strings are hex, separated by commas, `.` for an empty one.
"""
import pathlib
import sys

import ml_dtypes
import numpy as np

FLOATS = {"half": np.float16, "float": np.float32, "double": np.float64}
COMPLEX = {"complex64": np.complex64, "complex128": np.complex128}
INTS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
SHAPES = [(), (1,), (3,), (7,), (40,), (2, 3), (3, 1, 2), (2, 2, 2, 2), (5, 30), (1001,),
          (2000, 2), (12, 11, 10), (3, 400), (0,), (0, 3), (3, 0), (1, 1, 1)]
LISTS = [
    [0], [-0.0], [1], [-1], [0.1], [1 / 3], [2 / 3, 1], [100, 0.1], [1000, 1], [1001, 1],
    [1e6, 1e5], [999999], [1e8], [99999999.0], [1e-4, 1e-3], [9.9e-5], [1e-5], [1e16], [1e15, 1e14],
    [123456.789], [0.1, 0.12, 0.123, 0.1234567890123], [1e-10, 1e10], [1e100, 1], [1e-300, 1e300],
    [np.inf], [-np.inf], [np.nan], [np.nan, 1], [np.inf, 1, -np.inf], [np.inf, 1e10, np.nan],
    [-np.inf, 0.5], [np.nan, -1.5, 1e-7], [0.5, 1.5, 2.5], [-0.5, 10], [5e-324, 1], [1.5, 2, 3],
    [22, 28, 49, 64], [3.4028235e38, 1.17549435e-38], [16777216, 16777217], [65504, 6e-8],
    [1.00000005, 1.000000005], [0.000123456789], [1234.5678, 0.01], [2.0 ** -10, 2.0 ** 10],
    [999.5, 1e3], [0.99999999, 0.999999995],
]


def cases(rng):
    for name, dtype in FLOATS.items():
        for values in LISTS:
            with np.errstate(all="ignore"):
                array = np.array(values, np.float64).astype(dtype)
            yield name, array
            yield name, array[0]
        for shape in SHAPES:
            for scale in (1, 1e3, 1e-6):
                yield name, (rng.standard_normal(shape) * scale).astype(dtype)
            yield name, rng.integers(-50, 50, shape).astype(dtype)
        for _ in range(60):
            shape = tuple(rng.integers(1, 6, rng.integers(1, 4)))
            exponents = rng.uniform(-1, 1, shape) * rng.choice([0.5, 2, 4, 8])
            digits = int(rng.integers(0, 6))
            with np.errstate(all="ignore"):
                values = rng.standard_normal(shape) * 10.0 ** exponents
                yield name, np.round(values, digits).astype(dtype)
    yield "float", rng.standard_normal((7, 7, 7, 7)).astype(np.float32)
    # The powers of two have neighbours at unequal distances; the rest is a sample of all halves.
    for start in range(0, 0x7c00, 0x400):
        yield "half", np.arange(start, start + 8, dtype=np.uint16).view(np.float16)
        for bits in range(start, start + 8, 3):
            yield "half", np.array(bits, np.uint16).view(np.float16)
    for bits in rng.integers(0, 1 << 16, 300):
        yield "half", np.array(bits, np.uint16).view(np.float16)
    for bits in rng.integers(0, 1 << 32, 300, dtype=np.uint64):
        yield "float", np.array(bits, np.uint64).astype(np.uint32).view(np.float32)
    for bits in rng.integers(0, 1 << 63, 300, dtype=np.uint64):
        yield "double", np.array(bits, np.uint64).view(np.float64)
    for name, dtype in COMPLEX.items():
        for re in LISTS[::2]:
            for im in LISTS[1::7]:
                n = max(len(re), len(im))
                array = np.zeros(n, dtype)
                with np.errstate(all="ignore"):
                    array.real = np.resize(re, n)
                    array.imag = np.resize(im, n)
                yield name, array
                yield name, array[0]
        for shape in SHAPES:
            yield name, (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)
    for name in INTS:
        info = np.iinfo(name)
        yield name, np.array([info.min, info.max, 0], name)
        for shape in SHAPES:
            yield name, rng.integers(max(info.min, -500), min(info.max, 2000), shape).astype(name)
    for shape in SHAPES:
        yield "bool", rng.integers(0, 2, shape).astype(bool)
        with np.errstate(all="ignore"):
            yield "bfloat16", rng.standard_normal(shape).astype(ml_dtypes.bfloat16)
    yield "bfloat16", np.array([0, -0.0, 1e10, 1e-5, np.inf, -np.inf, np.nan], ml_dtypes.bfloat16)
    words = [b"", b"a", b"hello world", b"it's", b'say "it\'s"', b"tab\tline\n\\",
             bytes(range(256)), "caf\u00e9".encode(), b"x" * 90]
    for word in words:
        yield "string", np.array(word, object)
    for shape in SHAPES:
        yield "string", np.resize(np.array(words[:6], object), shape)
    yield "string", np.array(words, object)


def data_of(name, array):
    if array.size == 0:
        return "."
    if name == "string":
        return ",".join(w.hex() or "." for w in array.ravel()[:6 if array.size > 9 else None])
    raw = np.ascontiguousarray(array).tobytes()
    return raw.hex()


def main():
    out = []
    for name, array in cases(np.random.default_rng(7)):
        array = np.asarray(array)
        if array.size > 60 and name != "string":  # keep the file small: repeat a few elements
            array = np.resize(array.ravel()[:17], array.shape)
            data = data_of(name, array.ravel()[:17])
        else:
            data = data_of(name, array)
        shape = ",".join(map(str, array.shape)) or "-"
        out.append(f"= {name} {shape} {data}")
        out += ["|" + line for line in str(array).split("\n")]
    pathlib.Path(__file__).with_name("cases.txt").write_text("\n".join(out) + "\n")


if __name__ == "__main__":
    sys.exit(main())
