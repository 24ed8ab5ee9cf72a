import sys
import unittest

import numpy as np

import emplace.compat.v1 as tf


class SquareTest(tf.test.TestCase):
    def setUp(self):
        super().setUp()
        self.x = tf.constant([[1.0, 2.0], [3.0, 4.0]])

    def test_square(self):
        with self.test_session():
            self.assertAllEqual(tf.square(self.x).eval(), [[1, 4], [9, 16]])

    def test_close(self):
        with self.session() as sess:
            self.assertAllClose(sess.run(tf.sqrt(self.x)), np.sqrt([[1, 2], [3, 4]]))
            self.assertAllCloseAccordingToType(self.evaluate(self.x), [[1.0, 2.0], [3.0, 4.0]])
            self.assertNear(1.0, 1.001, 0.01)
            self.assertArrayNear([1.0, 2.0], [1.0, 2.0001], 0.01)
            self.assertShapeEqual(np.zeros([2, 2]), self.x)
            self.assertNotAllClose([1.0], [2.0])
            self.assertNDArrayNear(np.array([1.0]), np.array([1.0]), 1e-6)
            self.assertAllGreater(np.array([1, 2]), 0)
            self.assertAllInRange(np.array([1, 2]), 1, 2)

    def test_errors(self):
        with self.cached_session():
            with self.assertRaisesOpError("assertion failed"):
                tf.Assert(False, ["no"]).run()
            with self.assertRaisesRegex(ValueError, "Dimensions must be equal"):
                tf.matmul(self.x, tf.ones([3, 1]))

    def test_that_fails(self):
        with self.assertRaises(AssertionError):
            self.assertAllEqual([1, 2], [1, 3])
        with self.assertRaises(AssertionError):
            self.assertAllClose({"a": 1.0}, {"a": 1.1})

    def test_fresh_graph(self):
        self.assertEqual(self.x.op.name, "Const")
        self.assertEqual(len(tf.get_default_graph().get_operations()), 1)

    def test_gpu(self):
        self.assertFalse(tf.test.is_gpu_available())
        self.assertEqual(tf.test.gpu_device_name(), "")


suite = unittest.defaultTestLoader.loadTestsFromTestCase(SquareTest)
for case in suite:
    if "session" in case._testMethodName:
        continue
    result = unittest.TestResult()
    case.run(result)
    print(case._testMethodName, "ok" if result.wasSuccessful() else result.errors + result.failures)
sys.exit(0)
