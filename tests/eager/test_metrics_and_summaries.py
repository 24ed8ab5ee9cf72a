"""Metrics in functions, and summaries that TensorBoard reads."""

import pathlib

import numpy as np
import pytest

tf = pytest.importorskip("emplace")
from emplace.framework import event_writer  # noqa: E402


def test_metrics_gather_over_calls_of_a_function() -> None:
    mean, hit = tf.metrics.Mean(), tf.metrics.SparseCategoricalAccuracy()

    @tf.function
    def step(loss: object, y: object, p: object) -> None:
        mean(loss)
        hit.update_state(y, p)

    step(2.0, tf.constant([0, 1]), tf.constant([[0.9, 0.1], [0.8, 0.2]]))
    step(4.0, tf.constant([1]), tf.constant([[0.1, 0.9]]))
    assert float(mean.result()) == 3.0
    assert float(hit.result()) == pytest.approx(2 / 3)
    mean.reset_state()
    assert float(mean.result()) == 0.0


def test_areas_below_curves() -> None:
    labels, said = [0, 0, 1, 1], [0.0, 0.5, 0.3, 0.9]
    roc, pr = tf.metrics.AUC(num_thresholds=3), tf.metrics.AUC(num_thresholds=3, curve="PR")
    assert float(roc(labels, said)) == pytest.approx(0.75)
    assert 0.0 < float(pr(labels, said)) <= 1.0


def _events(folder: pathlib.Path) -> list[tuple[int, str, str]]:
    (file,) = folder.iterdir()
    found = []
    for event in event_writer.summary_iterator(str(file)):
        found += [(event.step, v.tag, v.metadata.plugin_data.plugin_name) for v in event.summary.value]
    return found


def test_summaries_are_written_outside_and_inside_functions(tmp_path: pathlib.Path) -> None:
    writer = tf.summary.create_file_writer(str(tmp_path))

    @tf.function
    def step(x: object, at: object) -> None:
        tf.summary.scalar("inside", x, step=at)

    with writer.as_default():
        tf.summary.scalar("loss", 0.5, step=1)
        tf.summary.histogram("spread", np.arange(4.0), step=2)
        with tf.summary.record_if(False):
            tf.summary.scalar("never", 1.0, step=3)
        step(tf.constant(2.0), tf.constant(7, tf.int64))
    writer.close()
    assert _events(tmp_path) == [(1, "loss", "scalars"), (2, "spread", "histograms"), (7, "inside", "scalars")]


def test_a_summary_needs_a_step(tmp_path: pathlib.Path) -> None:
    with tf.summary.create_file_writer(str(tmp_path)).as_default(), pytest.raises(ValueError, match="No step set"):
        tf.summary.scalar("loss", 0.5)
