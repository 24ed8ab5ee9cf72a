"""scikit-learn's digits, which the programs learn."""

import numpy as np
from sklearn.datasets import load_digits

IMAGES, LABELS = (np.asarray(part) for part in load_digits(return_X_y=True))
IMAGES = (IMAGES / 16.0).astype(np.float32)
LABELS = LABELS.astype(np.int32)
TRAINED = 1500  # the rest is for testing
BATCH = 50
