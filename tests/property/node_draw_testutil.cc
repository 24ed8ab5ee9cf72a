#include "node_draw_testutil.h"

#include <algorithm>
#include <numeric>

#include "graph/removed_ops.h"
#include "op/op_def.h"
#include "session/runtime.h"

namespace emplace::testing {
namespace {

constexpr DType kTypes[] = {DType::kFloat,  DType::kFloat,    DType::kFloat,     DType::kInt32,
                            DType::kDouble, DType::kInt64,    DType::kBool,      DType::kHalf,
                            DType::kUint8,  DType::kBfloat16, DType::kComplex64, DType::kString};

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool holds(const std::vector<DType>& types, DType t) {
  return std::find(types.begin(), types.end(), t) != types.end();
}

// Arguments that say how many, where or which: small numbers.
const std::vector<std::string> kAxes = {"axis",         "dim",   "dimension", "reduction_indices",
                                        "split_dim",    "axes",  "concat_dim"};
const std::vector<std::string> kCounts = {
    "shape",    "dims",     "size",       "begin",   "end",      "strides",   "start",
    "limit",    "delta",    "stop",       "num",     "depth",    "indices",   "block_shape",
    "crops",    "paddings", "multiples",  "shift",   "k",        "num_rows",  "num_cols",
    "num_lower", "num_upper", "partitions", "seq_lengths", "size_splits", "lengths", "output_shape",
    "input_sizes", "s0", "s1"};

// Mean something together only: a loop's frame, a branch's two ends.
const std::vector<std::string> kFlow = {"Enter", "Exit", "NextIteration", "LoopCond", "Switch",
                                        "Merge"};

bool is_axis(const ArgDef& a) { return contains(kAxes, a.name); }

const Shape& shape_of(const Output& o) { return o.shape(); }

}  // namespace

bool NodeDraw::suits(const OpDef& op) {
  if (op.stateful || op.inputs.empty() || op.outputs.empty() || op.name[0] == '_') return false;
  if (contains(kFlow, op.name)) return false;
  if (op.name == "PartitionedCall") return false;
  for (const auto* args : {&op.inputs, &op.outputs})
    for (const ArgDef& a : *args)
      if (a.is_ref || a.type == DType::kResource || a.type == DType::kVariant) return false;
  return true;
}

bool NodeDraw::is_removed(const OpDef& op) {
  try {
    check_not_removed(op.name, GraphVersions{}.producer);
    return false;
  } catch (const Error&) {
    return true;
  }
}

Node* NodeDraw::draw(const OpDef& op, NodeOptions options) {
  if (const auto* calls = golden_calls(op.name); calls && r_.chance(50))
    return draw_like(r_.pick(*calls), std::move(options));
  attrs_.clear(), types_.clear(), numbers_.clear(), inputs_.clear();
  try {
    choose_attrs(op);
    for (const ArgDef& arg : op.inputs) {
      int count = 1;
      if (!arg.number_attr.empty())
        count = numbers_.try_emplace(arg.number_attr, r_.between(2, 3)).first->second;
      if (!arg.type_list_attr.empty()) count = r_.between(1, 3);
      for (int i = 0; i < count; ++i)
        inputs_.push_back(choose(
            op, arg,
            arg.type_list_attr.empty() ? type_of(op, arg) : r_.pick(pool).output.dtype()));
    }
    return add(op, std::move(options));
  } catch (const Error&) {
    return nullptr;  // this draw did not fit
  }
}

Node* NodeDraw::draw_like(const GoldenCall& call, NodeOptions options) {
  attrs_ = call.attrs, inputs_.clear();
  try {
    for (const Tensor& t : call.inputs) inputs_.push_back(input_like(t));
    return add(graph_.ops().get(call.op), std::move(options));
  } catch (const Error&) {
    return nullptr;  // as where the graph is too new for it
  }
}

// Without a kernel for these dtypes no session could place the graph any more.
Node* NodeDraw::add(const OpDef& op, NodeOptions options) {
  std::vector<DType> types;
  for (const Output& o : inputs_) types.push_back(o.dtype());
  if (!kernel_table({}).find(op.name, "CPU", complete_attrs(op, types, attrs_))) return nullptr;
  return graph_.add(op.name, inputs_, attrs_, std::move(options));
}

Output NodeDraw::input_like(const Tensor& value) {
  std::vector<Output> alike;
  for (const Known& k : pool)
    if (k.output.dtype() == value.dtype() && shape_of(k.output) == value.shape())
      alike.push_back(k.output);
  if (!alike.empty() && r_.chance(20)) return r_.pick(alike);
  const bool other = (is_floating(value.dtype()) || is_complex(value.dtype())) && r_.chance(15);
  const Tensor given = other ? random_tensor(r_, value.dtype(), value.shape()) : value;
  if (source) return source(given);
  return graph_.add("Const", {}, {{"value", given}, {"dtype", given.dtype()}})->output();
}

// Attributes that no input decides; those with a default are changed now and then.
void NodeDraw::choose_attrs(const OpDef& op) {
  for (const AttrDef& a : op.attrs) {
    bool from_inputs = false;
    for (const ArgDef& arg : op.inputs)
      from_inputs |= arg.type_attr == a.name || arg.number_attr == a.name ||
                     arg.type_list_attr == a.name;
    if (from_inputs || (a.default_value.is_set() && !r_.chance(25))) continue;
    if (AttrValue v = random_attr(a); v.is_set()) set_attr(attrs_, a.name, std::move(v));
  }
}

AttrValue NodeDraw::random_attr(const AttrDef& a) {
  switch (a.type) {
    case AttrType::kType: {
      DType t = r_.pick(kTypes);
      for (int i = 0; i < 20 && !a.allowed_types.empty() && !holds(a.allowed_types, t); ++i)
        t = r_.pick(kTypes);
      if (a.is_list) return std::vector<DType>{t};
      return t;
    }
    case AttrType::kBool:
      return a.is_list ? AttrValue() : AttrValue(r_.chance(50));
    case AttrType::kString:
      return a.allowed_strings.empty() || a.is_list ? AttrValue()
                                                    : AttrValue(r_.pick(a.allowed_strings));
    case AttrType::kInt:
      if (a.is_list) return AttrValue();
      return int64_t{r_.between(static_cast<int>(a.minimum.value_or(0)),
                                static_cast<int>(a.minimum.value_or(0)) + 2)};
    default:
      return AttrValue();
  }
}

DType NodeDraw::type_of(const OpDef& op, const ArgDef& arg) {
  if (arg.type != DType::kInvalid) return arg.type;
  if (const auto it = types_.find(arg.type_attr); it != types_.end()) return it->second;
  const AttrDef* a = op.find_attr(arg.type_attr);
  DType t = r_.chance(60) ? r_.pick(kTypes) : r_.pick(pool).output.dtype();
  for (int i = 0; i < 30 && !a->allowed_types.empty() && !holds(a->allowed_types, t); ++i)
    t = i < 20 ? r_.pick(kTypes) : r_.pick(a->allowed_types);
  return types_[arg.type_attr] = t;
}

Output NodeDraw::integers(DType dtype, std::vector<int64_t> values, bool scalar) {
  Tensor t(dtype, scalar ? Shape{} : Shape{static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i) {
    if (dtype == DType::kInt64) t.data<int64_t>()[i] = values[i];
    else t.data<int32_t>()[i] = static_cast<int32_t>(values[i]);
  }
  return graph_.add("Const", {}, {{"value", t}, {"dtype", dtype}})->output();
}

// A constant that makes sense beside the inputs chosen so far, for arguments that count or point.
std::optional<Output> NodeDraw::index_argument(const OpDef& op, const ArgDef& arg, DType dtype) {
  if (dtype != DType::kInt32 && dtype != DType::kInt64) return {};
  const Shape first = inputs_.empty() ? Shape::unknown() : shape_of(inputs_[0]);
  const int rank = first.has_rank() ? first.rank() : 1;
  if (is_axis(arg)) {
    const bool several = arg.name == "reduction_indices" ||
                         (arg.name == "axis" && op.name == "ReverseV2");
    const int64_t axis = rank == 0 ? 0 : r_.between(-rank, rank - 1);
    if (rank == 0 && several) return integers(dtype, {});
    return integers(dtype, {axis}, !several || r_.chance(40));
  }
  if (arg.name == "perm") {
    std::vector<int64_t> perm(static_cast<size_t>(rank));
    std::iota(perm.begin(), perm.end(), 0);
    for (size_t i = perm.size(); i > 1; --i) std::swap(perm[i - 1], perm[r_.below(i)]);
    return integers(dtype, perm);
  }
  if (op.name == "Reshape" && arg.name == "shape") {
    if (r_.chance(40) || !first.is_fully_known()) return integers(dtype, {-1});
    std::vector<int64_t> dims(first.begin(), first.end());
    std::reverse(dims.begin(), dims.end());
    if (r_.chance(50)) dims.push_back(1);
    return integers(dtype, dims);
  }
  if (arg.name == "multiples" || arg.name == "begin" || arg.name == "size") {
    std::vector<int64_t> v;
    for (int i = 0; i < rank; ++i) v.push_back(arg.name == "begin" ? 0 : r_.between(1, 2));
    return integers(dtype, v);
  }
  if (arg.name == "paddings") {
    const Tensor t = small_integers(r_, dtype, Shape{rank, 2}, 0, 1);
    return graph_.add("Const", {}, {{"value", t}, {"dtype", dtype}})->output();
  }
  if (!contains(kCounts, arg.name)) return {};
  const int length = r_.between(0, 3);
  const Tensor t = small_integers(r_, dtype, length == 0 ? Shape{} : Shape{length}, 0, 3);
  return graph_.add("Const", {}, {{"value", t}, {"dtype", dtype}})->output();
}

Output NodeDraw::choose(const OpDef& op, const ArgDef& arg, DType dtype) {
  if (auto index = index_argument(op, arg, dtype)) return *index;
  if (contains(kCounts, arg.name))  // of floats: Range, LinSpace
    return graph_.add("Const", {}, {{"value", random_tensor(r_, dtype, {})}, {"dtype", dtype}})
        ->output();
  std::vector<Output> fitting, same_shape;
  for (const Known& k : pool) {
    if (k.output.dtype() != dtype) continue;
    fitting.push_back(k.output);
    if (!inputs_.empty() && shape_of(k.output) == shape_of(inputs_[0]))
      same_shape.push_back(k.output);
  }
  if (!same_shape.empty() && r_.chance(70)) return r_.pick(same_shape);
  if (!fitting.empty() && r_.chance(90)) return r_.pick(fitting);
  const Shape shape = !inputs_.empty() && shape_of(inputs_[0]).is_fully_known() && r_.chance(70)
                          ? shape_of(inputs_[0])
                          : Shape{};
  return graph_.add("Const", {}, {{"value", random_tensor(r_, dtype, shape)}, {"dtype", dtype}})
      ->output();
}

}  // namespace emplace::testing
