"""tf.layers."""

from emplace.framework.layers import (
    AveragePooling2D as AveragePooling2D, BatchNormalization as BatchNormalization, Conv2D as Conv2D, Dense as Dense,
    Dropout as Dropout, Flatten as Flatten, Layer as Layer, MaxPooling2D as MaxPooling2D, average_pooling2d as average_pooling2d,
    batch_normalization as batch_normalization, conv2d as conv2d, dense as dense, dropout as dropout, flatten as flatten,
    max_pooling2d as max_pooling2d,
)

