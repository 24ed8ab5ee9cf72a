"""Input pipelines without functions: iterators, files, what a dataset is asked. Those with functions are in tests/golden/pipelines.txt."""

from __future__ import annotations

import contextlib
import gzip
import sqlite3
import struct
from typing import Any

import numpy as np

from scenario import Run, scenario


def _kind(tf: Any) -> dict[str, Any]:
    return {"output_types": [tf.int64], "output_shapes": [[]]}


def _texts(tf: Any) -> dict[str, Any]:
    return {"output_types": [tf.string], "output_shapes": [[]]}


def _range(tf: Any, raw: Any, stop: int) -> Any:
    return raw.RangeDataset(start=0, stop=stop, step=1, **_kind(tf))


def _walk(tf: Any, raw: Any, run: Run, dataset: Any, kind: dict[str, Any], steps: int) -> None:
    it = raw.IteratorV2(shared_name="", container="", **kind)
    run(raw.MakeIterator(dataset=dataset, iterator=it))
    element = raw.IteratorGetNext(iterator=it, **kind)
    for _ in range(steps):
        run(element)


@scenario
def iterators_begin_end_and_begin_again(tf: Any, raw: Any, run: Run) -> None:
    kind = _kind(tf)
    it = raw.IteratorV2(shared_name="it", container="", **kind)
    begin = raw.MakeIterator(dataset=_range(tf, raw, 2), iterator=it)
    element = raw.IteratorGetNext(iterator=it, **kind)
    run(raw.IteratorGetDevice(resource=it))
    at_once = raw.IteratorGetNextSync(iterator=it, **kind)
    run(element)  # not begun
    run(begin)
    run(element)
    run(at_once)
    run(element)
    run(begin)
    maybe = raw.IteratorGetNextAsOptional(iterator=it, **kind)
    run(raw.OptionalHasValue(optional=maybe))
    run(raw.OptionalGetValue(optional=maybe, **kind))
    run(raw.OptionalHasValue(optional=maybe))


@scenario
def an_older_iterator_of_two_components(tf: Any, raw: Any, run: Run) -> None:
    kind = {"output_types": [tf.int32, tf.string], "output_shapes": [[2], []]}
    rows = raw.TensorSliceDataset(components=[tf.constant([[1, 2], [3, 4]]), tf.constant(["a", "b"])],
                                  output_shapes=kind["output_shapes"])
    it = raw.Iterator(shared_name="", container="", **kind)
    run(raw.MakeIterator(dataset=rows, iterator=it))
    element = raw.IteratorGetNext(iterator=it, **kind)
    for _ in range(3):
        run(*element)


@scenario
def iterators_of_other_kinds_are_refused(tf: Any, raw: Any, run: Run) -> None:
    it = raw.IteratorV2(shared_name="", container="", output_types=[tf.float32], output_shapes=[[]])
    run(raw.MakeIterator(dataset=_range(tf, raw, 2), iterator=it))


@scenario
def anonymous_iterators(tf: Any, raw: Any, run: Run) -> None:
    kind = _kind(tf)
    for it in (raw.AnonymousIterator(**kind), raw.AnonymousIteratorV3(**kind)):
        with tf.control_dependencies([raw.MakeIterator(dataset=_range(tf, raw, 2), iterator=it)]):
            run(raw.IteratorGetNext(iterator=it, **kind))
    made = raw.AnonymousIteratorV2(**kind)
    with tf.control_dependencies([raw.MakeIterator(dataset=_range(tf, raw, 2), iterator=made.handle)]):
        element = raw.IteratorGetNext(iterator=made.handle, **kind)
    with tf.control_dependencies([element]):
        end = raw.DeleteIterator(handle=made.handle, deleter=made.deleter)
    run(element, end)


@scenario
def texts_that_stand_for_iterators(tf: Any, raw: Any, run: Run) -> None:
    kind = _kind(tf)
    it = raw.IteratorV2(shared_name="named", container="", **kind)
    run(raw.MakeIterator(dataset=_range(tf, raw, 3), iterator=it))
    text = run.values(raw.IteratorToStringHandle(resource_handle=it))[0]
    given = tf.placeholder(tf.string, [])
    for make in (raw.IteratorFromStringHandle, raw.IteratorFromStringHandleV2):
        again = make(string_handle=given, **kind)
        run(raw.IteratorGetNext(iterator=again, **kind), feeds={given: text})


@scenario
def iterators_go_on_where_they_were(tf: Any, raw: Any, run: Run) -> None:
    kind = _kind(tf)
    it = raw.IteratorV2(shared_name="", container="", **kind)
    begin = raw.MakeIterator(dataset=_range(tf, raw, 4), iterator=it)
    element = raw.IteratorGetNext(iterator=it, **kind)
    run(begin)
    run(element)
    keep = tf.Variable(tf.zeros([]), use_resource=True)
    prefix = run.path("state")
    run(raw.SaveV2(prefix=prefix, tensor_names=["it"], shape_and_slices=[""], tensors=[raw.SerializeIterator(resource_handle=it)]))
    run(element)
    run(begin)
    state = raw.RestoreV2(prefix=prefix, tensor_names=["it"], shape_and_slices=[""], dtypes=[tf.variant])[0]
    run(raw.DeserializeIterator(resource_handle=it, serialized=state))
    run(element)
    del keep


@scenario
def elements_for_several_devices(tf: Any, raw: Any, run: Run) -> None:
    kind = _kind(tf)
    it = raw.MultiDeviceIterator(devices=["/cpu:0", "/cpu:0"], shared_name="", container="", **kind)
    begin = raw.MultiDeviceIteratorInit(dataset=_range(tf, raw, 5), multi_device_iterator=it, max_buffer_size=3)
    incarnation = tf.placeholder(tf.int64, [])
    element = [raw.MultiDeviceIteratorGetNextFromShard(multi_device_iterator=it, shard_num=n, incarnation_id=incarnation, **kind) for n in (0, 1)]
    for _ in range(2):
        (now,) = run.values(begin)
        for n in (1, 0, 0, 1, 0, 0, 1):
            run(element[n], feeds={incarnation: now})
        run(element[0], feeds={incarnation: now + 1})
    text = raw.MultiDeviceIteratorToStringHandle(multi_device_iterator=it)
    (now,) = run.values(begin)
    again = raw.MultiDeviceIteratorFromStringHandle(string_handle=run.values(text)[0], **kind)
    run(raw.MultiDeviceIteratorGetNextFromShard(multi_device_iterator=again, shard_num=1, incarnation_id=now, **kind))


@scenario
def what_datasets_are_asked(tf: Any, raw: Any, run: Run) -> None:
    kind = _kind(tf)
    for n in (0, 1, 2):
        run(raw.DatasetToSingleElement(dataset=_range(tf, raw, n), **kind))
    run(raw.DatasetCardinality(input_dataset=_range(tf, raw, 7)))
    batched = raw.BatchDataset(input_dataset=_range(tf, raw, 7), batch_size=3, output_types=[tf.int64], output_shapes=[[None]])
    run(raw.DatasetCardinality(input_dataset=batched))
    padded = raw.PaddedBatchDataset(input_dataset=_range(tf, raw, 7), batch_size=3, padded_shapes=[np.int64([])], padding_values=[np.int64(0)], output_shapes=[[None]])
    run(raw.DatasetCardinality(input_dataset=padded))
    run(raw.DatasetCardinality(input_dataset=raw.RepeatDataset(input_dataset=batched, count=-1, output_types=[tf.int64], output_shapes=[[None]])))


@scenario
def arguments_that_are_refused(tf: Any, raw: Any, run: Run) -> None:
    kind, of = _kind(tf), _range(tf, raw, 5)
    for make in (lambda: raw.BatchDatasetV2(input_dataset=of, batch_size=0, drop_remainder=False, **kind),
                 lambda: raw.ShardDataset(input_dataset=of, num_shards=0, index=0, **kind),
                 lambda: raw.ShardDataset(input_dataset=of, num_shards=2, index=2, **kind),
                 lambda: raw.RangeDataset(start=0, stop=3, step=0, **kind),
                 lambda: raw.PrefetchDataset(input_dataset=of, buffer_size=-3, **kind),
                 lambda: raw.WindowDataset(input_dataset=of, size=0, shift=1, stride=1, drop_remainder=False, **kind)):
        run(lambda make=make: raw.DatasetCardinality(input_dataset=make()))


@scenario
def lines_of_files(tf: Any, raw: Any, run: Run) -> None:
    with open(run.path("a"), "wb") as file:
        file.write(b"one\ntwo\r\nthree")
    with gzip.open(run.path("b.gz"), "wb") as file:
        file.write(b"four\n")
    plain = raw.TextLineDataset(filenames=[run.path("a")], compression_type="", buffer_size=0)
    _walk(tf, raw, run, plain, _texts(tf), 4)
    packed = raw.TextLineDataset(filenames=run.path("b.gz"), compression_type="GZIP", buffer_size=100)
    _walk(tf, raw, run, packed, _texts(tf), 2)
    _walk(tf, raw, run, raw.TextLineDataset(filenames=run.path("none"), compression_type="", buffer_size=0), _texts(tf), 1)


@scenario
def records_of_files(tf: Any, raw: Any, run: Run) -> None:
    with open(run.path("fixed"), "wb") as file:
        file.write(b"HEADaabbccFOOT")
    fixed = {"filenames": [run.path("fixed")], "header_bytes": 4, "record_bytes": 2, "footer_bytes": 4, "buffer_size": 0}
    run(raw.DatasetCardinality(input_dataset=raw.FixedLengthRecordDataset(**fixed)))  # TensorFlow goes through none in a graph
    _walk(tf, raw, run, raw.FixedLengthRecordDatasetV2(compression_type="", **fixed), _texts(tf), 4)
    _walk(tf, raw, run, raw.FixedLengthRecordDatasetV2(compression_type="", **{**fixed, "record_bytes": 4}), _texts(tf), 1)


def _masked(data: bytes) -> bytes:
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def _record(data: bytes) -> bytes:
    length = struct.pack("<Q", len(data))
    return length + _masked(length) + data + _masked(data)


@scenario
def records_in_tensorflows_files(tf: Any, raw: Any, run: Run) -> None:
    whole = _record(b"first") + _record(b"second")
    with open(run.path("r"), "wb") as file:
        file.write(whole)
    with open(run.path("broken"), "wb") as file:
        file.write(whole[:-3])
    _walk(tf, raw, run, raw.TFRecordDataset(filenames=[run.path("r")] * 2, compression_type="", buffer_size=0), _texts(tf), 5)
    offset = len(_record(b"first"))
    run(raw.DatasetCardinality(input_dataset=raw.TFRecordDatasetV2(filenames=[run.path("r")], compression_type="", buffer_size=0, byte_offsets=[offset])))
    _walk(tf, raw, run, raw.TFRecordDataset(filenames=run.path("broken"), compression_type="", buffer_size=0), _texts(tf), 2)


@scenario
def rows_of_a_data_base(tf: Any, raw: Any, run: Run) -> None:
    with contextlib.closing(sqlite3.connect(run.path("base"))) as base:
        base.execute("create table t (a integer, b text, c real)")
        base.executemany("insert into t values (?, ?, ?)", [(1, "x", 2.5), (300, None, None), (-7, "\u00e9", 1e10)])
        base.commit()
    for op in (raw.SqlDataset, raw.ExperimentalSqlDataset):
        for types, query in (
            ([tf.int64, tf.string, tf.float64], "select a, b, c from t"), ([tf.int8, tf.bool, tf.uint16], "select a, b, c from t"),
            ([tf.int64], "select a, b from t"), ([tf.int64], "selec a"), ([tf.int64], "select a from t where a > 1000"),
        ):  # fmt: skip
            kind = {"output_types": types, "output_shapes": [[]] * len(types)}
            it = raw.IteratorV2(shared_name="", container="", **kind)
            run(raw.MakeIterator(dataset=op(driver_name="sqlite", data_source_name=run.path("base"), query=query, **kind), iterator=it))
            element = raw.IteratorGetNext(iterator=it, **kind)
            for _ in range(4):
                run(*element)
    run(raw.DatasetCardinality(input_dataset=raw.SqlDataset(driver_name="other", data_source_name="", query="", **kind)))


@scenario
def datasets_as_files_of_records(tf: Any, raw: Any, run: Run) -> None:
    texts = raw.TensorSliceDataset(components=[tf.constant(["a", "", "ccc"])], output_shapes=[[]])
    for op, packed in ((raw.DatasetToTFRecord, ""), (raw.ExperimentalDatasetToTFRecord, "GZIP")):
        run(op(input_dataset=texts, filename=run.path("out"), compression_type=packed))
        _walk(tf, raw, run, raw.TFRecordDataset(filenames=[run.path("out")], compression_type=packed, buffer_size=0), _texts(tf), 4)
    run(raw.DatasetToTFRecord(input_dataset=texts, filename=run.path("no/out"), compression_type=""))


@scenario
def comma_separated_values(tf: Any, raw: Any, run: Run) -> None:
    with open(run.path("c.csv"), "wb") as file:
        file.write(b'a,b,c\n1,2.5,x\n,3,"y ""z"",\n"\n7,NA,\n8,bad,w\n')
    kind = {"output_types": [tf.int32, tf.float32, tf.string], "output_shapes": [[]] * 3}
    common = {"filenames": [run.path("c.csv")], "compression_type": "", "buffer_size": 1000, "header": True, "field_delim": ",",
              "use_quote_delim": True, "na_value": "NA", "select_cols": np.int64([]),
              "record_defaults": [tf.constant([-1]), tf.constant([0.5]), tf.constant([], tf.string)], "output_shapes": kind["output_shapes"]}
    run(raw.DatasetCardinality(input_dataset=raw.CSVDataset(**common)))
    it = raw.IteratorV2(shared_name="", container="", **kind)
    run(raw.MakeIterator(dataset=raw.CSVDatasetV2(exclude_cols=np.int64([]), **common), iterator=it))
    element = raw.IteratorGetNext(iterator=it, **kind)
    for _ in range(5):
        run(*element)
