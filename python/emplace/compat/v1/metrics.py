"""tf.metrics."""

from emplace.framework.metrics import (
    accuracy as accuracy, mean as mean, mean_absolute_error as mean_absolute_error, mean_squared_error as mean_squared_error,
)
