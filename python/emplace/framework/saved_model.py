"""SavedModels of graph programs: written by a builder, read into a session."""

from __future__ import annotations

import os
import shutil
import types
from typing import Any

from emplace.framework import constant_op, graph_io, meta_graph, ops, saver
from emplace.framework.ops import GraphKeys

SCHEMA_VERSION = 1
INIT_OP_KEY = "__saved_model_init_op"
MAIN_OP_KEY = "saved_model_main_op"
LEGACY_INIT_OP_KEY = "legacy_init_op"
TRAIN_OP_KEY = "saved_model_train_op"

signature_constants = types.SimpleNamespace(
    DEFAULT_SERVING_SIGNATURE_DEF_KEY="serving_default", CLASSIFY_INPUTS="inputs", CLASSIFY_METHOD_NAME="tensorflow/serving/classify",
    CLASSIFY_OUTPUT_CLASSES="classes", CLASSIFY_OUTPUT_SCORES="scores", PREDICT_INPUTS="inputs",
    PREDICT_METHOD_NAME="tensorflow/serving/predict", PREDICT_OUTPUTS="outputs", REGRESS_INPUTS="inputs",
    REGRESS_METHOD_NAME="tensorflow/serving/regress", REGRESS_OUTPUTS="outputs",
)
tag_constants = types.SimpleNamespace(SERVING="serve", TRAINING="train", EVAL="eval", GPU="gpu", TPU="tpu")
constants = types.SimpleNamespace(
    ASSETS_DIRECTORY="assets", ASSETS_KEY="saved_model_assets", LEGACY_INIT_OP_KEY=LEGACY_INIT_OP_KEY, MAIN_OP_KEY=MAIN_OP_KEY,
    SAVED_MODEL_FILENAME_PB="saved_model.pb", SAVED_MODEL_FILENAME_PBTXT="saved_model.pbtxt", SAVED_MODEL_SCHEMA_VERSION=SCHEMA_VERSION,
    VARIABLES_DIRECTORY="variables", VARIABLES_FILENAME="variables", DEBUG_DIRECTORY="debug", DEBUG_INFO_FILENAME_PB="saved_model_debug_info.pb",
)


# ---- Signatures.


def build_tensor_info(tensor: Any) -> Any:
    """A TensorInfo message: name, dtype and shape of a tensor."""
    from emplace.proto import saved_model_pb2

    if not isinstance(tensor, ops.Tensor):
        tensor = ops.get_default_graph().as_graph_element(tensor, allow_operation=False)
    info = saved_model_pb2.TensorInfo(name=tensor.name, dtype=tensor.dtype.base_dtype.as_datatype_enum)
    info.tensor_shape.CopyFrom(tensor.shape.as_proto())
    return info


def build_signature_def(inputs: Any = None, outputs: Any = None, method_name: str | None = None, defaults: Any = None) -> Any:
    """A SignatureDef of named inputs and outputs, TensorInfo messages each."""
    from emplace.proto import saved_model_pb2

    signature = saved_model_pb2.SignatureDef(method_name=method_name or "")
    for key, info in (inputs or {}).items():
        signature.inputs[key].CopyFrom(info)
    for key, info in (outputs or {}).items():
        signature.outputs[key].CopyFrom(info)
    return signature


def predict_signature_def(inputs: Any, outputs: Any) -> Any:
    """A SignatureDef for prediction from named tensors."""
    if not inputs:
        raise ValueError("Prediction inputs cannot be None or empty.")
    if not outputs:
        raise ValueError("Prediction outputs cannot be None or empty.")
    return build_signature_def(
        {k: build_tensor_info(v) for k, v in inputs.items()}, {k: build_tensor_info(v) for k, v in outputs.items()},
        signature_constants.PREDICT_METHOD_NAME,
    )


_FLOAT, _TEXT = 1, 7  # DT_FLOAT, DT_STRING


def _kind(tensor: Any) -> int:
    return build_tensor_info(tensor).dtype


def _signature(method: str, **tensors: Any) -> Any:
    """Of one input `inputs` and the outputs that are given."""
    inputs = {"inputs": build_tensor_info(tensors.pop("inputs"))}
    return build_signature_def(inputs, {k: build_tensor_info(t) for k, t in tensors.items() if t is not None}, method)


def classification_signature_def(examples: Any, classes: Any, scores: Any) -> Any:
    """A SignatureDef for classification: serialized examples in, classes and scores out."""
    if examples is None:
        raise ValueError("Classification `examples` cannot be None.")
    if classes is None and scores is None:
        raise ValueError("Classification `classes` and `scores` cannot both be None.")
    if (kind := _kind(examples)) != _TEXT:
        raise ValueError(f"Classification input tensors must be of type string. Found tensors of type {kind}")
    if classes is not None and (kind := _kind(classes)) != _TEXT:
        raise ValueError(f"Classification classes must be of type string Tensor. Found tensors of type {kind}.`")
    if scores is not None and _kind(scores) != _FLOAT:
        raise ValueError("Classification scores must be a float Tensor.")
    return _signature(signature_constants.CLASSIFY_METHOD_NAME, inputs=examples, classes=classes, scores=scores)


def regression_signature_def(examples: Any, predictions: Any) -> Any:
    """A SignatureDef for regression: serialized examples in, predictions out."""
    if examples is None:
        raise ValueError("Regression `examples` cannot be None.")
    if predictions is None:
        raise ValueError("Regression `predictions` cannot be None.")
    if (kind := _kind(examples)) != _TEXT:
        raise ValueError(f"Regression input tensors must be of type string. Found tensors with type {kind}.")
    if (kind := _kind(predictions)) != _FLOAT:
        raise ValueError(f"Regression output tensors must be of type float. Found tensors with type {kind}.")
    return _signature(signature_constants.REGRESS_METHOD_NAME, inputs=examples, outputs=predictions)


def is_valid_signature(signature_def: Any) -> bool:
    """Whether a serving system knows the method, and finds what it asks for."""
    names = signature_constants
    if signature_def is None or not signature_def.inputs or not signature_def.outputs:
        return False
    if signature_def.method_name == names.PREDICT_METHOD_NAME:
        return True
    if set(signature_def.inputs) != {"inputs"} or signature_def.inputs["inputs"].dtype != _TEXT:
        return False
    wanted = {names.CLASSIFY_METHOD_NAME: {"classes": _TEXT, "scores": _FLOAT}, names.REGRESS_METHOD_NAME: {"outputs": _FLOAT}}.get(signature_def.method_name)
    return wanted is not None and all(wanted.get(k) == info.dtype for k, info in signature_def.outputs.items())


def get_tensor_from_tensor_info(tensor_info: Any, graph: Any = None, import_scope: str | None = None) -> Any:
    """The tensor of a graph that a TensorInfo names."""
    graph = graph or ops.get_default_graph()
    name = f"{import_scope}/{tensor_info.name}" if import_scope else tensor_info.name
    return graph.get_tensor_by_name(name)


# ---- Writing.


class SavedModelBuilder:
    """Collects graphs with signatures, the first with its variables; `save` writes them."""

    def __init__(self, export_dir: Any, overwrite: bool = False) -> None:
        from emplace.proto import saved_model_pb2

        self._export_dir = os.fspath(export_dir)
        if not overwrite and os.path.isdir(self._export_dir) and os.listdir(self._export_dir):
            raise AssertionError(
                f"Export directory {self._export_dir} already exists, and isn't empty. Please choose a different export directory, or "
                f"delete all the contents of the specified directory: {os.listdir(self._export_dir)}"
            )
        os.makedirs(self._export_dir, exist_ok=True)
        self._model = saved_model_pb2.SavedModel(saved_model_schema_version=SCHEMA_VERSION)
        self._has_variables = False

    def add_meta_graph_and_variables(
        self, sess: Any, tags: Any, signature_def_map: Any = None, assets_list: Any = None, clear_devices: bool = False, init_op: Any = None,
        train_op: Any = None, strip_default_attrs: bool = False, saver: Any = None, assets_collection: Any = None, legacy_init_op: Any = None,
        main_op: Any = None,
    ) -> None:
        """Adds the session's graph under these tags, and the values of its variables; must come first."""
        if self._has_variables:
            raise AssertionError("Graph state including variables and assets has already been saved. Please invoke `add_meta_graph()` instead.")
        with sess.graph.as_default():
            used = saver or _saver()
            path = os.path.join(self._export_dir, "variables", "variables")
            os.makedirs(os.path.dirname(path), exist_ok=True)
            if used is not None:
                used.save(sess, path, write_meta_graph=False, write_state=False)
            self._has_variables = True
            self._add(tags, signature_def_map, used, assets_list or assets_collection, clear_devices, init_op or main_op or legacy_init_op, train_op, strip_default_attrs)

    def add_meta_graph(
        self, tags: Any, signature_def_map: Any = None, assets_list: Any = None, clear_devices: bool = False, init_op: Any = None,
        train_op: Any = None, saver: Any = None, strip_default_attrs: bool = False, **_: Any,
    ) -> None:
        """Adds a further graph under other tags, with the same variables."""
        if not self._has_variables:
            raise AssertionError("Graph state including variables and assets has not been saved yet. Please invoke `add_meta_graph_and_variables()` first.")
        self._add(tags, signature_def_map, saver or _saver(), assets_list, clear_devices, init_op, train_op, strip_default_attrs)

    def _add(self, tags: Any, signatures: Any, used: Any, assets: Any, clear_devices: bool, init_op: Any, train_op: Any, strip: bool) -> None:
        for name, signature in (signatures or {}).items():
            _check_signature(name, signature)
        graph = ops.get_default_graph()
        meta = meta_graph.create_meta_graph_def(graph, used.saver_def if used else None, None, clear_devices, strip, list(tags))
        for name, signature in (signatures or {}).items():
            meta.signature_def[name].CopyFrom(signature)
        if init_op is not None:
            op = init_op if isinstance(init_op, ops.Operation) else init_op.op
            meta.collection_def[MAIN_OP_KEY].node_list.value.append(op.name)
            meta.signature_def[INIT_OP_KEY].outputs[INIT_OP_KEY].name = op.name
        if train_op is not None:
            meta.collection_def[TRAIN_OP_KEY].node_list.value.append(train_op.name)
        self._add_assets(meta, assets)
        self._model.meta_graphs.append(meta)

    def _add_assets(self, meta: Any, assets: Any) -> None:
        for tensor in assets or []:
            source = _text(constant_op.constant_value(tensor))
            folder = os.path.join(self._export_dir, "assets")
            os.makedirs(folder, exist_ok=True)
            shutil.copyfile(source, os.path.join(folder, os.path.basename(source)))
            entry = meta.asset_file_def.add(filename=os.path.basename(source))
            entry.tensor_info.name = tensor.name

    def save(self, as_text: bool = False, **_: Any) -> bytes:
        """Writes the model's message and returns its path."""
        path = os.path.join(self._export_dir, "saved_model.pbtxt" if as_text else "saved_model.pb")
        meta_graph.write(self._model, path, as_text)
        return path.encode()


Builder = SavedModelBuilder


def _saver() -> Any:
    return saver.Saver(sharded=True, allow_empty=True) if ops.get_collection(GraphKeys.GLOBAL_VARIABLES) else None


def _text(value: Any) -> str:
    value = value.item() if hasattr(value, "item") else value
    return value.decode() if isinstance(value, bytes) else str(value)


def _check_signature(name: str, signature: Any) -> None:
    if name == INIT_OP_KEY:
        raise KeyError(f"SignatureDef map key \"{INIT_OP_KEY}\" is reserved for initialization. Please use a different key.")
    for info in [*signature.inputs.values(), *signature.outputs.values()]:
        if not info.WhichOneof("encoding"):
            raise AssertionError(f"Invalid `tensor_info` object: {info}. It must have a name.")
        if info.dtype == 0:
            raise AssertionError(f"Invalid `tensor_info` object: {info}. It must have a dtype.")


def simple_save(session: Any, export_dir: Any, inputs: Any, outputs: Any, legacy_init_op: Any = None) -> None:
    """Writes the session's graph and variables as a model for serving with one signature."""
    builder = SavedModelBuilder(export_dir)
    builder.add_meta_graph_and_variables(
        session, [tag_constants.SERVING], {signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY: predict_signature_def(inputs, outputs)},
        assets_list=ops.get_collection(GraphKeys.ASSET_FILEPATHS), init_op=legacy_init_op, clear_devices=True,
    )
    builder.save()


# ---- Reading.


def parse_saved_model(export_dir: Any) -> Any:
    from google.protobuf import message as _message
    from google.protobuf import text_format

    from emplace.proto import saved_model_pb2

    export_dir = os.fspath(export_dir)
    for name in ("saved_model.pb", "saved_model.pbtxt"):
        path = os.path.join(export_dir, name)
        if not os.path.exists(path):
            continue
        content = graph_io.read_to_parse(path)
        try:
            if name.endswith("txt"):
                return text_format.Merge(content.decode("utf-8"), saved_model_pb2.SavedModel())
            return saved_model_pb2.SavedModel.FromString(content)
        except (_message.DecodeError, text_format.ParseError, UnicodeDecodeError) as e:
            raise OSError(f"Cannot parse file {path}: {e}.") from None
    raise OSError(f"SavedModel file does not exist at: {export_dir}{os.path.sep}{{saved_model.pbtxt|saved_model.pb}}")


def contains_saved_model(export_dir: Any) -> bool:
    """Whether a folder holds a saved model."""
    return any(os.path.exists(os.path.join(os.fspath(export_dir), n)) for n in ("saved_model.pb", "saved_model.pbtxt"))


maybe_saved_model_directory = contains_saved_model


def chosen_meta_graph(model: Any, tags: Any) -> Any:
    wanted = set(tags)
    for meta in model.meta_graphs:
        if set(meta.meta_info_def.tags) == wanted:
            return meta
    available = [set(m.meta_info_def.tags) for m in model.meta_graphs]
    raise RuntimeError(
        f"MetaGraphDef associated with tags {str(sorted(wanted)).strip('[]')} could not be found in SavedModel, with available tags "
        f"'{available}'. To inspect available tag-sets in the SavedModel, please use the SavedModel CLI: `saved_model_cli`."
    )


def init_op_name(meta: Any) -> str | None:
    if INIT_OP_KEY in meta.signature_def:
        return meta.signature_def[INIT_OP_KEY].outputs[INIT_OP_KEY].name.split(":")[0]
    for key in (MAIN_OP_KEY, LEGACY_INIT_OP_KEY):
        if key in meta.collection_def and meta.collection_def[key].node_list.value:
            return meta.collection_def[key].node_list.value[0].split(":")[0]
    return None


def load(sess: Any, tags: Any, export_dir: Any, import_scope: str | None = None, **saver_kwargs: Any) -> Any:
    """Adds the graph with these tags to the session's, restores its variables and runs its initializer."""
    export_dir = os.fspath(export_dir)
    meta = chosen_meta_graph(parse_saved_model(export_dir), tags)
    with sess.graph.as_default():
        restorer = saver.import_meta_graph(meta, import_scope=import_scope, **saver_kwargs)
    variables = os.path.join(export_dir, "variables", "variables")
    if restorer is not None and os.path.exists(variables + ".index"):
        restorer.restore(sess, variables)
    name = init_op_name(meta)
    if name:
        prefix = f"{import_scope}/" if import_scope else ""
        feeds = {prefix + a.tensor_info.name: os.path.join(export_dir, "assets", a.filename) for a in meta.asset_file_def}
        sess.run(sess.graph.get_operation_by_name(prefix + name), feed_dict=feeds)
    return meta
