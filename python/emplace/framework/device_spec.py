"""DeviceSpec: a device name taken apart."""

from __future__ import annotations

from typing import Any


def _number(text: str) -> int | None:
    return None if text == "*" else int(text)


class DeviceSpec:
    """Job, replica, task, device type and index, each of which may be open."""

    def __init__(self, job: Any = None, replica: Any = None, task: Any = None, device_type: Any = None, device_index: Any = None) -> None:
        self.job = None if job is None else str(job)
        self.replica = None if replica is None else int(replica)
        self.task = None if task is None else int(task)
        self._type: str | None = None
        self.device_type = device_type
        self.device_index = None if device_index is None else int(device_index)

    @property
    def device_type(self) -> str | None:
        return self._type

    @device_type.setter
    def device_type(self, value: Any) -> None:
        text = None if value is None else str(value)
        self._type = text.upper() if text in ("cpu", "gpu") else text

    @classmethod
    def from_string(cls, spec: str) -> "DeviceSpec":
        return cls().parse_from_string(spec)

    def parse_from_string(self, spec: str) -> "DeviceSpec":
        self.job = self.replica = self.task = self._type = self.device_index = None
        seen = False
        for part in spec.split("/"):
            pieces = part.split(":")
            kind = pieces[0]
            if part == "":
                continue
            if len(pieces) == 2 and kind == "job":
                self.job = pieces[1]
            elif len(pieces) == 2 and kind == "replica":
                self.replica = _number(pieces[1])
            elif len(pieces) == 2 and kind == "task":
                self.task = _number(pieces[1])
            elif kind.upper() in ("CPU", "GPU") and len(pieces) <= 2 or kind == "device" and len(pieces) in (2, 3):
                if seen:
                    raise ValueError(f"Multiple device types are not allowed while parsing the device spec: {spec}.")
                seen = True
                if kind == "device":
                    pieces = pieces[1:]
                else:
                    pieces[0] = kind.upper()
                if pieces[0] != "*":
                    self._type = pieces[0].upper() if pieces[0] in ("cpu", "gpu") else pieces[0]
                if len(pieces) == 2 and pieces[1] != "*":
                    self.device_index = int(pieces[1])
            else:
                raise ValueError(f"Unknown attribute '{kind}' is encountered while parsing the device spec: '{spec}'.")
        return self

    def to_string(self) -> str:
        text = ""
        if self.job is not None:
            text += f"/job:{self.job}"
        if self.replica is not None:
            text += f"/replica:{self.replica}"
        if self.task is not None:
            text += f"/task:{self.task}"
        if self._type is not None:
            text += f"/device:{self._type}:{'*' if self.device_index is None else self.device_index}"
        return text

    def merge_from(self, other: "DeviceSpec") -> None:
        for field in ("job", "replica", "task", "device_type", "device_index"):
            value = getattr(other, field)
            if value is not None:
                setattr(self, field, value)

    def make_merged_spec(self, other: "DeviceSpec") -> "DeviceSpec":
        merged = DeviceSpec.from_string(self.to_string())
        merged.merge_from(other)
        return merged

    def replace(self, **fields: Any) -> "DeviceSpec":
        values = {f: getattr(self, f) for f in ("job", "replica", "task", "device_type", "device_index")}
        return DeviceSpec(**{**values, **fields})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeviceSpec) and self.to_string() == other.to_string()

    def __hash__(self) -> int:
        return hash(self.to_string())

    def __repr__(self) -> str:
        return f"<DeviceSpec {self.to_string()!r}>"


def canonical_name(device: Any) -> str:
    if device is None:
        return ""
    return device.to_string() if isinstance(device, DeviceSpec) else DeviceSpec.from_string(device).to_string()


def merge_device(spec: Any) -> Any:
    """A device function that fills in what an operation's own device leaves open."""
    given = spec if isinstance(spec, DeviceSpec) else DeviceSpec.from_string(spec or "")

    def function(node: Any) -> str:
        own = DeviceSpec.from_string(getattr(node, "device", "") or "")
        return given.make_merged_spec(own).to_string()

    return function
