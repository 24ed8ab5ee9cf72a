"""Calls of operations on files, sounds and rarer forms, for make_cpu_kernels.py.

usage: cases_files.py > file_kernels.txt        (needs TensorFlow; the tests need only the file)
"""
import numpy as np
import tensorflow as tf

from make_cpu_kernels import case, sample


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


if __name__ == "__main__":
    pictures()
