"""Operations with state, in short programs, on TensorFlow and on ours; and that no operation is without a case."""

from __future__ import annotations

import functools
import importlib.util
import os
import pathlib
import re
import sys
from typing import Any

import pytest

import scenario
import table

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
for _name in ("emplace", "tensorflow"):
    if importlib.util.find_spec(_name) is None:
        pytest.skip(f"{_name} is not installed", allow_module_level=True)

import test_references  # noqa: E402

HERE = pathlib.Path(__file__).parent
for _file in sorted(HERE.glob("scenarios_*.py")):
    importlib.import_module(_file.stem)  # fills the table


@functools.cache
def ours(name: str) -> scenario.Outcome:
    import emplace.compat.v1 as tf

    return scenario.play(tf, scenario.SCENARIOS[name])


@pytest.mark.parametrize("name", sorted(scenario.SCENARIOS))
def test_gives_what_tensorflow_gives(name: str) -> None:
    import tensorflow.compat.v1 as tf

    found = scenario.differences(scenario.play(tf, scenario.SCENARIOS[name]), ours(name))
    assert not found, "\n".join(found)


def _in_tables() -> set[str]:
    """Operations of which the other tables have calls."""
    named = {row.op for rows in (table.UNARY, table.BINARY, table.REDUCTIONS, table.FIXED) for row in rows} | set(test_references.OPS)
    for file in (HERE.parent / "golden").glob("*.txt"):
        named |= set(re.findall(r"^op (\w+)", file.read_text(errors="replace"), re.MULTILINE))
    return named


# TensorFlow can't run them in a graph, tells other times, or keeps files of another form: src/data/stages_test.cc, tests/eager.
ELSEWHERE = {"LoadDataset", "OneShotIterator", "ParallelFilterDataset", "SaveDataset", "SnapshotDatasetV2",
             "AnonymousRandomSeedGenerator", "IteratorGetModelProto",
             "AnonymousMultiDeviceIterator", "AnonymousMultiDeviceIteratorV3", "DeleteMultiDeviceIterator", "DatasetFingerprint",
             "DeleteIterator", "DeleteMemoryCache", "DeleteRandomSeedGenerator", "DeleteSeedGenerator"}
# Tests of their own: tests/eager/test_older_dataset_names.py, tests/differential/test_dataset_graphs.py, tests/cluster/test_data_service.py.
ELSEWHERE |= {"DatasetToGraph", "DatasetToGraphV2", "DatasetFromGraph", "AutoShardDataset", "MatchingFilesDataset", "GroupByReducerDataset",
              "CompressElement", "UncompressElement", "InitializeTableFromDataset", "DummyIterationCounter", "RegisterDataset", "RegisterDatasetV2",
              "DataServiceDataset", "DataServiceDatasetV2", "DataServiceDatasetV3", "DataServiceDatasetV4"}
ELSEWHERE |= {f"Experimental{op}" for op in (
    "AutoShardDataset CSVDataset DatasetCardinality DenseToSparseBatchDataset GroupByWindowDataset IgnoreErrorsDataset IteratorGetDevice MapDataset "
    "MapAndBatchDataset MatchingFilesDataset MaxIntraOpParallelismDataset NonSerializableDataset ParallelInterleaveDataset PrivateThreadPoolDataset "
    "RandomDataset ScanDataset SleepDataset TakeWhileDataset UnbatchDataset UniqueDataset").split()}
# They need two members: src/cluster/collectives_test.cc.
ELSEWHERE |= {"CollectiveBcastSend", "CollectiveBcastSendV2", "CollectiveBcastRecv", "CollectiveBcastRecvV2"}


def test_every_operation_has_a_case() -> None:
    from emplace import _core

    named = (_in_tables() | ELSEWHERE).union(*(ours(name).ops for name in scenario.SCENARIOS))
    assert not [op for op in _core.op_names() if not op.startswith("_") and op not in named]


def _played(build: Any) -> scenario.Outcome:
    import emplace.compat.v1 as tf

    return scenario.play(tf, build)


@pytest.mark.parametrize("other", [
    lambda tf, raw, run: run(tf.constant(2)), lambda tf, raw, run: run(tf.constant(1.0)), lambda tf, raw, run: run(tf.constant([1])),
    lambda tf, raw, run: run(raw.ReadFile(filename="/none")), lambda tf, raw, run: run(tf.identity(tf.constant(1))), lambda tf, raw, run: None,
], ids=["value", "dtype", "shape", "error", "node", "steps"])
def test_a_difference_is_seen(other: Any) -> None:
    one = _played(lambda tf, raw, run: run(tf.constant(1)))
    assert scenario.differences(one, _played(other)) and not scenario.differences(one, one)


def test_the_random_graphs_have_these_programs() -> None:
    """tests/property/make_programs.py writes them."""
    import emplace.compat.v1 as tf

    sys.path.insert(0, str(HERE.parent / "property"))
    import make_programs

    assert "\n".join(make_programs.programs(tf)) == make_programs.FILE.read_text()
