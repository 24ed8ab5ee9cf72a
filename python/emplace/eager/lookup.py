"""`tf.lookup`: tables that are filled once, and one that changes."""

from __future__ import annotations

from typing import Any

import numpy as np

from emplace.eager import context, records
from emplace.framework import dtypes, errors, ops
from emplace.framework.dispatch import execute as _op


def _convert(value: Any, dtype: Any = None) -> Any:
    with context.eager_mode():
        return ops.convert_to_tensor(value, dtype)


class KeyValueTensorInitializer:
    """Keys and values of a table."""

    def __init__(self, keys: Any, values: Any, key_dtype: Any = None, value_dtype: Any = None, name: str | None = None) -> None:
        self._keys, self._values = _convert(keys, key_dtype), _convert(values, value_dtype)
        if self._keys.shape != self._values.shape:
            raise ValueError(f"Keys and values must have the same shape: {self._keys.shape} and {self._values.shape}")
        self.key_dtype, self.value_dtype = self._keys.dtype, self._values.dtype

    def _pairs(self) -> Any:
        return zip(self._keys.numpy().reshape(-1).tolist(), self._values.numpy().reshape(-1).tolist())


class TextFileIndex:
    WHOLE_LINE, LINE_NUMBER = -2, -1


class TextFileInitializer:
    """A table out of the lines of a file: whole, by column, or by number."""

    def __init__(
        self, filename: Any, key_dtype: Any, key_index: int, value_dtype: Any, value_index: int, vocab_size: Any = None,
        delimiter: str = "\t", name: str | None = None, value_index_offset: int = 0,
    ) -> None:
        self._file, self._size, self._delimiter, self._offset = filename, vocab_size, delimiter, value_index_offset
        self._key, self._value = key_index, value_index
        self.key_dtype, self.value_dtype = dtypes.as_dtype(key_dtype), dtypes.as_dtype(value_dtype)

    def _part(self, line: bytes, number: int, index: int, dtype: Any) -> Any:
        if index == TextFileIndex.LINE_NUMBER:
            return number + self._offset
        part = line if index == TextFileIndex.WHOLE_LINE else line.split(self._delimiter.encode())[index]
        return part if dtype is dtypes.string else int(part) if dtype.is_integer else float(part)

    def _pairs(self) -> Any:
        with records.opened(self._file, "") as file:
            for number, line in enumerate(file):
                if self._size is not None and number >= int(self._size):
                    return
                line = line.rstrip(b"\r\n")
                yield self._part(line, number, self._key, self.key_dtype), self._part(line, number, self._value, self.value_dtype)


class DatasetInitializer:
    """A table out of a dataset of pairs."""

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset
        self.key_dtype, self.value_dtype = (s.dtype for s in dataset.element_spec)

    def _pairs(self) -> Any:
        return ((k.item() if hasattr(k, "item") else k, v.item() if hasattr(v, "item") else v) for k, v in self._dataset.as_numpy_iterator())


class _Table:
    """Looks up each element by itself."""

    _found: dict[Any, Any]
    key_dtype: Any
    value_dtype: Any

    def _missing(self, key: Any) -> Any:
        raise NotImplementedError

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        if hasattr(keys, "_parts"):
            flat = self.lookup(keys.flat_values if hasattr(keys, "flat_values") else keys.values)
            return keys.with_flat_values(flat) if hasattr(keys, "flat_values") else keys.with_values(flat)
        keys = _convert(keys)
        if keys.dtype != self.key_dtype:
            raise TypeError(f"Dtype of argument `keys` must be {self.key_dtype}, received: {keys.dtype}")
        flat = np.asarray(keys.numpy(), None if keys.dtype is not dtypes.string else object).reshape(-1).tolist()
        values = [self._found[k] if k in self._found else self._missing(k) for k in flat]
        made = np.empty(len(values), object) if self.value_dtype is dtypes.string else np.zeros(len(values), self.value_dtype.as_numpy_dtype)
        made[:] = values
        return _convert(made.reshape(keys.shape.as_list()), self.value_dtype)

    def __getitem__(self, keys: Any) -> Any:
        return self.lookup(keys)

    def size(self, name: str | None = None) -> Any:
        return _convert(np.int64(len(self._found)))

    def _items(self) -> tuple[Any, Any]:
        return tuple(_convert(list(v), d) for v, d in ((self._found.keys(), self.key_dtype), (self._found.values(), self.value_dtype)))

    def export(self, name: str | None = None) -> tuple[Any, Any]:
        return self._items()


class StaticHashTable(_Table):
    def __init__(self, initializer: Any, default_value: Any, name: str | None = None, experimental_is_anonymous: bool = False) -> None:
        self.key_dtype, self.value_dtype = initializer.key_dtype, initializer.value_dtype
        default = _convert(default_value, self.value_dtype).numpy()
        self._default = default.item() if hasattr(default, "item") else default
        self._found = {}
        for key, value in initializer._pairs():
            if self._found.setdefault(key, value) != value:
                raise errors.InvalidArgumentError(None, None, f"HashTable has different value for same key. Key {key} has {self._found[key]} and trying to add value {value}")

    @property
    def default_value(self) -> Any:
        return _convert(self._default, self.value_dtype)

    def _missing(self, key: Any) -> Any:
        return self._default


class StaticVocabularyTable(_Table):
    """Words beyond the vocabulary get the numbers of buckets behind it."""

    def __init__(self, initializer: Any, num_oov_buckets: int, lookup_key_dtype: Any = None, name: str | None = None, experimental_is_anonymous: bool = False) -> None:
        if num_oov_buckets <= 0:
            raise ValueError(f"`num_oov_buckets` must be > 0; use StaticHashTable. Received: {num_oov_buckets}")
        self.key_dtype, self.value_dtype = initializer.key_dtype, dtypes.int64
        self._found, self._buckets = dict(initializer._pairs()), num_oov_buckets

    def _missing(self, key: Any) -> Any:
        text = key if isinstance(key, bytes) else str(key).encode()
        with context.eager_mode():
            bucket = _op("StringToHashBucketFast", [ops.convert_to_tensor(text, dtypes.string)], {"num_buckets": self._buckets})
        return int(bucket) + len(self._found)

    def size(self, name: str | None = None) -> Any:
        return _convert(np.int64(len(self._found) + self._buckets))


class MutableHashTable(StaticHashTable):
    """A table that entries come to and go from."""

    def __init__(self, key_dtype: Any, value_dtype: Any, default_value: Any, name: str = "MutableHashTable", checkpoint: bool = True) -> None:
        self.key_dtype, self.value_dtype = dtypes.as_dtype(key_dtype), dtypes.as_dtype(value_dtype)
        default = _convert(default_value, self.value_dtype).numpy()
        self._default, self._found = default.item() if hasattr(default, "item") else default, {}

    def insert(self, keys: Any, values: Any, name: str | None = None) -> None:
        keys, values = _convert(keys, self.key_dtype), _convert(values, self.value_dtype)
        flat = (np.asarray(t.numpy(), object if t.dtype is dtypes.string else None).reshape(-1).tolist() for t in (keys, values))
        self._found.update(zip(*flat))

    def remove(self, keys: Any, name: str | None = None) -> None:
        keys = _convert(keys, self.key_dtype)
        for key in np.asarray(keys.numpy(), object if keys.dtype is dtypes.string else None).reshape(-1).tolist():
            self._found.pop(key, None)
