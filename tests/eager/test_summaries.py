"""Summaries that TensorBoard reads."""

import pathlib

import numpy as np
import pytest

tf = pytest.importorskip("emplace")
from emplace.framework import event_writer  # noqa: E402


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
