"""tf.saved_model for graph programs."""

from __future__ import annotations

import types

from emplace.framework import saved_model as _saved_model
from emplace.framework.saved_model import (
    Builder as Builder, build_signature_def as build_signature_def, build_tensor_info as build_tensor_info, constants as constants,
    classification_signature_def as classification_signature_def, contains_saved_model as contains_saved_model, get_tensor_from_tensor_info as get_tensor_from_tensor_info, load as load,
    is_valid_signature as is_valid_signature, maybe_saved_model_directory as maybe_saved_model_directory,
    predict_signature_def as predict_signature_def, regression_signature_def as regression_signature_def,
    signature_constants as signature_constants, simple_save as simple_save, tag_constants as tag_constants,
)
from emplace.framework import listing as _listing

builder = types.SimpleNamespace(SavedModelBuilder=_saved_model.SavedModelBuilder)
loader = types.SimpleNamespace(load=load, maybe_saved_model_directory=maybe_saved_model_directory)
main_op = types.SimpleNamespace()
utils = types.SimpleNamespace(
    build_tensor_info=build_tensor_info, get_tensor_from_tensor_info=get_tensor_from_tensor_info,
)
signature_def_utils = types.SimpleNamespace(
    build_signature_def=build_signature_def, predict_signature_def=predict_signature_def,
    classification_signature_def=classification_signature_def, regression_signature_def=regression_signature_def,
    is_valid_signature=is_valid_signature,
)
for _names in (constants, signature_constants, tag_constants):  # they have short names too
    globals().update({name: value for name, value in vars(_names).items() if name.isupper()})
del types

__dir__ = _listing.of_module(globals())
