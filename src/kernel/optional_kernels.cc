#include "kernel/optional_kernels.h"

#include <fmt/format.h>

#include "kernel/keep.h"
#include "kernel/optional_value.h"
#include "kernel/sum.h"
#include "kernel/tensor_list.h"

namespace emplace {

Tensor optional_tensor(bool present, std::vector<Tensor> values) {
  auto o = std::make_shared<OptionalValue>();
  o->present = present;
  if (present) o->values = std::move(values);
  Tensor t(DType::kVariant, Shape{});
  t.data<Variant>()->value = std::move(o);
  return t;
}

const OptionalValue& optional_in(const Tensor& t) {
  const auto* o = t.num_elements() == 1
                      ? dynamic_cast<const OptionalValue*>(t.data<Variant>()->value.get())
                      : nullptr;
  if (!o) throw invalid_argument("Input is not an Optional");
  return *o;
}

namespace {

void put_optional(KernelContext& c, std::shared_ptr<OptionalValue> o) {
  Tensor t(DType::kVariant, Shape{});
  t.data<Variant>()->value = std::move(o);
  c.set_output(0, std::move(t));
}

void optional_from_value(KernelContext& c) {
  auto o = std::make_shared<OptionalValue>();
  o->present = true;
  for (int i = 0; i < c.num_inputs(); ++i) o->values.push_back(keep(c, c.input(i)));
  put_optional(c, std::move(o));
}

void optional_none(KernelContext& c) { put_optional(c, std::make_shared<OptionalValue>()); }

void optional_has_value(KernelContext& c) {
  *c.output(0, Shape{}).data<bool>() = optional_in(c.input(0)).present;
}

struct GetValue {
  std::vector<Shape> shapes;
  void operator()(KernelContext& c) const;
};

void GetValue::operator()(KernelContext& c) const {
  const OptionalValue& o = optional_in(c.input(0));
  if (!o.present) throw invalid_argument("The given optional does not have a value.");
  if (static_cast<int>(o.values.size()) != c.num_outputs())
    throw invalid_argument(fmt::format("The given optional has {} components, expected {}.",
                                       o.values.size(), c.num_outputs()));
  for (int i = 0; i < c.num_outputs(); ++i) {
    const Tensor& value = o.values[static_cast<size_t>(i)];
    if (value.dtype() != c.output_type(i))
      throw invalid_argument(fmt::format(
          "The given optional does not match the expected type for component {}. Expected: {}. "
          "Actual: {}.",
          i, dtype_name(c.output_type(i)), dtype_name(value.dtype())));
    if (const auto k = static_cast<size_t>(i);
        k < shapes.size() && !shapes[k].compatible_with(value.shape()))
      throw invalid_argument(fmt::format(
          "The given optional does not match the expected shape for component {}. Expected: {}. "
          "Actual: {}.",
          i, shapes[k].str(), value.shape().str()));
    put(c, c.output(i, value.shape()), 0, value);
  }
}

Prepared make_get_value(const KernelInit& init) {
  return prepared(GetValue{init.attr<std::vector<Shape>>("output_shapes")});
}

// ---- Sums and zeros of lists and Optionals, for gradients. Their elements may be lists again.

Variant zero_of(KernelContext& c, const Variant& v);
Variant sum_of(KernelContext& c, const Variant& a, const Variant& b);

Tensor zeros_of(KernelContext& c, const Tensor& t) {
  if (t.dtype() == DType::kVariant) {
    Tensor out(DType::kVariant, t.shape());
    for (int64_t i = 0; i < t.num_elements(); ++i)
      out.data<Variant>()[i] = zero_of(c, t.data<Variant>()[i]);
    return out;
  }
  Tensor out = keep(c, t);
  put_zeros(c, out, 0, out.num_elements());
  return out;
}

Tensor sum_of(KernelContext& c, const Tensor& a, const Tensor& b) {
  if (!a.has_value()) return b;
  if (!b.has_value()) return a;
  if (a.dtype() == DType::kVariant) {
    Tensor out(DType::kVariant, a.shape());
    for (int64_t i = 0; i < a.num_elements(); ++i)
      out.data<Variant>()[i] = sum_of(c, a.data<Variant>()[i], b.data<Variant>()[i]);
    return out;
  }
  Tensor out = keep(c, a);
  add_elements(c.device(), out, b);
  return out;
}

// A list of zeros has elements that are not set, unless they are lists themselves.
Variant zero_of(KernelContext& c, const Variant& v) {
  if (const auto* o = dynamic_cast<const OptionalValue*>(v.value.get())) {
    auto zero = std::make_shared<OptionalValue>();
    zero->present = o->present;
    for (const Tensor& t : o->values) zero->values.push_back(zeros_of(c, t));
    return {zero};
  }
  Tensor held(DType::kVariant, Shape{});
  *held.data<Variant>() = v;
  const TensorList& in = list_in(held);
  auto zero = TensorList(in.dtype, in.element_shape, in.max_length).copied(in.length());
  if (in.dtype == DType::kVariant)
    for (int64_t i = 0; i < in.length(); ++i)
      if (in.at(i).has_value()) zero->set(i, zeros_of(c, in.at(i)));
  return {zero};
}

Variant sum_of_optionals(KernelContext& c, const OptionalValue& a, const OptionalValue& b) {
  auto sum = std::make_shared<OptionalValue>(a.present ? a : b);
  if (a.present && b.present)
    for (size_t i = 0; i < a.values.size() && i < b.values.size(); ++i)
      sum->values[i] = sum_of(c, a.values[i], b.values[i]);
  return {sum};
}

// Element by element; one that is not set counts as zeros.
Variant sum_of(KernelContext& c, const Variant& a, const Variant& b) {
  const auto* left = dynamic_cast<const OptionalValue*>(a.value.get());
  const auto* right = dynamic_cast<const OptionalValue*>(b.value.get());
  if (left && right) return sum_of_optionals(c, *left, *right);
  Tensor held(DType::kVariant, Shape{2});
  held.data<Variant>()[0] = a;
  held.data<Variant>()[1] = b;
  const TensorList& first = list_in(held, 0);
  const TensorList& other = list_in(held, 1);
  if (other.length() != first.length())
    throw invalid_argument("Trying to add two lists of tensors with different lengths. One is " +
                           std::to_string(first.length()) + " and the other is " +
                           std::to_string(other.length()));
  auto sum = first.copied(first.length());
  for (int64_t i = 0; i < other.length(); ++i)
    if (other.at(i).has_value()) sum->set(i, sum_of(c, first.at(i), other.at(i)));
  return {sum};
}

void zeros_like(KernelContext& c) { c.set_output(0, zeros_of(c, c.input(0))); }

void add_variants(KernelContext& c) {
  Tensor sum = c.input(0);
  for (int k = 1; k < c.num_inputs(); ++k) {
    if (!(c.input(k).shape() == sum.shape()))
      throw invalid_argument("variants of unlike shapes can't be added");
    sum = sum_of(c, sum, c.input(k));
  }
  c.set_output(0, std::move(sum));
}

}  // namespace

std::vector<KernelRow> optional_kernels(std::string_view device_type) {
  constexpr int kPreferred = 2;  // to a GPU's
  const auto row = [&](const char* op, KernelFactory make) {
    return KernelRow{op, std::string(device_type), {}, {}, make, {}, kPreferred, ""};
  };
  const auto of_variants = [&](const char* op, KernelFactory make) {
    return KernelRow{op, std::string(device_type), {{"T", {DType::kVariant}}}, {}, make, {}, 1, ""};
  };
  return {row("OptionalFromValue", stateless<optional_from_value>),
          row("OptionalNone", stateless<optional_none>),
          row("OptionalHasValue", stateless<optional_has_value>),
          row("OptionalGetValue", make_get_value),
          of_variants("ZerosLike", stateless<zeros_like>),
          of_variants("AddN", stateless<add_variants>)};
}

}  // namespace emplace
