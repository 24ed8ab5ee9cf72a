"""What a run did, as RunMetadata."""

from __future__ import annotations

from typing import Any


def fill(metadata: Any, start_us: int, rows: Any, graph: Any, options: Any) -> None:
    devices: dict[str, Any] = {}
    if options is not None and options.trace_level > 0 and not rows:  # nothing but constants
        metadata.step_stats.dev_stats.add(device="/job:localhost/replica:0/task:0/device:CPU:0")
    for node, op, device, start_ns, end_ns, size, thread in rows:
        if device not in devices:
            devices[device] = metadata.step_stats.dev_stats.add(device=device)
        stats = devices[device].node_stats.add(
            node_name=node,
            all_start_micros=start_us + start_ns // 1000,
            op_start_rel_micros=0,
            op_end_rel_micros=(end_ns - start_ns) // 1000,
            all_end_rel_micros=(end_ns - start_ns) // 1000,
            thread_id=thread,
            timeline_label=f"{node} = {op}",
        )
        if size:
            memory = stats.memory.add(allocator_name=device.rsplit("/", 1)[-1])
            memory.total_bytes = size
    if options is not None and getattr(options, "output_partition_graphs", False):
        _partitions(metadata, rows, graph)


def _partitions(metadata: Any, rows: Any, graph: Any) -> None:
    by_device: dict[str, list[str]] = {}
    for node, _, device, *_ in rows:
        by_device.setdefault(device, []).append(node)
    for device, names in by_device.items():
        part = metadata.partition_graphs.add()
        for name in names:
            found = graph._core.find(name)
            if found is not None:
                definition = part.node.add()
                definition.CopyFrom(graph._op_of(found).node_def)
                definition.device = device
