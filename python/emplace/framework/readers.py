"""Readers of TensorFlow 1: a record a step, from files whose names come from a queue."""

from __future__ import annotations

from typing import Any

from emplace.framework import dtypes, ops
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import convert_to_tensor as _convert


class ReaderBase:
    """A reader is an operation; where it stands belongs to a session."""

    def __init__(self, reader_ref: Any, supports_serialize: bool = False) -> None:
        self._reader_ref, self._supports_serialize = reader_ref, supports_serialize

    @property
    def reader_ref(self) -> Any:
        return self._reader_ref

    @property
    def supports_serialize(self) -> bool:
        return self._supports_serialize

    def _with_queue(self, queue: Any) -> list[Any]:
        queue = getattr(queue, "_queue", queue)
        return [self._reader_ref, getattr(queue, "queue_ref", queue)]

    def read(self, queue: Any, name: str | None = None) -> Any:
        """The next record: its key and its value."""
        return _op("ReaderReadV2", self._with_queue(queue), {}, name)

    def read_up_to(self, queue: Any, num_records: Any, name: str | None = None) -> Any:
        """Up to `num_records` keys and values at once, from the files named in the queue."""
        return _op("ReaderReadUpToV2", [*self._with_queue(queue), _convert(num_records, dtype=dtypes.int64)], {}, name)

    def num_records_produced(self, name: str | None = None) -> Any:
        """How many records were read, as an int64 scalar."""
        return _op("ReaderNumRecordsProducedV2", [self._reader_ref], {}, name)

    def num_work_units_completed(self, name: str | None = None) -> Any:
        """How many files were read to their end, as an int64 scalar."""
        return _op("ReaderNumWorkUnitsCompletedV2", [self._reader_ref], {}, name)

    def serialize_state(self, name: str | None = None) -> Any:
        """The reader's state as a string, where its kind allows."""
        return _op("ReaderSerializeStateV2", [self._reader_ref], {}, name)

    def restore_state(self, state: Any, name: str | None = None) -> Any:
        """Goes on from a state, where the reader's kind allows."""
        return _op("ReaderRestoreStateV2", [self._reader_ref, _convert(state, dtype=dtypes.string)], {}, name)

    def reset(self, name: str | None = None) -> Any:
        """Begins anew, with no file open."""
        return _op("ReaderResetV2", [self._reader_ref], {}, name)


class TextLineReader(ReaderBase):
    """Gives lines, without those at the start that are to be skipped."""

    def __init__(self, skip_header_lines: int | None = None, name: str | None = None) -> None:
        super().__init__(_op("TextLineReaderV2", [], {"skip_header_lines": skip_header_lines or 0}, name))


class TFRecordReader(ReaderBase):
    """Gives the records of TFRecord files."""

    def __init__(self, name: str | None = None, options: Any = None) -> None:
        from emplace.eager import records

        super().__init__(_op("TFRecordReaderV2", [], {"compression_type": records._compression(options) or ""}, name))


class FixedLengthRecordReader(ReaderBase):
    """Gives pieces of one size."""

    def __init__(self, record_bytes: int, header_bytes: Any = None, footer_bytes: Any = None, hop_bytes: Any = None, name: str | None = None, encoding: Any = None) -> None:
        attrs = {
            "record_bytes": int(record_bytes), "header_bytes": int(header_bytes or 0), "footer_bytes": int(footer_bytes or 0),
            "hop_bytes": int(hop_bytes or 0), "encoding": encoding or "",
        }
        super().__init__(_op("FixedLengthRecordReaderV2", [], attrs, name))


class WholeFileReader(ReaderBase):
    """Gives whole files."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(_op("WholeFileReaderV2", [], {}, name), supports_serialize=True)


class IdentityReader(ReaderBase):
    """Gives the names themselves."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(_op("IdentityReaderV2", [], {}, name), supports_serialize=True)


def matching_files(pattern: Any, name: str | None = None) -> Any:
    """Files whose names fit a pattern."""
    return _op("MatchingFiles", [pattern], {}, name)


def match_filenames_once(pattern: Any, name: str | None = None) -> Any:
    """A variable that holds them, filled when it is initialized."""
    from emplace.framework import variables
    from emplace.framework.graph_collections import GraphKeys

    with ops.name_scope(name, "matching_filenames", [pattern]) as scope:
        return variables.Variable(matching_files(pattern), trainable=False, name=scope, validate_shape=False, collections=[GraphKeys.LOCAL_VARIABLES])
