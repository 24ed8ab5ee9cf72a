"""tf.layers."""

from emplace.framework.layers import (
    AveragePooling2D as AveragePooling2D, BatchNormalization as BatchNormalization, Conv2D as Conv2D, Dense as Dense,
    Dropout as Dropout, Flatten as Flatten, Layer as Layer, MaxPooling2D as MaxPooling2D, average_pooling2d as average_pooling2d,
    batch_normalization as batch_normalization, conv2d as conv2d, dense as dense, dropout as dropout, flatten as flatten,
    max_pooling2d as max_pooling2d,
)

from emplace.framework.conv_layers import (
    AveragePooling1D as AveragePooling1D, AveragePooling3D as AveragePooling3D, Conv1D as Conv1D, Conv2DTranspose as Conv2DTranspose,
    Conv3D as Conv3D, Conv3DTranspose as Conv3DTranspose, MaxPooling1D as MaxPooling1D, MaxPooling3D as MaxPooling3D,
    SeparableConv1D as SeparableConv1D, SeparableConv2D as SeparableConv2D, average_pooling1d as average_pooling1d,
    average_pooling3d as average_pooling3d, conv1d as conv1d, conv2d_transpose as conv2d_transpose, conv3d as conv3d,
    conv3d_transpose as conv3d_transpose, max_pooling1d as max_pooling1d, max_pooling3d as max_pooling3d,
    separable_conv1d as separable_conv1d, separable_conv2d as separable_conv2d,
)
from emplace.framework import listing as _listing

__dir__ = _listing.of_module(globals())
