// Steps of optimizers.
#include "op/shape_context.h"

#include "stdops/training.h"

namespace emplace::stdops {
namespace {

using namespace shape_rules;
using namespace cost_rules;

constexpr OpRow kOptimizersRows[] = {
    {"ApplyGradientDescent(var: ref T, alpha: T, delta: T) -> (out: ref T) | T: type in [float,"
     "double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,"
     "uint16,complex128,half,uint32,uint64]; use_locking: bool = false",
     unchanged, optimizer,
     "A step of gradient descent."},
    {"ResourceApplyGradientDescent(var: resource, alpha: T, delta: T) -> () | T: type in [float,"
     "double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,"
     "uint16,complex128,half,uint32,uint64]; use_locking: bool = false | stateful",
     none, optimizer,
     "A step of gradient descent."},
    {"ApplyMomentum(var: ref T, accum: ref T, lr: T, grad: T, momentum: T) -> (out: ref T) | T: "
     "type in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,"
     "qint16,quint16,uint16,complex128,half,uint32,uint64]; use_locking: bool = false; "
     "use_nesterov: bool = false",
     unchanged, optimizer,
     "A step of momentum."},
    {"ResourceApplyMomentum(var: resource, accum: resource, lr: T, grad: T, momentum: T) -> () | "
     "T: type in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,"
     "bfloat16,qint16,quint16,uint16,complex128,half,uint32,uint64]; use_locking: bool = false; "
     "use_nesterov: bool = false | stateful",
     none, optimizer,
     "A step of momentum."},
    {"SparseApplyMomentum(var: ref T, accum: ref T, lr: T, grad: T, indices: Tindices, momentum: "
     "T) -> (out: ref T) | T: type in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,"
     "quint8,qint32,bfloat16,qint16,quint16,uint16,complex128,half,uint32,uint64]; Tindices: "
     "type in [int32,int64]; use_locking: bool = false; use_nesterov: bool = false",
     unchanged, elementwise,
     "A step of momentum for some rows."},
    {"ResourceSparseApplyMomentum(var: resource, accum: resource, lr: T, grad: T, indices: "
     "Tindices, momentum: T) -> () | T: type in [float,double,int32,uint8,int16,int8,complex64,"
     "int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,complex128,half,uint32,uint64]; "
     "Tindices: type in [int32,int64]; use_locking: bool = false; use_nesterov: bool = false | "
     "stateful",
     none, elementwise,
     "A step of momentum for some rows."},
    {"ApplyAdam(var: ref T, m: ref T, v: ref T, beta1_power: T, beta2_power: T, lr: T, beta1: T, "
     "beta2: T, epsilon: T, grad: T) -> (out: ref T) | T: type in [float,double,int32,uint8,"
     "int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,complex128,"
     "half,uint32,uint64]; use_locking: bool = false; use_nesterov: bool = false",
     unchanged, optimizer,
     "A step of Adam."},
    {"ResourceApplyAdam(var: resource, m: resource, v: resource, beta1_power: T, beta2_power: T, "
     "lr: T, beta1: T, beta2: T, epsilon: T, grad: T) -> () | T: type in [float,double,int32,"
     "uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,"
     "complex128,half,uint32,uint64]; use_locking: bool = false; use_nesterov: bool = false | "
     "stateful",
     none, optimizer,
     "A step of Adam."},
    {"ApplyAdagrad(var: ref T, accum: ref T, lr: T, grad: T) -> (out: ref T) | T: type in [float,"
     "double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,"
     "uint16,complex128,half,uint32,uint64]; use_locking: bool = false; update_slots: bool = true",
     unchanged, optimizer,
     "A step of Adagrad."},
    {"ResourceApplyAdagrad(var: resource, accum: resource, lr: T, grad: T) -> () | T: type in "
     "[float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,"
     "quint16,uint16,complex128,half,uint32,uint64]; use_locking: bool = false; update_slots: "
     "bool = true | stateful",
     none, optimizer,
     "A step of Adagrad."},
    {"SparseApplyAdagrad(var: ref T, accum: ref T, lr: T, grad: T, indices: Tindices) -> (out: "
     "ref T) | T: type in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,"
     "qint32,bfloat16,qint16,quint16,uint16,complex128,half,uint32,uint64]; Tindices: type in "
     "[int32,int64]; use_locking: bool = false; update_slots: bool = true",
     unchanged, elementwise,
     "A step of Adagrad for some rows."},
    {"ResourceSparseApplyAdagrad(var: resource, accum: resource, lr: T, grad: T, indices: "
     "Tindices) -> () | T: type in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,"
     "quint8,qint32,bfloat16,qint16,quint16,uint16,complex128,half,uint32,uint64]; Tindices: "
     "type in [int32,int64]; use_locking: bool = false; update_slots: bool = true | stateful",
     none, elementwise,
     "A step of Adagrad for some rows."},
    {"ApplyAdagradV2(var: ref T, accum: ref T, lr: T, epsilon: T, grad: T) -> (out: ref T) | T: "
     "type in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,"
     "qint16,quint16,uint16,complex128,half,uint32,uint64]; use_locking: bool = false; "
     "update_slots: bool = true",
     unchanged, optimizer,
     "A step of Adagrad."},
    {"ResourceApplyAdagradV2(var: resource, accum: resource, lr: T, epsilon: T, grad: T) -> () | "
     "T: type in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,"
     "bfloat16,qint16,quint16,uint16,complex128,half,uint32,uint64]; use_locking: bool = false; "
     "update_slots: bool = true | stateful",
     none, optimizer,
     "A step of Adagrad."},
    {"SparseApplyAdagradV2(var: ref T, accum: ref T, lr: T, epsilon: T, grad: T, indices: "
     "Tindices) -> (out: ref T) | T: type in [float,double,int32,uint8,int16,int8,complex64,"
     "int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,complex128,half,uint32,uint64]; "
     "Tindices: type in [int32,int64]; use_locking: bool = false; update_slots: bool = true",
     unchanged, elementwise,
     "A step of Adagrad for some rows."},
    {"ResourceSparseApplyAdagradV2(var: resource, accum: resource, lr: T, epsilon: T, grad: T, "
     "indices: Tindices) -> () | T: type in [float,double,int32,uint8,int16,int8,complex64,int64,"
     "qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,complex128,half,uint32,uint64]; "
     "Tindices: type in [int32,int64]; use_locking: bool = false; update_slots: bool = true | "
     "stateful",
     none, elementwise,
     "A step of Adagrad for some rows."},
    {"ApplyRMSProp(var: ref T, ms: ref T, mom: ref T, lr: T, rho: T, momentum: T, epsilon: T, "
     "grad: T) -> (out: ref T) | T: type in [float,double,int32,uint8,int16,int8,complex64,int64,"
     "qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,complex128,half,uint32,uint64]; "
     "use_locking: bool = false",
     unchanged, optimizer,
     "A step of RMSProp."},
    {"ResourceApplyRMSProp(var: resource, ms: resource, mom: resource, lr: T, rho: T, momentum: "
     "T, epsilon: T, grad: T) -> () | T: type in [float,double,int32,uint8,int16,int8,complex64,"
     "int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,complex128,half,uint32,uint64]; "
     "use_locking: bool = false | stateful",
     none, optimizer,
     "A step of RMSProp."},
    {"SparseApplyRMSProp(var: ref T, ms: ref T, mom: ref T, lr: T, rho: T, momentum: T, epsilon: "
     "T, grad: T, indices: Tindices) -> (out: ref T) | T: type in [float,double,int32,uint8,"
     "int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,complex128,"
     "half,uint32,uint64]; Tindices: type in [int32,int64]; use_locking: bool = false",
     unchanged, elementwise,
     "A step of RMSProp for some rows."},
    {"ResourceSparseApplyRMSProp(var: resource, ms: resource, mom: resource, lr: T, rho: T, "
     "momentum: T, epsilon: T, grad: T, indices: Tindices) -> () | T: type in [float,double,"
     "int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,"
     "complex128,half,uint32,uint64]; Tindices: type in [int32,int64]; use_locking: bool = false "
     "| stateful",
     none, elementwise,
     "A step of RMSProp for some rows."},
    {"ApplyCenteredRMSProp(var: ref T, mg: ref T, ms: ref T, mom: ref T, lr: T, rho: T, "
     "momentum: T, epsilon: T, grad: T) -> (out: ref T) | T: type in [float,double,int32,uint8,"
     "int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,complex128,"
     "half,uint32,uint64]; use_locking: bool = false",
     unchanged, optimizer,
     "A step of centered RMSProp."},
    {"ResourceApplyCenteredRMSProp(var: resource, mg: resource, ms: resource, mom: resource, lr: "
     "T, rho: T, momentum: T, epsilon: T, grad: T) -> () | T: type in [float,double,int32,uint8,"
     "int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,complex128,"
     "half,uint32,uint64]; use_locking: bool = false | stateful",
     none, optimizer,
     "A step of centered RMSProp."},
    {"SparseApplyCenteredRMSProp(var: ref T, mg: ref T, ms: ref T, mom: ref T, lr: T, rho: T, "
     "momentum: T, epsilon: T, grad: T, indices: Tindices) -> (out: ref T) | T: type in [float,"
     "double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,"
     "uint16,complex128,half,uint32,uint64]; Tindices: type in [int32,int64]; use_locking: bool "
     "= false",
     unchanged, elementwise,
     "A step of centered RMSProp for some rows."},
    {"ResourceSparseApplyCenteredRMSProp(var: resource, mg: resource, ms: resource, mom: "
     "resource, lr: T, rho: T, momentum: T, epsilon: T, grad: T, indices: Tindices) -> () | T: "
     "type in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,"
     "qint16,quint16,uint16,complex128,half,uint32,uint64]; Tindices: type in [int32,int64]; "
     "use_locking: bool = false | stateful",
     none, elementwise,
     "A step of centered RMSProp for some rows."},
    {"ApplyFtrl(var: ref T, accum: ref T, linear: ref T, grad: T, lr: T, l1: T, l2: T, lr_power: "
     "T) -> (out: ref T) | T: type in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,"
     "quint8,qint32,bfloat16,qint16,quint16,uint16,complex128,half,uint32,uint64]; use_locking: "
     "bool = false; multiply_linear_by_lr: bool = false",
     unchanged, optimizer,
     "A step of FTRL."},
    {"ResourceApplyFtrl(var: resource, accum: resource, linear: resource, grad: T, lr: T, l1: T, "
     "l2: T, lr_power: T) -> () | T: type in [float,double,int32,uint8,int16,int8,complex64,"
     "int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,complex128,half,uint32,uint64]; "
     "use_locking: bool = false; multiply_linear_by_lr: bool = false | stateful",
     none, optimizer,
     "A step of FTRL."},
    {"SparseApplyFtrl(var: ref T, accum: ref T, linear: ref T, grad: T, indices: Tindices, lr: T,"
     " l1: T, l2: T, lr_power: T) -> (out: ref T) | T: type in [float,double,int32,uint8,int16,"
     "int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,complex128,half,"
     "uint32,uint64]; Tindices: type in [int32,int64]; use_locking: bool = false; "
     "multiply_linear_by_lr: bool = false",
     unchanged, elementwise,
     "A step of FTRL for some rows."},
    {"ResourceSparseApplyFtrl(var: resource, accum: resource, linear: resource, grad: T, "
     "indices: Tindices, lr: T, l1: T, l2: T, lr_power: T) -> () | T: type in [float,double,"
     "int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,"
     "complex128,half,uint32,uint64]; Tindices: type in [int32,int64]; use_locking: bool = false;"
     " multiply_linear_by_lr: bool = false | stateful",
     none, elementwise,
     "A step of FTRL for some rows."},
    {"ApplyFtrlV2(var: ref T, accum: ref T, linear: ref T, grad: T, lr: T, l1: T, l2: T, "
     "l2_shrinkage: T, lr_power: T) -> (out: ref T) | T: type in [float,double,int32,uint8,int16,"
     "int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,complex128,half,"
     "uint32,uint64]; use_locking: bool = false; multiply_linear_by_lr: bool = false",
     unchanged, optimizer,
     "A step of FTRL."},
    {"ResourceApplyFtrlV2(var: resource, accum: resource, linear: resource, grad: T, lr: T, l1: "
     "T, l2: T, l2_shrinkage: T, lr_power: T) -> () | T: type in [float,double,int32,uint8,int16,"
     "int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,complex128,half,"
     "uint32,uint64]; use_locking: bool = false; multiply_linear_by_lr: bool = false | stateful",
     none, optimizer,
     "A step of FTRL."},
    {"SparseApplyFtrlV2(var: ref T, accum: ref T, linear: ref T, grad: T, indices: Tindices, lr: "
     "T, l1: T, l2: T, l2_shrinkage: T, lr_power: T) -> (out: ref T) | T: type in [float,double,"
     "int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,"
     "complex128,half,uint32,uint64]; Tindices: type in [int32,int64]; use_locking: bool = false;"
     " multiply_linear_by_lr: bool = false",
     unchanged, elementwise,
     "A step of FTRL for some rows."},
    {"ResourceSparseApplyFtrlV2(var: resource, accum: resource, linear: resource, grad: T, "
     "indices: Tindices, lr: T, l1: T, l2: T, l2_shrinkage: T, lr_power: T) -> () | T: type in "
     "[float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,"
     "quint16,uint16,complex128,half,uint32,uint64]; Tindices: type in [int32,int64]; "
     "use_locking: bool = false; multiply_linear_by_lr: bool = false | stateful",
     none, elementwise,
     "A step of FTRL for some rows."},
    {"ApplyAdadelta(var: ref T, accum: ref T, accum_update: ref T, lr: T, rho: T, epsilon: T, "
     "grad: T) -> (out: ref T) | T: type in [float,double,int32,uint8,int16,int8,complex64,int64,"
     "qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,complex128,half,uint32,uint64]; "
     "use_locking: bool = false",
     unchanged, optimizer,
     "A step of Adadelta."},
    {"ResourceApplyAdadelta(var: resource, accum: resource, accum_update: resource, lr: T, rho: "
     "T, epsilon: T, grad: T) -> () | T: type in [float,double,int32,uint8,int16,int8,complex64,"
     "int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,complex128,half,uint32,uint64]; "
     "use_locking: bool = false | stateful",
     none, optimizer,
     "A step of Adadelta."},
    {"SparseApplyAdadelta(var: ref T, accum: ref T, accum_update: ref T, lr: T, rho: T, epsilon: "
     "T, grad: T, indices: Tindices) -> (out: ref T) | T: type in [float,double,int32,uint8,"
     "int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,complex128,"
     "half,uint32,uint64]; Tindices: type in [int32,int64]; use_locking: bool = false",
     unchanged, elementwise,
     "A step of Adadelta for some rows."},
    {"ResourceSparseApplyAdadelta(var: resource, accum: resource, accum_update: resource, lr: T, "
     "rho: T, epsilon: T, grad: T, indices: Tindices) -> () | T: type in [float,double,int32,"
     "uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,"
     "complex128,half,uint32,uint64]; Tindices: type in [int32,int64]; use_locking: bool = false "
     "| stateful",
     none, elementwise,
     "A step of Adadelta for some rows."},
    {"ResourceApplyKerasMomentum(var: resource, accum: resource, lr: T, grad: T, momentum: T) -> "
     "() | T: type in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,"
     "bfloat16,qint16,quint16,uint16,complex128,half,uint32,uint64]; use_locking: bool = false; "
     "use_nesterov: bool = false | stateful",
     none, optimizer,
     "A step of momentum as Keras writes it."},
    {"ResourceSparseApplyKerasMomentum(var: resource, accum: resource, lr: T, grad: T, indices: "
     "Tindices, momentum: T) -> () | T: type in [float,double,int32,uint8,int16,int8,complex64,"
     "int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,complex128,half,uint32,uint64]; "
     "Tindices: type in [int32,int64]; use_locking: bool = false; use_nesterov: bool = false | "
     "stateful",
     none, elementwise,
     "A step of momentum as Keras writes it, for some rows."},
};

}  // namespace

std::span<const OpRow> optimizer_ops() { return kOptimizersRows; }

}  // namespace emplace::stdops
