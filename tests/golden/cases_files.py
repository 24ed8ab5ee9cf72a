"""Calls of operations on files, sounds and rarer forms, for make_cpu_kernels.py.

usage: cases_files.py > file_kernels.txt        (needs TensorFlow; the tests need only the file)
"""
import numpy as np
import tensorflow as tf

from make_cpu_kernels import case


def pixels(*shape, dtype="uint8"):
    """Smooth, so that files stay small; with an edge."""
    y, x, k = np.meshgrid(*(np.arange(n) for n in shape), indexing="ij")
    top = 255 if dtype == "uint8" else 65535
    return ((y * 23 + x * 31 + k * 67 + (x > y) * 90) % (top + 1)).astype(dtype)


def file(encoded):
    return encoded.numpy()


def gif():
    """Two frames of 4×3: one whole, one a part with a transparent colour."""
    head = b"GIF89a" + bytes([4, 0, 3, 0, 0x81, 0, 0]) + bytes([255, 0, 0, 0, 255, 0, 0, 0, 255, 9, 9, 9])
    whole = b"," + bytes([0, 0, 0, 0, 4, 0, 3, 0, 0, 2]) + packed([0, 1, 2, 3, 3, 2, 1, 0, 0, 0, 1, 1])
    part = b"!\xf9\x04\x01\x0a\x00\x02\x00" + b"," + bytes([1, 0, 1, 0, 2, 0, 2, 0, 0, 2]) + packed([1, 2, 2, 0])
    return head + whole + part + b";"


def packed(indices):
    """Codes of 3 bits, with a clear before each, so that they never grow."""
    bits = "".join(f"{c:03b}"[::-1] for i in indices for c in (4, i)) + f"{5:03b}"[::-1]
    data = bytes(int(bits[i : i + 8].ljust(8, "0")[::-1], 2) for i in range(0, len(bits), 8))
    return bytes([len(data)]) + data + b"\0"


def bmp(width, height, depth):
    row = (width * depth + 3) // 4 * 4
    header = b"BM" + (54 + row * abs(height)).to_bytes(4, "little") + bytes(4) + (54).to_bytes(4, "little") + (40).to_bytes(4, "little")
    header += width.to_bytes(4, "little") + height.to_bytes(4, "little", signed=True) + b"\1\0" + (depth * 8).to_bytes(2, "little") + bytes(24)
    return header + bytes(i * 7 % 256 for i in range(row * abs(height)))


def pictures() -> None:
    color, gray = pixels(9, 13, 3), pixels(7, 5, 1)
    jpegs = {k: file(tf.io.encode_jpeg(color, chroma_downsampling=k)) for k in (True, False)}
    small = file(tf.io.encode_jpeg(gray, quality=60))
    for bytes_ in (jpegs[True], jpegs[False], small, file(tf.io.encode_jpeg(pixels(20, 17, 3), progressive=True))):
        case("DecodeJpeg", bytes_), case("DecodeJpeg", bytes_, channels=1), case("DecodeJpeg", bytes_, channels=3), case("ExtractJpegShape", bytes_)
        case("DecodeJpeg", bytes_, ratio=2), case("DecodeJpeg", bytes_, fancy_upscaling=False), case("DecodeJpeg", bytes_, dct_method="INTEGER_FAST")
        case("DecodeImage", bytes_), case("DecodeImage", bytes_, dtype=tf.float32), case("DecodeImage", bytes_, dtype=tf.uint16), case("DecodePng", bytes_)
    case("DecodeJpeg", jpegs[True][:300]), case("DecodeJpeg", b"\xff\xd8\xffnothing"), case("DecodeJpeg", b""), case("DecodeJpeg", b"text"), case("DecodeJpeg", jpegs[True], channels=4)
    case("DecodeAndCropJpeg", jpegs[False], np.int32([2, 3, 4, 5])), case("DecodeAndCropJpeg", jpegs[False], np.int32([2, 3, 40, 5])), case("ExtractJpegShape", b"no"), case("ExtractJpegShape", small, output_type=tf.int64)
    for channels in (1, 2, 3, 4):
        for dtype in ("uint8", "uint16"):
            bytes_ = file(tf.io.encode_png(pixels(6, 5, channels, dtype=dtype)))
            for wanted in (0, 1, 3, 4):
                case("DecodePng", bytes_, channels=wanted), case("DecodePng", bytes_, channels=wanted, dtype=tf.uint16)
            case("DecodeImage", bytes_), case("DecodeImage", bytes_, dtype=tf.float32), case("DecodeImage", bytes_, dtype=tf.uint16)
    case("DecodePng", bytes_[:40]), case("DecodePng", b"\x89PNG\r\n\x1a\n"), case("DecodePng", bytes_, channels=2)
    for b in (bmp(3, 2, 3), bmp(3, -2, 3), bmp(2, 2, 4), bmp(5, 2, 1)):
        case("DecodeBmp", b), case("DecodeImage", b), case("DecodePng", b)
    case("DecodeBmp", bmp(3, 2, 3), channels=4), case("DecodeBmp", bmp(2, 2, 4), channels=3), case("DecodeBmp", bmp(5, 2, 1), channels=3), case("DecodeBmp", bmp(2, 2, 4), channels=1), case("DecodeBmp", bmp(3, 2, 3)[:60]), case("DecodeBmp", b"BM"), case("DecodeBmp", small)
    case("DecodeGif", gif()), case("DecodeImage", gif()), case("DecodeImage", gif(), expand_animations=False), case("DecodePng", gif()), case("DecodeGif", gif()[:30]), case("DecodeGif", small)
    case("EncodeJpeg", color), case("EncodeJpeg", gray, quality=60), case("EncodeJpeg", color, chroma_downsampling=False, progressive=True), case("EncodeJpeg", color, optimize_size=True, density_unit="cm", x_density=10, y_density=20)
    case("EncodeJpeg", pixels(3, 3, 2)), case("EncodeJpeg", color, quality=101), case("EncodeJpeg", gray, format="rgb"), case("EncodeJpegVariableQuality", color, np.int32(70)), case("EncodeJpegVariableQuality", color, np.int32(-1))
    for channels in (1, 2, 3, 4):
        case("EncodePng", pixels(6, 5, channels)), case("EncodePng", pixels(6, 5, channels, dtype="uint16"), compression=9)
    case("EncodePng", np.stack([color, color + 1])), case("EncodePng", pixels(3, 3, 5)), case("EncodePng", color, compression=10)


def sounds() -> None:
    wave = np.sin(np.arange(40).reshape(20, 2) * 0.3).astype("float32")
    stereo, mono = file(tf.audio.encode_wav(wave, 8000)), file(tf.audio.encode_wav(wave[:, :1] * 1.5, 44100))
    for bytes_ in (stereo, mono):
        case("DecodeWav", bytes_), case("DecodeWav", bytes_, desired_channels=1), case("DecodeWav", bytes_, desired_channels=3), case("DecodeWav", bytes_, desired_samples=5), case("DecodeWav", bytes_, desired_samples=25)
    case("DecodeWav", b"RIFF"), case("DecodeWav", stereo[:30]), case("DecodeWav", b"text that is no sound at all, whatever one does with it")
    case("EncodeWav", wave, np.int32(8000)), case("EncodeWav", wave * 3, np.int32(16000)), case("EncodeWav", wave[0], np.int32(8000))
    long = np.sin(np.arange(200).reshape(100, 2) * 0.37).astype("float32")
    for window, stride, squared in ((16, 8, False), (25, 10, True), (100, 1, False), (200, 3, False)):
        case("AudioSpectrogram", long, window_size=window, stride=stride, magnitude_squared=squared)
    case("AudioSpectrogram", long, window_size=1, stride=1), case("AudioSpectrogram", long, window_size=8, stride=0)
    power = tf.raw_ops.AudioSpectrogram(input=long, window_size=64, stride=16, magnitude_squared=True).numpy()
    case("Mfcc", power, np.int32(16000)), case("Mfcc", power, np.int32(8000), upper_frequency_limit=3000.0, lower_frequency_limit=100.0, filterbank_channel_count=12, dct_coefficient_count=5)
    case("Mfcc", power[0], np.int32(16000)), case("Mfcc", power, np.int32(0))


def boxes() -> None:
    box = np.array([[[0.1, 0.2, 0.7, 0.9]]], "float32")
    for seed in range(6):
        case("StatelessSampleDistortedBoundingBox", np.int32([60, 80, 3]), box, np.float32(0.3), np.int32([seed, 2]))
    case("StatelessSampleDistortedBoundingBox", np.int64([10, 7, 3]), np.zeros((1, 0, 4), "float32"), np.float32(0.1), np.int64([1, 2]), use_image_if_no_bounding_boxes=True)
    case("StatelessSampleDistortedBoundingBox", np.int64([10, 7, 3]), np.zeros((1, 0, 4), "float32"), np.float32(0.1), np.int64([1, 2]))
    case("StatelessSampleDistortedBoundingBox", np.int32([60, 80, 3]), box * 2, np.float32(0.3), np.int32([1, 2])), case("StatelessSampleDistortedBoundingBox", np.int32([60, 80]), box, np.float32(0.3), np.int32([1, 2]))
    case("StatelessSampleDistortedBoundingBox", np.int32([60, 80, 3]), box, np.float32(1.0), np.int32([1, 2]), aspect_ratio_range=[0.2, 5.0], area_range=[0.3, 0.6], max_attempts=7)


def texts(*rows):
    return np.array(rows, object)


def crosses() -> None:
    places, dims = np.array([[0, 0], [1, 0], [1, 1]], "int64"), np.array([2, 2], "int64")
    words, numbers, dense = texts("a", "b", "c"), np.array([3, 4, 5], "int64"), texts(["x", "y"], ["z", "w"])
    types = {"string": tf.string, "int64": tf.int64}
    for first, second in ((words, words), (words, numbers), (numbers, numbers)):
        kinds = [types["string" if v.dtype == object else "int64"] for v in (first, second)]
        for hashed, buckets in ((False, 0), (True, 0), (True, 10)):
            out = tf.int64 if hashed else tf.string
            attrs = dict(hashed_output=hashed, num_buckets=buckets, hash_key=956888297470)
            cross("SparseCross", [places, places], [first, second], [dims, dims], [dense], N=2, sparse_types=kinds, dense_types=[tf.string], out_type=out, internal_type=tf.string, **attrs)
            splits = np.array([0, 1, 3], "int64")
            cross("RaggedCross", [first, second], [splits, splits], [places], [second], [dims], [dense], Nsparse=1, input_order="RSRD", ragged_values_types=kinds, ragged_splits_types=[tf.int64] * 2, sparse_values_types=[kinds[1]], dense_types=[tf.string], out_values_type=out, out_row_splits_type=tf.int64, **attrs)
    cross("SparseCrossV2", [places, places], [words, numbers], [dims, dims], [dense], "_Y_", N=2, sparse_types=[tf.string, tf.int64], dense_types=[tf.string])
    cross("SparseCrossHashed", [places, places], [words, words], [dims, dims], [dense], np.int64(100), False, np.array([137, 173], "int64"), N=2, sparse_types=[tf.string] * 2, dense_types=[tf.string])


def cross(op, *inputs, **attrs):
    """Lists of types are attributes that `case` has no words for: they follow from the inputs."""
    case(op, *inputs, **attrs)


def letters() -> None:
    for t in ("int32", "int64"):
        case("DataFormatDimMap", np.array([0, 1, 2, 3, -1, -4], t)), case("DataFormatDimMap", np.array(3, t), src_format="NHWC", dst_format="NHWC"), case("DataFormatDimMap", np.array([1, -2], t), src_format="NDHWC", dst_format="NCDHW")
        case("DataFormatVecPermute", np.array([7, 4, 9, 3], t)), case("DataFormatVecPermute", np.array([7, 4, 9, 3], t), src_format="NCHW", dst_format="NHWC"), case("DataFormatVecPermute", np.array([[1, 2], [3, 4], [5, 6], [7, 8]], t)), case("DataFormatVecPermute", np.array([5, 6], t), src_format="NHWC", dst_format="NCWH")
        case("DataFormatVecPermute", np.array([7, 4, 9], t)), case("DataFormatVecPermute", np.array(7, t))


if __name__ == "__main__":
    pictures(), sounds(), boxes(), crosses(), letters()
