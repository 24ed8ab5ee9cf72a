// Batch normalisation: by cuDNN where channels come second, by ours where they come last.
#include <fmt/format.h>

#include "backends/cuda/dnn.h"
#include "backends/cuda/kernels.h"
#include "backends/cuda/norm_channels_last.h"

namespace emplace::cuda {
namespace {

// Described for one shape, in the call: cheap beside the work.
struct Description {
  TensorDesc x, parameters;
  int64_t channels;
  Description(const Tensor& t, bool first, const char* what) {
    if (t.rank() != 4 && t.rank() != 5)
      throw invalid_argument(fmt::format("{} must be 4-dimensional: {}", what, t.shape().str()));
    channels = t.dim(first ? 1 : t.rank() - 1);
    if (t.num_elements() == 0) return;
    // Of a volume the first two sides are one.
    const int side = first ? 2 : 1;
    const int64_t rows = t.rank() == 5 ? t.dim(side) * t.dim(side + 1) : t.dim(side);
    x.set(first, t.dtype(), t.dim(0), channels, rows, t.dim(side + t.rank() - 3));
    check(cudnnDeriveBNTensorDescriptor(parameters.get, x.get, CUDNN_BATCHNORM_SPATIAL_PERSISTENT),
          "describing normalisation");
  }
};

constexpr float kOne = 1, kZero = 0;

float* figures(const Tensor& t) { return static_cast<float*>(t.raw()); }

struct Norm {
  Gpu* gpu;
  double epsilon, factor;
  bool training, first;
  bool relu = false;  // behind it, and behind a tensor that is added: the input after the others
  void operator()(KernelContext& c) const {
    const Tensor& x = c.input(0);
    const Description d(x, first, "input");
    for (int i = 1; i < 5; ++i)
      if (c.input(i).num_elements() != d.channels && (i < 3 || !training))
        throw invalid_argument(fmt::format("input {} must have one value for each of {} channels",
                                           i, d.channels));
    Tensor& y = c.output(0, x.shape());
    Tensor* out[5];
    for (int i = 1; i < c.num_outputs(); ++i)
      out[i - 1] = &c.output(i, i < 5 ? Shape{d.channels} : Shape{0});
    if (x.num_elements() == 0) return;
    void *mean = out[0]->raw(), *variance = out[1]->raw();
    // Running figures are blended into the outputs, which therefore begin as the inputs.
    for (int i = 0; i < 2; ++i)
      if (const Tensor& given = c.input(3 + i); given.num_elements() == d.channels && factor < 1)
        c.device().copy(out[i]->raw(), given.raw(), given.bytes());
    if (training && !first)
      return ChannelsLastNorm(*gpu, x.dtype())
          .train(x, y, figures(c.input(1)), figures(c.input(2)),
                 {figures(*out[0]), figures(*out[1]), figures(*out[2]), figures(*out[3])},
                 static_cast<float>(epsilon), static_cast<float>(factor),
                 {c.num_inputs() > 5 ? c.input(5).raw() : nullptr, relu});
    Dnn dnn(*gpu);
    if (training)
      return check(cudnnBatchNormalizationForwardTraining(
                       dnn, CUDNN_BATCHNORM_SPATIAL_PERSISTENT, &kOne, &kZero, d.x.get, x.raw(),
                       d.x.get, y.raw(), d.parameters.get, c.input(1).raw(), c.input(2).raw(),
                       factor, mean, variance, safe(epsilon), out[2]->raw(), out[3]->raw()),
                   "normalising");
    for (int i = 0; i < 4; ++i)
      c.device().copy(out[i]->raw(), c.input(3 + i % 2).raw(), out[i]->bytes());
    if (!first)
      return ChannelsLastNorm(*gpu, x.dtype())
          .infer(x, y, figures(c.input(1)), figures(c.input(2)), figures(c.input(3)),
                 figures(c.input(4)), static_cast<float>(epsilon));
    check(cudnnBatchNormalizationForwardInference(
              dnn, CUDNN_BATCHNORM_SPATIAL_PERSISTENT, &kOne, &kZero, d.x.get, x.raw(), d.x.get,
              y.raw(), d.parameters.get, c.input(1).raw(), c.input(2).raw(), c.input(3).raw(),
              c.input(4).raw(), safe(epsilon)),
          "normalising");
  }
  static double safe(double e) { return std::max(e, CUDNN_BN_MIN_EPSILON); }
};
Prepared make_norm(const KernelInit& init) {
  const AttrValue* factor = init.find("exponential_avg_factor");
  return prepared(Norm{&gpu_of(*init.device), init.attr<float>("epsilon"),
                       factor ? factor->as<float>() : 1.0, init.attr<bool>("is_training"),
                       init.attr<std::string>("data_format").starts_with("NC")});
}

// With a tensor that is added to the result, maybe, and relu behind it.
Prepared make_norm_relu(const KernelInit& init) {
  if (!init.attr<bool>("is_training") || init.attr<std::string>("data_format").starts_with("NC"))
    throw unimplemented("normalising with relu behind it in this form");
  const AttrValue* factor = init.find("exponential_avg_factor");
  return prepared(Norm{&gpu_of(*init.device), init.attr<float>("epsilon"),
                       factor ? factor->as<float>() : 1.0, true, false, true});
}

// Outside training the figures are given, and have no gradient.
struct FixedNormGrad {
  Gpu* gpu;
  CUfunction f;
  float epsilon;
  bool first;
  void operator()(KernelContext& c) const {
    const Tensor &dy = c.input(0), &x = c.input(1);
    if (x.rank() < 4) throw invalid_argument("input must be 4-dimensional: " + x.shape().str());
    const int64_t channels = x.dim(first ? 1 : x.rank() - 1);
    Tensor &dx = c.output(0, x.shape()), &dscale = c.output(1, Shape{channels}),
           &doffset = c.output(2, Shape{channels});
    for (int i = 3; i < c.num_outputs(); ++i) c.output(i, Shape{0});
    if (channels == 0) return;
    const int64_t each = x.num_elements() / channels;
    const int64_t spatial = x.dim(0) > 0 ? each / x.dim(0) : 1;
    Grid g;
    g.x = static_cast<unsigned>(channels);
    launch_kernel(*gpu, f, g, dx.raw(), dscale.raw(), doffset.raw(), dy.raw(), x.raw(), c.input(2).raw(),
                  c.input(3).raw(), c.input(4).raw(), each, spatial, channels, epsilon, first);
  }
};

struct NormGrad {
  Gpu* gpu;
  double epsilon;
  bool first;
  bool relu = false;  // behind what was normalised: the last inputs are its scale and shift
  void operator()(KernelContext& c) const {
    const Tensor &dy = c.input(0), &x = c.input(1);
    const Description d(x, first, "input");
    Tensor& dx = c.output(0, x.shape());
    Tensor& dscale = c.output(1, Shape{d.channels});
    Tensor& doffset = c.output(2, Shape{d.channels});
    for (int i = 3; i < c.num_outputs(); ++i) c.output(i, Shape{0});
    if (x.num_elements() == 0) return;
    NormRelu behind;
    if (const int n = c.num_inputs(); relu)
      behind = {figures(c.input(4)), figures(c.input(n - 2)), figures(c.input(n - 1))};
    if (!first)
      return ChannelsLastNorm(*gpu, x.dtype())
          .grad(dy, x, dx, figures(c.input(2)), figures(c.input(3)), figures(c.input(4)),
                figures(dscale), figures(doffset), behind);
    Dnn dnn(*gpu);
    check(cudnnBatchNormalizationBackward(
              dnn, CUDNN_BATCHNORM_SPATIAL_PERSISTENT, &kOne, &kZero, &kOne, &kZero, d.x.get,
              x.raw(), d.x.get, dy.raw(), d.x.get, dx.raw(), d.parameters.get, c.input(2).raw(),
              dscale.raw(), doffset.raw(), Norm::safe(epsilon), c.input(3).raw(), c.input(4).raw()),
          "normalising backwards");
  }
};
Prepared make_norm_grad(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  const bool first = init.attr<std::string>("data_format").starts_with("NC");
  if (!init.attr<bool>("is_training"))
    return prepared(FixedNormGrad{
        &gpu, gpu.jit().get("direct", fmt::format("fixed_norm_grad<{}>", device_type(init.type("T")))),
        init.attr<float>("epsilon"), first});
  return prepared(NormGrad{&gpu, init.attr<float>("epsilon"), first});
}

// The gradient of normalising with relu behind it.
Prepared make_norm_relu_grad(const KernelInit& init) {
  if (!init.attr<bool>("is_training") || init.attr<std::string>("data_format").starts_with("NC"))
    throw unimplemented("the gradient of normalising with relu behind it in this form");
  return prepared(NormGrad{&gpu_of(*init.device), init.attr<float>("epsilon"), false, true});
}

}  // namespace

std::vector<KernelRow> batch_norm_kernels() {
  const TypeConstraint types{"T", {DType::kFloat, DType::kHalf, DType::kBfloat16}};
  std::vector<KernelRow> rows = {cuda_row("_FusedNorm", make_norm_relu),
                                 cuda_row("_FusedNormGrad", make_norm_relu_grad)};
  for (const char* op : {"FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"})
    rows.push_back(cuda_row(op, make_norm, {types}));
  for (const char* op : {"FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3"})
    rows.push_back(cuda_row(op, make_norm_grad, {types}));
  return rows;
}

}  // namespace emplace::cuda
