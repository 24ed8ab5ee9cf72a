// Steps of the rarer optimizers.
#include "op/shape_context.h"

#include "stdops/training.h"

namespace emplace::stdops {
namespace {

using namespace shape_rules;
using namespace cost_rules;

constexpr OpRow kOptimizersMoreRows[] = {
    {"ApplyAdaMax(var: ref T, m: ref T, v: ref T, beta1_power: T, lr: T, beta1: T, beta2: T, "
     "epsilon: T, grad: T) -> (out: ref T) | T: type in [float,double,int32,uint8,int16,int8,"
     "complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,complex128,half,uint32,"
     "uint64]; use_locking: bool = false",
     unchanged, optimizer,
     "A step of AdaMax."},
    {"ResourceApplyAdaMax(var: resource, m: resource, v: resource, beta1_power: T, lr: T, beta1: "
     "T, beta2: T, epsilon: T, grad: T) -> () | T: type in [float,double,int32,uint8,int16,int8,"
     "complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,complex128,half,uint32,"
     "uint64]; use_locking: bool = false | stateful",
     none, optimizer,
     "A step of AdaMax."},
    {"ApplyAddSign(var: ref T, m: ref T, lr: T, alpha: T, sign_decay: T, beta: T, grad: T) -> "
     "(out: ref T) | T: type in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,"
     "qint32,bfloat16,qint16,quint16,uint16,complex128,half,uint32,uint64]; use_locking: bool = "
     "false",
     unchanged, optimizer,
     "A step of AddSign."},
    {"ResourceApplyAddSign(var: resource, m: resource, lr: T, alpha: T, sign_decay: T, beta: T, "
     "grad: T) -> () | T: type in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,"
     "quint8,qint32,bfloat16,qint16,quint16,uint16,complex128,half,uint32,uint64]; use_locking: "
     "bool = false | stateful",
     none, optimizer,
     "A step of AddSign."},
    {"ApplyPowerSign(var: ref T, m: ref T, lr: T, logbase: T, sign_decay: T, beta: T, grad: T) -> "
     "(out: ref T) | T: type in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,"
     "qint32,bfloat16,qint16,quint16,uint16,complex128,half,uint32,uint64]; use_locking: bool = "
     "false",
     unchanged, optimizer,
     "A step of PowerSign."},
    {"ResourceApplyPowerSign(var: resource, m: resource, lr: T, logbase: T, sign_decay: T, beta: "
     "T, grad: T) -> () | T: type in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,"
     "quint8,qint32,bfloat16,qint16,quint16,uint16,complex128,half,uint32,uint64]; use_locking: "
     "bool = false | stateful",
     none, optimizer,
     "A step of PowerSign."},
    {"ApplyProximalGradientDescent(var: ref T, alpha: T, l1: T, l2: T, delta: T) -> (out: ref T) "
     "| T: type in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,"
     "bfloat16,qint16,quint16,uint16,complex128,half,uint32,uint64]; use_locking: bool = false",
     unchanged, optimizer,
     "A step of gradient descent with penalties."},
    {"ResourceApplyProximalGradientDescent(var: resource, alpha: T, l1: T, l2: T, delta: T) -> () "
     "| T: type in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,"
     "bfloat16,qint16,quint16,uint16,complex128,half,uint32,uint64]; use_locking: bool = false | "
     "stateful",
     none, optimizer,
     "A step of gradient descent with penalties."},
    {"SparseApplyProximalGradientDescent(var: ref T, alpha: T, l1: T, l2: T, grad: T, indices: "
     "Tindices) -> (out: ref T) | T: type in [float,double,int32,uint8,int16,int8,complex64,int64,"
     "qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,complex128,half,uint32,uint64]; "
     "Tindices: type in [int32,int64]; use_locking: bool = false",
     unchanged, elementwise,
     "A step of gradient descent with penalties for some rows."},
    {"ResourceSparseApplyProximalGradientDescent(var: resource, alpha: T, l1: T, l2: T, grad: T, "
     "indices: Tindices) -> () | T: type in [float,double,int32,uint8,int16,int8,complex64,int64,"
     "qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,complex128,half,uint32,uint64]; "
     "Tindices: type in [int32,int64]; use_locking: bool = false | stateful",
     none, elementwise,
     "A step of gradient descent with penalties for some rows."},
    {"ApplyProximalAdagrad(var: ref T, accum: ref T, lr: T, l1: T, l2: T, grad: T) -> (out: ref "
     "T) | T: type in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,"
     "bfloat16,qint16,quint16,uint16,complex128,half,uint32,uint64]; use_locking: bool = false",
     unchanged, optimizer,
     "A step of Adagrad with penalties."},
    {"ResourceApplyProximalAdagrad(var: resource, accum: resource, lr: T, l1: T, l2: T, grad: T) "
     "-> () | T: type in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,"
     "bfloat16,qint16,quint16,uint16,complex128,half,uint32,uint64]; use_locking: bool = false | "
     "stateful",
     none, optimizer,
     "A step of Adagrad with penalties."},
    {"SparseApplyProximalAdagrad(var: ref T, accum: ref T, lr: T, l1: T, l2: T, grad: T, indices: "
     "Tindices) -> (out: ref T) | T: type in [float,double,int32,uint8,int16,int8,complex64,int64,"
     "qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,complex128,half,uint32,uint64]; "
     "Tindices: type in [int32,int64]; use_locking: bool = false",
     unchanged, elementwise,
     "A step of Adagrad with penalties for some rows."},
    {"ResourceSparseApplyProximalAdagrad(var: resource, accum: resource, lr: T, l1: T, l2: T, "
     "grad: T, indices: Tindices) -> () | T: type in [float,double,int32,uint8,int16,int8,"
     "complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,complex128,half,uint32,"
     "uint64]; Tindices: type in [int32,int64]; use_locking: bool = false | stateful",
     none, elementwise,
     "A step of Adagrad with penalties for some rows."},
    {"ApplyAdagradDA(var: ref T, gradient_accumulator: ref T, gradient_squared_accumulator: ref T,"
     " grad: T, lr: T, l1: T, l2: T, global_step: int64) -> (out: ref T) | T: type in [float,"
     "double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,"
     "uint16,complex128,half,uint32,uint64]; use_locking: bool = false",
     unchanged, optimizer,
     "A step of Adagrad by dual averaging."},
    {"ResourceApplyAdagradDA(var: resource, gradient_accumulator: resource, "
     "gradient_squared_accumulator: resource, grad: T, lr: T, l1: T, l2: T, global_step: int64) "
     "-> () | T: type in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,"
     "bfloat16,qint16,quint16,uint16,complex128,half,uint32,uint64]; use_locking: bool = false | "
     "stateful",
     none, optimizer,
     "A step of Adagrad by dual averaging."},
    {"SparseApplyAdagradDA(var: ref T, gradient_accumulator: ref T, gradient_squared_accumulator: "
     "ref T, grad: T, indices: Tindices, lr: T, l1: T, l2: T, global_step: int64) -> (out: ref T) "
     "| T: type in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,"
     "bfloat16,qint16,quint16,uint16,complex128,half,uint32,uint64]; Tindices: type in [int32,"
     "int64]; use_locking: bool = false",
     unchanged, elementwise,
     "A step of Adagrad by dual averaging for some rows."},
    {"ResourceSparseApplyAdagradDA(var: resource, gradient_accumulator: resource, "
     "gradient_squared_accumulator: resource, grad: T, indices: Tindices, lr: T, l1: T, l2: T, "
     "global_step: int64) -> () | T: type in [float,double,int32,uint8,int16,int8,complex64,int64,"
     "qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,complex128,half,uint32,uint64]; "
     "Tindices: type in [int32,int64]; use_locking: bool = false | stateful",
     none, elementwise,
     "A step of Adagrad by dual averaging for some rows."},
    {"ResourceApplyAdamWithAmsgrad(var: resource, m: resource, v: resource, vhat: resource, "
     "beta1_power: T, beta2_power: T, lr: T, beta1: T, beta2: T, epsilon: T, grad: T) -> () | T: "
     "type in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,"
     "qint16,quint16,uint16,complex128,half,uint32,uint64]; use_locking: bool = false | stateful",
     none, optimizer,
     "A step of Adam that remembers the largest second moment."},
};

}  // namespace

std::span<const OpRow> more_optimizer_ops() { return kOptimizersMoreRows; }

}  // namespace emplace::stdops
