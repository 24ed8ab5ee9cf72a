"""Input pipelines of graph programs: windows, groups, buckets, states that go along, choices, files of numbers."""

import os
import tempfile
from typing import Any


def _rows(tf: Any, dataset: Any) -> list[Any]:
    iterator = tf.data.make_initializable_iterator(dataset)
    element, rows = iterator.get_next(), []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(iterator.initializer)
        while True:
            try:
                rows.append(sess.run(element))
            except tf.errors.OutOfRangeError:
                return rows


_rows.__module__ = "helpers"  # not a program


def windows_of_series(tf: Any, np: Any, say: Any, fails: Any) -> None:
    series = tf.data.Dataset.range(7).window(3, shift=2, drop_remainder=True)
    pairs = series.flat_map(lambda w: w.batch(3)).map(lambda b: (b[:-1], b[-1]))
    say(series, pairs, _rows(tf, pairs))
    columns = tf.data.Dataset.from_tensor_slices({"a": [1, 2, 3], "b": [4.0, 5.0, 6.0]}).window(2)
    say(_rows(tf, columns.flat_map(lambda d: tf.data.Dataset.zip((d["a"].batch(2), d["b"].batch(2))))))
    say(_rows(tf, tf.data.Dataset.range(6).window(2).map(lambda w: w.reduce(np.int64(0), lambda a, b: a + b))))
    fails(len, series)
    say(bool(tf.data.Dataset.range(0)))


def states_and_groups(tf: Any, np: Any, say: Any, fails: Any) -> None:
    numbers, start = tf.data.Dataset.range(5), tf.Variable(2, dtype=tf.int64)
    scanned = numbers.scan(start, lambda state, x: (state + x, tf.cast(state * x, tf.float32)))
    say(scanned, _rows(tf, scanned))
    grouped = numbers.group_by_window(lambda x: x % 2, lambda key, w: w.map(lambda v: v + key * 100).batch(2), window_size_func=lambda key: key + 2)
    say(grouped, _rows(tf, grouped))
    say(_rows(tf, numbers.apply(tf.data.experimental.group_by_window(lambda x: x % 2, lambda key, w: w.batch(3), window_size=3))))
    say(_rows(tf, numbers.apply(tf.data.experimental.scan(np.int64(0), lambda s, x: (s + x, s + x))).skip(1)))
    fails(numbers.scan, np.int64(0), lambda a, b: a)
    fails(numbers.map, 3)
    fails(tf.data.Dataset.zip, (numbers, 4))


def buckets_by_length(tf: Any, np: Any, say: Any, fails: Any) -> None:
    def sentences() -> Any:
        for n in (1, 4, 2, 5, 3):
            yield list(range(n))

    dataset = tf.data.Dataset.from_generator(sentences, tf.int64, tf.TensorShape([None]))
    say(_rows(tf, dataset.bucket_by_sequence_length(lambda x: tf.shape(x)[0], [3], [2, 2])))
    fill = tf.constant(-1, tf.int64)
    bucketed = dataset.apply(tf.data.experimental.bucket_by_sequence_length(lambda x: tf.size(x), [3, 5], [2, 2, 2], padding_values=fill))
    say(bucketed, _rows(tf, bucketed))
    say(_rows(tf, dataset.padded_batch(3, [None], padding_values=fill)))


def choices_between_datasets(tf: Any, np: Any, say: Any, fails: Any) -> None:
    D, E = tf.data.Dataset, tf.data.experimental
    chosen = E.choose_from_datasets([D.range(2), D.range(10, 13)], D.from_tensor_slices(np.array([0, 1, 1, 0, 1], np.int64)))
    say(chosen, _rows(tf, chosen))
    fails(E.choose_from_datasets, [D.range(2)], D.from_tensor_slices([0.0]))
    say(len(_rows(tf, E.sample_from_datasets([D.range(2), D.range(10, 13)], [0.5, 0.5], seed=1))))
    say(_rows(tf, D.range(4).apply(E.unique()).apply(E.take_while(lambda x: x < 3)).apply(E.enumerate_dataset(start=5))))
    say(_rows(tf, D.from_tensor_slices([1.0, 2.0, 0.0, 4.0]).map(lambda x: tf.check_numerics(1.0 / x, "e")).apply(E.ignore_errors())))
    say(_rows(tf, E.Counter(start=3, step=2).take(3)), _rows(tf, D.from_tensor_slices([[1, 2], [3, 4]]).apply(E.unbatch())))
    only = E.get_single_element(D.from_tensors((1, "a")))
    with tf.Session() as sess:
        say(sess.run(only), sess.run(E.cardinality(D.range(4))))
    step = tf.Variable(3, dtype=tf.int64, name="one_more")
    fails(tf.data.make_one_shot_iterator, D.range(3).map(lambda i: i + step))


def tables_of_numbers(tf: Any, np: Any, say: Any, fails: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "table.csv")
        with open(path, "w") as file:
            file.write("a,b,c\n1,2.5,x\n3,4.5,y\n")
        table = tf.data.experimental.CsvDataset(path, [tf.int32, tf.float32, tf.string], header=True)
        say(table, _rows(tf, table))
        labelled = tf.data.experimental.make_csv_dataset(path, 2, label_name="c", num_epochs=1, shuffle=False)
        say(labelled, _rows(tf, labelled))


def devices_of_iterators(tf, np, say, fails):
    outside = tf.data.Dataset.range(3)
    with tf.device("/cpu:0"):
        inside = outside.batch(2)
    handle = tf.placeholder(tf.string, [])
    with tf.device("/gpu:0"):
        once, begun = tf.data.make_one_shot_iterator(outside), tf.data.make_initializable_iterator(inside)
        either = tf.data.Iterator.from_structure(tf.int64, [])
        for it in (once, begun, either, tf.data.Iterator.from_string_handle(handle, tf.int64, [])):
            say(it.get_next().device)
        say(begun.initializer.device, either.make_initializer(outside).device)
    say(once.get_next().device, begun.get_next().device, either.get_next().device)
