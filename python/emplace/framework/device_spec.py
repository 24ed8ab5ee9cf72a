"""DeviceSpec: a device name taken apart."""

from __future__ import annotations

from typing import Any

_FIELDS = ("job", "replica", "task", "device_type", "device_index")


def _number(text: str) -> int | None:
    return None if text == "*" else int(text)


def _upper(device_type: Any) -> str | None:
    text = None if device_type is None else str(device_type)
    return text.upper() if text in ("cpu", "gpu") else text


def _parse(spec: str) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for part in spec.split("/"):
        pieces = part.split(":")
        kind = pieces[0]
        if part == "":
            continue
        if len(pieces) == 2 and kind == "job":
            fields["job"] = pieces[1]
        elif len(pieces) == 2 and kind in ("replica", "task"):
            fields[kind] = _number(pieces[1])
        elif kind.upper() in ("CPU", "GPU") and len(pieces) <= 2 or kind == "device" and len(pieces) in (2, 3):
            if "device_type" in fields:
                raise ValueError(f"Multiple device types are not allowed while parsing the device spec: {spec}.")
            pieces = pieces[1:] if kind == "device" else [kind.upper(), *pieces[1:]]
            fields["device_type"] = pieces[0]  # "*" too, or its index would not be printed
            if len(pieces) == 2 and pieces[1] != "*":
                fields["device_index"] = int(pieces[1])
        else:
            raise ValueError(f"Unknown attribute '{kind}' is encountered while parsing the device spec: '{spec}'.")
    return fields


class DeviceSpecV2:
    """Job, replica, task, device type and index, each of which may be open. Does not change."""

    __slots__ = ("_job", "_replica", "_task", "_type", "_index")

    def __init__(self, job: Any = None, replica: Any = None, task: Any = None, device_type: Any = None, device_index: Any = None) -> None:
        self._set(job, replica, task, device_type, device_index)

    def _set(self, job: Any = None, replica: Any = None, task: Any = None, device_type: Any = None, device_index: Any = None) -> None:
        self._job = None if job is None else str(job)
        self._replica = None if replica is None else int(replica)
        self._task = None if task is None else int(task)
        self._type = _upper(device_type)
        self._index = None if device_index is None else int(device_index)

    @property
    def job(self) -> str | None:
        return self._job

    @property
    def replica(self) -> int | None:
        return self._replica

    @property
    def task(self) -> int | None:
        return self._task

    @property
    def device_type(self) -> str | None:
        return self._type

    @property
    def device_index(self) -> int | None:
        return self._index

    @classmethod
    def from_string(cls, spec: str) -> Any:
        """A spec from a name such as "/job:worker/task:1/device:GPU:0"; parts may be left out."""
        return cls(**_parse(spec))

    def parse_from_string(self, spec: str) -> Any:
        """Another spec, that of the name."""
        return self.from_string(spec)

    def to_string(self) -> str:
        """The name, with only the parts that are said."""
        text = ""
        for name, value in (("job", self._job), ("replica", self._replica), ("task", self._task)):
            if value is not None:
                text += f"/{name}:{value}"
        if self._type is not None:
            text += f"/device:{self._type}:{'*' if self._index is None else self._index}"
        return text

    def _fields(self) -> dict[str, Any]:
        return {f: getattr(self, f) for f in _FIELDS}

    def make_merged_spec(self, other: "DeviceSpecV2") -> Any:
        """A new spec: what `other` says, and what this one says where `other` is silent."""
        said = {f: v for f, v in other._fields().items() if v is not None}
        return type(self)(**{**self._fields(), **said})

    def replace(self, **fields: Any) -> Any:
        """The same spec with some fields changed."""
        return type(self)(**{**self._fields(), **fields})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeviceSpecV2) and self.to_string() == other.to_string()

    def __hash__(self) -> int:
        return hash(self.to_string())

    def __repr__(self) -> str:
        return f"<DeviceSpec({', '.join(f'{f}={v}' for f, v in self._fields().items())})>"


def _settable(name: str, slot: str, convert: Any) -> property:
    def set_field(self: Any, value: Any) -> None:
        setattr(self, slot, None if value is None else convert(value))

    return property(lambda self: getattr(self, slot), set_field)


class DeviceSpec(DeviceSpecV2):
    """TensorFlow 1's spec, whose parts can be set."""

    __slots__ = ()
    job = _settable("job", "_job", str)
    replica = _settable("replica", "_replica", int)
    task = _settable("task", "_task", int)
    device_type = _settable("device_type", "_type", _upper)
    device_index = _settable("device_index", "_index", int)

    def parse_from_string(self, spec: str) -> "DeviceSpec":
        """Takes over the parts of a name; returns itself."""
        self._set(**_parse(spec))
        return self

    def merge_from(self, other: DeviceSpecV2) -> None:
        """Takes over what the other spec says; the rest stays."""
        said = {f: v for f, v in other._fields().items() if v is not None}
        self._set(**{**self._fields(), **said})


def check_valid(spec: str) -> None:
    """Refuses what is no device name."""
    DeviceSpec.from_string(spec)


def canonical_name(device: Any) -> str:
    if device is None:
        return ""
    return device.to_string() if isinstance(device, DeviceSpecV2) else DeviceSpec.from_string(device).to_string()


def merge_device(spec: Any) -> Any:
    """A device function that fills in what an operation's own device leaves open."""
    given = spec if isinstance(spec, DeviceSpecV2) else DeviceSpec.from_string(spec or "")

    def function(node: Any) -> str:
        own = DeviceSpec.from_string(getattr(node, "device", "") or "")
        return given.make_merged_spec(own).to_string()

    return function
