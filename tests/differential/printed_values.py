"""Programs that look closely at shapes, types and constants."""

from typing import Any


def tensor_ops(tf: Any, np: Any, say: Any, fails: Any) -> None:
    a = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    s = tf.Session()
    say(
        s.run(
            [
                a[0],
                a[:, 1],
                a[-1, ::-1],
                a[0][1],
                -a,
                abs(a),
                a**2,
                a // 2,
                a % 2,
                1 - a,
                2 / a,
                a @ a,
            ]
        )
    )
    fails(bool, a)
    fails(len, a)
    fails(iter, tf.placeholder(tf.float32))
    fails(int, a)
    fails(float, a)
    fails(lambda: [x for x in tf.placeholder(tf.float32)])
    fails(lambda: [x for x in a])
    fails(lambda: a.foo)
    fails(np.array, a)
    fails(lambda: a[1.5])
    fails(lambda: a["x"])
    fails(lambda: a[0, 0, 0])
    fails(lambda: a + "x")
    fails(lambda: a + tf.constant(1))
    fails(lambda: a & a)
    say(a == a, a != a, hash(a) == hash(a), a in [a], {a: 1}[a])
    p = tf.placeholder(tf.float32)
    say(p.shape, p.get_shape().ndims, p)
    fails(p.get_shape().as_list)
    p.set_shape([None, 3])
    say(p)
    fails(p.set_shape, [2])
    fails(p.shape.assert_is_compatible_with, [2, 2])
    b = a > 2
    say(s.run([b, ~b, b & b, b | b, b ^ b]))
    fails(lambda: ~a)
    say(tf.constant(3) / tf.constant(2), tf.constant(3) // 2, tf.constant(3) % 2)


def constants(tf: Any, np: Any, say: Any, fails: Any) -> None:
    s = tf.Session()
    say(
        s.run(
            [
                tf.constant(1, shape=[2, 2]),
                tf.constant([1, 2, 3], shape=[3]),
                tf.constant(-1.0, tf.float64),
                tf.constant("a"),
                tf.constant([["a", "b"]]),
                tf.constant(True),
                tf.constant(1j),
            ]
        )
    )
    fails(tf.constant, [1, 2, 3], shape=[2])
    say(s.run(tf.constant([1, 2], shape=[2, 2])))
    fails(tf.constant, [[1], [2, 3]])
    fails(tf.constant, 1.5, tf.int32)
    fails(tf.constant, "a", tf.float32)
    fails(tf.constant, None)
    fails(tf.constant, [1, "a"])
    fails(tf.constant, object())
    fails(tf.constant, [1, None])
    fails(tf.constant, {})
    fails(tf.constant, 2**40)
    fails(tf.constant, 1, tf.float32, verify_shape=True, shape=[2])
    fails(tf.constant, 1, name="bad name")
    fails(tf.constant, 1, name="-x")
    fails(tf.constant, 1, dtype="nope")


def shapes(tf: Any, np: Any, say: Any, fails: Any) -> None:
    a = tf.TensorShape([1, None, 3])
    b = tf.TensorShape(None)
    c = tf.TensorShape([])
    say(a, b, c, repr(a), repr(b), repr(c))
    say(
        a.as_list(),
        a.ndims,
        b.ndims,
        c.ndims,
        a.is_fully_defined(),
        c.is_fully_defined(),
        a[1],
        a[0],
        a[0:2],
        a[-1],
    )
    fails(b.as_list)
    fails(lambda: a[5])
    fails(len, b)
    say(len(a), a == [1, None, 3], a == tf.TensorShape([1, None, 3]), list(a), a.dims, b.dims)
    say(
        a.merge_with([1, 2, 3]),
        a.concatenate([4]),
        a.is_compatible_with([1, 5, 3]),
        a.is_compatible_with([2]),
        a.with_rank(3),
        a.with_rank_at_least(2),
        a.num_elements(),
        c.num_elements(),
    )
    fails(a.merge_with, [2, 2, 3])
    fails(a.with_rank, 2)
    fails(a.with_rank_at_least, 4)
    fails(a.with_rank_at_most, 2)
    fails(a.assert_has_rank, 1)
    fails(a.assert_is_fully_defined)
    fails(a.assert_same_rank, [1])
    fails(tf.TensorShape, [-1])
    fails(tf.TensorShape, ["a"])
    fails(tf.TensorShape, 1.5)
    d = tf.Dimension(3)
    e = tf.Dimension(None)
    say(
        d,
        e,
        repr(d),
        repr(e),
        d + 1,
        d * e,
        d // 2,
        d % 2,
        d - 1,
        d < 4,
        e < 4,
        d == 3,
        e == 3,
        d == tf.Dimension(3),
        int(d),
        d.value,
        e.value,
        10 // d,
        10 - d,
        d.merge_with(e),
    )
    fails(int, e)
    fails(tf.Dimension, -1)
    fails(tf.Dimension, "x")
    fails(tf.Dimension, 2.5)
    fails(d.merge_with, 4)
    fails(lambda: d / 2)
    fails(tf.Dimension(3).assert_is_compatible_with, 4)
    say(tf.TensorShape([2, 3]).as_proto())
    say(a.as_proto())
    say(tf.unknown_shape if hasattr(tf, "unknown_shape") else "")


def dtypes(tf: Any, np: Any, say: Any, fails: Any) -> None:
    for (
        n
    ) in "float16 float32 float64 bfloat16 int8 uint8 int16 uint16 int32 uint32 int64 uint64 bool string complex64 complex128 qint8 quint8 qint32".split():
        t = getattr(tf, n)
        say(
            t,
            repr(t),
            t.name,
            t.as_datatype_enum,
            t.size,
            t.is_floating,
            t.is_integer,
            t.is_complex,
            t.is_bool,
            t.is_unsigned,
            t.is_quantized,
            t.is_numpy_compatible,
            t.base_dtype,
            t.real_dtype,
        )
        for q in "min max limits".split():
            try:
                say(q, getattr(t, q))
            except Exception as e:
                say(type(e).__name__, e)
    say(
        tf.float32 == np.float32,
        tf.float32 == "float32",
        tf.float32 != tf.int32,
        tf.as_dtype("float"),
        tf.as_dtype("double"),
        tf.as_dtype("half"),
        tf.as_dtype(np.int32),
        tf.as_dtype(1),
        tf.as_dtype(float),
        tf.as_dtype(bool),
        tf.as_dtype(np.dtype("i8")),
        tf.as_dtype(np.object_),
    )
    fails(tf.as_dtype, "nope")
    fails(tf.as_dtype, 999)
    fails(tf.as_dtype, [1])
    fails(tf.as_dtype, None)
    say(
        tf.float32_ref if hasattr(tf, "float32_ref") else "",
        tf.float32._as_ref,
        tf.float32._as_ref.base_dtype,
        tf.float32._is_ref_dtype,
        tf.float32.is_compatible_with(tf.float32._as_ref),
        hash(tf.float32),
        {tf.float32: 1}[tf.as_dtype("float32")],
        tf.DType(1),
    )


def flags(tf: Any, np: Any, say: Any, fails: Any) -> None:
    import sys

    F = tf.flags.FLAGS
    tf.flags.DEFINE_integer("zz_int", 3, "an int")
    tf.flags.DEFINE_string("zz_s", "a", "s")
    tf.flags.DEFINE_boolean("zz_b", False, "b")
    tf.flags.DEFINE_float("zz_f", 0.5, "f")
    tf.flags.DEFINE_list("zz_l", ["a"], "l")
    tf.flags.DEFINE_enum("zz_e", "x", ["x", "y"], "e")
    tf.app.flags.DEFINE_bool("zz_bb", True, "b")
    say(F(["prog", "--zz_int=7", "--zz_b", "--nozz_bb", "--zz_l=a,b", "rest"]))
    say(F.zz_int, F.zz_s, F.zz_b, F.zz_f, F.zz_l, F.zz_e, F.zz_bb)
    F.zz_s = "q"
    say(F.zz_s, F["zz_int"].value, "zz_int" in F)
    fails(lambda: F.nope_zz)
    fails(F, ["p", "--zz_int=x"])
    fails(F, ["p", "--zz_e=q"])
    fails(F, ["p", "--unknown_zz=1"])
    tf.flags.mark_flag_as_required("zz_s")


def compat(tf: Any, np: Any, say: Any, fails: Any) -> None:
    say(
        tf.compat.as_bytes("a"),
        tf.compat.as_text(b"a"),
        tf.compat.as_str(b"a"),
        tf.compat.as_str_any(3),
    )
    fails(tf.compat.as_bytes, 3)
    fails(tf.compat.as_text, 3)
    say(
        tf.executing_eagerly(),
        tf.__version__[:1] != "",
        tf.newaxis,
        tf.AUTO_REUSE,
        tf.is_tensor(tf.constant(1)),
        tf.is_tensor(1),
        tf.contrib if hasattr(tf, "contrib") else "no contrib",
    )
    say(
        tf.get_static_value(tf.constant([1, 2])),
        tf.get_static_value(tf.placeholder(tf.float32)),
        tf.dimension_value(tf.Dimension(3)),
        tf.make_ndarray(tf.make_tensor_proto([1, 2])),
    )
    say(tf.make_tensor_proto([1.5, 2.0]))
    say(tf.test.is_built_with_cuda())
