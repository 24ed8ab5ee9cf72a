// Layers of neural networks.
#include "op/shape_context.h"
#include <fmt/format.h>

#include "stdops/training.h"

namespace emplace::stdops {
namespace {

using namespace shape_rules;
using namespace cost_rules;

int channel_dim(ShapeContext& c, int rank) {
  return c.attr<std::string>("data_format") == "NCHW" ? 1 : rank - 1;
}

void bias_add(ShapeContext& c) {
  Shape in = c.with_rank_at_least(0, 2);
  const Shape bias = c.with_rank(1, 1);
  if (in.has_rank()) {
    const int at = channel_dim(c, in.rank());
    in.set_dim(at, c.merge_dims(in[at], bias[0]));
  }
  c.set_output(0, std::move(in));
}

void bias_add_v1(ShapeContext& c) {
  Shape in = c.with_rank_at_least(0, 2);
  const Shape bias = c.with_rank(1, 1);
  if (in.has_rank()) in.set_dim(in.rank() - 1, c.merge_dims(in[in.rank() - 1], bias[0]));
  c.set_output(0, std::move(in));
}

void bias_add_grad(ShapeContext& c) {
  const Shape in = c.with_rank_at_least(0, 2);
  c.set_output(0, Shape{in.has_rank() ? in[channel_dim(c, in.rank())] : Shape::kUnknown});
}

void rows(ShapeContext& c) { c.set_output(0, c.with_rank_at_least(0, 1)); }

void cross_entropy(ShapeContext& c) {
  const Shape both = c.broadcast(c.input(0), c.input(1));
  if (both.has_rank() && both.rank() != 2)
    throw invalid_argument(fmt::format("Shape must be rank 2 but is rank {}", both.rank()));
  c.set_output(0, Shape{both.has_rank() ? both[0] : Shape::kUnknown});
  c.set_output(1, both.has_rank() ? both : Shape::unknown_dims(2));
}

void sparse_cross_entropy(ShapeContext& c) {
  const Shape features = c.with_rank(0, 2), labels = c.with_rank(1, 1);
  const int64_t batch = c.merge_dims(features[0], labels[0]);
  c.set_output(0, Shape{batch});
  c.set_output(1, Shape{batch, features[1]});
}

constexpr OpRow kNetsRows[] = {
    {"BiasAdd(value: T, bias: T) -> (output: T) | T: type in [float,double,int32,uint8,int16,"
     "int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,complex128,half,"
     "uint32,uint64]; data_format: string in ['NHWC','NCHW'] = 'NHWC'",
     bias_add, elementwise,
     "A vector added to every position."},
    {"BiasAddV1(value: T, bias: T) -> (output: T) | T: type in [float,double,int32,uint8,int16,"
     "int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,complex128,half,"
     "uint32,uint64]",
     bias_add_v1, elementwise,
     "A vector added to every position."},
    {"BiasAddGrad(out_backprop: T) -> (output: T) | T: type in [float,double,int32,uint8,int16,"
     "int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,complex128,half,"
     "uint32,uint64]; data_format: string in ['NHWC','NCHW'] = 'NHWC'",
     bias_add_grad, elementwise,
     "The gradient of BiasAdd with respect to the bias."},
    {"Softmax(logits: T) -> (softmax: T) | T: type in [half,bfloat16,float,double]",
     rows, transcendental,
     "exp(x) over its sum, along the last dimension."},
    {"LogSoftmax(logits: T) -> (logsoftmax: T) | T: type in [half,bfloat16,float,double]",
     rows, transcendental,
     "The logarithm of Softmax."},
    {"SoftmaxCrossEntropyWithLogits(features: T, labels: T) -> (loss: T, backprop: T) | T: type "
     "in [half,bfloat16,float,double]",
     cross_entropy, transcendental,
     "The cross entropy of softmax and labels, and its gradient."},
    {"SparseSoftmaxCrossEntropyWithLogits(features: T, labels: Tlabels) -> (loss: T, backprop: "
     "T) | T: type in [half,bfloat16,float,double]; Tlabels: type in [int32,int64] = int64",
     sparse_cross_entropy, transcendental,
     "The cross entropy of softmax and the labels numbered, and its gradient."},
    {"L2Loss(t: T) -> (output: T) | T: type in [half,bfloat16,float,double]",
     scalar, elementwise,
     "Half the sum of squares."},
};

}  // namespace

std::span<const OpRow> nets_ops() { return kNetsRows; }

}  // namespace emplace::stdops
