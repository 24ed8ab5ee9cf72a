"""tf.image and the convolutions of tf.nn against what NumPy says."""

import numpy as np
import pytest

import emplace as tf

RNG = np.random.RandomState(5)
IMAGE = RNG.rand(5, 4, 3).astype("float32")
BATCH = RNG.rand(2, 5, 4, 3).astype("float32")


@pytest.mark.parametrize("x", [IMAGE, BATCH], ids=["image", "batch"])
def test_turns(x):
    rows, columns = (-3, -2)
    np.testing.assert_array_equal(tf.image.flip_left_right(x), np.flip(x, columns))
    np.testing.assert_array_equal(tf.image.flip_up_down(x), np.flip(x, rows))
    np.testing.assert_array_equal(tf.image.transpose(x), np.swapaxes(x, rows, columns))
    for k in range(-1, 5):
        np.testing.assert_array_equal(tf.image.rot90(x, k), np.rot90(x, k, axes=(rows, columns)))


def test_cuts_and_pads():
    np.testing.assert_array_equal(tf.image.crop_to_bounding_box(IMAGE, 1, 2, 3, 2), IMAGE[1:4, 2:4])
    padded = tf.image.pad_to_bounding_box(IMAGE, 1, 2, 8, 7).numpy()
    assert padded.shape == (8, 7, 3)
    np.testing.assert_array_equal(padded[1:6, 2:6], IMAGE)
    assert padded.sum() == pytest.approx(IMAGE.sum(), rel=1e-5)
    fitted = tf.image.resize_with_crop_or_pad(IMAGE, 3, 6).numpy()
    np.testing.assert_array_equal(fitted[:, 1:5], IMAGE[1:4])
    np.testing.assert_array_equal(tf.image.central_crop(BATCH, 0.5), BATCH[:, 1:4, 1:3])
    with pytest.raises(ValueError, match="target"):
        tf.image.crop_to_bounding_box(IMAGE, 3, 0, 3, 2)


def test_random_crops_are_parts_of_the_image():
    part = tf.image.stateless_random_crop(IMAGE, [2, 2, 3], seed=(1, 2)).numpy()
    places = [(y, x) for y in range(4) for x in range(3)]
    assert any(np.array_equal(part, IMAGE[y : y + 2, x : x + 2]) for y, x in places)


def test_sizes():
    assert tf.image.resize(IMAGE, [10, 8]).shape == (10, 8, 3)
    assert tf.image.resize(IMAGE, [10, 80], preserve_aspect_ratio=True).shape == (10, 8, 3)
    twice = tf.image.resize(IMAGE, [10, 8], method="nearest").numpy()
    np.testing.assert_array_equal(twice, IMAGE.repeat(2, 0).repeat(2, 1))
    assert tf.image.resize_with_pad(IMAGE, 9, 12).shape == (9, 12, 3)
    with pytest.raises(ValueError, match="not implemented"):
        tf.image.resize(IMAGE, [2, 2], method="odd")


def test_types():
    bytes_ = np.array([[[0, 127, 255]]], "uint8")
    floats = tf.image.convert_image_dtype(bytes_, tf.float32)
    np.testing.assert_allclose(floats, bytes_ / 255, rtol=1e-6)
    np.testing.assert_array_equal(tf.image.convert_image_dtype(floats, tf.uint8), bytes_)
    np.testing.assert_array_equal(tf.image.convert_image_dtype(bytes_, tf.uint16), bytes_.astype("uint16") * 256)


def test_colours():
    for there, back in (("rgb_to_yiq", "yiq_to_rgb"), ("rgb_to_yuv", "yuv_to_rgb"), ("rgb_to_hsv", "hsv_to_rgb")):
        again = getattr(tf.image, back)(getattr(tf.image, there)(IMAGE))
        np.testing.assert_allclose(again, IMAGE, atol=2e-4, err_msg=there)  # the tables have six digits
    grey = tf.image.rgb_to_grayscale(IMAGE)
    np.testing.assert_allclose(grey[..., 0], IMAGE @ np.float32([0.2989, 0.587, 0.114]), rtol=1e-5)
    np.testing.assert_array_equal(tf.image.grayscale_to_rgb(grey), np.repeat(grey, 3, -1))
    np.testing.assert_allclose(tf.image.adjust_hue(tf.image.adjust_hue(IMAGE, 0.3), -0.3), IMAGE, atol=1e-5)


def test_values():
    np.testing.assert_allclose(tf.image.adjust_brightness(IMAGE, 0.25), IMAGE + np.float32(0.25), rtol=1e-6)
    mean = IMAGE.mean((0, 1))
    np.testing.assert_allclose(tf.image.adjust_contrast(IMAGE, 3.0), (IMAGE - mean) * 3 + mean, atol=1e-5)
    np.testing.assert_allclose(tf.image.adjust_gamma(IMAGE, 0.5, 2.0), 2 * np.sqrt(IMAGE), rtol=1e-5)
    even = tf.image.per_image_standardization(BATCH).numpy()
    np.testing.assert_allclose(even.mean((1, 2, 3)), 0, atol=1e-5)
    np.testing.assert_allclose(even.std((1, 2, 3)), 1, rtol=1e-4)


def test_measures():
    down, right = tf.image.image_gradients(BATCH)
    np.testing.assert_array_equal(down[:, :-1], BATCH[:, 1:] - BATCH[:, :-1])
    np.testing.assert_array_equal(right[:, :, -1], np.zeros((2, 5, 3)))
    spread = np.abs(np.diff(IMAGE, axis=0)).sum() + np.abs(np.diff(IMAGE, axis=1)).sum()
    assert float(tf.image.total_variation(IMAGE)) == pytest.approx(spread, rel=1e-5)
    noise = 10 * np.log10(1 / np.mean((BATCH - BATCH * 0.9) ** 2, axis=(1, 2, 3)))
    np.testing.assert_allclose(tf.image.psnr(BATCH, BATCH * np.float32(0.9), 1.0), noise, rtol=1e-4)
    assert tf.image.sobel_edges(BATCH).shape == (2, 5, 4, 3, 2)


def test_boxes():
    boxes = [[0.0, 0, 1, 1], [0, 0.05, 1, 1.05], [0, 2, 1, 3]]
    chosen = tf.image.non_max_suppression(boxes, [0.5, 0.9, 0.3], 3, iou_threshold=0.5)
    assert chosen.numpy().tolist() == [1, 2]
    index, scores = tf.image.non_max_suppression_with_scores(boxes, [0.5, 0.9, 0.3], 3, soft_nms_sigma=0.5)
    assert index.numpy().tolist() == [1, 2, 0] and scores[2] < 0.3


def _direct(x, f, strides, rates):
    """A convolution without padding, tap by tap."""
    kh, kw, _, out = f.shape
    oh = (x.shape[1] - (kh - 1) * rates - 1) // strides + 1
    ow = (x.shape[2] - (kw - 1) * rates - 1) // strides + 1
    y = np.zeros((len(x), oh, ow, out))
    for i in range(kh):
        for j in range(kw):
            part = x[:, i * rates :: strides, j * rates :: strides][:, :oh, :ow]
            y += part @ f[i, j]
    return y


@pytest.mark.parametrize("strides,rates", [(1, 1), (2, 1), (1, 2)])
def test_convolutions(strides, rates):
    x, f = RNG.rand(3, 9, 8, 4).astype("float32"), RNG.rand(3, 2, 4, 5).astype("float32")
    want = _direct(x, f, strides, rates)
    np.testing.assert_allclose(tf.nn.conv2d(x, f, strides, "VALID", dilations=rates), want, rtol=1e-4)
    np.testing.assert_allclose(tf.nn.convolution(x, f, strides, dilations=rates), want, rtol=1e-4)
    first = tf.nn.conv2d(x.transpose(0, 3, 1, 2), f, strides, "VALID", "NCHW", rates)
    np.testing.assert_allclose(first, want.transpose(0, 3, 1, 2), rtol=1e-4)
    with tf.GradientTape() as tape:
        filters = tf.Variable(f)
        total = tf.reduce_sum(tf.nn.conv2d(x, filters, strides, "VALID", dilations=rates))
    ones = tf.nn.conv2d_transpose(np.ones_like(want, "float32"), f, x.shape, strides, "VALID", dilations=rates)
    # A sum's gradients: what every weight met, and what every pixel gave.
    assert float(tf.reduce_sum(tape.gradient(total, filters) * f)) == pytest.approx(float(total), rel=1e-4)
    assert float(tf.reduce_sum(ones * x)) == pytest.approx(float(total), rel=1e-4)


def test_files() -> None:
    pixels = (np.arange(12 * 10 * 3) % 256).astype("uint8").reshape(12, 10, 3)
    png, jpeg = tf.io.encode_png(pixels), tf.io.encode_jpeg(pixels, quality=80)
    np.testing.assert_array_equal(tf.image.decode_png(png).numpy(), pixels)
    np.testing.assert_array_equal(tf.io.decode_png(png, dtype=tf.uint16).numpy(), pixels.astype("uint16") * 257)
    assert tf.io.extract_jpeg_shape(jpeg).numpy().tolist() == [12, 10, 3]
    assert int(tf.reduce_sum(tf.cast(tf.io.decode_jpeg(jpeg), tf.int32))) == 37762  # TensorFlow's
    assert tf.io.decode_image(jpeg, dtype=tf.float64).dtype == tf.float64
    assert bool(tf.io.is_jpeg(jpeg)) and not bool(tf.image.is_jpeg(png))
    assert tf.image.stateless_random_jpeg_quality(pixels, 30, 90, seed=(1, 2)).numpy().sum() == 38077
    with pytest.raises(tf.errors.InvalidArgumentError, match="Unknown image file format"):
        tf.io.decode_jpeg(b"no picture")


def test_the_shape_of_a_picture_is_known_unless_it_may_move():
    shapes: list[str] = []

    @tf.function
    def decoded(contents):
        said = [tf.io.decode_image(contents, c, expand_animations=moves).shape for c in (0, 1) for moves in (True, False)]
        shapes.extend(map(str, said))
        return contents

    decoded.get_concrete_function(tf.TensorSpec([], tf.string))
    assert shapes == ["<unknown>", "(None, None, None)", "<unknown>", "(None, None, 1)"]
