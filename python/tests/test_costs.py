"""Books of costs, and what sessions put into them."""

import json

import pytest

import emplace as tf
import emplace.compat.v1 as tf1
from emplace.framework import errors

ROW = {"op": "MatMul", "attrs": "", "inputs": "float32[2,3] float32[3,4]", "device": "CPU x1", "seconds": 2e-6, "spread": 0, "count": 2}


def book(**changes):
    return tf.placement.CostBook.from_json(json.dumps({"version": 1, "costs": [ROW | changes]}))


def test_a_book_is_read_written_and_merged(tmp_path):
    path = tmp_path / "costs.json"
    book().save(path)
    both = tf.placement.CostBook.load(str(path)).merge(book(seconds=4e-6)).merge(book(op="Relu", node="a/relu"))
    assert len(both) == 2
    (product,) = both.costs(op="MatMul")
    assert product.seconds == pytest.approx(3e-6)
    assert product.spread == pytest.approx(1e-6)
    assert product.count == 4
    assert [r.op for r in both.costs(node="a/relu")] == ["Relu"]
    assert [r.op for r in both.costs(node="")] == ["MatMul"]
    assert both.costs(device="GPU") == []
    assert json.loads(both.to_json())["version"] == 1
    assert "2 rows" in repr(both)


def test_what_is_no_book_is_refused_in_words(tmp_path):
    with pytest.raises(errors.NotFoundError):
        tf.placement.CostBook.load(tmp_path / "none.json")
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(errors.InvalidArgumentError, match="bad.json: No costs in JSON"):
        tf.placement.CostBook.load(tmp_path / "bad.json")
    with pytest.raises(errors.InvalidArgumentError, match="A cost of -1 s"):
        book(seconds=-1)


def test_a_session_that_is_not_asked_measures_nothing():
    # The dynamic placer asks by itself.
    with tf1.Graph().as_default(), tf1.Session(config=tf1.ConfigProto(placer="simple")) as session:
        y = tf1.constant(1.0) + tf1.constant(2.0)
        for _ in range(10):
            session.run(y)
        assert len(session.costs()) == 0


def test_version_1_has_the_same_names():
    assert tf1.placement.CostBook is tf.placement.CostBook


def measured(config, steps=20):
    with tf1.Graph().as_default():
        x = tf1.placeholder(tf1.float32, [8, 16])
        y = tf1.matmul(x, tf1.fill([16, 4], 0.5), name="product")
        with tf1.Session(config=config) as session:
            for _ in range(steps):
                session.run(y, {x: [[1.0] * 16] * 8})
            return session.costs()


def test_a_session_that_is_asked_measures_and_saves(tmp_path):
    path = tmp_path / "costs.json"
    costs = measured(tf1.ConfigProto(measure_costs=True, save_costs=str(path)))
    (row,) = costs.costs(node="product")
    assert row.op == "MatMul"
    assert row.inputs == "float32[8,16] float32[16,4]"
    assert row.outputs == "float32[8,4]"
    assert row.seconds > 0
    assert costs.costs(node="", op="MatMul")[0].device == row.device
    again = measured(tf1.ConfigProto(costs=str(path)), steps=1)
    assert again.costs(node="product") == [row]


def test_a_book_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(errors.NotFoundError):
        measured(tf1.ConfigProto(costs=str(tmp_path / "none.json")))
