"""Rows without values."""
import tensorflow as tf

R=tf.experimental.RowPartition
for p in (R.from_row_lengths([4,0,3]),R.from_row_splits([0,4,4,7]),R.from_row_starts([0,4,4],nvals=8),R.from_row_limits([4,4,7]),R.from_value_rowids([0,0,2],nrows=5),R.from_row_lengths(tf.constant([1,2]))):
    print(p,p.row_lengths(),p.nrows(),p.nvals(),p.value_rowids(),p.dtype)
