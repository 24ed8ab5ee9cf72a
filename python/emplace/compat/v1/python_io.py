"""tf.python_io: files of records."""

from emplace.eager.records import TFRecordOptions as TFRecordOptions, TFRecordWriter as TFRecordWriter
from emplace.framework.event_writer import read_records as tf_record_iterator

__all__ = ["TFRecordOptions", "TFRecordWriter", "tf_record_iterator"]
