"""The binary files of CIFAR-10, or a stand-in for them: records of a label and 3 x 32 x 32 bytes."""

import pathlib

import numpy as np

SIZE, RECORD = 32, 1 + 3 * 32 * 32
TRAINING, TEST = [f"data_batch_{i}.bin" for i in range(1, 6)], ["test_batch.bin"]


def files(folder, training):
    """The set's files in `folder` (or in its cifar-10-batches-bin); where there are none, those of a stand-in."""
    names = TRAINING if training else TEST
    for place in (pathlib.Path(folder), pathlib.Path(folder) / "cifar-10-batches-bin"):
        if all((place / name).exists() for name in names):
            return [str(place / name) for name in names], "CIFAR-10"
    return [_stand_in(pathlib.Path(folder), training)], "a stand-in for CIFAR-10 (coloured gratings, no photographs)"


def _stand_in(folder, training):
    """Ten kinds of gratings: each has its direction, width and colour; place, contrast and noise vary."""
    file = folder / f"stand_in_{'training' if training else 'test'}.bin"
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(".part")
        part.write_bytes(_records(4000 if training else 1000, seed=1 if training else 2))
        part.rename(file)
    return str(file)


def _records(count, seed):
    r = np.random.default_rng(seed)
    kinds = r.integers(0, 10, count)
    angle, wide = kinds * np.pi / 10, 4.0 + kinds % 3 * 2.0
    y, x = np.mgrid[:SIZE, :SIZE]
    across = np.cos(angle)[:, None, None] * x + np.sin(angle)[:, None, None] * y
    waves = np.sin(across * 2 * np.pi / wide[:, None, None] + r.uniform(0, 6, count)[:, None, None])
    colour = np.stack([np.cos(kinds * 2.0 + shift) for shift in (0.0, 2.0, 4.0)], 1)
    strength = r.uniform(30, 60, count)[:, None, None, None]
    images = 128 + strength * waves[:, None] * (1 + 0.5 * colour[:, :, None, None]) + r.normal(0, 25, (count, 3, SIZE, SIZE))
    bytes_of = np.clip(images, 0, 255).astype(np.uint8).reshape(count, -1)
    return np.concatenate([kinds[:, None].astype(np.uint8), bytes_of], 1).tobytes()
