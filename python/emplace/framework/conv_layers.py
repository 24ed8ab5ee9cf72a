"""tf.layers: convolutions and pools over lines and volumes, transposed and separable ones."""

from __future__ import annotations

from typing import Any

from emplace.framework import array_ops, conv_ops, init_ops, nn_ops
from emplace.framework.layers import Layer, _function, _last


def _tuple(value: Any, n: int, what: str) -> tuple[int, ...]:
    if isinstance(value, int):
        return (value,) * n
    made = tuple(value)
    if len(made) != n:
        raise ValueError(f"The `{what}` argument must be a tuple of {n} integers. Received: {value}")
    return made


_FORMATS = {1: ("NWC", "NCW"), 2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}


class _Conv(Layer):
    """What convolutions over `_n` dimensions share."""

    _n = 2
    _activates = True

    def __init__(
        self, filters: int, kernel_size: Any, strides: Any = 1, padding: str = "valid", data_format: str = "channels_last",
        dilation_rate: Any = 1, activation: Any = None, use_bias: bool = True, kernel_initializer: Any = None,
        bias_initializer: Any = init_ops.Zeros(), kernel_regularizer: Any = None, bias_regularizer: Any = None,
        activity_regularizer: Any = None, kernel_constraint: Any = None, bias_constraint: Any = None, trainable: bool = True,
        name: str | None = None, **how: Any,
    ) -> None:
        super().__init__(trainable, name, **how)
        n = self._n
        self.filters, self.kernel_size = filters, _tuple(kernel_size, n, "kernel_size")
        self.strides, self.dilation_rate = _tuple(strides, n, "strides"), _tuple(dilation_rate, n, "dilation_rate")
        self.padding, self.first = padding.upper(), data_format == "channels_first"
        self.data_format = _FORMATS[n][self.first]
        self.activation, self.use_bias = activation, use_bias
        self._kernel = {"initializer": kernel_initializer, "regularizer": kernel_regularizer, "constraint": kernel_constraint}
        self._bias = {"initializer": bias_initializer, "regularizer": bias_regularizer, "constraint": bias_constraint}
        self.kernel = self.bias = None

    def _channels(self, input_shape: Any) -> int:
        return _last(input_shape, type(self).__name__, 1 if self.first else -1)

    def _kernel_shape(self, channels: int) -> list[int]:
        return [*self.kernel_size, channels, self.filters]

    def build(self, input_shape: Any) -> None:
        self.kernel = self.add_variable("kernel", self._kernel_shape(self._channels(input_shape)), **self._kernel)
        self._build_bias()

    def _build_bias(self) -> None:
        if self.use_bias:
            self.bias = self.add_variable("bias", [self.filters], **self._bias)

    def _finished(self, out: Any) -> Any:
        if self.use_bias:
            out = self._biased(out)
        return out if self.activation is None or not self._activates else self.activation(out)

    def _biased(self, out: Any) -> Any:
        if self.first and self._n == 1:
            return out + array_ops.reshape(self.bias, [1, self.filters, 1])
        return nn_ops.bias_add(out, self.bias, data_format="NCHW" if self.first else None)

    def _wide(self, sizes: Any) -> list[int]:
        return [1, 1, *sizes] if self.first else [1, *sizes, 1]


class Conv1D(_Conv):
    """A layer of 1-D convolution with `filters` outputs, bias and activation."""

    _base, _n = "conv1d", 1

    def call(self, inputs: Any) -> Any:
        out = conv_ops.convolution(
            inputs, self.kernel, self.padding, strides=list(self.strides), dilation_rate=list(self.dilation_rate), name="Conv1D", data_format=self.data_format
        ) if self.dilation_rate != (1,) else conv_ops.conv1d(inputs, self.kernel, self.strides[0], self.padding, data_format=self.data_format, name="Conv1D")
        return self._finished(out)


class Conv3D(_Conv):
    """A layer of 3-D convolution with `filters` outputs, bias and activation."""

    _base, _n = "conv3d", 3

    def call(self, inputs: Any) -> Any:
        wide = self._wide
        out = conv_ops.conv3d(
            inputs, self.kernel, wide(self.strides), self.padding, data_format=self.data_format, dilations=wide(self.dilation_rate), name="Conv3D"
        )
        return self._finished(out)


class _Transposed(_Conv):
    def _kernel_shape(self, channels: int) -> list[int]:
        return [*self.kernel_size, self.filters, channels]

    def _sized(self, known: Any, given: Any, k: int) -> Any:
        """A dimension of the result: a number where it is known."""
        size, stride, kernel = given if known is None else known, self.strides[k], self.kernel_size[k]
        if known is None and size is None:
            return None
        return size * stride + (max(kernel - stride, 0) if self.padding == "VALID" else 0)

    def _shape(self, inputs: Any, sizes: list[Any], batch: Any) -> Any:
        return array_ops.stack([batch, self.filters, *sizes] if self.first else [batch, *sizes, self.filters])

    def _set_shape(self, out: Any, inputs: Any) -> Any:
        dims = inputs.shape.as_list()
        inner = dims[2:] if self.first else dims[1:-1]
        sizes = [self._sized(d, None, k) for k, d in enumerate(inner)]
        out.set_shape([dims[0], self.filters, *sizes] if self.first else [dims[0], *sizes, self.filters])
        return out


class Conv2DTranspose(_Transposed):
    """A layer of transposed 2-D convolution: enlarges an image by its strides."""

    _base, _n = "conv2d_transpose", 2

    def call(self, inputs: Any) -> Any:
        shape = array_ops.shape(inputs) if not inputs.shape.is_fully_defined() else array_ops.shape(inputs)
        dims = inputs.shape.as_list()
        at = 2 if self.first else 1
        batch = shape[0]
        inner = [(dims[at + k], None if dims[at + k] is not None else shape[at + k]) for k in range(2)]
        sizes = [self._sized(known, given, k) for k, (known, given) in enumerate(inner)]
        wanted = self._shape(inputs, sizes, batch)
        wanted[0]  # noqa: B018: TensorFlow's layer looks at it, too, and leaves these nodes
        out = conv_ops.conv2d_transpose(inputs, self.kernel, wanted, self._wide(self.strides), self.padding, data_format=self.data_format)
        return self._finished(self._set_shape(out, inputs))


class Conv3DTranspose(_Transposed):
    """A layer of transposed 3-D convolution: enlarges a volume by its strides."""

    _base, _n = "conv3d_transpose", 3

    def call(self, inputs: Any) -> Any:
        shape = array_ops.shape(inputs)
        at = 2 if self.first else 1
        batch = shape[0]
        given = [shape[at + k] for k in range(3)]
        sizes = [self._computed(g, k) for k, g in enumerate(given)]
        out = conv_ops.conv3d_transpose(inputs, self.kernel, self._shape(inputs, sizes, batch), self._wide(self.strides), self.padding, data_format=self.data_format)
        return self._finished(self._set_shape(out, inputs))

    def _computed(self, size: Any, k: int) -> Any:
        grown = size * self.strides[k]
        return grown + max(self.kernel_size[k] - self.strides[k], 0) if self.padding == "VALID" else grown


class _Separable(_Conv):
    """A convolution of each channel, then one over channels."""

    def __init__(
        self, filters: int, kernel_size: Any, strides: Any = 1, padding: str = "valid", data_format: str = "channels_last",
        dilation_rate: Any = 1, depth_multiplier: int = 1, activation: Any = None, use_bias: bool = True,
        depthwise_initializer: Any = None, pointwise_initializer: Any = None, bias_initializer: Any = init_ops.Zeros(),
        depthwise_regularizer: Any = None, pointwise_regularizer: Any = None, bias_regularizer: Any = None,
        activity_regularizer: Any = None, depthwise_constraint: Any = None, pointwise_constraint: Any = None,
        bias_constraint: Any = None, trainable: bool = True, name: str | None = None, **how: Any,
    ) -> None:
        super().__init__(
            filters, kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias, None, bias_initializer,
            None, bias_regularizer, None, None, bias_constraint, trainable, name, **how,
        )
        self.depth_multiplier = depth_multiplier
        self._depthwise = {"initializer": depthwise_initializer, "regularizer": depthwise_regularizer, "constraint": depthwise_constraint}
        self._pointwise = {"initializer": pointwise_initializer, "regularizer": pointwise_regularizer, "constraint": pointwise_constraint}

    def build(self, input_shape: Any) -> None:
        channels = self._channels(input_shape)
        self.depthwise_kernel = self.add_variable("depthwise_kernel", [*self.kernel_size, channels, self.depth_multiplier], **self._depthwise)
        ones = [1] * self._n
        self.pointwise_kernel = self.add_variable("pointwise_kernel", [*ones, channels * self.depth_multiplier, self.filters], **self._pointwise)
        self._build_bias()


class SeparableConv2D(_Separable):
    """A layer of 2-D convolution channel by channel, then across channels."""

    _base, _n = "separable_conv2d", 2

    def call(self, inputs: Any) -> Any:
        out = conv_ops.separable_conv2d(
            inputs, self.depthwise_kernel, self.pointwise_kernel, self._wide(self.strides), self.padding, rate=list(self.dilation_rate), data_format=self.data_format
        )
        return self._finished(out)


class SeparableConv1D(_Separable):
    """A layer of 1-D convolution channel by channel, then across channels."""

    _base, _n = "separable_conv1d", 1

    def call(self, inputs: Any) -> Any:
        at, image = (2, "NCHW") if self.first else (1, "NHWC")
        stride = self.strides[0]
        out = conv_ops.separable_conv2d(
            array_ops.expand_dims(inputs, at), array_ops.expand_dims(self.depthwise_kernel, 0), array_ops.expand_dims(self.pointwise_kernel, 0),
            self._wide([stride, stride]), self.padding, rate=[1, *self.dilation_rate], data_format=image,
        )
        if self.use_bias:
            out = nn_ops.bias_add(out, self.bias, data_format=image if self.first else None)
        out = array_ops.squeeze(out, [at])
        return out if self.activation is None else self.activation(out)


class _Pooling(Layer):
    _n = 1

    def __init__(self, pool_size: Any, strides: Any, padding: str = "valid", data_format: str = "channels_last", name: str | None = None, **how: Any) -> None:
        super().__init__(name=name, **how)
        self.pool_size = _tuple(pool_size, self._n, "pool_size")
        self.strides = _tuple(pool_size if strides is None else strides, self._n, "strides")
        self.padding, self.first = padding.upper(), data_format == "channels_first"

    def _wide(self, sizes: Any) -> list[int]:
        return [1, 1, *sizes] if self.first else [1, *sizes, 1]


class _Pooling1D(_Pooling):
    _function: Any = None

    def call(self, inputs: Any) -> Any:
        at = 3 if self.first else 2
        wide = array_ops.expand_dims(inputs, at)
        if self.first:
            wide = array_ops.transpose(wide, [0, 2, 3, 1])
        out = type(self)._function(wide, [1, *self.pool_size, 1, 1], [1, *self.strides, 1, 1], self.padding, data_format="NHWC")
        if self.first:
            out = array_ops.transpose(out, [0, 3, 1, 2])
        return array_ops.squeeze(out, [at])


class MaxPooling1D(_Pooling1D):
    """A layer of the largest value of each window of a sequence."""

    _base = "max_pooling1d"
    _function = staticmethod(nn_ops.max_pool)


class AveragePooling1D(_Pooling1D):
    """A layer of the mean of each window of a sequence."""

    _base = "average_pooling1d"
    _function = staticmethod(nn_ops.avg_pool)


class _Pooling3D(_Pooling):
    _n = 3
    _function: Any = None

    def call(self, inputs: Any) -> Any:
        return type(self)._function(inputs, self._wide(self.pool_size), self._wide(self.strides), self.padding, data_format=_FORMATS[3][self.first])


class MaxPooling3D(_Pooling3D):
    """A layer of the largest value of each window of a volume."""

    _base = "max_pooling3d"
    _function = staticmethod(conv_ops.max_pool3d)


class AveragePooling3D(_Pooling3D):
    """A layer of the mean of each window of a volume."""

    _base = "average_pooling3d"
    _function = staticmethod(conv_ops.avg_pool3d)


conv1d, conv3d = _function(Conv1D, "conv1d"), _function(Conv3D, "conv3d")
conv2d_transpose, conv3d_transpose = _function(Conv2DTranspose, "conv2d_transpose"), _function(Conv3DTranspose, "conv3d_transpose")
separable_conv1d, separable_conv2d = _function(SeparableConv1D, "separable_conv1d"), _function(SeparableConv2D, "separable_conv2d")
max_pooling1d, average_pooling1d = _function(MaxPooling1D, "max_pooling1d"), _function(AveragePooling1D, "average_pooling1d")
max_pooling3d, average_pooling3d = _function(MaxPooling3D, "max_pooling3d"), _function(AveragePooling3D, "average_pooling3d")
