// Queues of tuples of tensors.
#include "op/shape_context.h"
#include "stdops/stdops.h"

namespace emplace::stdops {
namespace {

using namespace shape_rules;
using namespace cost_rules;

constexpr OpRow kQueuesRows[] = {
    {"FIFOQueueV2() -> (handle: resource) | component_types: list(type) >= 1; shapes: "
     "list(shape) >= 0 = []; capacity: int = -1; container: string = ''; shared_name: string = "
     "'' | stateful",
     scalar, cheap,
     "A queue: first in, first out."},
    {"PaddingFIFOQueueV2() -> (handle: resource) | component_types: list(type) >= 1; shapes: "
     "list(shape) >= 0 = []; capacity: int = -1; container: string = ''; shared_name: string = "
     "'' | stateful",
     scalar, cheap,
     "A queue whose batches are padded to one shape."},
    {"RandomShuffleQueueV2() -> (handle: resource) | component_types: list(type) >= 1; shapes: "
     "list(shape) >= 0 = []; capacity: int = -1; min_after_dequeue: int = 0; seed: int = 0; "
     "seed2: int = 0; container: string = ''; shared_name: string = '' | stateful",
     scalar, cheap,
     "A queue that gives its elements in random order."},
    {"PriorityQueueV2() -> (handle: resource) | component_types: list(type) >= 0 = []; shapes: "
     "list(shape) >= 0; capacity: int = -1; container: string = ''; shared_name: string = '' | "
     "stateful",
     scalar, cheap,
     "A queue that gives the element of lowest key first."},
    {"QueueEnqueueV2(handle: resource, components: Tcomponents) -> () | Tcomponents: list(type) "
     ">= 1; timeout_ms: int = -1 | stateful",
     none, cheap,
     "Puts an element into a queue; waits for room."},
    {"QueueEnqueueManyV2(handle: resource, components: Tcomponents) -> () | Tcomponents: "
     "list(type) >= 1; timeout_ms: int = -1 | stateful",
     none, elementwise,
     "Puts rows into a queue as elements; waits for room."},
    {"QueueDequeueV2(handle: resource) -> (components: component_types) | component_types: "
     "list(type) >= 1; timeout_ms: int = -1 | stateful",
     unknown, cheap,
     "Takes an element out of a queue; waits for one."},
    {"QueueDequeueManyV2(handle: resource, n: int32) -> (components: component_types) | "
     "component_types: list(type) >= 1; timeout_ms: int = -1 | stateful",
     unknown, elementwise,
     "Takes elements out of a queue as a batch; waits for them."},
    {"QueueDequeueUpToV2(handle: resource, n: int32) -> (components: component_types) | "
     "component_types: list(type) >= 1; timeout_ms: int = -1 | stateful",
     unknown, elementwise,
     "Takes elements out of a queue, fewer when it is closed."},
    {"QueueCloseV2(handle: resource) -> () | cancel_pending_enqueues: bool = false | stateful",
     none, cheap,
     "No more elements will be put into the queue."},
    {"QueueIsClosedV2(handle: resource) -> (is_closed: bool) | stateful",
     scalar, cheap,
     "Is the queue closed?"},
    {"QueueSizeV2(handle: resource) -> (size: int32) | stateful",
     scalar, cheap,
     "How many elements are in the queue."},
    {"FIFOQueue() -> (handle: ref string) | component_types: list(type) >= 1; shapes: "
     "list(shape) >= 0 = []; capacity: int = -1; container: string = ''; shared_name: string = "
     "'' | stateful",
     old_handle, cheap,
     "A queue: first in, first out."},
    {"PaddingFIFOQueue() -> (handle: ref string) | component_types: list(type) >= 1; shapes: "
     "list(shape) >= 0 = []; capacity: int = -1; container: string = ''; shared_name: string = "
     "'' | stateful",
     old_handle, cheap,
     "A queue whose batches are padded to one shape."},
    {"RandomShuffleQueue() -> (handle: ref string) | component_types: list(type) >= 1; shapes: "
     "list(shape) >= 0 = []; capacity: int = -1; min_after_dequeue: int = 0; seed: int = 0; "
     "seed2: int = 0; container: string = ''; shared_name: string = '' | stateful",
     old_handle, cheap,
     "A queue that gives its elements in random order."},
    {"PriorityQueue() -> (handle: ref string) | component_types: list(type) >= 0 = []; shapes: "
     "list(shape) >= 0; capacity: int = -1; container: string = ''; shared_name: string = '' | "
     "stateful",
     old_handle, cheap,
     "A queue that gives the element of lowest key first."},
    {"QueueEnqueue(handle: ref string, components: Tcomponents) -> () | Tcomponents: list(type) "
     ">= 1; timeout_ms: int = -1",
     none, cheap,
     "Puts an element into a queue; waits for room."},
    {"QueueEnqueueMany(handle: ref string, components: Tcomponents) -> () | Tcomponents: "
     "list(type) >= 1; timeout_ms: int = -1",
     none, elementwise,
     "Puts rows into a queue as elements; waits for room."},
    {"QueueDequeue(handle: ref string) -> (components: component_types) | component_types: "
     "list(type) >= 1; timeout_ms: int = -1",
     unknown, cheap,
     "Takes an element out of a queue; waits for one."},
    {"QueueDequeueMany(handle: ref string, n: int32) -> (components: component_types) | "
     "component_types: list(type) >= 1; timeout_ms: int = -1",
     unknown, elementwise,
     "Takes elements out of a queue as a batch; waits for them."},
    {"QueueDequeueUpTo(handle: ref string, n: int32) -> (components: component_types) | "
     "component_types: list(type) >= 1; timeout_ms: int = -1",
     unknown, elementwise,
     "Takes elements out of a queue, fewer when it is closed."},
    {"QueueClose(handle: ref string) -> () | cancel_pending_enqueues: bool = false",
     none, cheap,
     "No more elements will be put into the queue."},
    {"QueueIsClosed(handle: ref string) -> (is_closed: bool)",
     scalar, cheap,
     "Is the queue closed?"},
    {"QueueSize(handle: ref string) -> (size: int32)",
     scalar, cheap,
     "How many elements are in the queue."},
};

}  // namespace

std::span<const OpRow> queue_ops() { return kQueuesRows; }

}  // namespace emplace::stdops
