// Variables changed in part.
#include "op/shape_context.h"

#include "stdops/training.h"

namespace emplace::stdops {
namespace {

using namespace shape_rules;
using namespace cost_rules;

constexpr OpRow kScatterRows[] = {
    {"ScatterUpdate(ref: ref T, indices: Tindices, updates: T) -> (output_ref: ref T) | T: type; "
     "Tindices: type in [int32,int64]; use_locking: bool = true",
     unchanged, updates,
     "Rows of a variable replaced."},
    {"ScatterAdd(ref: ref T, indices: Tindices, updates: T) -> (output_ref: ref T) | T: type in "
     "[float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,"
     "quint16,uint16,complex128,half,uint32,uint64]; Tindices: type in [int32,int64]; "
     "use_locking: bool = false",
     unchanged, updates,
     "Rows of a variable added to."},
    {"ScatterSub(ref: ref T, indices: Tindices, updates: T) -> (output_ref: ref T) | T: type in "
     "[float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,"
     "quint16,uint16,complex128,half,uint32,uint64]; Tindices: type in [int32,int64]; "
     "use_locking: bool = false",
     unchanged, updates,
     "Rows of a variable subtracted from."},
    {"ScatterMul(ref: ref T, indices: Tindices, updates: T) -> (output_ref: ref T) | T: type in "
     "[float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,"
     "quint16,uint16,complex128,half,uint32,uint64]; Tindices: type in [int32,int64]; "
     "use_locking: bool = false",
     unchanged, updates,
     "Rows of a variable multiplied."},
    {"ScatterDiv(ref: ref T, indices: Tindices, updates: T) -> (output_ref: ref T) | T: type in "
     "[float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,"
     "quint16,uint16,complex128,half,uint32,uint64]; Tindices: type in [int32,int64]; "
     "use_locking: bool = false",
     unchanged, updates,
     "Rows of a variable divided."},
    {"ScatterMax(ref: ref T, indices: Tindices, updates: T) -> (output_ref: ref T) | T: type in "
     "[half,bfloat16,float,double,int32,int64]; Tindices: type in [int32,int64]; use_locking: "
     "bool = false",
     unchanged, updates,
     "Rows of a variable raised to."},
    {"ScatterMin(ref: ref T, indices: Tindices, updates: T) -> (output_ref: ref T) | T: type in "
     "[half,bfloat16,float,double,int32,int64]; Tindices: type in [int32,int64]; use_locking: "
     "bool = false",
     unchanged, updates,
     "Rows of a variable lowered to."},
    {"ResourceScatterUpdate(resource: resource, indices: Tindices, updates: dtype) -> () | "
     "dtype: type; Tindices: type in [int32,int64] | stateful",
     none, updates,
     "Rows of a variable replaced."},
    {"ResourceScatterAdd(resource: resource, indices: Tindices, updates: dtype) -> () | dtype: "
     "type in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,"
     "qint16,quint16,uint16,complex128,half,uint32,uint64]; Tindices: type in [int32,int64] | "
     "stateful",
     none, updates,
     "Rows of a variable added to."},
    {"ResourceScatterSub(resource: resource, indices: Tindices, updates: dtype) -> () | dtype: "
     "type in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,"
     "qint16,quint16,uint16,complex128,half,uint32,uint64]; Tindices: type in [int32,int64] | "
     "stateful",
     none, updates,
     "Rows of a variable subtracted from."},
    {"ResourceScatterMul(resource: resource, indices: Tindices, updates: dtype) -> () | dtype: "
     "type in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,"
     "qint16,quint16,uint16,complex128,half,uint32,uint64]; Tindices: type in [int32,int64] | "
     "stateful",
     none, updates,
     "Rows of a variable multiplied."},
    {"ResourceScatterDiv(resource: resource, indices: Tindices, updates: dtype) -> () | dtype: "
     "type in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,"
     "qint16,quint16,uint16,complex128,half,uint32,uint64]; Tindices: type in [int32,int64] | "
     "stateful",
     none, updates,
     "Rows of a variable divided."},
    {"ResourceScatterMax(resource: resource, indices: Tindices, updates: dtype) -> () | dtype: "
     "type in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,"
     "qint16,quint16,uint16,complex128,half,uint32,uint64]; Tindices: type in [int32,int64] | "
     "stateful",
     none, updates,
     "Rows of a variable raised to."},
    {"ResourceScatterMin(resource: resource, indices: Tindices, updates: dtype) -> () | dtype: "
     "type in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,"
     "qint16,quint16,uint16,complex128,half,uint32,uint64]; Tindices: type in [int32,int64] | "
     "stateful",
     none, updates,
     "Rows of a variable lowered to."},
    {"ScatterNdUpdate(ref: ref T, indices: Tindices, updates: T) -> (output_ref: ref T) | T: "
     "type; Tindices: type in [int32,int64]; use_locking: bool = true; bad_indices_policy: "
     "string = ''",
     unchanged, updates,
     "Slices of a variable replaced."},
    {"ResourceScatterNdUpdate(ref: resource, indices: Tindices, updates: T) -> () | T: type; "
     "Tindices: type in [int32,int64]; use_locking: bool = true; bad_indices_policy: string = '' "
     "| stateful",
     none, updates,
     "Slices of a variable replaced."},
    {"ScatterNdAdd(ref: ref T, indices: Tindices, updates: T) -> (output_ref: ref T) | T: type "
     "in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,"
     "qint16,quint16,uint16,complex128,half,uint32,uint64]; Tindices: type in [int32,int64]; "
     "use_locking: bool = false; bad_indices_policy: string = ''",
     unchanged, updates,
     "Slices of a variable added to."},
    {"ResourceScatterNdAdd(ref: resource, indices: Tindices, updates: T) -> () | T: type; "
     "Tindices: type in [int32,int64]; use_locking: bool = true; bad_indices_policy: string = '' "
     "| stateful",
     none, updates,
     "Slices of a variable added to."},
    {"ScatterNdSub(ref: ref T, indices: Tindices, updates: T) -> (output_ref: ref T) | T: type "
     "in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,"
     "qint16,quint16,uint16,complex128,half,uint32,uint64]; Tindices: type in [int32,int64]; "
     "use_locking: bool = false; bad_indices_policy: string = ''",
     unchanged, updates,
     "Slices of a variable subtracted from."},
    {"ResourceScatterNdSub(ref: resource, indices: Tindices, updates: T) -> () | T: type; "
     "Tindices: type in [int32,int64]; use_locking: bool = true; bad_indices_policy: string = '' "
     "| stateful",
     none, updates,
     "Slices of a variable subtracted from."},
    {"ScatterNdMax(ref: ref T, indices: Tindices, updates: T) -> (output_ref: ref T) | T: type "
     "in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,"
     "qint16,quint16,uint16,complex128,half,uint32,uint64]; Tindices: type in [int32,int64]; "
     "use_locking: bool = false; bad_indices_policy: string = ''",
     unchanged, elementwise,
     "Slices of a variable raised to."},
    {"ResourceScatterNdMax(ref: resource, indices: Tindices, updates: T) -> () | T: type; "
     "Tindices: type in [int32,int64]; use_locking: bool = true; bad_indices_policy: string = '' "
     "| stateful",
     none, elementwise,
     "Slices of a variable raised to."},
    {"ScatterNdMin(ref: ref T, indices: Tindices, updates: T) -> (output_ref: ref T) | T: type "
     "in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,"
     "qint16,quint16,uint16,complex128,half,uint32,uint64]; Tindices: type in [int32,int64]; "
     "use_locking: bool = false; bad_indices_policy: string = ''",
     unchanged, elementwise,
     "Slices of a variable lowered to."},
    {"ResourceScatterNdMin(ref: resource, indices: Tindices, updates: T) -> () | T: type; "
     "Tindices: type in [int32,int64]; use_locking: bool = true; bad_indices_policy: string = '' "
     "| stateful",
     none, elementwise,
     "Slices of a variable lowered to."},
};

}  // namespace

std::span<const OpRow> scatter_ops() { return kScatterRows; }

}  // namespace emplace::stdops
