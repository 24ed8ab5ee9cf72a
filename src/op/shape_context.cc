#include "op/shape_context.h"

#include <fmt/format.h>

#include "emplace/error.h"

namespace emplace {
namespace {

int64_t int_at(const Tensor& t, int64_t i) {
  return t.dtype() == DType::kInt32 ? t.data<int32_t>()[i] : t.data<int64_t>()[i];
}

bool is_index(DType t) { return t == DType::kInt32 || t == DType::kInt64; }

int64_t dim_from(int64_t v) {
  if (v < -1)
    throw invalid_argument(fmt::format("Invalid value in tensor used for shape: {}", v));
  return v;
}

Shape shape_from(const Tensor& t) {
  if (t.num_elements() > Shape::kMaxRank)
    throw invalid_argument(fmt::format("Shape of rank {} is too large", t.num_elements()));
  Shape out;
  for (int64_t i = 0; i < t.num_elements(); ++i) out.push_back(dim_from(int_at(t, i)));
  return out;
}

Shape dims_only_if_small(int64_t rank) {
  if (rank < 0 || rank > Shape::kMaxRank) return Shape::unknown();
  return Shape::unknown_dims(static_cast<int>(rank));
}

int64_t broadcast_dim(int64_t a, int64_t b) {
  if (a == b || b == 1) return a;
  if (a == 1) return b;
  if (a < 0) return b > 1 ? b : Shape::kUnknown;
  if (b < 0) return a > 1 ? a : Shape::kUnknown;
  throw invalid_argument(fmt::format("Dimensions must be equal, but are {} and {}", a, b));
}

Error rank_error(std::string_view wanted, int rank) {
  return invalid_argument(fmt::format("Shape must be {} but is rank {}", wanted, rank));
}

uint64_t bit(int i) { return i < 64 ? uint64_t{1} << i : 0; }

}  // namespace

ShapeContext::ShapeContext(const OpDef& op, const AttrList& attrs, std::span<const Input> inputs,
                           int num_outputs, ValueSource* source)
    : op_(op),
      attrs_(attrs),
      inputs_(inputs),
      outputs_(static_cast<size_t>(num_outputs), Shape::unknown()),
      handles_(static_cast<size_t>(num_outputs)),
      source_(source) {}

const Tensor* ShapeContext::input_value(int i) const {
  asked_value_ |= bit(i);
  if (inputs_[i].value != nullptr || source_ == nullptr) return inputs_[i].value;
  return source_->value(i);
}

const Shape* ShapeContext::value_as_shape(int i) const {
  if (inputs_[i].value_as_shape != nullptr || source_ == nullptr) return inputs_[i].value_as_shape;
  return source_->value_as_shape(i);
}

ArgRange ShapeContext::input_arg(std::string_view name) const {
  const int i = op_.input_index(name);
  if (i < 0) throw internal_error(fmt::format("Op '{}' has no input '{}'", op_.name, name));
  return input_range(op_, attrs_, i);
}

ArgRange ShapeContext::output_arg(std::string_view name) const {
  const int i = op_.output_index(name);
  if (i < 0) throw internal_error(fmt::format("Op '{}' has no output '{}'", op_.name, name));
  return output_range(op_, attrs_, i);
}

const AttrValue& ShapeContext::get_attr(std::string_view name) const {
  if (const AttrValue* v = find_attr(attrs_, name)) return *v;
  throw internal_error(fmt::format("Op '{}' has no attr '{}'", op_.name, name));
}

Shape ShapeContext::with_rank(int i, int rank) const {
  const Shape& s = input(i);
  if (!s.has_rank()) return Shape::unknown_dims(rank);
  if (s.rank() != rank) throw rank_error(fmt::format("rank {}", rank), s.rank());
  return s;
}

Shape ShapeContext::with_rank_at_least(int i, int rank) const {
  const Shape& s = input(i);
  if (s.has_rank() && s.rank() < rank)
    throw rank_error(fmt::format("at least rank {}", rank), s.rank());
  return s;
}

Shape ShapeContext::with_rank_at_most(int i, int rank) const {
  const Shape& s = input(i);
  if (s.rank() > rank) throw rank_error(fmt::format("at most rank {}", rank), s.rank());
  return s;
}

int64_t ShapeContext::merge_dims(int64_t a, int64_t b) const {
  if (a < 0 || a == b) return b;
  if (b < 0) return a;
  throw invalid_argument(fmt::format("Dimensions must be equal, but are {} and {}", a, b));
}

Shape ShapeContext::input_as_shape(int i) const {
  asked_shape_ |= bit(i);
  const Tensor* t = inputs_[i].value;
  if (t == nullptr && source_ != nullptr) t = source_->value(i);
  if (t != nullptr && is_index(t->dtype())) {
    if (t->rank() == 1) return shape_from(*t);
    // A scalar -1 has always meant "any shape".
    if (t->rank() == 0 && int_at(*t, 0) == -1) return Shape::unknown();
  }
  const Shape vector = with_rank(i, 1);
  if (const Shape* known = value_as_shape(i)) return *known;
  return dims_only_if_small(vector.dim(0));
}

std::optional<int64_t> ShapeContext::input_as_scalar(int i) const {
  const Tensor* t = input_value(i);
  if (t == nullptr || !is_index(t->dtype()) || t->num_elements() != 1) return std::nullopt;
  return int_at(*t, 0);
}

std::optional<std::vector<int64_t>> ShapeContext::input_as_vector(int i) const {
  const Tensor* t = input_value(i);
  if (t == nullptr || !is_index(t->dtype())) return std::nullopt;
  std::vector<int64_t> out;
  for (int64_t k = 0; k < t->num_elements(); ++k) out.push_back(int_at(*t, k));
  return out;
}

Shape ShapeContext::broadcast(const Shape& a, const Shape& b) {
  if (!a.has_rank() || !b.has_rank()) return Shape::unknown();
  const Shape& longer = a.rank() >= b.rank() ? a : b;
  const Shape& shorter = a.rank() >= b.rank() ? b : a;
  Shape out = longer;
  const int offset = longer.rank() - shorter.rank();
  for (int i = 0; i < shorter.rank(); ++i) {
    const int64_t x = longer[i + offset], y = shorter[i];
    out.set_dim(i + offset, &longer == &a ? broadcast_dim(x, y) : broadcast_dim(y, x));
  }
  return out;
}

Shape ShapeContext::merge(const Shape& a, const Shape& b) {
  if (!a.has_rank()) return b;
  if (!b.has_rank()) return a;
  if (a.rank() != b.rank())
    throw invalid_argument(fmt::format("Shapes must be equal rank, but are {} and {}", a.rank(),
                                       b.rank()));
  Shape out = a;
  for (int i = 0; i < a.rank(); ++i) {
    if (a[i] >= 0 && b[i] >= 0 && a[i] != b[i])
      throw invalid_argument(fmt::format("Dimension {} in both shapes must be equal, but are {} "
                                         "and {}. Shapes are {} and {}.",
                                         i, a[i], b[i], a.str(), b.str()));
    if (a[i] < 0) out.set_dim(i, b[i]);
  }
  return out;
}

int ShapeContext::wrapped_axis(int64_t axis, int rank) {
  if (axis < -int64_t{rank} || axis >= rank)
    throw invalid_argument(fmt::format("Dimension {} must be in the range [{}, {})", axis, -rank,
                                       rank));
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

std::string ShapeContext::call_text(std::string_view node) const {
  std::vector<std::string> shapes, values, partial;
  for (int i = 0; i < num_inputs(); ++i) {
    shapes.push_back(input(i).has_rank() ? input(i).str() : "<unknown>");
    const Tensor* t = inputs_[i].value;
    if (t == nullptr && source_ != nullptr) t = source_->value(i);
    if ((asked_shape_ & bit(i)) != 0 && t != nullptr && t->rank() == 1)
      partial.push_back(fmt::format("input[{}] = {}", i, shape_from(*t).str()));
    else if ((asked_shape_ & bit(i)) != 0 && value_as_shape(i) != nullptr)
      partial.push_back(fmt::format("input[{}] = {}", i, value_as_shape(i)->str()));
    else if ((asked_value_ & bit(i)) != 0 && t != nullptr)
      values.push_back(fmt::format("input[{}] = <{}>", i, t->summary(64)));
  }
  std::string out =
      fmt::format(" for '{}' with input shapes: {}", node, fmt::join(shapes, ", "));
  if (!values.empty())
    out += fmt::format(" and with computed input tensors: {}", fmt::join(values, ", "));
  if (!partial.empty())
    out += fmt::format(" and with input tensors computed as partial shapes: {}",
                       fmt::join(partial, ","));
  return out + ".";
}

}  // namespace emplace
