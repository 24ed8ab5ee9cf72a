"""Writes a few inputs for each fuzzer to begin with: make_seeds.py FOLDER."""

import pathlib
import struct
import sys
import tempfile
import zlib
from typing import Any

CONST = (
    "node { name: 'a' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: 'value' value {"
    " tensor { dtype: DT_FLOAT tensor_shape { dim { size: 2 } } float_val: 1 float_val: 2 } } } }\n"
)
ADD = "node { name: 'b' op: 'AddV2' input: 'a' input: 'a' attr { key: 'T' value { type: DT_FLOAT } } }\n"
CALL = (
    "library { function { signature { name: 'f' input_arg { name: 'x' type: DT_FLOAT } output_arg { name: 'y' type: DT_FLOAT } }"
    " node_def { name: 'n' op: 'Neg' input: 'x' attr { key: 'T' value { type: DT_FLOAT } } } ret { key: 'y' value: 'n:y:0' } } }\n"
    "node { name: 'c' op: 'f' input: 'a' input: '^b' device: '/cpu:0' }\n"
)
TEXTS = [CONST, CONST + ADD, CONST + ADD + CALL, "versions { producer: 1987 }\n" + CONST]
# A GraphDef of one NoOp, in bytes: node { name: "a" op: "NoOp" }.
BINARY = [b"\n\x09\n\x01a\x12\x04NoOp", b"\n\x09\n\x01a\x12\x04NoOp\n\x0d\n\x01b\x12\x04NoOp\x1a\x02^a"]


def npy(header: str, data: bytes) -> bytes:
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def frame(kind: int, number: int, call: int, text: bytes = b"", parts: list[tuple[int, int, int, int]] = [], inline: bytes = b"") -> bytes:
    """As src/cluster/socket/frame.h has it; a part: at, size, where, way."""
    heads = b"".join(struct.pack("<QQQII", at, size, where, way, 0) for at, size, where, way in parts)
    return struct.pack("<BBHIQQ", kind, 0, number, len(parts), call, len(text)) + heads + text + inline


def png() -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 3, 2, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress((b"\0" + bytes(9)) * 2)) + chunk(b"IEND", b"")


BMP = b"BM" + struct.pack("<IIIIiiHHIIiiII", 54 + 24, 0, 54, 40, 3, 2, 1, 24, 0, 24, 1, 1, 0, 0) + bytes(24)
GIF = (b"GIF89a" + struct.pack("<HHBBB", 2, 1, 0x80, 0, 0) + bytes(6) + b"," + struct.pack("<HHHHB", 0, 0, 2, 1, 0)
       + b"\x02\x02\x44\x0a\x00;")  # fmt: skip
JPEG = b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00\xff\xdb\x00C\x00" + b"\x01" * 64 + (
    b"\xff\xc0\x00\x0b\x08\x00\x08\x00\x08\x01\x01\x11\x00\xff\xc4\x00\x14\x00\x01" + bytes(15) + b"\x00\xff\xc4\x00\x14\x10\x01"
    + bytes(15) + b"\x00\xff\xda\x00\x08\x01\x01\x00\x00\x3f\x00\x3f\xff\xd9")  # fmt: skip
COSTS = (
    '{"version": 1, "rates": [{"device": "CPU", "launch_s": 2e-07, "ops_per_s": 8e9, "products": [{"size": 8192, "per_s": 3e9}],'
    ' "moves": [{"size": 524288, "per_s": 6e10}]}], "links": [{"from": "CPU", "to": "GPU", "latency_s": 9e-06, "bytes_per_s": 2.5e10}],'
    ' "ops": []}'
)
# DT_FLOAT of shape [2], as values and as bytes.
TENSORS = [b"\x08\x01\x12\x04\x12\x02\x08\x02\x2a\x08" + bytes(8), b"\x08\x01\x12\x04\x12\x02\x08\x02\x22\x08" + bytes(8),
           b"\x08\x07\x12\x04\x12\x02\x08\x01\x42\x03abc"]  # fmt: skip

SEEDS: dict[str, list[bytes]] = {
    "attributes": [b"\x18\x07", b"\x12\x04text", b"\x30\x01", b"\x3a\x04\x12\x02\x08\x02", b"\x0a\x04\x1a\x02\x01\x02",
                   *(b"\x42" + bytes([len(t)]) + t for t in TENSORS)],  # fmt: skip
    "tensor_proto": TENSORS,
    "shape_rules": [bytes([i * 7 % 256, i % 256]) + bytes(range(i, i + 30)) for i in range(100)],
    "records": [b"\0" + bytes(12), b"\x11one\ntwo\n", b"\x22abcdef", b"\x04" + zlib.compress(bytes(12)), b"\x03whole"],
    "pictures": [b"\x03" + png(), b"\x44" + png(), b"\x03" + BMP, b"\x03" + GIF, b"\x01" + JPEG, b"\x43" + JPEG],
    "costs": [COSTS.encode()],
    "graph_def": BINARY,
    "graph_def_text": [t.encode() for t in TEXTS],
    "run_graph": [t.encode() for t in TEXTS],
    "saved_model": [b"\x08\x01\x12\x15\n\x07\"\x05serve\x12\n" + BINARY[0][:9], b"\x08\x01"],
    "config": [b"device_count { key: 'CPU' value: 2 } allow_soft_placement: true", b"gpu_options { allow_growth: true }"],
    "device_name": [b"/job:w/replica:0/task:1/device:GPU:2", b"/cpu:0", b"/gpu:*", b"CPU:0"],
    "npy": [
        npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", b"\0" * 8),
        npy("{'descr': '|S3', 'fortran_order': True, 'shape': (1, 2), }", b"abcdef"),
        npy("{'descr': '>U2', 'fortran_order': False, 'shape': (), }", b"\0\0\0a\0\0\0b"),
    ],
    "npz": [b"\x01a" + npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", b"\0" * 8)],
    "cluster_connection": [
        b"\xff" + frame(1, 12, 1, b"text"),
        b"\x01" + frame(1, 12, 1, b"text", [(2, 5, 0, 0)], b"inner") + frame(5, 0, 1),
        b"\xff" + frame(2, 15, 7, b"abc", [(1, 9, 1, 2)]) + frame(8, 0, 1, b"", [(0, 9, 9, 0)], b"transfer!"),
        b"\xff" + frame(6, 0, 0) + frame(9, 0, 1) + frame(10, 0, 1, b"", [(0, 4096, 0, 1)]) + frame(11, 0, 1) + frame(12, 0, 1),
    ],
    "cluster_greeting": [b"EMPLACE\x01" + struct.pack("<IIQQ", 0, 5, 0, 0) + b"token", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"\x16\x03\x01"],
    "cluster_environment": [b'{"cluster": {"ps": ["a:1"], "worker": {"0": "b:1"}}, "task": {"type": "ps", "index": 0}}', b"2(x3),1", b"a[01-03,7]-x,b"],
    "cluster_call": [bytes([n, 0, 0]) for n in range(32)],
    "checkpoint_index": [bytes(8) + b"\0" * 32 + struct.pack("<Q", 0xDB4775248B80FB57)],
    "checkpoint": [b"\x0e\x08\x01\x12\x04\x12\x02\x08\x02\x28\x08\x35\0\0\0\0" + bytes(8)],
}


def add_calls() -> None:
    """Messages to servers, where the Python package is built."""
    try:
        from emplace.proto import graph_pb2, master_pb2, task_pb2
    except ImportError:
        return
    graph = graph_pb2.GraphDef.FromString(BINARY[1])

    def call(number: int, message: Any, elements: bytes | None = None) -> bytes:
        body = message.SerializeToString()
        body = body if elements is None else struct.pack("<Q", len(body)) + body + elements
        return struct.pack("<BH", number, len(body)) + body

    part = task_pb2.AddPartRequest(session=1, part=1, graph=graph, target=["a"])
    run = task_pb2.RunPartRequest(session=1, part=1, step=1, oldest=1)
    push = task_pb2.PushRequest(session=1, step=1, value=task_pb2.WireTensor(dtype=1, dim=[1], bytes=4))
    SEEDS["cluster_call"] += [
        call(0, master_pb2.CreateSessionRequest(graph_def=graph)),
        call(13, part) + call(14, run, b"") + call(16, task_pb2.EndStepRequest(session=1, step=1)) + call(17, task_pb2.CloseTaskSessionRequest(session=1)),
        call(13, part) + call(15, push, struct.pack("<f", 1)),
    ]


def add_golden_seeds() -> None:
    """One graph for every operation, where the Python package is built."""
    try:
        from golden_seeds import files, seeds
    except ImportError:
        return
    for text, binary in seeds():
        SEEDS["run_graph"].append(text)
        SEEDS["graph_def"].append(binary)
    with tempfile.TemporaryDirectory() as scratch:
        model, index = files(pathlib.Path(scratch) / "model")
    SEEDS["saved_model"].append(model)
    SEEDS["checkpoint_index"].append(index)


def main(folder: pathlib.Path) -> None:
    add_golden_seeds()
    add_calls()
    for name, seeds in SEEDS.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        for i, seed in enumerate(seeds):
            (folder / name / f"seed{i}").write_bytes(seed)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
