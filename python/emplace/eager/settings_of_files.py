"""How files of checkpoints and saved models are written and read, and what their parts are called."""

from __future__ import annotations

import enum
from typing import Any

ASSETS_DIRECTORY, ASSETS_KEY = "assets", "saved_model_assets"
CLASSIFY_INPUTS, CLASSIFY_METHOD_NAME = "inputs", "tensorflow/serving/classify"
CLASSIFY_OUTPUT_CLASSES, CLASSIFY_OUTPUT_SCORES = "classes", "scores"
DEBUG_DIRECTORY, DEBUG_INFO_FILENAME_PB = "debug", "saved_model_debug_info.pb"
DEFAULT_SERVING_SIGNATURE_DEF_KEY = "serving_default"
PREDICT_INPUTS, PREDICT_METHOD_NAME, PREDICT_OUTPUTS = "inputs", "tensorflow/serving/predict", "outputs"
REGRESS_INPUTS, REGRESS_METHOD_NAME, REGRESS_OUTPUTS = "inputs", "tensorflow/serving/regress", "outputs"
SAVED_MODEL_FILENAME_PB, SAVED_MODEL_FILENAME_PBTXT, SAVED_MODEL_SCHEMA_VERSION = "saved_model.pb", "saved_model.pbtxt", 1
GPU, SERVING, TPU, TRAINING = "gpu", "serve", "tpu", "train"
VARIABLES_DIRECTORY = VARIABLES_FILENAME = "variables"


class VariablePolicy(enum.Enum):
    NONE = None
    SAVE_VARIABLE_DEVICES = "save_variable_devices"
    EXPAND_DISTRIBUTED_VARIABLES = "expand_distributed_variables"


class _Kept:
    """Settings by name, with defaults; kept as they were given."""

    _DEFAULTS: dict[str, Any] = {}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        given = dict(zip(self._DEFAULTS, args))
        for name in (*given, *kwargs):
            if name not in self._DEFAULTS or name in given and name in kwargs:
                raise TypeError(f"{type(self).__name__}.__init__() got an unexpected keyword argument {name!r}")
        self.__dict__.update({**self._DEFAULTS, **given, **kwargs})


class SaveOptions(_Kept):
    _DEFAULTS = {
        "namespace_whitelist": None, "save_debug_info": False, "function_aliases": None, "experimental_debug_stripper": False,
        "experimental_io_device": None, "experimental_variable_policy": None, "experimental_custom_gradients": True,
        "experimental_image_format": False, "experimental_skip_saver": False, "experimental_sharding_callback": None, "extra_tags": None,
    }


class LoadOptions(_Kept):
    _DEFAULTS = {
        "allow_partial_checkpoint": False, "experimental_io_device": None, "experimental_skip_checkpoint": False,
        "experimental_variable_policy": None, "experimental_load_function_aliases": False,
    }


class CheckpointOptions(_Kept):
    _DEFAULTS = {
        "experimental_io_device": None, "experimental_enable_async_checkpoint": False, "experimental_write_callbacks": None,
        "enable_async": False, "experimental_skip_slot_variables": False, "experimental_sharding_callback": None,
    }
