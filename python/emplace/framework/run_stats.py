"""What a run did, as RunMetadata."""

from __future__ import annotations

from typing import Any

from emplace.framework.graph_io import PRODUCER


def fill(metadata: Any, start_us: int, rows: Any, graph: Any, options: Any) -> None:
    devices: dict[str, Any] = {}
    if options is not None and options.trace_level > 0 and not rows:  # nothing but constants
        metadata.step_stats.dev_stats.add(device="/job:localhost/replica:0/task:0/device:CPU:0")
    for node, op, device, start_ns, end_ns, size, thread in rows:
        if device not in devices:
            devices[device] = metadata.step_stats.dev_stats.add(device=device)
        found = graph._core.find(node)
        inputs = ", ".join(o.node.name for o in found.inputs) if found is not None else ""
        duration = end_ns - start_ns
        stats = devices[device].node_stats.add(
            node_name=node,
            all_start_micros=start_us + start_ns // 1000,
            op_start_rel_micros=0,
            op_end_rel_micros=duration // 1000,
            all_end_rel_micros=max(1, duration // 1000),
            all_start_nanos=start_us * 1000 + start_ns,
            op_end_rel_nanos=duration,
            all_end_rel_nanos=duration,
            scheduled_micros=start_us + start_ns // 1000,
            scheduled_nanos=start_us * 1000 + start_ns,
            thread_id=thread,
            timeline_label=f"{node} = {op}({inputs})",
        )
        if found is not None:
            _outputs(stats, found, device)
        if size:
            stats.memory.add(allocator_name=device.rsplit("/", 1)[-1], total_bytes=size, peak_bytes=size)


def _outputs(stats: Any, node: Any, device: str) -> None:
    for slot, dtype in enumerate(node.output_types()):
        description = stats.output.add(slot=slot).tensor_description
        description.dtype = dtype % 100
        shape = node.output(slot).shape
        if shape is None:
            description.shape.unknown_rank = True
        else:
            for size in shape:
                description.shape.dim.add(size=-1 if size is None else size)
        description.allocation_description.allocator_name = device.rsplit("/", 1)[-1]


def fill_partitions(metadata: Any, placement: Any, elements: list[Any], fed: list[Any], graph: Any) -> None:
    """A graph a device, of the nodes that `elements` need; one that is fed stands as a placeholder."""
    cut = {t.op.name: t.dtype for t in fed}
    needed = _needed([getattr(e, "op", e) for e in elements], cut)
    parts: dict[str, Any] = {}
    for row in placement:
        if row.node not in needed:
            continue
        if row.device not in parts:
            parts[row.device] = metadata.partition_graphs.add()
            parts[row.device].versions.producer = PRODUCER
            parts[row.device].library.SetInParent()
        node = parts[row.device].node.add()
        if row.node in cut:
            node.name, node.op = row.node, "Placeholder"
            node.attr["dtype"].type = cut[row.node].as_datatype_enum
        else:
            node.CopyFrom(graph.get_operation_by_name(row.node).node_def)
        node.device = row.device


def _needed(operations: list[Any], cut: Any) -> set[str]:
    found: set[str] = set()
    while operations:
        op = operations.pop()
        if op.name not in found:
            found.add(op.name)
            if op.name not in cut:
                operations += [t.op for t in op.inputs] + op.control_inputs
    return found
