// Reductions over some dimensions.
#include "op/shape_context.h"

#include "stdops/stdops.h"

namespace emplace::stdops {
namespace {

using namespace shape_rules;
using namespace cost_rules;

constexpr OpRow kReductionRows[] = {
    {"Sum(input: T, reduction_indices: Tidx) -> (output: T) | keep_dims: bool = false; T: type "
     "in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,"
     "qint16,quint16,uint16,complex128,half,uint32,uint64]; Tidx: type in [int32,int64] = int32",
     reduction, elementwise,
     "The sum over the given dimensions."},
    {"Prod(input: T, reduction_indices: Tidx) -> (output: T) | keep_dims: bool = false; T: type "
     "in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,"
     "qint16,quint16,uint16,complex128,half,uint32,uint64]; Tidx: type in [int32,int64] = int32",
     reduction, elementwise,
     "The product over the given dimensions."},
    {"Mean(input: T, reduction_indices: Tidx) -> (output: T) | keep_dims: bool = false; T: type "
     "in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,"
     "qint16,quint16,uint16,complex128,half,uint32,uint64]; Tidx: type in [int32,int64] = int32",
     reduction, elementwise,
     "The mean over the given dimensions."},
    {"Max(input: T, reduction_indices: Tidx) -> (output: T) | keep_dims: bool = false; T: type "
     "in [float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64,qint8,"
     "quint8,qint32,qint16,quint16]; Tidx: type in [int32,int64] = int32",
     reduction, elementwise,
     "The largest over the given dimensions."},
    {"Min(input: T, reduction_indices: Tidx) -> (output: T) | keep_dims: bool = false; T: type "
     "in [float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64,qint8,"
     "quint8,qint32,qint16,quint16]; Tidx: type in [int32,int64] = int32",
     reduction, elementwise,
     "The smallest over the given dimensions."},
    {"All(input: bool, reduction_indices: Tidx) -> (output: bool) | keep_dims: bool = false; "
     "Tidx: type in [int32,int64] = int32",
     reduction, elementwise,
     "Are all true, over the given dimensions?"},
    {"Any(input: bool, reduction_indices: Tidx) -> (output: bool) | keep_dims: bool = false; "
     "Tidx: type in [int32,int64] = int32",
     reduction, elementwise,
     "Is any true, over the given dimensions?"},
    {"EuclideanNorm(input: T, reduction_indices: Tidx) -> (output: T) | keep_dims: bool = false; "
     "T: type in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,"
     "bfloat16,qint16,quint16,uint16,complex128,half,uint32,uint64]; Tidx: type in [int32,int64] "
     "= int32",
     reduction, elementwise,
     "The length of the vectors along the given dimensions."},
};

}  // namespace

std::span<const OpRow> reduction_ops() { return kReductionRows; }

}  // namespace emplace::stdops
