"""`tf.train.Checkpoint`: variables of objects that hold each other, saved under the names they have there."""

from __future__ import annotations

import os
from typing import Any, Callable, Iterator

import numpy as np

from emplace import _core
from emplace.eager import modes, variables
from emplace.framework import checkpoints, errors, tensor_shape, trackable

_GRAPH_KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"
_VALUE, _ITERATOR, _STATE = "VARIABLE_VALUE", "ITERATOR", "_STATE"


def _escaped(name: str) -> str:
    return name.replace(".", "..").replace("/", ".S")


def _is_trackable(value: Any) -> bool:
    return isinstance(value, (trackable.Trackable, list, tuple, dict)) or hasattr(value, "_trackable_children")


def children(value: Any, save_type: str = "checkpoint") -> Iterator[tuple[str, Any]]:
    """What an object holds that can be saved, by name."""
    if variable_of(value) is not None:
        return
    if hasattr(value, "_trackable_children"):
        yield from value._trackable_children(save_type=save_type).items()
    elif isinstance(value, (list, tuple)):
        yield from ((str(i), v) for i, v in enumerate(value) if _is_trackable(v))
    elif isinstance(value, dict):
        yield from ((str(k), v) for k, v in value.items() if _is_trackable(v))
    else:
        yield from ((k, v) for k, v in vars(value).items() if _is_trackable(v) and holds(v))


def variable_of(value: Any) -> Any:
    """The variable that an object is, or acts as (Keras's); None if it is none."""
    if isinstance(value, variables.Variable):
        return value
    return value.value if getattr(value, "_should_act_as_resource_variable", False) is True else None


def _has_state(value: Any) -> bool:
    """Is it an iterator, whose place is written as one value?"""
    return hasattr(value, "_serialize_to_tensors")


def holds(value: Any, depth: int = 0) -> bool:
    """An empty list of settings is no part of a model."""
    if isinstance(value, (list, tuple, dict)):
        items = value.values() if isinstance(value, dict) else value
        return any(_is_trackable(v) and (depth > 8 or holds(v, depth + 1)) for v in items)
    return True


def object_graph(root: Any) -> tuple[Any, dict[str, Any], list[Any]]:
    """The objects below `root` in breadth: the message, the variables and iterators by key, the objects by number."""
    from emplace.proto import saved_model_pb2

    message = saved_model_pb2.TrackableObjectGraph()
    found, paths, numbers = [root], [""], {id(root): 0}
    by_key: dict[str, Any] = {}
    at = 0
    while at < len(found):
        node, path = found[at], paths[at]
        out = message.nodes.add()
        variable = variable_of(node)
        if variable is not None:
            key = f"{path}/.ATTRIBUTES/{_VALUE}"
            by_key[key] = variable
            out.attributes.add(name=_VALUE, full_name=variable._shared_name, checkpoint_key=key)
        elif _has_state(node):
            key = f"{path}/.ATTRIBUTES/{_ITERATOR}"
            by_key[key] = node
            out.attributes.add(name=_ITERATOR, checkpoint_key=key)
        out.has_checkpoint_values.value = bool(out.attributes)
        for name, child in children(node):
            if id(child) not in numbers:
                numbers[id(child)] = len(found)
                found.append(child)
                paths.append(f"{path}/{_escaped(name)}" if path else _escaped(name))
            out.children.add(node_id=numbers[id(child)], local_name=name)
        at += 1
    return message, by_key, found


class Checkpoint(trackable.Trackable):
    """Saves and restores the variables of the objects given to it."""

    def __init__(self, root: Any = None, **kwargs: Any) -> None:
        self._root = root
        self._save_counter: Any = None
        self._objects: dict[str, Any] = {}
        for name, value in sorted(kwargs.items()):
            setattr(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if not name.startswith("_"):
            if not _is_trackable(value):
                raise ValueError(
                    f"`Checkpoint` was expecting {name} to be a trackable object (an object derived from `Trackable`), got {value}. If you "
                    "believe this object should be trackable (i.e. it is part of the TensorFlow Python API and manages state), please open an issue."
                )
            self._objects[name] = value
            trackable.restore_now(self, name, value)

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        own = dict(self._objects)
        if self._root is not None:
            own = {**dict(children(self._root)), **own, "root": self}
        if self._save_counter is not None:
            own["save_counter"] = self._save_counter
        return own

    @property
    def save_counter(self) -> Any:
        if self._save_counter is None:
            self._save_counter = variables.Variable(np.int64(0), trainable=False, name="save_counter")
        return self._save_counter

    def write(self, file_prefix: Any, options: Any = None) -> str:
        """Writes all variables below the object to files of this very prefix, which is returned; no number is added."""
        prefix = os.fspath(file_prefix)
        message, by_key, _ = object_graph(self)
        tensors: dict[str, Any] = {}
        for key, value in by_key.items():
            if _has_state(value):
                tensors[key + _STATE] = value._serialize_to_tensors()[_STATE]
            else:
                tensors[key] = np.asarray(value.numpy())
        tensors[_GRAPH_KEY] = np.array(message.SerializeToString(), dtype=object)
        _core.write_checkpoint(prefix, tensors)
        return prefix

    def save(self, file_prefix: Any, options: Any = None, _write_state: bool = True) -> str:
        """Writes a checkpoint with the next number behind the prefix, makes it the folder's latest and returns its path."""
        prefix = os.fspath(file_prefix)
        self.save_counter.assign_add(np.int64(1))
        path = self.write(f"{prefix}-{int(self.save_counter.numpy())}")
        if _write_state:
            checkpoints.update_checkpoint_state(os.path.dirname(prefix) or ".", path, [path], save_relative_paths=True)
        return path

    def read(self, save_path: Any, options: Any = None) -> "CheckpointLoadStatus":
        """Restores from files of this very prefix. Variables made later are restored when they are made."""
        reader = checkpoints.CheckpointReader(save_path)
        if not reader.has_tensor(_GRAPH_KEY):
            return _restore_by_name(self, reader)
        from emplace.proto import saved_model_pb2

        content = reader.get_tensor(_GRAPH_KEY)
        content = content.item() if hasattr(content, "item") else content
        return CheckpointLoadStatus(_Restoring(self, reader, saved_model_pb2.TrackableObjectGraph.FromString(content)).found, False)

    def restore(self, save_path: Any, options: Any = None) -> "CheckpointLoadStatus":
        """Restores from a checkpoint, or a folder's latest; None restores nothing. Variables made later are restored when they
        are made; the status returned can say what was missing."""
        if save_path is None:
            return CheckpointLoadStatus(lambda: ([], [], []), True)
        path = os.fspath(save_path)
        if os.path.isdir(path):
            path = checkpoints.latest_checkpoint(path) or path
        self.save_counter  # it is restored too
        try:
            return self.read(path)
        except errors.NotFoundError as e:
            e._message = (
                f"Error when restoring from checkpoint or SavedModel at {os.fspath(save_path)}: {e._message}\nPlease double-check that the "
                "path is correct. You may be missing the checkpoint suffix (e.g. the '-1' in 'path/to/ckpt-1')."
            )
            raise e from None


class _Restoring:
    """A checkpoint on its way into objects: those that are there now, and those that come later."""

    def __init__(self, root: Any, reader: Any, message: Any) -> None:
        self._root, self._reader, self._message = root, reader, message
        self.matched: dict[int, Any] = {}
        self.match(0, root)

    def match(self, number: int, value: Any) -> None:
        pairs = [(number, value)]
        while pairs:
            number, value = pairs.pop()
            if number in self.matched:
                continue
            self.matched[number] = value
            saved = self._message.nodes[number]
            if (variable := variable_of(value)) is not None:
                for attribute in saved.attributes:
                    if attribute.name == _VALUE:
                        _load(variable, self._reader.get_tensor(attribute.checkpoint_key))
                continue
            if _has_state(value):
                for attribute in saved.attributes:
                    if attribute.name == _ITERATOR:
                        value._restore_from_tensors({_STATE: self._reader.get_state(attribute.checkpoint_key + _STATE)})
                continue
            own = dict(children(value))
            pairs.extend((c.node_id, own[c.local_name]) for c in saved.children if c.local_name in own)
            if isinstance(value, trackable.Trackable):
                object.__setattr__(value, "_awaits", (self, {c.local_name: c.node_id for c in saved.children if c.local_name not in own}))

    def found(self) -> tuple[list[str], list[Any], list[Any]]:
        """What of the checkpoint is unused, which variables had no value, which had one."""
        paths = _paths(self._message)
        unused = [f"{paths.get(i, '(root)')}: {n}" for i, n in enumerate(self._message.nodes) if i not in self.matched and n.attributes]
        known = {id(v if variable_of(v) is None else variable_of(v)) for v in self.matched.values()}
        missing = [v for v in object_graph(self._root)[1].values() if id(v) not in known]
        return unused, missing, [v for v in self.matched.values() if variable_of(v) is not None]


def _load(variable: Any, value: Any) -> None:
    shape = tensor_shape.as_shape(getattr(value, "shape", ()))
    if not variable.shape.is_compatible_with(shape):
        raise ValueError(f"Received incompatible tensor with shape {shape} when attempting to restore variable with shape {variable.shape} and name {variable.name}.")
    with modes.init_scope():  # a variable may be made, and so restored, while a function is traced
        variable.assign(value)


def _paths(message: Any) -> dict[int, str]:
    """How each object is reached: `(root).model.w`."""
    found, rest = {0: "(root)"}, [0]
    for number in rest:
        for child in message.nodes[number].children:
            if child.node_id not in found:
                found[child.node_id] = f"{found[number]}.{child.local_name}"
                rest.append(child.node_id)
    return found


def _restore_by_name(root: Any, reader: Any) -> "CheckpointLoadStatus":
    """A checkpoint of a graph program: variables by their own names."""
    restored, missing = [], []
    used = set()
    for variable in object_graph(root)[1].values():
        if _has_state(variable):
            continue
        name = variable._shared_name
        if reader.has_tensor(name):
            variable.assign(reader.get_tensor(name))
            restored.append(variable)
            used.add(name)
        else:
            missing.append(variable)
    unused = [n for n in reader.get_variable_to_shape_map() if n not in used]
    return CheckpointLoadStatus(lambda: (unused, missing, restored), False)


class CheckpointLoadStatus:
    """What a restore found: asked by those who want to be sure."""

    def __init__(self, found: Callable[[], tuple[list[str], list[Any], list[Any]]], nothing: bool) -> None:
        self._found, self._nothing = found, nothing

    def assert_consumed(self) -> "CheckpointLoadStatus":
        self.assert_existing_objects_matched()
        if unused := self._found()[0]:
            raise AssertionError(f"Unresolved object in checkpoint {unused[0]}")
        return self

    def assert_existing_objects_matched(self) -> "CheckpointLoadStatus":
        self._require_checkpoint()
        missing = [v for v in self._found()[1] if v._shared_name != "save_counter"]
        if missing:
            raise AssertionError(
                f"Found {len(missing)} Python objects that were not bound to checkpointed values, likely due to changes in the Python program. "
                f"Showing {min(10, len(missing))} of {len(missing)} unmatched objects: {missing[:10]}"
            )
        return self

    def assert_nontrivial_match(self) -> "CheckpointLoadStatus":
        self._require_checkpoint()
        if not self._found()[2]:
            raise AssertionError("Nothing except the root object matched a checkpointed value.")
        return self

    def expect_partial(self) -> "CheckpointLoadStatus":
        return self

    def initialize_or_restore(self, session: Any = None) -> None:
        return None

    run_restore_ops = initialize_or_restore

    def _require_checkpoint(self) -> None:
        if self._nothing:
            raise AssertionError("No checkpoint specified (save_path=None); nothing is being restored.")


class ListWrapper(list):  # type: ignore[type-arg]
    """A list as part of a model, printed as such."""

    def __repr__(self) -> str:
        return f"ListWrapper({super().__repr__()})"


class TrackableView:
    """What hangs below an object: the parts a checkpoint of it would hold."""

    def __init__(self, root: Any) -> None:
        self._root = root

    @property
    def root(self) -> Any:
        return self._root

    @classmethod
    def children(cls, obj: Any, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        """The objects that an object holds, by the name of the attribute."""
        return {name: ListWrapper(value) if type(value) is list else value for name, value in children(obj, save_type)}

    def descendants(self) -> list[Any]:
        """The object and all that it holds, directly or not."""
        found, seen = [self._root], {id(self._root)}
        for obj in found:  # it grows
            for child in self.children(obj).values():
                if id(child) not in seen:
                    seen.add(id(child))
                    found.append(child)
        return [ListWrapper(o) if type(o) is list else o for o in found]


class CheckpointView:
    """The objects of a checkpoint by number, without the objects themselves."""

    def __init__(self, save_path: Any, options: Any = None) -> None:
        from emplace.proto import saved_model_pb2

        content = checkpoints.CheckpointReader(save_path).get_tensor(_GRAPH_KEY)
        content = content.item() if hasattr(content, "item") else content
        self._message = saved_model_pb2.TrackableObjectGraph.FromString(content)

    def children(self, node_id: int) -> dict[str, int]:
        """The numbers of the objects that a saved object holds, by their names."""
        return {c.local_name: c.node_id for c in self._message.nodes[node_id].children}

    def descendants(self) -> list[int]:
        """The numbers of all saved objects."""
        return list(_paths(self._message))

    def match(self, obj: Any) -> dict[int, Any]:
        """Which object each number stands for: those reached by the same names."""
        found, rest = {0: obj}, [(0, obj)]
        for number, value in rest:
            own = TrackableView.children(value)
            for name, child in self.children(number).items():
                if name in own and child not in found:
                    found[child] = own[name]
                    rest.append((child, own[name]))
        return found

    def diff(self, obj: Any) -> tuple[dict[int, Any], list[int], list[Any]]:
        """What both have, what only the checkpoint has, what only the object has."""
        both = self.match(obj)
        known = {id(v) for v in both.values()}
        rest = [o for o in TrackableView(obj).descendants() if id(o) not in known]
        return both, [n for n in self.descendants() if n not in both], rest
