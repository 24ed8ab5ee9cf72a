"""tf.lookup for graph programs."""

from __future__ import annotations

import types

from emplace.framework import lookup_ops as _lookup
from emplace.framework.lookup_ops import (
    KeyValueTensorInitializer as KeyValueTensorInitializer, StaticHashTable as StaticHashTable, StaticVocabularyTable as StaticVocabularyTable,
    TextFileIndex as TextFileIndex, TextFileInitializer as TextFileInitializer,
)
from emplace.framework import listing as _listing

experimental = types.SimpleNamespace(DenseHashTable=_lookup.DenseHashTable, MutableHashTable=_lookup.MutableHashTable)
del types

__dir__ = _listing.of_module(globals())
