"""What the networks of bench/run models are given, alike for every library."""

from __future__ import annotations

import numpy as np

STAGES = ((3, 64), (4, 128), (6, 256), (3, 512))  # of ResNet-50: blocks, width
# Of MobileNetV3-Large: kernel, inner channels, outer channels, squeezes, hard swish, stride
MOBILE = (
    (3, 16, 16, False, False, 1), (3, 64, 24, False, False, 2), (3, 72, 24, False, False, 1), (5, 72, 40, True, False, 2),
    (5, 120, 40, True, False, 1), (5, 120, 40, True, False, 1), (3, 240, 80, False, True, 2), (3, 200, 80, False, True, 1),
    (3, 184, 80, False, True, 1), (3, 184, 80, False, True, 1), (3, 480, 112, True, True, 1), (3, 672, 112, True, True, 1),
    (5, 672, 160, True, True, 2), (5, 960, 160, True, True, 1), (5, 960, 160, True, True, 1),
)
LAYERS, HIDDEN, HEADS, VOCABULARY, WORDS = 12, 768, 12, 30522, 128  # of BERT-base
TAGS, TAGGED, UNITS = 17, 40, 256  # of the tagger: classes, words a sentence, units
EMBEDDED, NEGATIVES = 128, 64  # of word2vec


def given(network: str, batch: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    if network in ("resnet50", "mobilenet"):
        return rng.standard_normal((batch, 224, 224, 3), np.float32), rng.integers(0, 1000, batch).astype(np.int32)
    if network == "autoencoder":
        x = rng.random((batch, 784), np.float32)
        return x, x
    words = {"bert": WORDS, "tagger": TAGGED, "word2vec": 1}[network]
    classes = {"bert": VOCABULARY, "tagger": TAGS, "word2vec": VOCABULARY}[network]
    x = rng.integers(0, VOCABULARY, (batch, words)).astype(np.int32)
    return x, rng.integers(0, classes, (batch, words)).astype(np.int32)
