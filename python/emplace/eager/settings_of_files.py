"""How files of checkpoints and saved models are written and read, and what their parts are called."""

from __future__ import annotations

import enum
from typing import Any

from emplace.framework import saved_model

for _names in (saved_model.constants, saved_model.signature_constants, saved_model.tag_constants):
    globals().update(vars(_names))


class VariablePolicy(enum.Enum):
    """What of a variable's device is written into a saved model."""

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
    """Settings for `saved_model.save`. Kept for programs that give them."""

    _DEFAULTS = {
        "namespace_whitelist": None, "save_debug_info": False, "function_aliases": None, "experimental_debug_stripper": False,
        "experimental_io_device": None, "experimental_variable_policy": None, "experimental_custom_gradients": True,
        "experimental_image_format": False, "experimental_skip_saver": False, "experimental_sharding_callback": None, "extra_tags": None,
    }


class LoadOptions(_Kept):
    """Settings for `saved_model.load`. Kept for programs that give them."""

    _DEFAULTS = {
        "allow_partial_checkpoint": False, "experimental_io_device": None, "experimental_skip_checkpoint": False,
        "experimental_variable_policy": None, "experimental_load_function_aliases": False,
    }


class CheckpointOptions(_Kept):
    """Settings for checkpoints. Kept for programs that give them."""

    _DEFAULTS = {
        "experimental_io_device": None, "experimental_enable_async_checkpoint": False, "experimental_write_callbacks": None,
        "enable_async": False, "experimental_skip_slot_variables": False, "experimental_sharding_callback": None,
    }
