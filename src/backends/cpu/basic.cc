// Constants, pass-through ops, what is printed and asserted.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>

#include "backends/cpu/cpu_kernels.h"
#include "backends/cpu/move.h"
#include "backends/cpu/rows.h"
#include "backends/cpu/visit.h"
#include "kernel/keep.h"
#include "kernel/switches.h"
#include "tensor/text.h"

namespace emplace::cpu {
namespace {

void nothing(KernelContext&) {}

void pass(KernelContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, c.input(i));
}

void pass_first(KernelContext& c) { c.set_output(0, c.input(0)); }

void copy(KernelContext& c) {
  const Tensor& in = c.input(0);
  Tensor& out = c.output(0, in.shape());
  if (out.raw() != in.raw()) copy_elements(out, in);
}

struct Constant {
  Tensor value;
  void operator()(KernelContext& c) const { c.set_output(0, value); }
};

Prepared make_const(const KernelInit& init) {
  const auto& value = init.attr<Tensor>("value");
  if (value.dtype() != init.type("dtype"))
    throw invalid_argument(fmt::format("Type mismatch between value ({}) and dtype ({})",
                                       dtype_name(value.dtype()), dtype_name(init.type("dtype"))));
  return prepared(Constant{value});
}

// Reached only when nothing was fed.
struct Unfed {
  Shape shape;
  void operator()(KernelContext& c) const {
    std::string what = fmt::format("You must feed a value for placeholder tensor '{}' with dtype {}",
                                   c.node(), dtype_proto_name(c.output_type(0)));
    if (shape.rank() > 0) what += " and shape " + shape.str();
    throw invalid_argument(std::move(what));
  }
};

Prepared make_placeholder(const KernelInit& init) {
  return prepared(Unfed{init.attr<Shape>("shape")});
}

// Which of the names is the kind of device it runs on; one past the last when none is.
struct DeviceIndex {
  int32_t index;
  void operator()(KernelContext& c) const { *c.output(0, Shape{}).data<int32_t>() = index; }
};
Prepared make_device_index(const KernelInit& init) {
  const auto& names = init.attr<std::vector<std::string>>("device_names");
  const std::string type = init.device ? std::string(init.device->type()) : "CPU";
  return prepared(DeviceIndex{
      static_cast<int32_t>(std::find(names.begin(), names.end(), type) - names.begin())});
}

struct FakeParam {
  Shape shape;
  void operator()(KernelContext& c) const {
    Tensor& out = c.output(0, shape);
    put_zeros(c, out, 0, out.num_elements());
  }
};
Prepared make_fake_param(const KernelInit& init) {
  const auto& shape = init.attr<Shape>("shape");
  std::vector<int64_t> dims;
  if (shape.has_rank())
    for (int64_t d : shape.dims()) dims.push_back(std::max<int64_t>(d, 0));
  checked_elements(dims);
  return prepared(FakeParam{Shape(std::span<const int64_t>(dims))});
}

// A scalar counts by its value, everything else by whether it has elements.
bool is_true(const Tensor& t) {
  if (t.rank() != 0) return t.num_elements() > 0;
  if (t.dtype() == DType::kString) return !t.data<std::string>()->empty();
  if (!is_plain(t.dtype())) throw invalid_argument("no truth in " + std::string(dtype_name(t.dtype())));
  bool result = false;
  visit_dtype(t.dtype(), Plain{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, Bfloat16>)
      result = static_cast<float>(*t.data<T>()) != 0;
    else result = *t.data<T>() != T(0);
  });
  return result;
}
void to_bool(KernelContext& c) { *c.output(0, Shape{}).data<bool>() = is_true(c.input(0)); }

void tensor_float_enabled(KernelContext& c) {
  *c.output(0, Shape{}).data<bool>() = tf32_allowed();
}

// Calls and their arguments are part of a plan: whoever makes it never runs these.
void planned_only(KernelContext& c) {
  throw internal_error(fmt::format("{} is not run by itself", c.node()));
}

std::string bracketed(KernelContext& c, int first, int summarize, std::string_view separator) {
  std::string text;
  for (int i = first; i < c.num_inputs(); ++i)
    text += fmt::format("{}[{}]", i > first ? separator : "", summary_in_rows(c.input(i), summarize));
  return text;
}

struct Print {
  std::string message;
  int summarize;
  int64_t first_n;  // negative: always
  std::shared_ptr<std::atomic<int64_t>> printed = std::make_shared<std::atomic<int64_t>>(0);
  void operator()(KernelContext& c) const {
    if (first_n < 0 || printed->fetch_add(1) < first_n) {
      const std::string line = message + bracketed(c, 1, summarize, "") + "\n";
      std::fwrite(line.data(), 1, line.size(), stderr);
    }
    c.set_output(0, c.input(0));
  }
};

Prepared make_print(const KernelInit& init) {
  return prepared(Print{init.attr<std::string>("message"),
                        static_cast<int>(init.attr<int64_t>("summarize")),
                        init.attr<int64_t>("first_n")});
}

struct Assert {
  int summarize;
  void operator()(KernelContext& c) const {
    const Tensor& condition = c.input(0);
    if (condition.num_elements() != 1)
      throw invalid_argument("Input 0 should be a scalar boolean, but has shape " +
                             condition.shape().str());
    if (*condition.data<bool>()) return;
    throw invalid_argument("assertion failed: " + bracketed(c, 1, summarize, " "));
  }
};

Prepared make_assert(const KernelInit& init) {
  return prepared(Assert{static_cast<int>(init.attr<int64_t>("summarize"))});
}

}  // namespace

std::vector<KernelRow> basic_kernels() {
  return {row("NoOp", stateless<nothing>),
          row("Const", make_const),
          row("HostConst", make_const),
          row("Copy", stateless<pass_first>),
          row("CopyHost", stateless<pass_first>),
          row("DeviceIndex", make_device_index),
          row("FakeParam", make_fake_param),
          row("ToBool", stateless<to_bool>),
          row("IsTensorFloat32Enabled", stateless<tensor_float_enabled>),
          row("Placeholder", make_placeholder),
          row("PlaceholderV2", make_placeholder),
          row("PlaceholderWithDefault", stateless<pass_first>, {.forwards = true}),
          row("Identity", stateless<pass_first>, {.forwards = true}),
          row("IdentityN", stateless<pass>),
          row("RefIdentity", stateless<pass_first>, {.forwards = true}),
          row("StopGradient", stateless<pass_first>, {.forwards = true}),
          row("PreventGradient", stateless<pass_first>, {.forwards = true}),
          row("Snapshot", stateless<copy>),
          row("PartitionedCall", stateless<planned_only>),
          row("StatefulPartitionedCall", stateless<planned_only>),
          row("_Arg", stateless<planned_only>),
          row("_Retval", stateless<planned_only>),
          row("Print", make_print),
          row("Assert", make_assert)};
}

}  // namespace emplace::cpu
