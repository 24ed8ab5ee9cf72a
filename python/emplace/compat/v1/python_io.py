"""tf.python_io: files of records."""

from emplace.eager.records import TFRecordCompressionType as TFRecordCompressionType, TFRecordOptions as TFRecordOptions, TFRecordWriter as TFRecordWriter
from emplace.framework.event_writer import read_records as tf_record_iterator

__all__ = ["TFRecordCompressionType", "TFRecordOptions", "TFRecordWriter", "tf_record_iterator"]
