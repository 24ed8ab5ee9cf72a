"""Layers and applications of Keras."""

from __future__ import annotations

from typing import Any

import numpy as np

from frozen_cases import add, layers, numbers

IMAGES = numbers(2, 8, 8, 3)
VOLUMES = numbers(2, 5, 6, 4, 3)
ROWS = numbers(3, 6)
STEPS = numbers(2, 7, 4)

layers("dense", {
    **{a: lambda k, a=a: k.Dense(5, activation=a) for a in (
        "relu", "sigmoid", "tanh", "softmax", "softplus", "softsign", "selu", "elu", "exponential", "gelu", "silu", "relu6",
        "hard_sigmoid", "mish", "leaky_relu", "log_softmax", "celu", "glu", "hard_tanh", "hard_shrink", "log_sigmoid",
        "soft_shrink", "sparse_plus", "squareplus", "tanh_shrink", "threshold", "linear", "sparsemax") if a not in ("glu",)},
    "no_bias": lambda k: k.Dense(3, use_bias=False), "einsum": lambda k: k.EinsumDense("ab,bc->ac", output_shape=4, bias_axes="c"),
}, ROWS)
layers("rows", {
    "batch_norm": lambda k: k.BatchNormalization(), "layer_norm": lambda k: k.LayerNormalization(), "rms": lambda k: k.RMSNormalization(),
    "unit_norm": lambda k: k.UnitNormalization(), "dropout": lambda k: k.Dropout(0.5), "gaussian_noise": lambda k: k.GaussianNoise(0.5),
    "gaussian_dropout": lambda k: k.GaussianDropout(0.5), "alpha_dropout": lambda k: k.AlphaDropout(0.3), "reshape": lambda k: k.Reshape((3, 2)), "repeat": lambda k: k.RepeatVector(3),
    "activity": lambda k: k.ActivityRegularization(0.1), "prelu": lambda k: k.PReLU(), "leaky": lambda k: k.LeakyReLU(), "elu": lambda k: k.ELU(),
    "relu": lambda k: k.ReLU(max_value=0.5, negative_slope=0.1, threshold=0.1), "softmax": lambda k: k.Softmax(), "masking": lambda k: k.Masking(0.0), "flatten": lambda k: k.Flatten(),
    "activation": lambda k: k.Activation("swish"), "rescaling": lambda k: k.Rescaling(1 / 255.0, offset=-1), "identity": lambda k: k.Identity(),
    "discretization": lambda k: k.Discretization(bin_boundaries=[-0.5, 0.0, 0.5]), "normalization": lambda k: k.Normalization(mean=0.1, variance=0.4),
    "lambda": lambda k: k.Lambda(lambda x: x * 2 + 1), "spectral": lambda k: k.SpectralNormalization(k.Dense(3)),
}, ROWS)
layers("steps", {
    "lstm": lambda k: k.LSTM(5), "lstm_sequences": lambda k: k.LSTM(5, return_sequences=True, return_state=True), "gru": lambda k: k.GRU(5),
    "gru_before": lambda k: k.GRU(5, reset_after=False, return_sequences=True), "simple": lambda k: k.SimpleRNN(5), "backwards": lambda k: k.LSTM(3, go_backwards=True),
    "bidirectional": lambda k: k.Bidirectional(k.LSTM(3, return_sequences=True)), "bidirectional_gru": lambda k: k.Bidirectional(k.GRU(3)), "unrolled": lambda k: k.LSTM(4, unroll=True),
    "cells": lambda k: k.RNN([k.LSTMCell(4), k.GRUCell(3)]), "distributed": lambda k: k.TimeDistributed(k.Dense(3, activation="relu")),
    "conv": lambda k: k.Conv1D(5, 3, activation="relu"), "conv_causal": lambda k: k.Conv1D(5, 3, padding="causal", dilation_rate=2), "conv_same": lambda k: k.Conv1D(4, 3, padding="same", strides=2),
    "conv_groups": lambda k: k.Conv1D(4, 3, groups=2), "transpose": lambda k: k.Conv1DTranspose(3, 3, strides=2), "separable": lambda k: k.SeparableConv1D(4, 3), "depthwise": lambda k: k.DepthwiseConv1D(3),
    "max_pool": lambda k: k.MaxPooling1D(2), "average_pool": lambda k: k.AveragePooling1D(3, padding="same"), "global_max": lambda k: k.GlobalMaxPooling1D(), "global_average": lambda k: k.GlobalAveragePooling1D(),
    "adaptive": lambda k: k.AdaptiveAveragePooling1D(3) if hasattr(k, "AdaptiveAveragePooling1D") else k.Flatten(), "upsampling": lambda k: k.UpSampling1D(2), "cropping": lambda k: k.Cropping1D(1), "padding": lambda k: k.ZeroPadding1D((1, 2)),
    "permute": lambda k: k.Permute((2, 1)), "spatial_dropout": lambda k: k.SpatialDropout1D(0.5), "batch_norm": lambda k: k.BatchNormalization(axis=1), "group_norm": lambda k: k.GroupNormalization(2),
    "layer_norm": lambda k: k.LayerNormalization(axis=[1, 2]), "einsum": lambda k: k.EinsumDense("abc,cd->abd", output_shape=(None, 6), bias_axes="d"), "gru_unroll": lambda k: k.GRU(4, unroll=True),
    "lstm_relu": lambda k: k.LSTM(4, activation="relu", recurrent_activation="hard_sigmoid"), "stacked": lambda k: k.StackedRNNCells([k.GRUCell(2)]) and k.RNN(k.StackedRNNCells([k.GRUCell(2), k.SimpleRNNCell(3)])),
    "masked_lstm": lambda k: (lambda x, m=k.Masking(0.0), l=k.LSTM(4): l(m(x))),
}, STEPS)
layers("picture", {
    "conv": lambda k: k.Conv2D(4, 3), "conv_same_strided": lambda k: k.Conv2D(4, 3, strides=2, padding="same", activation="relu"), "conv_dilated": lambda k: k.Conv2D(4, 3, dilation_rate=2), "conv_groups": lambda k: k.Conv2D(6, 3, groups=3),
    "conv_1x1": lambda k: k.Conv2D(8, 1), "transpose": lambda k: k.Conv2DTranspose(4, 3, strides=2, padding="same"), "transpose_valid": lambda k: k.Conv2DTranspose(4, 4, strides=3), "separable": lambda k: k.SeparableConv2D(6, 3, depth_multiplier=2), "depthwise": lambda k: k.DepthwiseConv2D(3, depth_multiplier=2),
    "depthwise_strided": lambda k: k.DepthwiseConv2D(3, strides=2, padding="same"), "max_pool": lambda k: k.MaxPooling2D(2), "max_pool_same": lambda k: k.MaxPooling2D(3, 2, padding="same"), "average_pool": lambda k: k.AveragePooling2D(3, 1, padding="same"),
    "global_max": lambda k: k.GlobalMaxPooling2D(), "global_average": lambda k: k.GlobalAveragePooling2D(keepdims=True), "batch_norm": lambda k: k.BatchNormalization(), "batch_norm_training": lambda k: (lambda x, l=k.BatchNormalization(): l(x, training=True)),
    "group_norm": lambda k: k.GroupNormalization(3), "layer_norm": lambda k: k.LayerNormalization(), "upsampling": lambda k: k.UpSampling2D(2), "upsampling_bilinear": lambda k: k.UpSampling2D(2, interpolation="bilinear"), "upsampling_bicubic": lambda k: k.UpSampling2D(2, interpolation="bicubic"),
    "upsampling_lanczos": lambda k: k.UpSampling2D(2, interpolation="lanczos3"), "cropping": lambda k: k.Cropping2D(((1, 2), (0, 1))), "padding": lambda k: k.ZeroPadding2D(2), "spatial_dropout": lambda k: k.SpatialDropout2D(0.3), "flatten": lambda k: k.Flatten(),
    "resizing": lambda k: k.Resizing(5, 6), "resizing_nearest": lambda k: k.Resizing(5, 6, interpolation="nearest"), "resizing_area": lambda k: k.Resizing(4, 4, interpolation="area"), "resizing_crop": lambda k: k.Resizing(4, 6, crop_to_aspect_ratio=True), "resizing_pad": lambda k: k.Resizing(4, 6, pad_to_aspect_ratio=True), "center_crop": lambda k: k.CenterCrop(4, 4), "random_crop": lambda k: k.CenterCrop(6, 5),
    "random_flip": lambda k: k.RandomFlip(), "random_rotation": lambda k: k.RandomRotation(0.2), "random_zoom": lambda k: k.RandomZoom(0.2), "random_contrast": lambda k: k.RandomContrast(0.2), "prelu": lambda k: k.PReLU(shared_axes=[1, 2]),
    "locally": lambda k: k.Conv2D(3, (1, 5), padding="same", data_format="channels_last"), "max_pool_global": lambda k: k.MaxPooling2D((8, 8)), "conv_valid_stride3": lambda k: k.Conv2D(5, (3, 2), strides=(3, 2)),
}, IMAGES)
layers("volume", {
    "conv": lambda k: k.Conv3D(4, 3), "conv_same": lambda k: k.Conv3D(4, 3, strides=2, padding="same"), "transpose": lambda k: k.Conv3DTranspose(2, 3, strides=2), "max_pool": lambda k: k.MaxPooling3D(2), "average_pool": lambda k: k.AveragePooling3D(2, padding="same"),
    "global_average": lambda k: k.GlobalAveragePooling3D(), "global_max": lambda k: k.GlobalMaxPooling3D(), "upsampling": lambda k: k.UpSampling3D(2), "cropping": lambda k: k.Cropping3D(1), "padding": lambda k: k.ZeroPadding3D(1), "batch_norm": lambda k: k.BatchNormalization(),
    "conv_lstm": lambda k: k.ConvLSTM2D(3, 2), "distributed_conv": lambda k: k.TimeDistributed(k.Conv2D(2, 2)),
}, VOLUMES)
layers("conv_lstm_1d", {"plain": lambda k: k.ConvLSTM1D(3, 2, return_sequences=True)}, numbers(2, 4, 6, 3))
layers("ids", {
    "embedding": lambda k: k.Embedding(10, 4), "embedding_masked_lstm": lambda k: (lambda x, e=k.Embedding(10, 4, mask_zero=True), l=k.LSTM(3): l(e(x))), "one_hot": lambda k: k.CategoryEncoding(10, output_mode="one_hot") if False else k.CategoryEncoding(10, output_mode="multi_hot"),
    "count": lambda k: k.CategoryEncoding(10, output_mode="count"), "hashing": lambda k: k.Hashing(7), "embedding_gru": lambda k: (lambda x, e=k.Embedding(10, 4, mask_zero=True), l=k.Bidirectional(k.GRU(3)): l(e(x))),
}, np.int32([[1, 4, 0], [9, 2, 2]]))
layers("two", {
    "add": lambda k: (lambda a, b, l=k.Add(): l([a, b])), "subtract": lambda k: (lambda a, b, l=k.Subtract(): l([a, b])), "multiply": lambda k: (lambda a, b, l=k.Multiply(): l([a, b])), "average": lambda k: (lambda a, b, l=k.Average(): l([a, b])), "maximum": lambda k: (lambda a, b, l=k.Maximum(): l([a, b])),
    "minimum": lambda k: (lambda a, b, l=k.Minimum(): l([a, b])), "concatenate": lambda k: (lambda a, b, l=k.Concatenate(axis=1): l([a, b])), "dot": lambda k: (lambda a, b, l=k.Dot(axes=2, normalize=True): l([a, b])), "attention": lambda k: (lambda a, b, l=k.Attention(use_scale=True): l([a, b])),
    "additive": lambda k: (lambda a, b, l=k.AdditiveAttention(): l([a, b])), "multi_head": lambda k: k.MultiHeadAttention(2, 3), "multi_head_scores": lambda k: (lambda a, b, l=k.MultiHeadAttention(2, 3): l(a, b, return_attention_scores=True)), "multi_head_causal": lambda k: (lambda a, b, l=k.MultiHeadAttention(2, 3): l(a, a, use_causal_mask=True)),
    "grouped_query": lambda k: k.GroupQueryAttention(4, 4, 2),
}, STEPS, numbers(2, 7, 4, low=-2))
layers("spectrogram", {"mel": lambda k: k.MelSpectrogram(num_mel_bins=8, sampling_rate=400, sequence_stride=16, fft_length=32), "stft": lambda k: k.STFTSpectrogram(frame_length=32, frame_step=16, fft_length=32)}, numbers(2, 160))
layers("hashed", {"cross": lambda k: (lambda a, b, l=k.HashedCrossing(5): l([a, b]))}, np.array([["A"], ["B"]]), np.int64([[1], [2]]))


def _application(name: str, size: int, **kwargs: Any) -> None:
    def maker(tf: Any) -> Any:
        tf.keras.utils.set_random_seed(3)
        model = getattr(tf.keras.applications, name)(weights=None, input_shape=(size, size, 3), classes=10, **kwargs)
        return lambda x: model(x, training=False)

    add(f"application_{name.lower()}", maker, numbers(1, size, size, 3, low=0, high=255 if "Efficient" in name else 1))


for _name, _size, _kwargs in [
    ("MobileNet", 32, {}), ("MobileNetV2", 32, {}), ("MobileNetV3Small", 32, {}), ("ResNet50", 32, {}), ("ResNet50V2", 32, {}), ("DenseNet121", 32, {}), ("EfficientNetB0", 32, {}), ("EfficientNetV2B0", 32, {}),
    ("Xception", 71, {}), ("NASNetMobile", 32, {}), ("InceptionV3", 75, {}), ("InceptionResNetV2", 75, {}), ("VGG16", 32, {}), ("ConvNeXtTiny", 32, {}),
]:
    _application(_name, _size, **_kwargs)
