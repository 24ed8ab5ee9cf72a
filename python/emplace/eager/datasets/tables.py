"""Tables and records of features out of files, in batches by name."""

from __future__ import annotations

import collections
import csv
import glob
import gzip
from typing import Any

import numpy as np

from emplace.eager.datasets.building import AUTOTUNE
from emplace.eager.datasets.dataset import Dataset
from emplace.eager.datasets.files import CsvDataset, TFRecordDataset
from emplace.framework import dtypes


def _files(file_pattern: Any, shuffle: bool) -> list[str]:
    patterns = [file_pattern] if isinstance(file_pattern, str) else list(file_pattern)
    files = sorted({f for p in patterns for f in glob.glob(p)})
    if not files:
        raise ValueError(f"No files match `file_pattern` {file_pattern}.")
    return files


def _shuffled_and_repeated(dataset: Any, epochs: Any, shuffle: bool, buffer: Any, seed: Any) -> Any:
    made = dataset.shuffle(buffer, seed) if shuffle else dataset
    return made if epochs == 1 else made.repeat(epochs)


# ---- Tables.


def _guessed(rows: list[list[str]], at: int, missing: str) -> Any:
    """The narrowest dtype that holds what is seen of a column."""
    kinds = [dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64, dtypes.string]
    best = 0
    for row in rows:
        if row[at] in ("", missing):
            continue
        while best < len(kinds) - 1 and not _fits(row[at], kinds[best]):
            best += 1
    return kinds[best]


def _fits(text: str, kind: Any) -> bool:
    try:
        value = float(text) if kind.is_floating else int(text)
    except ValueError:
        return False
    if kind.is_floating:
        return kind == dtypes.float64 or not np.isinf(np.float32(value)) or np.isinf(value)
    return bool(-(2 ** (8 * kind.size - 1)) <= value < 2 ** (8 * kind.size - 1))


def make_csv_dataset(
    file_pattern: Any, batch_size: int, column_names: Any = None, column_defaults: Any = None, label_name: Any = None, select_columns: Any = None,
    field_delim: str = ",", use_quote_delim: bool = True, na_value: str = "", header: bool = True, num_epochs: Any = None, shuffle: bool = True,
    shuffle_buffer_size: int = 10000, shuffle_seed: Any = None, prefetch_buffer_size: Any = None, num_parallel_reads: Any = None,
    sloppy: bool = False, num_rows_for_inference: int = 100, compression_type: Any = None, ignore_errors: bool = False,
    encoding: str = "utf-8",
) -> Any:
    """Batches of columns by name, the label beside them."""
    files = _files(file_pattern, False)
    opened = gzip.open(files[0], "rt", newline="") if compression_type == "GZIP" else open(files[0], newline="", encoding=encoding)
    with opened as file:
        quoting = csv.QUOTE_MINIMAL if use_quote_delim else csv.QUOTE_NONE
        lines = list(csv.reader(file, delimiter=field_delim, quoting=quoting))
    names = list(column_names) if column_names is not None else lines[0]
    if len(set(names)) != len(names):
        raise ValueError("Cannot have duplicate column names.")
    body = lines[1:] if header else lines
    wanted = list(range(len(names)))
    if select_columns is not None:
        wanted = sorted(names.index(c) if isinstance(c, str) else c for c in select_columns)
    keys = [names[i] for i in wanted]
    if label_name is not None and label_name not in keys:
        raise ValueError("`label_name` provided must be one of the columns.")
    defaults = column_defaults
    if defaults is None:
        kinds = [_guessed(body[:num_rows_for_inference], i, na_value) for i in wanted]
        defaults = [np.array([b"" if k == dtypes.string else 0], object if k == dtypes.string else k.as_numpy_dtype) for k in kinds]

    def rows(file: Any) -> Any:
        made = CsvDataset(
            file, defaults, compression_type, None, header, field_delim, use_quote_delim, na_value, None if select_columns is None else wanted
        )
        return made.ignore_errors() if ignore_errors else made

    def by_name(*columns: Any) -> Any:
        features = collections.OrderedDict(zip(keys, columns))
        if label_name is None:
            return features
        label = features.pop(label_name)
        return features, label

    whole = Dataset.from_tensor_slices(files)
    whole = whole.shuffle(len(files), shuffle_seed) if shuffle else whole
    at_once = 1 if num_parallel_reads is None else num_parallel_reads
    read = whole._in_mode(lambda: whole._read_side_by_side(rows, at_once, 1, sloppy, None, None))
    read = _shuffled_and_repeated(read, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed)
    made = read.batch(batch_size, drop_remainder=num_epochs is None).map(by_name)
    return made.prefetch(AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)


# ---- Records of features.


def parse_example_dataset(features: Any, num_parallel_calls: Any = 1, deterministic: Any = None) -> Any:
    """For `Dataset.apply`: batches of serialized Examples as a dictionary of their features."""
    from emplace.eager import examples

    return lambda dataset: dataset.map(lambda records: examples.parse_example(records, features), num_parallel_calls, deterministic)


def make_batched_features_dataset(
    file_pattern: Any, batch_size: int, features: Any, reader: Any = None, label_key: Any = None, reader_args: Any = None, num_epochs: Any = None,
    shuffle: bool = True, shuffle_buffer_size: int = 10000, shuffle_seed: Any = None, prefetch_buffer_size: Any = None,
    reader_num_threads: Any = None, parser_num_threads: Any = None, sloppy_ordering: bool = False, drop_final_batch: bool = False,
) -> Any:
    """Batches of features, by name, of the Examples in files; the feature of `label_key` beside them."""
    files = _files(file_pattern, False)
    whole = Dataset.from_tensor_slices(files)
    whole = whole.shuffle(len(files), shuffle_seed) if shuffle else whole
    kind = TFRecordDataset if reader is None else reader

    def records(file: Any) -> Any:
        return kind(file, *(reader_args or ()))

    at_once = 1 if reader_num_threads is None else reader_num_threads
    read = whole._in_mode(lambda: whole._read_side_by_side(records, at_once, 1, sloppy_ordering, None, None))
    if isinstance(read.element_spec, tuple):
        read = read.map(lambda _, record: record)
    read = _shuffled_and_repeated(read, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed)
    made = read.batch(batch_size, drop_remainder=drop_final_batch or num_epochs is None)
    made = made.apply(parse_example_dataset(features, 2 if parser_num_threads is None else parser_num_threads))
    if label_key is not None:
        if label_key not in features:
            raise ValueError(f"The `label_key` provided ({label_key!r}) must be one of the `features` keys.")
        made = made.map(lambda x: (x, x.pop(label_key)))
    return made.prefetch(AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)
