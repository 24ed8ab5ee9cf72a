"""Eager snippets: types of a program's own (extension types), and functions that are dispatched to them."""

import contextlib
import typing

from snippet import Table

snippet = Table()


def _masked(tf):
    class Masked(tf.experimental.ExtensionType):
        values: tf.Tensor
        mask: tf.Tensor
        default: int = 7

        def __validate__(self):
            self.values.shape.assert_is_compatible_with(self.mask.shape)

        def __radd__(self, other):
            return f"radd {other}"

    return Masked


def _car(tf):
    class Car(tf.experimental.BatchableExtensionType):
        speed: tf.Tensor
        wheels: tf.RaggedTensor
        seats: int = 4

    return Car


def _cars(tf):
    return _car(tf)([120, 150, 80], tf.ragged.constant([[1], [2, 3], []]))


def _text(value):
    """Without the modules of either library."""
    return repr(value).replace("tensorflow.python.framework.", "").replace("emplace.framework.", "")


def _refusal(call):
    try:
        return call()
    except Exception as e:  # noqa: BLE001
        return f"{type(e).__name__}: {e}"


@contextlib.contextmanager
def _registered(tf, decorator, target):
    decorator(target)
    try:
        yield
    finally:
        with contextlib.suppress(KeyError, ValueError):  # TensorFlow fails to find some of its own again
            tf.experimental.unregister_dispatch_for(target)


@snippet
def extension_text_and_spec(tf):
    m = _masked(tf)([1.0, 2.0], [True, False], default=3)
    spec = tf.type_spec_from_value(m)
    wide = type(spec)(tf.TensorSpec([None]), tf.TensorSpec([None], tf.bool), 3)
    other = type(spec)(tf.TensorSpec([None]), tf.TensorSpec([None], tf.bool), 4)
    same = [wide.is_compatible_with(m), other.is_compatible_with(m), spec.is_subtype_of(wide), wide.is_subtype_of(spec)]
    return [_text(m), repr(spec), repr(spec.most_specific_common_supertype([wide])), str(same)]


@snippet
def extension_is_fixed(tf):
    Masked = _masked(tf)
    m = Masked([1], [True])
    calls = [
        lambda: setattr(m, "values", 1), lambda: setattr(m, "other", 1), lambda: delattr(m, "mask"), lambda: Masked([1]), lambda: Masked([1], [True, False]),
        lambda: Masked([1], [True], "x"), lambda: Masked(object(), True), lambda: hash(m), lambda: Masked([1], [True], 1, 2), lambda: tf.exp(m),
    ]
    return [_refusal(c) for c in calls]


@snippet
def extension_fields_of_many_kinds(tf):
    class Many(tf.experimental.ExtensionType):
        named: typing.Mapping[str, tf.Tensor]
        row: typing.Tuple[tf.Tensor, ...]
        maybe: typing.Optional[tf.Tensor]
        either: typing.Union[int, str] = 3
        shape: tf.TensorShape = (None, 2)
        dtype: tf.DType = "int32"

    m = Many({"b": 1, "a": [2.0]}, [1, 2.5], None)
    wrong = [lambda: Many(3, (), None), lambda: Many({}, 3, None), lambda: Many({}, (), None, either=1.5), lambda: Many({1: 2}, (), None)]
    doubled = tf.nest.map_structure(lambda t: t * 2, m, expand_composites=True)
    return [_text(m), repr(tf.type_spec_from_value(m)), _text(doubled), *map(_refusal, wrong)]


@snippet
def extension_classes_refused(tf):
    base = tf.experimental.ExtensionType

    def made(kind, **more):
        return lambda: type(base)("C", (base,), {"__annotations__": {"x": kind}, "__module__": "m", "__qualname__": "C", **more}) and "made"

    return [_refusal(made(k)) for k in (list, object, typing.List[int], tf.Variable, bytes, typing.Any)] + [_refusal(made(int, x="a"))]


@snippet
def extension_equality(tf):
    Masked = _masked(tf)
    m = Masked([1, 2], [True, False])
    others = [Masked([1, 2], [True, False]), Masked([1, 3], [True, False]), Masked([1], [True]), Masked([1, 2], [True, False], 8), 3]
    return [bool(m == o) for o in others] + [bool(m != o) for o in others]


@snippet
def extension_own_constructor(tf):
    class Pair(tf.experimental.ExtensionType):
        a: tf.Tensor
        b: tf.Tensor

        def __init__(self, n):
            self.a = n
            if n != 3:
                self.b = [n, n]

    return [_text(Pair(2)), _refusal(lambda: Pair(3)), _text(tf.function(lambda p: p.a + p.b)(Pair(4)).numpy())]


@snippet
def extension_in_functions(tf):
    Masked, seen = _masked(tf), []

    @tf.function
    def double(m):
        seen.append(m.default)
        return {"m": Masked(m.values * 2, m.mask, m.default), "sum": tf.reduce_sum(m.values)}

    out = [double(Masked([1, 2], [True, True])), double(Masked([3, 4], [True, True])), double(Masked([3, 4], [True, True], 8))]
    concrete = double.get_concrete_function(Masked.Spec(tf.TensorSpec([None], tf.int32), tf.TensorSpec([None], tf.bool), 9))
    out.append(concrete(Masked([5], [False], 9)))
    return [_text(o) for o in out] + [str(seen)]


@snippet
def extension_input_signature(tf):
    Masked = _masked(tf)
    spec = Masked.Spec(tf.TensorSpec([None], tf.int32), tf.TensorSpec([None], tf.bool), 7)
    f = tf.function(lambda m: tf.shape(m.values), input_signature=[spec])
    return [f(Masked([1], [True])), f(Masked([1, 2], [True, True])), _refusal(lambda: f(Masked([1.0], [True]))), str(f.experimental_get_tracing_count())]


@snippet
def extension_in_branches_and_loops(tf):
    Masked = _masked(tf)

    @tf.function
    def run(n):
        start = tf.cond(n > 2, lambda: Masked([1, 2], [True, True]), lambda: Masked([5, 6], [True, False]))
        return tf.while_loop(lambda i, m: i < n, lambda i, m: (i + 1, Masked(m.values * 2, m.mask)), [0, start])

    return [_text(run(tf.constant(n))) for n in (1, 3)]


@snippet
def extension_gradient(tf):
    Masked = _masked(tf)
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        m = tf.function(lambda v: Masked(v * v, v > 1.0))(x)
        y = tf.reduce_sum(tf.identity(m).values)
    return tape.gradient(y, x)


@snippet
def batchable_rows(tf):
    class Point(tf.experimental.BatchableExtensionType):
        x: tf.Tensor
        of: int = 4

    counts = tf.map_fn(lambda c: c.speed * tf.size(c.wheels), _cars(tf), fn_output_signature=tf.int32)
    return [counts, _text(tf.map_fn(lambda p: Point(p.x + 1, p.of), Point([[1, 2], [3, 4]], 5)))]


@snippet
def batchable_in_datasets(tf):
    data = tf.data.Dataset.from_tensor_slices(_cars(tf))
    batches = [tensor for b in data.batch(2) for tensor in (b.speed, b.wheels.flat_values, b.wheels.row_splits)]
    back = [c.speed for c in data.batch(2).unbatch()]
    return [data.map(lambda c: c.speed * 2).element_spec.dtype.name, *batches, *back]


@snippet
def batchable_in_function(tf):
    class Point(tf.experimental.BatchableExtensionType):
        x: tf.Tensor
        y: tf.Tensor

    @tf.function
    def both(points):
        sums = tf.map_fn(lambda p: p.x + p.y, points, fn_output_signature=tf.int32)
        return sums, tf.map_fn(lambda p: Point(p.y, p.x), points)

    sums, turned = both(Point([1, 2], [30, 40]))
    return [sums, turned.x, turned.y]


@snippet
def dispatch_to_own_function(tf):
    Masked = _masked(tf)
    m = Masked([1, 2], [True, False])

    def add(x, y, name=None):
        return f"add {type(x).__name__} {type(y).__name__}"

    decorator = tf.experimental.dispatch_for_api(tf.add, {"x": Masked, "y": Masked}, {"x": Masked, "y": tf.Tensor})
    with _registered(tf, decorator, add):
        found = [tf.add(m, m), tf.math.add(x=m, y=tf.constant(1)), _refusal(lambda: tf.add(m, 1)), tf.add(1, 2), tf.constant(1) + m]
    return found + [_refusal(lambda: tf.add(m, m)), _refusal(lambda: tf.experimental.unregister_dispatch_for(len))]


@snippet
def dispatch_of_lists(tf):
    Masked = _masked(tf)
    m = Masked([1, 2], [True, False])

    def concat(values: typing.List[Masked], axis):
        return f"{len(values)} at {axis}"

    with _registered(tf, tf.experimental.dispatch_for_api(tf.concat), concat):
        return [tf.concat([m, m], 0), tf.concat((m,), axis=1, name="c"), tf.concat([[1], [2]], 0), _refusal(lambda: tf.concat([m, [1]], 0))]


@snippet
def dispatch_elementwise(tf):
    class Boxed(tf.experimental.ExtensionType):
        inner: tf.Tensor

    box, api = Boxed([-1.5, 2.0]), tf.experimental
    with contextlib.ExitStack() as stack:
        stack.enter_context(_registered(tf, api.dispatch_for_unary_elementwise_apis(Boxed), lambda f, x: Boxed(f(x.inner))))
        mixed = typing.Union[Boxed, tf.Tensor]
        bare = lambda v: v.inner if isinstance(v, Boxed) else v
        stack.enter_context(_registered(tf, api.dispatch_for_binary_elementwise_apis(mixed, mixed), lambda f, x, y: Boxed(f(bare(x), bare(y)))))
        stack.enter_context(_registered(tf, api.dispatch_for_binary_elementwise_assert_apis(Boxed, Boxed), lambda f, x, y: f(x.inner, y.inner)))
        made = [tf.abs(box), tf.cast(box, tf.int32), tf.clip_by_value(box, 0.0, 1.0), tf.round(x=box)]
        made += [tf.maximum(box, tf.constant(1.0)), tf.constant(2.0) - box]
        tf.debugging.assert_equal(box, box)
        failed = _refusal(lambda: tf.debugging.assert_less(box, box))
    return [m.inner for m in made] + [failed.split("\n")[0], _refusal(lambda: tf.abs(box)), tf.abs(tf.constant(-1))]


@snippet
def dispatch_refused(tf):
    Masked, api = _masked(tf), tf.experimental.dispatch_for_api
    target = lambda x, y, name=None: 3
    calls = [
        lambda: api(tf.add, {"z": Masked})(target), lambda: api(tf.add, [Masked])(target), lambda: api(tf.add, {"x": typing.Dict[str, int]})(target),
        lambda: api(tf.add)(target), lambda: api(tf.add, {"x": Masked})(lambda a, b: 3),
    ]
    return [_refusal(c) for c in calls]


def _people(tf):
    return tf.experimental.StructuredTensor.from_pyval(
        [{"age": 12, "names": ["J"], "shoe": {"sizes": [8.0, 7.5]}}, {"age": 82, "names": ["B", "C"], "shoe": {"sizes": [11.0]}}]
    )


@snippet
def structured_fields(tf):
    people = _people(tf)
    values = [people.field_value("age"), people.field_value(("shoe", "sizes")).flat_values, people[1, "names"], people[-1, "shoe", "sizes"], people[:, "age"]]
    return [repr(people), repr(people[0]), repr(people[1:]), *values, str(people.shape), people.rank, people.nrows(), sorted(people.field_names())]


@snippet
def structured_nested_rows(tf):
    rows = tf.experimental.StructuredTensor.from_pyval([[{"x": 1, "y": [1, 2]}, {"x": 2, "y": []}], [], [{"x": 3, "y": [5]}]])
    parts = [repr(rows), repr(rows[0, 1]), repr(rows.merge_dims(0, 1)), repr(rows.row_partitions), repr(rows.field_value("y"))]
    cut = rows.merge_dims(0, 1).partition_outer_dimension(tf.experimental.RowPartition.from_row_lengths([1, 2]))
    return [*parts, repr(cut), [[sorted(r.items()) for r in row] for row in rows.to_pyval()]]


@snippet
def structured_updates(tf):
    people = _people(tf)
    made = people.with_updates({"age": lambda a: a + 1, ("shoe", "colour"): [1, 2], "new": tf.constant([5, 6]), "names": None})
    docs = tf.experimental.StructuredTensor.from_pyval([{"docs": [{"t": [1, 2]}, {"t": [3]}]}, {"docs": [{"t": [7]}]}])
    wrong = [
        lambda: people.with_updates({("shoe", "no"): lambda v: v}), lambda: docs.promote(("docs",), "x"), lambda: people["age"],
        lambda: people.field_value("no"), lambda: type(people).from_fields({"x": [1, 2], "y": [1, 2, 3]}, shape=[2]),
    ]
    return [repr(made), repr(docs.promote(("docs", "t"), "all")), *map(_refusal, wrong)]


@snippet
def structured_in_function(tf):
    people = _people(tf)
    dense = tf.experimental.StructuredTensor.from_fields({"x": tf.ones([2, 3]), "y": [1, 2]}, shape=[2])
    return [tf.function(lambda s: s.field_value("age") + 1)(people), repr(tf.function(lambda s: s)(dense)), repr(dense)]
