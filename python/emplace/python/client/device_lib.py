"""The devices of this process, as messages."""

from __future__ import annotations

from typing import Any

from emplace.framework import ops, session
from emplace.proto import device_pb2


def list_local_devices(session_config: Any = None) -> list[Any]:
    """A DeviceAttributes a device, under its short name: "/device:GPU:0"."""
    with session.Session(graph=ops.Graph(), config=session_config) as s:
        rows = s._core.list_devices()
    return [
        device_pb2.DeviceAttributes(
            name=name[name.index("/device:") :],
            device_type=kind,
            memory_limit=limit,
            locality=device_pb2.DeviceLocality(),
            incarnation=incarnation,
            physical_device_desc=description,
            xla_global_id=-1,
        )
        for name, kind, limit, incarnation, description in rows
    ]
