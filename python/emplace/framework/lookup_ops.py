"""Tables from keys to values: fixed ones with their initializers, and ones that can be changed."""

from __future__ import annotations

import functools
import uuid
from typing import Any

from emplace.framework import array_ops, constant_op, control_flow_ops, dtypes, math_ops, ops, tensor_shape, trackable
from emplace.framework.dispatch import execute as _op
from emplace.framework.graph_collections import GraphKeys
from emplace.framework.ops import convert_to_tensor as _convert


class TextFileIndex:
    """What stands for the line itself, and for its number."""

    WHOLE_LINE = -2
    LINE_NUMBER = -1


# ---- What fills a table.


class TableInitializerBase:
    def __init__(self, key_dtype: Any, value_dtype: Any) -> None:
        self._key_dtype, self._value_dtype = dtypes.as_dtype(key_dtype), dtypes.as_dtype(value_dtype)

    key_dtype = property(lambda self: self._key_dtype)
    value_dtype = property(lambda self: self._value_dtype)
    _shared_name = ""

    def initialize(self, table: Any) -> Any:
        raise NotImplementedError

    def _check(self, table: Any) -> None:
        if table.key_dtype != self._key_dtype:
            raise TypeError(f"Invalid `table` key dtype, expected {self._key_dtype}, received {table.key_dtype}.")
        if table.value_dtype != self._value_dtype:
            raise TypeError(f"Invalid `table` value dtype, expected {self._value_dtype}, received {table.value_dtype}.")


class KeyValueTensorInitializer(TableInitializerBase):
    """Keys and values as tensors."""

    def __init__(self, keys: Any, values: Any, key_dtype: Any = None, value_dtype: Any = None, name: str | None = None) -> None:
        self._name = name or "key_value_init"
        self._keys, self._values = _convert(keys, dtype=key_dtype, name="keys"), _convert(values, dtype=value_dtype, name="values")
        if key_dtype is None and self._keys.dtype == dtypes.int32 and not isinstance(keys, ops.Tensor):
            self._keys = _convert(keys, dtype=dtypes.int64, name="keys")
        super().__init__(self._keys.dtype, self._values.dtype)

    def initialize(self, table: Any) -> Any:
        """An op that fills a table with the keys and values."""
        self._check(table)
        with ops.name_scope(self._name, None, [table.resource_handle, self._keys, self._values]):
            done = _op("LookupTableImportV2", [table.resource_handle, self._keys, self._values], {})
        _collect(done)
        return done


class DatasetInitializer(TableInitializerBase):
    """The pairs of a dataset, a key and a value each."""

    def __init__(self, dataset: Any) -> None:
        self.dataset = dataset
        spec = dataset.element_spec
        if not isinstance(spec, tuple) or len(spec) != 2:
            raise ValueError(f"Expected a dataset of pairs, a key and a value, but its elements are {spec}.")
        super().__init__(spec[0].dtype, spec[1].dtype)

    def initialize(self, table: Any) -> Any:
        """An op that fills a table with the pairs."""
        self._check(table)
        done = _op("InitializeTableFromDataset", [table.resource_handle, self.dataset._variant_tensor], {})
        _collect(done)
        return done


class TextFileInitializer(TableInitializerBase):
    """Keys and values from the columns of a text file."""

    def __init__(
        self, filename: Any, key_dtype: Any, key_index: int, value_dtype: Any, value_index: int, vocab_size: int | None = None,
        delimiter: str = "\t", name: str | None = None, value_index_offset: int = 0,
    ) -> None:
        if not isinstance(filename, ops.Tensor) and not filename:
            raise ValueError("`filename` argument required for tf.lookup.TextFileInitializer")
        super().__init__(key_dtype, value_dtype)
        for what, index, dtype in (("key", key_index, self._key_dtype), ("value", value_index, self._value_dtype)):
            if index < -2:
                raise ValueError(f"`{what}_index` should be >= -2, received: {index}.")
            if index == TextFileIndex.LINE_NUMBER and dtype != dtypes.int64:
                raise ValueError(f"`{what}_dtype` must be int64 if `{what}_index` is {TextFileIndex.LINE_NUMBER}, received: {dtype}")
            if index == TextFileIndex.WHOLE_LINE and not (dtype.is_integer or dtype == dtypes.string):
                raise ValueError(f"`{what}_dtype` should be either integer or string for `{what}_index` {TextFileIndex.WHOLE_LINE}, received: {dtype}")
        if vocab_size is not None and vocab_size <= 0:
            raise ValueError(f"`vocab_size` should be > 0, received: {vocab_size}")
        self._file, self._name = filename, name or "text_file_init"
        self._attrs = {
            "key_index": key_index, "value_index": value_index, "vocab_size": -1 if vocab_size is None else vocab_size, "delimiter": delimiter,
            "offset": value_index_offset,
        }

    @property
    def _shared_name(self) -> str:
        """Tables of one file are one table."""
        name = self._file if not isinstance(self._file, ops.Tensor) else constant_op.constant_value(self._file)
        name = name.item() if hasattr(name, "item") else name
        name = name.decode() if isinstance(name, bytes) else name
        a = self._attrs
        parts = ["hash_table", name, a["vocab_size"], a["key_index"], a["value_index"], a["offset"]]
        return "_".join(str(p) for p in parts)

    def initialize(self, table: Any) -> Any:
        """An op that fills a table from the lines of the file."""
        self._check(table)
        with ops.name_scope(self._name, "text_file_init", [table.resource_handle]):
            file = _convert(self._file, dtypes.string, name="asset_filepath")
            done = _op("InitializeTableFromTextFileV2", [table.resource_handle, file], self._attrs)
        _collect(done)
        if done is not None and constant_op.constant_value(file) is not None:
            ops.add_to_collection(GraphKeys.ASSET_FILEPATHS, file)
        return done


class TextFileStringTableInitializer(TextFileInitializer):
    """From line numbers to the strings of the lines."""

    def __init__(
        self, filename: Any, key_column_index: int = TextFileIndex.LINE_NUMBER, value_column_index: int = TextFileIndex.WHOLE_LINE,
        vocab_size: int | None = None, delimiter: str = "\t", name: str = "text_file_string_table_init",
    ) -> None:
        super().__init__(filename, dtypes.int64, key_column_index, dtypes.string, value_column_index, vocab_size, delimiter, name)


class TextFileIdTableInitializer(TextFileInitializer):
    """From the strings of the lines to their numbers."""

    def __init__(
        self, filename: Any, key_column_index: int = TextFileIndex.WHOLE_LINE, value_column_index: int = TextFileIndex.LINE_NUMBER,
        vocab_size: int | None = None, delimiter: str = "\t", name: str = "text_file_id_table_init", key_dtype: Any = dtypes.string,
    ) -> None:
        super().__init__(filename, key_dtype, key_column_index, dtypes.int64, value_column_index, vocab_size, delimiter, name)


def _of_composites(lookup: Any) -> Any:
    """Keys that are sparse or ragged: their values are looked up, their places stay."""

    @functools.wraps(lookup)
    def call(self: Any, keys: Any, *args: Any, **kwargs: Any) -> Any:
        if hasattr(keys, "dense_shape"):
            return type(keys)(keys.indices, lookup(self, keys.values, *args, **kwargs), keys.dense_shape)
        if hasattr(keys, "with_flat_values"):
            return keys.with_flat_values(lookup(self, keys.flat_values, *args, **kwargs))
        return lookup(self, keys, *args, **kwargs)

    return call


def _collect(operation: Any) -> None:
    if operation is not None and isinstance(operation, ops.Operation):
        ops.add_to_collection(GraphKeys.TABLE_INITIALIZERS, operation)


# ---- Tables.


class LookupInterface(trackable.Trackable):
    """What all tables can do."""

    _EXPORT = "Export"  # the word for it in names

    def __init__(self, key_dtype: Any, value_dtype: Any, name: str) -> None:
        self._key_dtype, self._value_dtype, self._name = dtypes.as_dtype(key_dtype), dtypes.as_dtype(value_dtype), name
        self._value_shape = tensor_shape.TensorShape([])
        self._key_shape = tensor_shape.TensorShape([])
        self._resource_handle: Any = None

    key_dtype = property(lambda self: self._key_dtype)
    value_dtype = property(lambda self: self._value_dtype)
    name = property(lambda self: self._name)
    resource_handle = property(lambda self: self._resource_handle)

    def _handle(self) -> Any:
        """The handle, inside a function that is being traced its stand-in."""
        stack = ops._default_graphs.stack
        if stack and hasattr(self._resource_handle, "_numpy_of_eager") and hasattr(stack[-1], "_capture"):
            return stack[-1]._capture(self._resource_handle)
        return self._resource_handle

    def _keys(self, keys: Any) -> Any:
        keys = _convert(keys, dtype=self._key_dtype if not isinstance(keys, ops.Tensor) else None, name="keys")
        if keys.dtype.base_dtype != self._key_dtype:
            raise TypeError(f"Dtype of argument `keys` must be {self._key_dtype}, received: {keys.dtype}")
        return keys

    def _run(self, op: str, inputs: list[Any], name: str | None, word: str, attrs: dict[str, Any] | None = None) -> Any:
        """An operation on the table, in a scope of its own: by default the table's name and a word."""
        with ops.name_scope(name, f"{self._name}_{word}", [self._resource_handle]):
            return _op(op, [self._handle(), *inputs], attrs or {})

    def size(self, name: str | None = None) -> Any:
        """The number of keys in the table, as an int64 scalar."""
        return self._run("LookupTableSizeV2", [], name, "Size")

    @_of_composites
    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The values of keys, the default where a key is not in the table."""
        return self._find(keys, self._default_value, name, "Lookup")

    def _find(self, keys: Any, default: Any, name: str | None, word: str) -> Any:
        keys = self._keys(keys)
        found = self._run("LookupTableFindV2", [keys, default], name, word)
        rank = keys.shape.rank
        if rank is not None and not hasattr(found, "_numpy_of_eager"):
            own = self._key_shape.rank or 0
            found.set_shape(keys.shape[: rank - own].concatenate(self._value_shape) if rank >= own else None)
        return found

    def export(self, name: str | None = None) -> tuple[Any, Any]:
        """All keys and values, in no order."""
        found = self._run("LookupTableExportV2", [], name, self._EXPORT, {"Tkeys": self._key_dtype, "Tvalues": self._value_dtype})
        return found[0], found[1]

    def __getitem__(self, keys: Any) -> Any:
        return self.lookup(keys)


class StaticHashTable(LookupInterface):
    """Filled once by an initializer, in graph programs when `tf.tables_initializer()` runs."""

    def __init__(self, initializer: Any, default_value: Any, name: str | None = None, experimental_is_anonymous: bool = False) -> None:
        super().__init__(initializer.key_dtype, initializer.value_dtype, name or "hash_table")
        self._init_of = initializer
        self._default_value = _convert(default_value, dtype=self._value_dtype)
        if self._default_value.shape.rank not in (0, None):
            raise ValueError("`default_value` must be a scalar")
        attrs = {"key_dtype": self._key_dtype, "value_dtype": self._value_dtype}
        if experimental_is_anonymous:
            self._resource_handle = _op("AnonymousHashTable", [], attrs, self._name)
        else:
            attrs["shared_name"] = initializer._shared_name or f"hash_table_{uuid.uuid4()}"
            self._resource_handle = _op("HashTableV2", [], attrs, self._name)
        if not hasattr(self._resource_handle, "_numpy_of_eager"):
            self._name = self._resource_handle.op.name.rpartition("/")[2]
        self._init_op = initializer.initialize(self)

    default_value = property(lambda self: self._default_value)

    @property
    def initializer(self) -> Any:
        return self._init_op

    init = initializer


class IdTableWithHashBuckets(LookupInterface):
    """The numbers of a table, and for what it does not know a bucket behind them."""

    def __init__(self, table: Any, num_oov_buckets: int, hasher_spec: Any = None, name: str | None = None, key_dtype: Any = None) -> None:
        if table is not None and (table.value_dtype != dtypes.int64):
            raise TypeError(f"Invalid `value_dtype`, expected {dtypes.int64} but got {table.value_dtype}.")
        if table is None and num_oov_buckets <= 0:
            raise ValueError("`oov_buckets` must be > 0 if no `table` is supplied.")
        own = key_dtype or (table.key_dtype if table is not None else dtypes.string)
        super().__init__(own, dtypes.int64, name or "string_to_index")
        self._table, self._buckets = table, num_oov_buckets
        self._resource_handle = None if table is None else table.resource_handle
        self._default_value = None if table is None else table._default_value

    @property
    def initializer(self) -> Any:
        return control_flow_ops.no_op() if self._table is None else self._table.initializer

    init = initializer

    def size(self, name: str | None = None) -> Any:
        """The number of known keys and buckets together."""
        with ops.name_scope(name, f"{self._scope()}_Size"):
            known = 0 if self._table is None else self._table.size()
            return known + self._buckets if self._buckets else known

    def _scope(self) -> str:
        return self._name if self._table is None else self._table.name

    def _bucket(self, keys: Any) -> Any:
        text = keys if keys.dtype == dtypes.string else _op("AsString", [keys], {})
        return _op("StringToHashBucketFast", [text], {"num_buckets": self._buckets}, "hash_bucket")

    @_of_composites
    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The numbers of known keys; others share the buckets behind them, by a hash."""
        keys = self._keys(keys)
        wanted = keys if self._table is None or keys.dtype == self._table.key_dtype else _op("AsString", [keys], {}) if self._table.key_dtype == dtypes.string else math_ops.cast(keys, self._table.key_dtype)
        if not self._buckets:
            return self._table.lookup(wanted, name)
        with ops.name_scope(name, f"{self._scope()}_Lookup"):
            buckets = self._bucket(keys)
            if self._table is None:
                return buckets
            ids = self._table.lookup(wanted)
            buckets = math_ops.add(buckets, self._table.size())
            return array_ops.where_v2(math_ops.not_equal(ids, self._table._default_value), ids, buckets)


class StaticVocabularyTable(IdTableWithHashBuckets):
    """A vocabulary of numbers from 0 on, and buckets for the words that it lacks."""

    def __init__(
        self, initializer: Any, num_oov_buckets: int, lookup_key_dtype: Any = None, name: str | None = None,
        experimental_is_anonymous: bool = False,
    ) -> None:
        if num_oov_buckets <= 0:
            raise ValueError(f"`num_oov_buckets` must be > 0; use StaticHashTable. Received: {num_oov_buckets}")
        table = None
        if initializer is not None:
            if initializer.value_dtype != dtypes.int64:
                raise TypeError(f"Invalid `value_dtype`, expected {dtypes.int64} but got {initializer.value_dtype}.")
            table = self._own_table(initializer, experimental_is_anonymous)
        super().__init__(table, num_oov_buckets, None, name, lookup_key_dtype and dtypes.as_dtype(lookup_key_dtype))

    @staticmethod
    def _own_table(initializer: Any, anonymous: bool) -> Any:
        return StaticHashTable(initializer, -1, experimental_is_anonymous=anonymous)


_count = iter(range(1 << 62))


class MutableHashTable(LookupInterface):
    """A table that can be changed; its values may be tensors of the default's shape."""

    _EXPORT = "lookup_table_export_values"

    def __init__(
        self, key_dtype: Any, value_dtype: Any, default_value: Any, name: str = "MutableHashTable", checkpoint: bool = True,
        experimental_is_anonymous: bool = False,
    ) -> None:
        super().__init__(key_dtype, value_dtype, name)
        self._default_value = _convert(default_value, dtype=self._value_dtype)
        self._value_shape = self._default_value.shape
        attrs: dict[str, Any] = {"key_dtype": self._key_dtype, "value_dtype": self._value_dtype}
        op = "MutableHashTable"
        if self._value_shape.rank:
            op += "OfTensors"
            attrs["value_shape"] = self._value_shape
        if experimental_is_anonymous:
            op = "Anonymous" + op
        else:
            op += "V2"
            if hasattr(self._default_value, "_numpy_of_eager"):
                attrs["shared_name"] = f"table_{next(_count)}"
            else:
                attrs["use_node_name_sharing"] = True
        self._resource_handle = _op(op, [], attrs, name)

    def _values(self, values: Any) -> Any:
        return _convert(values, dtype=self._value_dtype if not isinstance(values, ops.Tensor) else None, name="values")

    @_of_composites
    def lookup(self, keys: Any, dynamic_default_values: Any = None, name: str | None = None) -> Any:
        """The values of keys; where a key is not in the table the default, or that of `dynamic_default_values`."""
        default = self._default_value if dynamic_default_values is None else dynamic_default_values
        return self._find(keys, default, name, "lookup_table_find")

    def insert(self, keys: Any, values: Any, name: str | None = None) -> Any:
        """Puts keys with their values into the table, in the place of old ones."""
        return self._run("LookupTableInsertV2", [self._keys(keys), self._values(values)], name, "lookup_table_insert")

    insert_or_assign = insert

    def remove(self, keys: Any, name: str | None = None) -> Any:
        """Takes keys out of the table; those that are not in it do not matter."""
        return self._run("LookupTableRemoveV2", [self._keys(keys)], name, "lookup_table_remove")

    erase = remove


class DenseHashTable(MutableHashTable):
    """A table that can be changed, in which two keys stand for nothing."""

    def __init__(
        self, key_dtype: Any, value_dtype: Any, default_value: Any, empty_key: Any, deleted_key: Any, initial_num_buckets: int | None = None,
        name: str = "MutableDenseHashTable", checkpoint: bool = True, experimental_is_anonymous: bool = False,
    ) -> None:
        LookupInterface.__init__(self, key_dtype, value_dtype, name)
        self._default_value = _convert(default_value, dtype=self._value_dtype, name="default_value")
        self._value_shape = self._default_value.shape
        empty, deleted = (_convert(k, dtype=self._key_dtype, name=n) for k, n in ((empty_key, "empty_key"), (deleted_key, "deleted_key")))
        self._key_shape = empty.shape
        attrs: dict[str, Any] = {"value_dtype": self._value_dtype, "value_shape": self._value_shape, "initial_num_buckets": initial_num_buckets or 131072}
        op = "AnonymousMutableDenseHashTable"
        if not experimental_is_anonymous:
            op = "MutableDenseHashTableV2"
            attrs |= {"shared_name": f"table_{next(_count)}"} if hasattr(empty, "_numpy_of_eager") else {"use_node_name_sharing": True}
        self._resource_handle = _op(op, [empty, deleted], attrs, name)
