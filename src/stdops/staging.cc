// State that operations share and wait for: staging areas, mutexes, accumulators of gradients.
#include "op/shape_context.h"
#include "stdops/more.h"

namespace emplace::stdops {
namespace {

using namespace shape_rules;
using namespace cost_rules;

// A key, then what lies there.
void key_first(ShapeContext& c) { c.set_output(0, Shape{}); }

void taken_rows(ShapeContext& c) {
  c.set_output(0, Shape{kAny});
  c.set_output(2, Shape{kAny});
}

// The handle must be a scalar.
void handle_alone(ShapeContext& c) { c.with_rank(0, 0); }
void from_handle(ShapeContext& c) {
  handle_alone(c);
  c.set_output(0, Shape::unknown());
}

constexpr OpRow kStagingRows[] = {
    {"GetSessionHandle(value: T) -> (handle: string) | T: type | stateful",
     scalar, cheap,
     "Keeps a tensor for later steps; the handle that they take it by."},
    {"GetSessionTensor(handle: string) -> (value: dtype) | dtype: type | stateful",
     from_handle, cheap,
     "The tensor that a step before has kept."},
    {"DeleteSessionTensor(handle: string) -> () | stateful",
     handle_alone, cheap,
     "Lets a tensor go that a step before has kept."},
    {"MutexV2() -> (resource: resource) | container: string = ''; shared_name: string = '' | "
     "stateful",
     scalar, cheap,
     "A mutex, as a resource."},
    {"MutexLock(mutex: resource) -> (mutex_lock: variant) | stateful",
     scalar, cheap,
     "Waits for a mutex and locks it until the lock is gone."},
    {"ConsumeMutexLock(mutex_lock: variant) -> () | stateful",
     none, cheap,
     "Gives a lock back."},
    {"Stage(values: dtypes) -> () | capacity: int >= 0 = 0; memory_limit: int >= 0 = 0; dtypes: "
     "list(type) >= 1; container: string = ''; shared_name: string = '' | stateful",
     none, cheap,
     "Lays tensors down for later; waits for room."},
    {"Unstage() -> (values: dtypes) | capacity: int >= 0 = 0; memory_limit: int >= 0 = 0; dtypes: "
     "list(type) >= 1; container: string = ''; shared_name: string = '' | stateful",
     unknown, cheap,
     "Takes the tensors that were laid down first; waits for some."},
    {"StagePeek(index: int32) -> (values: dtypes) | capacity: int >= 0 = 0; memory_limit: int >= 0 "
     "= 0; dtypes: list(type) >= 1; container: string = ''; shared_name: string = '' | stateful",
     unknown, cheap,
     "Looks at tensors that were laid down, and leaves them."},
    {"StageSize() -> (size: int32) | capacity: int >= 0 = 0; memory_limit: int >= 0 = 0; dtypes: "
     "list(type); container: string = ''; shared_name: string = '' | stateful",
     scalar, cheap,
     "How many tuples were laid down."},
    {"StageClear() -> () | capacity: int >= 0 = 0; memory_limit: int >= 0 = 0; dtypes: list(type); "
     "container: string = ''; shared_name: string = '' | stateful",
     none, cheap,
     "Takes all away."},
    {"MapStage(key: int64, indices: int32, values: fake_dtypes) -> () | capacity: int >= 0 = 0; "
     "memory_limit: int >= 0 = 0; dtypes: list(type); fake_dtypes: list(type) >= 1; container: "
     "string = ''; shared_name: string = '' | stateful",
     none, cheap,
     "Lays tensors, or some of them, down by key; waits for room."},
    {"MapUnstage(key: int64, indices: int32) -> (values: dtypes) | capacity: int >= 0 = 0; "
     "memory_limit: int >= 0 = 0; dtypes: list(type) >= 1; container: string = ''; shared_name: "
     "string = '' | stateful",
     unknown, cheap,
     "Takes the tensors of a key; waits for them."},
    {"MapPeek(key: int64, indices: int32) -> (values: dtypes) | capacity: int >= 0 = 0; "
     "memory_limit: int >= 0 = 0; dtypes: list(type) >= 1; container: string = ''; shared_name: "
     "string = '' | stateful",
     unknown, cheap,
     "Looks at the tensors of a key, and leaves them."},
    {"MapUnstageNoKey(indices: int32) -> (key: int64, values: dtypes) | capacity: int >= 0 = 0; "
     "memory_limit: int >= 0 = 0; dtypes: list(type) >= 1; container: string = ''; shared_name: "
     "string = '' | stateful",
     key_first, cheap,
     "Takes the tensors of the first key; waits for one."},
    {"MapSize() -> (size: int32) | capacity: int >= 0 = 0; memory_limit: int >= 0 = 0; dtypes: "
     "list(type); container: string = ''; shared_name: string = '' | stateful",
     scalar, cheap,
     "How many keys are complete."},
    {"MapIncompleteSize() -> (size: int32) | capacity: int >= 0 = 0; memory_limit: int >= 0 = 0; "
     "dtypes: list(type); container: string = ''; shared_name: string = '' | stateful",
     scalar, cheap,
     "How many keys lack tensors."},
    {"MapClear() -> () | capacity: int >= 0 = 0; memory_limit: int >= 0 = 0; dtypes: list(type); "
     "container: string = ''; shared_name: string = '' | stateful",
     none, cheap,
     "Takes all away."},
    {"OrderedMapStage(key: int64, indices: int32, values: fake_dtypes) -> () | capacity: int >= 0 "
     "= 0; memory_limit: int >= 0 = 0; dtypes: list(type); fake_dtypes: list(type) >= 1; "
     "container: string = ''; shared_name: string = '' | stateful",
     none, cheap,
     "Lays tensors, or some of them, down by key, in order; waits for room."},
    {"OrderedMapUnstage(key: int64, indices: int32) -> (values: dtypes) | capacity: int >= 0 = 0; "
     "memory_limit: int >= 0 = 0; dtypes: list(type) >= 1; container: string = ''; shared_name: "
     "string = '' | stateful",
     unknown, cheap,
     "Takes the tensors of a key; waits for them."},
    {"OrderedMapPeek(key: int64, indices: int32) -> (values: dtypes) | capacity: int >= 0 = 0; "
     "memory_limit: int >= 0 = 0; dtypes: list(type) >= 1; container: string = ''; shared_name: "
     "string = '' | stateful",
     unknown, cheap,
     "Looks at the tensors of a key, and leaves them."},
    {"OrderedMapUnstageNoKey(indices: int32) -> (key: int64, values: dtypes) | capacity: int >= 0 "
     "= 0; memory_limit: int >= 0 = 0; dtypes: list(type) >= 1; container: string = ''; "
     "shared_name: string = '' | stateful",
     key_first, cheap,
     "Takes the tensors of the first key; waits for one."},
    {"OrderedMapSize() -> (size: int32) | capacity: int >= 0 = 0; memory_limit: int >= 0 = 0; "
     "dtypes: list(type); container: string = ''; shared_name: string = '' | stateful",
     scalar, cheap,
     "How many keys are complete."},
    {"OrderedMapIncompleteSize() -> (size: int32) | capacity: int >= 0 = 0; memory_limit: int >= 0 "
     "= 0; dtypes: list(type); container: string = ''; shared_name: string = '' | stateful",
     scalar, cheap,
     "How many keys lack tensors."},
    {"OrderedMapClear() -> () | capacity: int >= 0 = 0; memory_limit: int >= 0 = 0; dtypes: "
     "list(type); container: string = ''; shared_name: string = '' | stateful",
     none, cheap,
     "Takes all away."},
    {"ConditionalAccumulator() -> (handle: ref string) | dtype: type in [float,double,int32,uint8,"
     "int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,complex128,"
     "half,uint32,uint64]; shape: shape; container: string = ''; shared_name: string = ''; "
     "reduction_type: string in ['MEAN','SUM'] = 'MEAN' | stateful",
     old_handle, cheap,
     "Gathers gradients until enough have come."},
    {"ResourceConditionalAccumulator() -> (handle: resource) | dtype: type in [float,double,int32,"
     "uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,"
     "complex128,half,uint32,uint64]; shape: shape; container: string = ''; shared_name: string = "
     "''; reduction_type: string in ['MEAN','SUM'] = 'MEAN' | stateful",
     scalar, cheap,
     "Gathers gradients until enough have come."},
    {"SparseConditionalAccumulator() -> (handle: ref string) | dtype: type in [float,double,int32,"
     "uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,"
     "complex128,half,uint32,uint64]; shape: shape; container: string = ''; shared_name: string = "
     "''; reduction_type: string in ['MEAN','SUM'] = 'MEAN' | stateful",
     old_handle, cheap,
     "Gathers gradients of chosen rows until enough have come."},
    {"AccumulatorApplyGradient(handle: ref string, local_step: int64, gradient: dtype) -> () | "
     "dtype: type in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,"
     "bfloat16,qint16,quint16,uint16,complex128,half,uint32,uint64]",
     none, elementwise,
     "Adds a gradient, unless it is too old."},
    {"AccumulatorTakeGradient(handle: ref string, num_required: int32) -> (average: dtype) | "
     "dtype: type in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,"
     "bfloat16,qint16,quint16,uint16,complex128,half,uint32,uint64]",
     unknown, elementwise,
     "Waits for enough gradients and takes their mean."},
    {"AccumulatorSetGlobalStep(handle: ref string, new_global_step: int64) -> ()",
     none, cheap,
     "Gradients of steps before count no more."},
    {"AccumulatorNumAccumulated(handle: ref string) -> (num_accumulated: int32)",
     scalar, cheap,
     "How many gradients have come."},
    {"ResourceAccumulatorApplyGradient(handle: resource, local_step: int64, gradient: dtype) -> () "
     "| dtype: type in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,"
     "bfloat16,qint16,quint16,uint16,complex128,half,uint32,uint64] | stateful",
     none, elementwise,
     "Adds a gradient, unless it is too old."},
    {"ResourceAccumulatorTakeGradient(handle: resource, num_required: int32) -> (average: dtype) | "
     "dtype: type in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,"
     "bfloat16,qint16,quint16,uint16,complex128,half,uint32,uint64] | stateful",
     unknown, elementwise,
     "Waits for enough gradients and takes their mean."},
    {"ResourceAccumulatorSetGlobalStep(handle: resource, new_global_step: int64) -> () | stateful",
     none, cheap,
     "Gradients of steps before count no more."},
    {"ResourceAccumulatorNumAccumulated(handle: resource) -> (num_accumulated: int32) | stateful",
     scalar, cheap,
     "How many gradients have come."},
    {"SparseAccumulatorApplyGradient(handle: ref string, local_step: int64, gradient_indices: "
     "int64, gradient_values: dtype, gradient_shape: int64) -> () | dtype: type in [float,double,"
     "int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,"
     "complex128,half,uint32,uint64]; has_known_shape: bool",
     none, elementwise,
     "Adds a gradient of chosen rows, unless it is too old."},
    {"SparseAccumulatorTakeGradient(handle: ref string, num_required: int32) -> (indices: int64, "
     "values: dtype, shape: int64) | dtype: type in [float,double,int32,uint8,int16,int8,complex64,"
     "int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,complex128,half,uint32,uint64]",
     taken_rows, elementwise,
     "Waits for enough gradients of chosen rows and takes their means."},
};

}  // namespace

std::span<const OpRow> staging_ops() { return kStagingRows; }

}  // namespace emplace::stdops
