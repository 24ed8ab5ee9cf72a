// Gradients of elementwise ops that are ops themselves.
#include "op/shape_context.h"

#include "stdops/stdops.h"

namespace emplace::stdops {
namespace {

using namespace shape_rules;
using namespace cost_rules;

constexpr OpRow kGradientRows[] = {
    {"InvGrad(y: T, dy: T) -> (z: T) | T: type in [bfloat16,half,float,double,complex64,"
     "complex128]",
     unchanged, elementwise,
     "The gradient of Inv."},
    {"ReciprocalGrad(y: T, dy: T) -> (z: T) | T: type in [bfloat16,half,float,double,complex64,"
     "complex128]",
     unchanged, elementwise,
     "The gradient of Reciprocal."},
    {"SqrtGrad(y: T, dy: T) -> (z: T) | T: type in [bfloat16,half,float,double,complex64,"
     "complex128]",
     unchanged, elementwise,
     "The gradient of Sqrt."},
    {"RsqrtGrad(y: T, dy: T) -> (z: T) | T: type in [bfloat16,half,float,double,complex64,"
     "complex128]",
     unchanged, elementwise,
     "The gradient of Rsqrt."},
    {"SigmoidGrad(y: T, dy: T) -> (z: T) | T: type in [bfloat16,half,float,double,complex64,"
     "complex128]",
     unchanged, elementwise,
     "The gradient of Sigmoid."},
    {"TanhGrad(y: T, dy: T) -> (z: T) | T: type in [bfloat16,half,float,double,complex64,"
     "complex128]",
     unchanged, elementwise,
     "The gradient of Tanh."},
    {"ReluGrad(gradients: T, features: T) -> (backprops: T) | T: type in [float,double,int32,"
     "uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64]",
     merge_two, elementwise,
     "The gradient of Relu."},
    {"Relu6Grad(gradients: T, features: T) -> (backprops: T) | T: type in [float,double,int32,"
     "uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64]",
     merge_two, elementwise,
     "The gradient of Relu6."},
    {"LeakyReluGrad(gradients: T, features: T) -> (backprops: T) | alpha: float = "
     "0.20000000298023224; T: type in [half,bfloat16,float,double] = float",
     merge_two, elementwise,
     "The gradient of LeakyRelu."},
    {"EluGrad(gradients: T, outputs: T) -> (backprops: T) | T: type in [half,bfloat16,float,"
     "double]",
     merge_two, elementwise,
     "The gradient of Elu."},
    {"SeluGrad(gradients: T, outputs: T) -> (backprops: T) | T: type in [half,bfloat16,float,"
     "double]",
     merge_two, elementwise,
     "The gradient of Selu."},
    {"SoftplusGrad(gradients: T, features: T) -> (backprops: T) | T: type in [half,bfloat16,"
     "float,double]",
     merge_two, transcendental,
     "The gradient of Softplus."},
    {"SoftsignGrad(gradients: T, features: T) -> (backprops: T) | T: type in [half,bfloat16,"
     "float,double]",
     merge_two, elementwise,
     "The gradient of Softsign."},
};

}  // namespace

std::span<const OpRow> gradient_ops() { return kGradientRows; }

}  // namespace emplace::stdops
