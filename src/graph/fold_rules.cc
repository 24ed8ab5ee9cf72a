// How small integer values pass through the ops that compute shapes.
#include "graph/fold_rules.h"

#include <algorithm>
#include <unordered_map>

namespace emplace {
namespace {

using Values = std::vector<int64_t>;
constexpr int64_t kUnknown = KnownValue::kUnknown;
constexpr auto kMax = static_cast<int64_t>(KnownValue::kMaxElements);

Values dims_of(const Shape& s) {
  Values out;
  for (int64_t d : s) out.push_back(d < 0 ? kUnknown : d);
  return out;
}

void fold_shape(const FoldContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i)
    if (c.shape(i).has_rank()) c.set(i, false, dims_of(c.shape(i)));
}

// The places of what is true in a list, as a column or a list, are as many as are true in it.
void fold_number_of_places(const FoldContext& c) {
  const Node* from = c.node.inputs()[0].node;
  if (from->type() == "Squeeze") from = from->inputs()[0].node;
  if (from->type() != "Where") return;
  const auto truth = known_value(from->inputs()[0]);
  if (!truth || truth->is_scalar || !truth->is_complete()) return;
  c.set(0, true, {std::ranges::count_if(truth->values, [](int64_t v) { return v != 0; })});
}

void fold_size(const FoldContext& c) {
  if (!c.shape(0).is_fully_known()) return fold_number_of_places(c);
  int64_t n = 1;
  for (int64_t d : c.shape(0))
    if (__builtin_mul_overflow(n, d, &n)) return;
  c.set(0, true, {n});
}

void fold_rank(const FoldContext& c) {
  if (c.shape(0).has_rank()) c.set(0, true, {c.shape(0).rank()});
}

int64_t wrapped(DType t, int64_t v) {
  return v == kUnknown || t != DType::kInt32 ? v : static_cast<int32_t>(v);
}

void fold_same(const FoldContext& c) {
  auto v = c.input(0);
  if (!v) return;
  for (int64_t& x : v->values) x = wrapped(c.node.output_type(0), x);
  c.set(0, v->is_scalar, std::move(v->values));
}

void fold_expand_dims(const FoldContext& c) {
  const auto v = c.input(0);
  if (v && v->is_scalar && c.scalar(1)) c.set(0, false, v->values);
}

void fold_squeeze(const FoldContext& c) {
  const auto v = c.input(0);
  if (v && v->values.size() == 1) c.set(0, true, v->values);
}

void fold_reshape(const FoldContext& c) {
  const auto v = c.input(0);
  const auto shape = c.numbers(1);
  if (v && shape && shape->size() <= 1) c.set(0, shape->empty(), v->values);
}

void fold_pack(const FoldContext& c) {
  Values out;
  for (int i = 0; i < c.num_inputs(); ++i) {
    const auto v = c.input(i);
    if (!v || !v->is_scalar) return;
    out.push_back(v->values[0]);
  }
  c.set(0, false, std::move(out));
}

void fold_unpack(const FoldContext& c) {
  const auto v = c.input(0);
  if (!v || v->is_scalar || v->values.size() != static_cast<size_t>(c.node.num_outputs())) return;
  for (size_t i = 0; i < v->values.size(); ++i) c.set(static_cast<int>(i), true, {v->values[i]});
}

void concat(const FoldContext& c, int begin, int end) {
  Values out;
  for (int i = begin; i < end; ++i) {
    const auto v = c.input(i);
    if (!v || v->is_scalar) return;
    out.insert(out.end(), v->values.begin(), v->values.end());
  }
  c.set(0, false, std::move(out));
}

void fold_concat(const FoldContext& c) { concat(c, 1, c.num_inputs()); }
void fold_concat_v2(const FoldContext& c) { concat(c, 0, c.num_inputs() - 1); }

void fold_tile(const FoldContext& c) {
  const auto v = c.input(0);
  const auto times = c.numbers(1);
  if (!v || v->is_scalar || !times || times->size() != 1) return;
  Values out;
  for (int64_t i = 0; i < std::min((*times)[0], kMax + 1) && static_cast<int64_t>(out.size()) <= kMax; ++i)
    out.insert(out.end(), v->values.begin(), v->values.end());
  c.set(0, false, std::move(out));
}

// Where a one-dimensional slice begins or ends after counting from the back and clamping.
int64_t bound(int64_t at, int64_t stride, int64_t n) {
  if (at < 0) at += n;
  return stride > 0 ? std::clamp<int64_t>(at, 0, n) : std::clamp<int64_t>(at, -1, n - 1);
}

void fold_strided_slice(const FoldContext& c) {
  const auto v = c.input(0);
  const auto begin = c.numbers(1), end = c.numbers(2), strides = c.numbers(3);
  if (!v || v->is_scalar || !begin || !end || !strides) return;
  if (begin->size() != 1 || end->size() != 1 || strides->size() != 1) return;
  if (c.int_attr("ellipsis_mask") != 0 || c.int_attr("new_axis_mask") != 0) return;
  const auto n = static_cast<int64_t>(v->values.size());
  const int64_t stride = (*strides)[0];
  if ((c.int_attr("shrink_axis_mask") & 1) != 0) {
    const int64_t at = (*begin)[0] < 0 ? (*begin)[0] + n : (*begin)[0];
    if (at >= 0 && at < n) c.set(0, true, {v->values[static_cast<size_t>(at)]});
    return;
  }
  if (stride == 0) return;
  const bool from_start = (c.int_attr("begin_mask") & 1) != 0;
  const bool to_end = (c.int_attr("end_mask") & 1) != 0;
  const int64_t first = from_start ? (stride > 0 ? 0 : n - 1) : bound((*begin)[0], stride, n);
  const int64_t last = to_end ? (stride > 0 ? n : -1) : bound((*end)[0], stride, n);
  Values out;
  if (stride > 0)
    for (int64_t i = first; i < last; i += std::min(stride, n)) out.push_back(v->values[i]);
  else
    for (int64_t i = first; i > last; i += std::max(stride, -n - 1)) out.push_back(v->values[i]);
  c.set(0, false, std::move(out));
}

void fold_slice(const FoldContext& c) {
  const auto v = c.input(0);
  const auto begin = c.numbers(1), size = c.numbers(2);
  if (!v || v->is_scalar || !begin || !size || begin->size() != 1 || size->size() != 1) return;
  const auto n = static_cast<int64_t>(v->values.size());
  const int64_t at = (*begin)[0];
  if (at < 0 || at > n) return;
  const int64_t length = (*size)[0] == -1 ? n - at : (*size)[0];
  if (length < 0 || length > n - at) return;
  c.set(0, false, Values(v->values.begin() + at, v->values.begin() + at + length));
}

void fold_gather(const FoldContext& c) {
  const auto v = c.input(0);
  const auto at = c.input(1);
  if (!v || v->is_scalar || !at || !at->is_complete()) return;
  Values out;
  for (int64_t i : at->values) {
    if (i < 0 || i >= static_cast<int64_t>(v->values.size())) return;
    out.push_back(v->values[static_cast<size_t>(i)]);
  }
  c.set(0, at->is_scalar, std::move(out));
}

void fold_range(const FoldContext& c) {
  const auto start = c.scalar(0), limit = c.scalar(1), delta = c.scalar(2);
  if (!start || !limit || !delta || *delta == 0) return;
  Values out;
  for (__int128 i = *start; *delta > 0 ? i < *limit : i > *limit; i += *delta) {
    if (static_cast<int64_t>(out.size()) >= kMax) return;
    out.push_back(static_cast<int64_t>(i));
  }
  c.set(0, false, std::move(out));
}

void fill(const FoldContext& c, const Shape& shape, int64_t value) {
  if (!shape.is_fully_known() || shape.rank() > 1) return;
  const int64_t n = shape.num_elements();
  if (n >= 0 && n <= kMax) c.set(0, shape.rank() == 0, Values(static_cast<size_t>(n), value));
}

void fold_fill(const FoldContext& c) {
  const auto dims = c.input(0);
  const auto value = c.scalar(1);
  if (dims && value) fill(c, dims->as_shape(), *value);
}

void fold_zeros(const FoldContext& c) { fill(c, c.shape(0), 0); }
void fold_ones(const FoldContext& c) { fill(c, c.shape(0), 1); }

// ---- Arithmetic; entry by entry, an unknown operand gives an unknown result.
int64_t add(int64_t a, int64_t b) { return static_cast<int64_t>(uint64_t(a) + uint64_t(b)); }
int64_t sub(int64_t a, int64_t b) { return static_cast<int64_t>(uint64_t(a) - uint64_t(b)); }
int64_t mul(int64_t a, int64_t b) { return static_cast<int64_t>(uint64_t(a) * uint64_t(b)); }
int64_t floor_div(int64_t a, int64_t b) {
  if (b == 0 || (b == -1 && a == kUnknown)) return kUnknown;
  const int64_t q = a / b;
  return (a % b != 0 && ((a < 0) != (b < 0))) ? q - 1 : q;
}
int64_t floor_mod(int64_t a, int64_t b) {
  return b == 0 || b == -1 ? (b == 0 ? kUnknown : 0) : sub(a, mul(floor_div(a, b), b));
}
int64_t greater(int64_t a, int64_t b) { return a > b; }
int64_t greater_equal(int64_t a, int64_t b) { return a >= b; }
int64_t less(int64_t a, int64_t b) { return a < b; }
int64_t less_equal(int64_t a, int64_t b) { return a <= b; }
int64_t equal(int64_t a, int64_t b) { return a == b; }
int64_t not_equal(int64_t a, int64_t b) { return a != b; }
int64_t larger(int64_t a, int64_t b) { return std::max(a, b); }
int64_t smaller(int64_t a, int64_t b) { return std::min(a, b); }

// How many entries lists have that are spread over each other; nothing if they don't fit.
std::optional<size_t> spread_length(std::initializer_list<size_t> lengths) {
  size_t n = 1;
  for (size_t length : lengths) {
    if (length == 1) continue;
    if (n != 1 && n != length) return std::nullopt;
    n = length;
  }
  return n;
}
int64_t spread(const KnownValue& v, size_t i) { return v.values[v.values.size() == 1 ? 0 : i]; }

template <int64_t (*Op)(int64_t, int64_t)>
int64_t combined(DType t, int64_t a, int64_t b) {
  if (a == kUnknown || b == kUnknown) return kUnknown;
  return wrapped(t, Op(a, b));
}

template <int64_t (*Op)(int64_t, int64_t)>
void fold_binary(const FoldContext& c) {
  const auto a = c.input(0), b = c.input(1);
  if (!a || !b) return;
  const auto n = spread_length({a->values.size(), b->values.size()});
  if (!n) return;
  Values out;
  for (size_t i = 0; i < *n; ++i) out.push_back(combined<Op>(a->dtype, spread(*a, i), spread(*b, i)));
  c.set(0, a->is_scalar && b->is_scalar, std::move(out));
}

// Along which axes each of two shapes is spread over the other. Where both are 1, both are named, but
// not where the shapes are one.
void fold_spread(const FoldContext& c) {
  auto a = c.numbers(0), b = c.numbers(1);
  if (!a || !b) return;
  Values axes[2];
  if (*a != *b) {
    const size_t rank = std::max(a->size(), b->size());
    a->insert(a->begin(), rank - a->size(), 1);
    b->insert(b->begin(), rank - b->size(), 1);
    for (size_t i = 0; i < rank; ++i) {
      if ((*a)[i] == 1) axes[0].push_back(static_cast<int64_t>(i));
      if ((*b)[i] == 1) axes[1].push_back(static_cast<int64_t>(i));
      if ((*a)[i] != (*b)[i] && (*a)[i] != 1 && (*b)[i] != 1) return;
    }
  }
  c.set(0, false, std::move(axes[0]));
  c.set(1, false, std::move(axes[1]));
}

// The shape of two that are spread over each other; an axis of which one is unknown is as long as the
// other, if that is longer than 1.
void fold_spread_shape(const FoldContext& c) {
  auto a = c.input(0), b = c.input(1);
  if (!a || !b || a->is_scalar || b->is_scalar) return;
  const size_t rank = std::max(a->values.size(), b->values.size());
  a->values.insert(a->values.begin(), rank - a->values.size(), 1);
  b->values.insert(b->values.begin(), rank - b->values.size(), 1);
  Values out;
  for (size_t i = 0; i < rank; ++i) {
    const int64_t x = a->values[i], y = b->values[i];
    if (x == y || x == 1) out.push_back(y);
    else if (y == 1) out.push_back(x);
    else if (x == kUnknown || y == kUnknown) out.push_back(x == kUnknown ? y : x);
    else return;  // an error when it runs
  }
  c.set(0, false, std::move(out));
}

void fold_inverse(const FoldContext& c) {
  const auto order = c.numbers(0);
  if (!order) return;
  Values out(order->size(), kUnknown);
  for (size_t i = 0; i < order->size(); ++i) {
    const int64_t to = (*order)[i];
    if (to < 0 || to >= static_cast<int64_t>(out.size())) return;  // an error when it runs
    out[static_cast<size_t>(to)] = static_cast<int64_t>(i);
  }
  c.set(0, false, std::move(out));
}

void fold_list_diff(const FoldContext& c) {
  const auto x = c.numbers(0), y = c.numbers(1);
  if (!x || !y) return;
  Values out, at;
  for (size_t i = 0; i < x->size(); ++i) {
    if (std::ranges::find(*y, (*x)[i]) != y->end()) continue;
    out.push_back((*x)[i]);
    at.push_back(static_cast<int64_t>(i));
  }
  c.set(0, false, std::move(out));
  c.set(1, false, std::move(at));
}

// The condition is spread like the values: one truth in a list makes a list of what it chooses.
void fold_select(const FoldContext& c) {
  const std::optional<KnownValue> in[] = {c.input(0), c.input(1), c.input(2)};
  if (!in[0] || !in[1] || !in[2] || !in[0]->is_complete()) return;
  const auto n = spread_length({in[0]->values.size(), in[1]->values.size(), in[2]->values.size()});
  if (!n) return;
  Values out;
  for (size_t i = 0; i < *n; ++i) out.push_back(spread(*in[spread(*in[0], i) != 0 ? 1 : 2], i));
  c.set(0, in[0]->is_scalar && in[1]->is_scalar && in[2]->is_scalar, std::move(out));
}

void fold_neg(const FoldContext& c) {
  const auto v = c.input(0);
  if (!v) return;
  Values out;
  for (int64_t x : v->values) out.push_back(combined<sub>(v->dtype, 0, x));
  c.set(0, v->is_scalar, std::move(out));
}

template <int64_t (*Op)(int64_t, int64_t)>
void fold_reduction(const FoldContext& c, int64_t start) {
  const auto v = c.input(0);
  const auto axes = c.numbers(1);
  const AttrValue* keep = c.node.attr("keep_dims");
  if (!v || v->is_scalar || !axes || axes->size() != 1) return;
  int64_t total = start;
  for (int64_t x : v->values) total = combined<Op>(v->dtype, total, x);
  c.set(0, keep == nullptr || !keep->as<bool>(), {total});
}

void fold_prod(const FoldContext& c) { fold_reduction<mul>(c, 1); }
void fold_sum(const FoldContext& c) { fold_reduction<add>(c, 0); }

template <int64_t (*Op)(int64_t, int64_t)>
void fold_extreme(const FoldContext& c) {
  if (const auto v = c.input(0); v && !v->values.empty()) fold_reduction<Op>(c, v->values[0]);
}

}  // namespace

std::optional<KnownValue> FoldContext::input(int i) const {
  const Output& in = node.inputs()[static_cast<size_t>(i)];
  if (auto v = known_value(in)) return v->dtype == DType::kInvalid ? std::nullopt : v;
  const Shape& s = in.node->output_shape(in.index);
  if (!s.is_fully_known() || s.rank() > 1) return std::nullopt;
  const int64_t n = s.num_elements();
  if (n < 0 || n > kMax) return std::nullopt;
  return KnownValue{in.node->output_type(in.index), s.rank() == 0,
                    Values(static_cast<size_t>(n), kUnknown)};
}

std::optional<int64_t> FoldContext::scalar(int i) const {
  const auto v = input(i);
  if (!v || !v->is_complete() || v->values.size() != 1) return std::nullopt;
  return v->values[0];
}

std::optional<Values> FoldContext::numbers(int i) const {
  const auto v = input(i);
  if (!v || !v->is_complete()) return std::nullopt;
  return v->values;
}

int64_t FoldContext::int_attr(std::string_view name) const {
  const AttrValue* v = node.attr(name);
  return v != nullptr && v->is<int64_t>() ? v->as<int64_t>() : 0;
}

void FoldContext::set(int i, bool is_scalar, Values values) const {
  if (values.size() > KnownValue::kMaxElements) return;
  out[static_cast<size_t>(i)] = {node.output_type(i), is_scalar, std::move(values)};
}

FoldRule find_fold_rule(std::string_view op) {
  static const std::unordered_map<std::string_view, FoldRule> kRules = {
      {"Shape", fold_shape},     {"ShapeN", fold_shape},
      {"BroadcastGradientArgs", fold_spread},
      {"BroadcastArgs", fold_spread_shape},
      {"InvertPermutation", fold_inverse},
      {"ListDiff", fold_list_diff},
      {"Size", fold_size},       {"Rank", fold_rank},
      {"Identity", fold_same},   {"StopGradient", fold_same},
      {"Cast", fold_same},       {"Snapshot", fold_same},
      {"ExpandDims", fold_expand_dims},
      {"Squeeze", fold_squeeze}, {"Reshape", fold_reshape},
      {"Pack", fold_pack},       {"Unpack", fold_unpack},
      {"Concat", fold_concat},   {"ConcatV2", fold_concat_v2},
      {"Tile", fold_tile},       {"StridedSlice", fold_strided_slice},
      {"Slice", fold_slice},     {"Gather", fold_gather},
      {"GatherV2", fold_gather}, {"Range", fold_range},
      {"Fill", fold_fill},       {"ZerosLike", fold_zeros},
      {"OnesLike", fold_ones},   {"Add", fold_binary<add>},
      {"AddV2", fold_binary<add>},
      {"Sub", fold_binary<sub>}, {"Mul", fold_binary<mul>},
      {"FloorDiv", fold_binary<floor_div>},
      {"FloorMod", fold_binary<floor_mod>},
      {"Maximum", fold_binary<larger>},
      {"Minimum", fold_binary<smaller>},
      {"Greater", fold_binary<greater>},
      {"GreaterEqual", fold_binary<greater_equal>},
      {"Less", fold_binary<less>},
      {"LessEqual", fold_binary<less_equal>},
      {"Equal", fold_binary<equal>},
      {"NotEqual", fold_binary<not_equal>},
      {"Select", fold_select},   {"SelectV2", fold_select},
      {"Neg", fold_neg},         {"Prod", fold_prod},
      {"Sum", fold_sum},         {"Max", fold_extreme<larger>},
      {"Min", fold_extreme<smaller>},
  };
  const auto it = kRules.find(op);
  return it == kRules.end() ? nullptr : it->second;
}

}  // namespace emplace
