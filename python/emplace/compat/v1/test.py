"""tf.test: a TestCase that knows arrays, graphs and sessions."""

from __future__ import annotations

import contextlib
import random
import tempfile
import threading
import unittest
from typing import Any, Iterator
from unittest import mock as mock

import numpy as np

from emplace.framework import dtypes, errors, ops
from emplace.framework import session as session_lib
from emplace.framework.gradient_checker import compute_gradient as compute_gradient, compute_gradient_error as compute_gradient_error
from emplace.framework import listing as _listing


def _devices() -> list[Any]:
    with ops.Graph().as_default():
        session = session_lib.Session()
        try:
            return session.list_devices()
        finally:
            session.close()


def is_gpu_available(cuda_only: bool = False, min_cuda_compute_capability: Any = None) -> bool:
    """Whether there is a GPU on this machine; the arguments are not looked at."""
    return any(d.device_type == "GPU" for d in _devices())


def gpu_device_name() -> str:
    """The name of the first GPU, such as "/device:GPU:0", or an empty text."""
    for d in _devices():
        if d.device_type == "GPU":
            return "/device:" + d.name.split("/device:")[-1]
    return ""


def is_built_with_cuda() -> bool:
    """False: CUDA is found when the program runs, not when the package is built."""
    return False


def is_built_with_gpu_support() -> bool:
    """Whether there is a GPU that can be used."""
    return is_gpu_available()


is_built_with_rocm = is_built_with_xla = is_built_with_cuda


def get_temp_dir() -> str:
    """A folder for temporary files."""
    return tempfile.gettempdir()


def _array(value: Any) -> Any:
    if hasattr(value, "_numpy_of_eager"):
        value = value._numpy_of_eager()
    if isinstance(value, (ops.Tensor,)) or hasattr(value, "_as_graph_element"):
        value = value.eval()
    return np.asarray(value) if not isinstance(value, np.ndarray) else value


class TestCase(unittest.TestCase):
    """Each test starts with a fresh default graph and seeds of its own."""

    def setUp(self) -> None:
        random.seed(87654321)
        np.random.seed(87654321)
        ops._default_graphs.stack.clear()
        ops.reset_default_graph()
        ops.get_default_graph().seed = 87654321
        self._sessions: list[Any] = []
        self._cached: Any = None

    def checkedThread(self, target: Any, args: Any = None, kwargs: Any = None) -> "_CheckedThread":  # noqa: N802
        """A thread whose error fails the test when it is joined."""
        return _CheckedThread(self, target, args or (), kwargs or {})

    def tearDown(self) -> None:
        if getattr(self, "_cached", None) is not None:
            self._cached.close()
            self._cached = None

    def get_temp_dir(self) -> str:
        """A folder for temporary files of this test alone."""
        if not hasattr(self, "_temp"):
            self._temp = tempfile.mkdtemp()
        return self._temp

    # ---- Sessions.

    @contextlib.contextmanager
    def session(self, graph: Any = None, config: Any = None, use_gpu: bool = True, force_gpu: bool = False) -> Iterator[Any]:
        """A session of its own; with `use_gpu` ops may go to a GPU, with `force_gpu` they must."""
        with session_lib.Session(graph=graph, config=config) as s:
            with self._placed(s, use_gpu, force_gpu):
                yield s

    @contextlib.contextmanager
    def _placed(self, s: Any, use_gpu: bool, force_gpu: bool) -> Iterator[None]:
        if force_gpu:
            with s.graph.device(gpu_device_name()):
                yield
        elif use_gpu:
            yield
        else:
            with s.graph.device("/device:CPU:0"):
                yield

    @contextlib.contextmanager
    def cached_session(self, graph: Any = None, config: Any = None, use_gpu: bool = True, force_gpu: bool = False) -> Iterator[Any]:
        """The one session of the test, which keeps variables from one `with` to the next."""
        if self._cached is None:
            self._cached = session_lib.Session(graph=graph, config=config)
        with self._cached.graph.as_default(), self._cached.as_default(), self._placed(self._cached, use_gpu, force_gpu):
            yield self._cached

    @contextlib.contextmanager
    def test_session(self, graph: Any = None, config: Any = None, use_gpu: bool = True, force_gpu: bool = False) -> Iterator[Any]:
        """`cached_session`, or a session of its own where a graph is given."""
        if graph is None:
            with self.cached_session(graph, config, use_gpu, force_gpu) as s:
                yield s
        else:
            with self.session(graph, config, use_gpu, force_gpu) as s:
                yield s

    def evaluate(self, tensors: Any) -> Any:
        """The values of tensors, in their structure, from the default session or a new one."""
        session = ops.get_default_session()
        if session is None:
            with self.session() as session:
                return session.run(tensors)
        return session.run(tensors)

    # ---- Assertions.

    def _same_structure(self, a: Any, b: Any, compare: Any, path: str = "") -> None:
        if hasattr(a, "_asdict"):
            a = a._asdict()
        if hasattr(b, "_asdict"):
            b = b._asdict()
        if isinstance(a, dict):
            self.assertIsInstance(b, dict)
            self.assertCountEqual(a.keys(), b.keys())
            for k in a:
                self._same_structure(a[k], b[k], compare, f"{path}[{k}]")
        elif isinstance(a, (list, tuple)) and any(isinstance(x, (dict, list, tuple)) or ops.is_tensor(x) for x in a):
            try:
                compare(_array(a), _array(b))
            except (ValueError, TypeError):
                self.assertEqual(len(a), len(b), path)
                for i, (x, y) in enumerate(zip(a, b)):
                    self._same_structure(x, y, compare, f"{path}[{i}]")
        else:
            compare(_array(a), _array(b))

    def assertAllClose(self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: Any = None) -> None:  # noqa: N802
        """Fails unless two values, or structures of them, have one shape and differ by at most `atol + rtol * |b|`."""
        def compare(x: Any, y: Any) -> None:
            self.assertEqual(x.shape, y.shape, f"Shape mismatch: expected {x.shape}, got {y.shape}. {msg or ''}")
            if not np.allclose(x, y, rtol=rtol, atol=atol, equal_nan=True):
                np.testing.assert_allclose(x, y, rtol=rtol, atol=atol, err_msg=msg or "", equal_nan=True)

        self._same_structure(a, b, compare)

    def assertAllCloseAccordingToType(  # noqa: N802
        self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, float_rtol: float = 1e-6, float_atol: float = 1e-6,
        half_rtol: float = 1e-3, half_atol: float = 1e-3, bfloat16_rtol: float = 1e-2, bfloat16_atol: float = 1e-2, msg: Any = None,
    ) -> None:
        """`assertAllClose` with wider bounds where float32, float16 or bfloat16 takes part."""
        x, y = _array(a), _array(b)
        kinds = {x.dtype.name, y.dtype.name}
        if "float32" in kinds or "complex64" in kinds:
            rtol, atol = max(rtol, float_rtol), max(atol, float_atol)
        if "float16" in kinds:
            rtol, atol = max(rtol, half_rtol), max(atol, half_atol)
        if "bfloat16" in kinds:
            rtol, atol = max(rtol, bfloat16_rtol), max(atol, bfloat16_atol)
        self.assertAllClose(x, y, rtol, atol, msg)

    def assertNotAllClose(self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: Any = None) -> None:  # noqa: N802
        """Fails if the two are close in every element."""
        try:
            self.assertAllClose(a, b, rtol, atol)
        except AssertionError:
            return
        raise self.failureException(f"The two values are close at all elements. {msg or ''}")

    def assertAllEqual(self, a: Any, b: Any, msg: Any = None) -> None:  # noqa: N802
        """Fails unless two arrays, tensors or texts are equal in shape and in every element."""
        x, y = _array(a), _array(b)
        if x.dtype == object or y.dtype == object:
            x, y = (np.vectorize(lambda v: v.encode() if isinstance(v, str) else v, otypes=[object])(v) if v.size else v for v in (x, y))
        elif x.dtype.kind in "SU" or y.dtype.kind in "SU":
            x, y = (np.char.encode(v) if v.dtype.kind == "U" else v for v in (x, y))
        self.assertEqual(x.shape, y.shape, f"Shape mismatch: expected {x.shape}, got {y.shape}. {msg or ''}")
        np.testing.assert_array_equal(x, y, err_msg=msg or "")

    def assertNotAllEqual(self, a: Any, b: Any, msg: Any = None) -> None:  # noqa: N802
        """Fails if the two are equal in every element."""
        try:
            self.assertAllEqual(a, b)
        except AssertionError:
            return
        raise self.failureException(f"The two values are equal at all elements. {msg or ''}")

    def _assert_all(self, ok: Any, a: Any, text: str) -> None:
        if not np.all(ok):
            raise self.failureException(f"not all elements are {text}: {a}")

    def assertAllGreater(self, a: Any, comparison_target: Any) -> None:  # noqa: N802
        """Fails unless each element is greater than the target."""
        self._assert_all(_array(a) > comparison_target, a, f"> {comparison_target}")

    def assertAllLess(self, a: Any, comparison_target: Any) -> None:  # noqa: N802
        """Fails unless each element is less than the target."""
        self._assert_all(_array(a) < comparison_target, a, f"< {comparison_target}")

    def assertAllGreaterEqual(self, a: Any, comparison_target: Any) -> None:  # noqa: N802
        """Fails unless each element is at least the target."""
        self._assert_all(_array(a) >= comparison_target, a, f">= {comparison_target}")

    def assertAllLessEqual(self, a: Any, comparison_target: Any) -> None:  # noqa: N802
        """Fails unless each element is at most the target."""
        self._assert_all(_array(a) <= comparison_target, a, f"<= {comparison_target}")

    def assertAllInRange(self, target: Any, lower_bound: Any, upper_bound: Any, open_lower_bound: bool = False, open_upper_bound: bool = False) -> None:  # noqa: N802
        """Fails unless each element lies between the bounds; open bounds do not belong to the range."""
        t = _array(target)
        low = t > lower_bound if open_lower_bound else t >= lower_bound
        high = t < upper_bound if open_upper_bound else t <= upper_bound
        self._assert_all(low & high, t, f"within {lower_bound} and {upper_bound}")

    def assertAllInSet(self, target: Any, expected_set: Any) -> None:  # noqa: N802
        """Fails unless each element is one of the set."""
        self._assert_all(np.isin(_array(target), list(expected_set)), target, f"in {expected_set}")

    def assertNear(self, f1: Any, f2: Any, err: Any, msg: Any = None) -> None:  # noqa: N802
        """Fails unless two numbers differ by at most `err`."""
        self.assertTrue(f1 == f2 or abs(f1 - f2) <= err, f"{f1} != {f2} +/- {err}{' ' + msg if msg else ''}")

    def assertArrayNear(self, farray1: Any, farray2: Any, err: Any, msg: Any = None) -> None:  # noqa: N802
        """Fails unless two sequences are as long and their numbers differ by at most `err`."""
        self.assertEqual(len(farray1), len(farray2), msg)
        for a, b in zip(farray1, farray2):
            self.assertNear(float(a), float(b), err, msg)

    def assertNDArrayNear(self, ndarray1: Any, ndarray2: Any, err: Any, msg: Any = None) -> None:  # noqa: N802
        """Fails unless the norm of the difference of two arrays is below `err`."""
        self.assertTrue(np.linalg.norm(ndarray1 - ndarray2) < err, msg)

    def assertShapeEqual(self, input_a: Any, input_b: Any, msg: Any = None) -> None:  # noqa: N802
        """Fails unless two arrays or tensors have one shape."""
        a, b = (list(x.shape) if isinstance(x, np.ndarray) else x.shape.as_list() for x in (input_a, input_b))
        self.assertEqual(a, b, msg)

    def assertDTypeEqual(self, target: Any, expected_dtype: Any) -> None:  # noqa: N802
        """Fails unless a tensor or array has this dtype."""
        self.assertEqual(_array(target).dtype, dtypes.as_dtype(expected_dtype).as_numpy_dtype)

    def assertStartsWith(self, actual: str, expected_start: str, msg: Any = None) -> None:  # noqa: N802
        """Fails unless the text starts so."""
        if not actual.startswith(expected_start):
            self.fail(f"{actual!r} does not start with {expected_start!r}. {msg or ''}")

    def assertProtoEquals(self, expected_message_maybe_ascii: Any, validate_message: Any, msg: Any = None, relative_tolerance: Any = None) -> None:  # noqa: N802
        """A message, or its text form."""
        expected = expected_message_maybe_ascii
        if isinstance(expected, str):
            from google.protobuf import text_format

            expected = text_format.Parse(expected, type(validate_message)())
        self.assertIs(type(expected), type(validate_message), msg)
        self.assertEqual(str(expected), str(validate_message), msg)

    def assertProtoEqualsVersion(  # noqa: N802
        self, expected: Any, actual: Any, producer: Any = None, min_consumer: Any = None, msg: Any = None
    ) -> None:
        """Fails unless a GraphDef, its versions aside, equals the expected message or its text."""
        bare = type(actual)()
        bare.CopyFrom(actual)
        bare.ClearField("versions")
        self.assertProtoEquals(expected, bare, msg)

    def assertAllNan(self, a: Any) -> None:  # noqa: N802
        """Fails unless each element is NaN."""
        self._assert_all(np.isnan(_array(a)), a, "NaN")

    def assertLen(self, container: Any, expected_len: int, msg: Any = None) -> None:  # noqa: N802
        """Fails unless the container has this length."""
        if len(container) != expected_len:
            self.fail(f"{container!r} has length of {len(container)}, expected {expected_len}. {msg or ''}")

    def assertEmpty(self, container: Any, msg: Any = None) -> None:  # noqa: N802
        """Fails if the container holds anything."""
        if len(container):
            self.fail(f"{container!r} has length of {len(container)}. {msg or ''}")

    def assertNotEmpty(self, container: Any, msg: Any = None) -> None:  # noqa: N802
        """Fails if the container holds nothing."""
        if not len(container):
            self.fail(f"{container!r} has length of 0. {msg or ''}")

    def assertBetween(self, value: Any, minv: Any, maxv: Any, msg: Any = None) -> None:  # noqa: N802
        """Fails unless the value lies between the two, both included."""
        if not minv <= value <= maxv:
            self.fail(f"{value!r} unexpectedly not between {minv!r} and {maxv!r}. {msg or ''}")

    def assertSameElements(self, expected_seq: Any, actual_seq: Any, msg: Any = None) -> None:  # noqa: N802
        """Fails unless two sequences have the same elements, their order and number aside."""
        self.assertEqual(set(expected_seq), set(actual_seq), msg)

    def assertContainsSubset(self, expected_subset: Any, actual_set: Any, msg: Any = None) -> None:  # noqa: N802
        """Fails if an element of the first is missing in the second."""
        if missing := set(expected_subset) - set(actual_set):
            self.fail(f"Missing elements {missing}. {msg or ''}")

    def assertEndsWith(self, actual: Any, expected_end: Any, msg: Any = None) -> None:  # noqa: N802
        """Fails unless the text ends so."""
        if not actual.endswith(expected_end):
            self.fail(f"{actual!r} does not end with {expected_end!r}. {msg or ''}")

    def assertDeviceEqual(self, device1: Any, device2: Any, msg: Any = None) -> None:  # noqa: N802
        """Fails unless two device names mean the same device, however they are written."""
        from emplace.framework.device_spec import canonical_name

        self.assertEqual(canonical_name(device1), canonical_name(device2), msg)

    @contextlib.contextmanager
    def assertRaisesWithPredicateMatch(self, exception_type: Any, expected_err_re_or_predicate: Any) -> Iterator[None]:  # noqa: N802
        """Within it an exception must be raised that matches a regular expression, or of which a function says so."""
        import re

        try:
            yield
        except exception_type as e:
            text = e.message if isinstance(e, errors.OpError) else str(e)
            want = expected_err_re_or_predicate
            ok = want(e) if callable(want) else re.search(want, text)
            if not ok:
                raise AssertionError(f"Exception of type {type(e)}: {text}") from e
        else:
            self.fail(f"{getattr(exception_type, '__name__', exception_type)} not raised")

    def assertRaisesOpError(self, expected_err_re_or_predicate: Any) -> Any:  # noqa: N802
        """Within it an op must fail with a message that matches."""
        return self.assertRaisesWithPredicateMatch(errors.OpError, expected_err_re_or_predicate)


class _CheckedThread:
    def __init__(self, case: TestCase, target: Any, args: Any, kwargs: Any) -> None:
        self._case, self._target, self._args, self._kwargs = case, target, args, kwargs
        self._thread = threading.Thread(target=self._protected)
        self._error: BaseException | None = None

    def _protected(self) -> None:
        try:
            self._target(*self._args, **self._kwargs)
        except Exception as e:  # told at join
            self._error = e

    def start(self) -> None:
        self._thread.start()

    def join(self) -> None:
        self._thread.join()
        if self._error is not None:
            self._case.fail(f"Error in checkedThread: {self._error}")

    def is_alive(self) -> bool:
        return self._thread.is_alive()


def main(argv: Any = None) -> None:
    """Runs the tests of the program's main module, as `unittest.main` does."""
    unittest.main(argv=argv)

__dir__ = _listing.of_module(globals(), ("mock",))
