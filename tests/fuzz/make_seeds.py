"""Writes a few inputs for each fuzzer to begin with: make_seeds.py FOLDER."""

import pathlib
import struct
import sys
import tempfile

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


SEEDS: dict[str, list[bytes]] = {
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
    "checkpoint_index": [bytes(8) + b"\0" * 32 + struct.pack("<Q", 0xDB4775248B80FB57)],
    "checkpoint": [b"\x0e\x08\x01\x12\x04\x12\x02\x08\x02\x28\x08\x35\0\0\0\0" + bytes(8)],
}


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
    for name, seeds in SEEDS.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        for i, seed in enumerate(seeds):
            (folder / name / f"seed{i}").write_bytes(seed)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
