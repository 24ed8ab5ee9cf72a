import numpy as np
import tensorflow as tf

# A picture pipeline: decode, resize, augment, batch, normalise.
base = tf.cast(tf.reshape(tf.range(6 * 8 * 3) % 256, [6, 8, 3]), tf.uint8)
jpeg, png = tf.io.encode_jpeg(base, quality=95), tf.io.encode_png(base)
img = tf.image.convert_image_dtype(tf.image.decode_png(png, channels=3), tf.float32)
print(img.dtype, img.shape, tf.reduce_max(img).numpy().round(4), tf.image.decode_jpeg(jpeg).shape)
for method in ("bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic"):
    r = tf.image.resize(img, [3, 5], method=method)
    print(method, r.shape, r.dtype, "%.4f" % tf.reduce_mean(r), "%.4f" % r[1, 2, 0])
print(tf.image.resize(img, [12, 12], preserve_aspect_ratio=True).shape, tf.image.resize(img, [3, 4], antialias=True)[0, 0].numpy().round(4))
print(tf.image.resize_with_pad(img, 10, 10).shape, tf.image.resize_with_crop_or_pad(img, 4, 10).shape, tf.image.central_crop(img, 0.5).shape)
print(tf.image.flip_left_right(img)[0, 0].numpy().round(3), tf.image.flip_up_down(img)[0, 0].numpy().round(3), tf.image.rot90(img).shape, tf.image.transpose(img).shape)
print(tf.image.adjust_brightness(img, 0.1)[0, 0].numpy().round(4), tf.image.adjust_contrast(img, 2.0)[0, 0].numpy().round(4), tf.image.adjust_saturation(img, 0.5)[0, 1].numpy().round(4))
print(tf.image.adjust_hue(img, 0.2)[1, 1].numpy().round(4), tf.image.adjust_gamma(img, 0.5)[1, 1].numpy().round(4), tf.image.per_image_standardization(img)[0, 0].numpy().round(4))
print(tf.image.rgb_to_grayscale(img)[0, :3, 0].numpy().round(4), tf.image.rgb_to_hsv(img)[1, 1].numpy().round(4), tf.image.rgb_to_yuv(img)[1, 1].numpy().round(4), tf.image.hsv_to_rgb(tf.image.rgb_to_hsv(img))[1, 1].numpy().round(4))
seed = (1, 2)
print(tf.image.stateless_random_brightness(img, 0.2, seed)[0, 0].numpy().round(4), tf.image.stateless_random_contrast(img, 0.5, 1.5, seed)[0, 0].numpy().round(4))
print(tf.image.stateless_random_crop(img, [3, 3, 3], seed)[0, 0].numpy().round(4), tf.image.stateless_random_flip_left_right(img, seed)[0, 0].numpy().round(4), tf.image.stateless_random_hue(img, 0.2, seed)[2, 2].numpy().round(3))
boxes = tf.constant([[[0.1, 0.2, 0.8, 0.9]]])
print(tf.image.draw_bounding_boxes(img[None], boxes, [[1.0, 0.0, 0.0]])[0, 0, 1].numpy(), tf.image.crop_and_resize(img[None], boxes[0], [0], [2, 2])[0, 0].numpy().round(4))
print(tf.image.non_max_suppression([[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 0.9, 1.0], [2.0, 2.0, 3.0, 3.0]], [0.9, 0.8, 0.7], 3, 0.5))
print(tf.image.ssim(tf.image.resize(img, [16, 16])[None], tf.image.resize(img, [16, 16])[None] * 0.9, 1.0).numpy().round(4), tf.image.psnr(img, img * 0.9, 1.0).numpy().round(3), tf.image.total_variation(img).numpy().round(3))
dy, dx = tf.image.image_gradients(img[None])
print(dy.shape, dx[0, 0, 0].numpy().round(4), tf.image.sobel_edges(img[None]).shape, tf.image.extract_patches(img[None], [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID").shape)


def augment(image, label):
    image = tf.image.resize_with_crop_or_pad(image, 8, 8)
    image = tf.image.stateless_random_flip_left_right(image, [label, 0])
    return tf.clip_by_value(image, 0, 1), tf.one_hot(label, 3)


ds = tf.data.Dataset.from_tensor_slices((tf.stack([img, img * 0.5, 1 - img]), [0, 1, 2])).map(augment, num_parallel_calls=tf.data.AUTOTUNE).batch(2)
for x, y in ds:
    print(x.shape, y.numpy(), "%.4f" % tf.reduce_mean(x))
print(tf.image.pad_to_bounding_box(img, 1, 1, 9, 10).shape, tf.image.crop_to_bounding_box(img, 1, 1, 2, 2).shape, tf.image.grayscale_to_rgb(img[:, :, :1]).shape, tf.saturate_cast(img * 300, tf.uint8)[0, 3])
try:
    tf.image.central_crop(img, 1.5)
except ValueError as e:
    print(e)
try:
    tf.image.resize(img, [3])
except ValueError as e:
    print(e)
