"""Datasets out of several, tables out of text files, and the names datasets are printed with."""

from __future__ import annotations

import collections
import csv
import functools
import glob
import gzip
from typing import Any, Iterator

import numpy as np

from emplace.eager import context, dataset_random, tensor_spec
from emplace.eager.dataset import AUTOTUNE, Dataset
from emplace.eager.dataset_more import UNKNOWN
from emplace.eager.functions import random
from emplace.framework import dtypes, errors, ops


def _same_elements(datasets: Any) -> Any:
    datasets = list(datasets)
    if not datasets:
        raise ValueError("`datasets` must be a non-empty list of datasets.")
    for d in datasets:
        if not isinstance(d, Dataset):
            raise TypeError(f"`datasets` must be a list of datasets, not {d!r}")
    return datasets


def _picked(datasets: list[Any], choices: Iterator[int], stop: bool) -> Iterator[Any]:
    sources = [iter(d) for d in datasets]
    left = set(range(len(sources)))
    for at in choices:
        if not 0 <= at < len(sources):
            raise errors.InvalidArgumentError(None, None, f"Selector index out of range: {at} >= {len(sources)}")
        if at not in left:
            continue
        for item in sources[at]:
            yield item
            break
        else:
            left.discard(at)
            if stop or not left:
                return


def choose_from_datasets(datasets: Any, choice_dataset: Any, stop_on_empty_dataset: bool = True) -> Dataset:
    """Elements of several datasets in turn, as the numbers (int64 scalars) in `choice_dataset` say."""
    datasets = _same_elements(datasets)
    spec = choice_dataset.element_spec
    if not isinstance(spec, tensor_spec.TensorSpec) or spec.dtype != dtypes.int64 or spec.shape.rank != 0:
        raise TypeError(f"Invalid `choice_dataset`. Elements of `choice_dataset` must be scalar `tf.int64` tensors but are {spec}.")
    return Dataset(lambda: _picked(datasets, (int(c) for c in choice_dataset), stop_on_empty_dataset), datasets[0].element_spec, UNKNOWN)


def sample_from_datasets(
    datasets: Any, weights: Any = None, seed: Any = None, stop_on_empty_dataset: bool = False, rerandomize_each_iteration: Any = None
) -> Dataset:
    """Elements of several datasets at random, by `weights`; one that has ended is passed over, or ends the whole with
    `stop_on_empty_dataset`."""
    datasets = _same_elements(datasets)
    odds = [1.0] * len(datasets) if weights is None else [float(w) for w in np.asarray(weights).reshape(-1)]
    if len(odds) != len(datasets):
        raise ValueError(f"Invalid `weights`. The shape of `weights` should be compatible with `[len(datasets)]` but is ({len(odds)},).")

    rounds = dataset_random.Rounds(seed, bool(rerandomize_each_iteration))

    def choices() -> Iterator[int]:
        logits = np.ones([1, len(odds)], np.float32) if weights is None else np.log(np.asarray([odds], np.float32))
        drawn = rounds.next()
        while True:
            with context.eager_mode():
                choice = int(random.stateless_categorical(logits, 1, [next(drawn), next(drawn)])[0, 0])
            yield choice

    return Dataset(lambda: _picked(datasets, choices(), stop_on_empty_dataset), datasets[0].element_spec, UNKNOWN)


def _texts(value: Any) -> list[bytes]:
    with context.eager_mode():
        return list(np.asarray(ops.convert_to_tensor(value, None if isinstance(value, ops.Tensor) else dtypes.string).numpy(), object).reshape(-1))


def list_files(file_pattern: Any, shuffle: Any = None, seed: Any = None, name: str | None = None) -> Dataset:
    """The names of the files that match one or more patterns, shuffled unless `shuffle` is False."""
    patterns = _texts(file_pattern)
    files = sorted({f for p in patterns for f in glob.glob(p.decode())})
    if not files:
        raise errors.InvalidArgumentError(None, None, f"No files matched pattern: {b', '.join(patterns).decode()}")
    whole = Dataset.from_tensor_slices(files)
    return whole.shuffle(len(files), seed) if shuffle is None or shuffle else whole


# ---- Tables.


def _opened(file: str, compression: Any) -> Any:
    return gzip.open(file, "rt", newline="") if compression == "GZIP" else open(file, newline="", encoding="utf-8")


def _column(default: Any) -> tuple[Any, Any]:
    """(dtype, what stands where nothing is given; None: something must be)."""
    if isinstance(default, dtypes.DType) or isinstance(default, type):
        return dtypes.as_dtype(default), None
    with context.eager_mode():
        given = ops.convert_to_tensor(default)
    values = np.asarray(given.numpy(), object if given.dtype == dtypes.string else None).reshape(-1)
    return given.dtype, values[0] if len(values) else None


def _cell(text: str, kind: Any, default: Any, missing: str) -> Any:
    if text == missing or text == "":
        if default is None:
            if kind == dtypes.string:
                return b""
            raise errors.InvalidArgumentError(None, None, "Field is required but missing in record!")
        return default
    if kind == dtypes.string:
        return text.encode()
    try:
        return (int if kind.is_integer else float)(text)
    except ValueError:
        raise errors.InvalidArgumentError(None, None, f"Field is not a valid {kind.name}: {text}") from None


class CsvDataset(Dataset):
    """Rows of comma-separated files, a tensor for each column."""

    _kind = "CsvDatasetV2"

    def __init__(
        self, filenames: Any, record_defaults: Any, compression_type: Any = None, buffer_size: Any = None, header: bool = False,
        field_delim: str = ",", use_quote_delim: bool = True, na_value: str = "", select_cols: Any = None, exclude_cols: Any = None,
    ) -> None:
        names = [f.decode() for f in _texts(filenames)]
        columns = [_column(d) for d in record_defaults]

        def rows() -> Iterator[Any]:
            quoting = csv.QUOTE_MINIMAL if use_quote_delim else csv.QUOTE_NONE
            for name in names:
                with _opened(name, compression_type) as file:
                    lines = csv.reader(file, delimiter=field_delim, quoting=quoting)
                    if header:
                        next(lines, None)
                    for line in lines:
                        cells = _selected(line, select_cols, exclude_cols)
                        if len(cells) != len(columns):
                            raise errors.InvalidArgumentError(None, None, f"Expect {len(columns)} fields but have {len(cells)} in record")
                        with context.eager_mode():  # not while the row is in use
                            row = tuple(ops.convert_to_tensor(_cell(c, k, d, na_value), k) for c, (k, d) in zip(cells, columns))
                        yield row

        super().__init__(rows, tuple(tensor_spec.TensorSpec([], k) for k, _ in columns), UNKNOWN)

    def _with(self, make: Any, n: int, spec: Any = None) -> Dataset:
        return Dataset(make, self.element_spec if spec is None else spec, n)

    _of = _with


def _selected(line: list[str], chosen: Any, left_out: Any) -> list[str]:
    if chosen is not None:
        return [line[i] for i in chosen]
    return [c for i, c in enumerate(line) if i not in set(left_out or ())]


def _guessed(rows: list[list[str]], at: int, missing: str) -> Any:
    """The narrowest dtype that holds what is seen of a column."""
    kinds = [dtypes.int32, dtypes.int64, dtypes.float32, dtypes.string]
    best = 0
    for row in rows:
        if row[at] in ("", missing):
            continue
        while best < 3 and not _fits(row[at], kinds[best]):
            best += 1
    return kinds[best]


def _fits(text: str, kind: Any) -> bool:
    try:
        value = float(text) if kind == dtypes.float32 else int(text)
    except ValueError:
        return False
    return kind == dtypes.float32 or -(2 ** (8 * kind.size - 1)) <= value < 2 ** (8 * kind.size - 1)


def make_csv_dataset(
    file_pattern: Any, batch_size: int, column_names: Any = None, column_defaults: Any = None, label_name: Any = None, select_columns: Any = None,
    field_delim: str = ",", use_quote_delim: bool = True, na_value: str = "", header: bool = True, num_epochs: Any = None, shuffle: bool = True,
    shuffle_buffer_size: int = 10000, shuffle_seed: Any = None, prefetch_buffer_size: Any = None, num_parallel_reads: Any = None,
    sloppy: bool = False, num_rows_for_inference: int = 100, compression_type: Any = None, ignore_errors: bool = False,
    encoding: str = "utf-8",
) -> Dataset:
    """Batches of columns by name, the label beside them."""
    patterns = [file_pattern] if isinstance(file_pattern, str) else list(file_pattern)
    files = sorted(f for p in patterns for f in glob.glob(p))
    if not files:
        raise ValueError(f"No files match `file_pattern` {file_pattern}.")
    with _opened(files[0], compression_type) as file:
        lines = list(csv.reader(file, delimiter=field_delim))
    names = list(column_names) if column_names is not None else lines[0]
    body = lines[1:] if header else lines
    wanted = list(range(len(names)))
    if select_columns is not None:
        wanted = sorted(names.index(c) if isinstance(c, str) else c for c in select_columns)
    if label_name is not None and label_name not in [names[i] for i in wanted]:
        raise ValueError("`label_name` provided must be one of the columns.")
    defaults = column_defaults
    if defaults is None:
        kinds = [_guessed(body[:num_rows_for_inference], i, na_value) for i in wanted]
        defaults = [np.array([b"" if k == dtypes.string else 0], object if k == dtypes.string else k.as_numpy_dtype) for k in kinds]
    rows = CsvDataset(files, defaults, compression_type, None, header, field_delim, use_quote_delim, na_value, wanted)
    whole = rows.shuffle(shuffle_buffer_size, shuffle_seed) if shuffle else rows
    keys = [names[i] for i in wanted]

    def by_name(*columns: Any) -> Any:
        features = collections.OrderedDict(zip(keys, columns))
        if label_name is None:
            return features
        label = features.pop(label_name)
        return features, label

    return whole.repeat(num_epochs).batch(batch_size, drop_remainder=num_epochs is None).map(by_name).prefetch(
        AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size
    )


# ---- Names.

_KINDS = {
    "from_tensors": "_TensorDataset", "from_tensor_slices": "_TensorSliceDataset", "range": "_RangeDataset", "from_generator": "_FlatMapDataset",
    "zip": "_ZipDataset", "map": "_MapDataset", "filter": "_FilterDataset", "batch": "_BatchDataset", "unbatch": "_UnbatchDataset",
    "repeat": "_RepeatDataset", "take": "_TakeDataset", "skip": "_SkipDataset", "shuffle": "_ShuffleDataset", "prefetch": "_PrefetchDataset",
    "cache": "CacheDataset", "concatenate": "_ConcatenateDataset", "enumerate": "_ZipDataset", "flat_map": "_FlatMapDataset",
    "counter": "_CounterDataset", "random": "_RandomDataset", "shard": "_ShardDataset", "window": "_WindowDataset",
    "interleave": "_InterleaveDataset", "padded_batch": "_PaddedBatchDataset", "group_by_window": "_GroupByWindowDataset",
    "take_while": "_TakeWhileDataset", "scan": "_ScanDataset", "unique": "_UniqueDataset", "rebatch": "_RebatchDataset",
    "with_options": "_OptionsDataset", "ignore_errors": "_IgnoreErrorsDataset", "bucket_by_sequence_length": "_GroupByWindowDataset",
    "choose_from_datasets": "_DirectedInterleaveDataset", "sample_from_datasets": "_DirectedInterleaveDataset",
}  # fmt: skip
_PARALLEL = ("map", "batch", "interleave")


def _named(method: Any, word: str) -> Any:
    @functools.wraps(method)
    def named(*args: Any, **kwargs: Any) -> Any:
        made = method(*args, **kwargs)
        if hasattr(made, "_kind"):
            at_once = word in _PARALLEL and kwargs.get("num_parallel_calls") is not None
            made._kind = _KINDS[word].replace("_", "_Parallel", 1) if at_once else _KINDS[word]
        return made

    return named


def name_results(owner: Any) -> None:
    """What a method of the class makes bears the name of TensorFlow's class."""
    for word in _KINDS:
        member = vars(owner).get(word)
        if member is not None:
            kind = type(member) if isinstance(member, (staticmethod, classmethod)) else None
            inner = _named(member.__func__ if kind else member, word)
            setattr(owner, word, kind(inner) if kind else inner)


def _install() -> None:
    for owner in Dataset.__mro__[1::-1]:
        name_results(owner)
    for function in (sample_from_datasets, choose_from_datasets):
        setattr(Dataset, function.__name__, staticmethod(_named(function, function.__name__)))
    if not hasattr(Dataset, "list_files"):
        Dataset.list_files = staticmethod(list_files)  # type: ignore[attr-defined]


_install()
