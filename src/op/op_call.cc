// Checks a call against its definition: which input belongs to which argument, what the
// attributes must be, which dtypes come out.
#include <fmt/format.h>

#include <algorithm>

#include "emplace/error.h"
#include "op/attr_check.h"
#include "op/op_def.h"

namespace emplace {
namespace {

using Types = std::span<const DType>;

// Outputs that one argument may stand for; more is a mistake that must not eat all memory.
constexpr int64_t kMaxListLength = (int64_t{1} << 20) - 1;

const AttrValue* find(const AttrList& attrs, std::string_view name) {
  for (const auto& [key, value] : attrs)
    if (key == name) return &value;
  return nullptr;
}

// The attribute that says how many tensors a list argument takes.
const std::string& length_attr(const ArgDef& arg) {
  return arg.number_attr.empty() ? arg.type_list_attr : arg.number_attr;
}

// Tensors that `arg` takes under `attrs`; nothing if they don't say yet.
std::optional<int64_t> length_of(const ArgDef& arg, const AttrList& attrs) {
  if (!arg.is_list()) return 1;
  const AttrValue* v = find(attrs, length_attr(arg));
  if (v == nullptr) return std::nullopt;
  if (const auto* n = std::get_if<int64_t>(&v->value())) return *n;
  if (const auto* types = std::get_if<std::vector<DType>>(&v->value()))
    return static_cast<int64_t>(types->size());
  return v->is_list() ? std::optional<int64_t>(0) : std::nullopt;  // an empty list of any kind
}

// One call being checked.
class Call {
 public:
  Call(const OpDef& op, Types inputs, AttrList attrs, std::string_view node, UnknownAttrs unknown)
      : op_(op), inputs_(inputs), attrs_(std::move(attrs)), node_(node), unknown_(unknown) {}

  AttrList completed() && {
    given_ = attrs_.size();
    check_given();
    infer_lengths();
    infer_types();
    fill_defaults();
    std::sort(attrs_.begin(), attrs_.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    refuse_twice();
    return std::move(attrs_);
  }

 private:
  void check_given();
  void refuse_twice() const;  // of attributes in order
  void infer_lengths();
  void infer_types();
  void fill_defaults();
  void take_single(const ArgDef& arg, DType type);
  void take_list(const ArgDef& arg, Types types);
  void set_inferred(const std::string& name, AttrValue value, const ArgDef& from);
  [[noreturn]] void fail_count() const;

  const OpDef& op_;
  Types inputs_;
  AttrList attrs_;
  std::string_view node_;
  const UnknownAttrs unknown_;
  int64_t open_length_ = 0;             // of the lists whose length the inputs tell
  size_t given_ = 0;                    // attributes before this one came from the caller
  std::vector<const ArgDef*> sources_;  // for the others: which argument said so
};

void Call::check_given() {
  for (auto& [name, value] : attrs_) {
    if (const AttrDef* def = op_.find_attr(name)) check_attr(op_, *def, value, node_);
    else if (unknown_ == UnknownAttrs::kRefused && !name.starts_with('_'))
      throw invalid_argument(fmt::format("NodeDef mentions attr '{}' not in {}{}", name,
                                         op_.summary(), node_clause(node_)));
  }
}

void Call::refuse_twice() const {
  const auto twice = std::ranges::adjacent_find(attrs_, {}, &AttrList::value_type::first);
  if (twice != attrs_.end())
    throw invalid_argument(fmt::format("NodeDef mentions attr '{}' twice; {}{}", twice->first,
                                       op_.summary(), node_clause(node_)));
}

void Call::set_inferred(const std::string& name, AttrValue value, const ArgDef& from) {
  const AttrDef* def = op_.find_attr(name);
  if (def != nullptr) check_attr(op_, *def, value, node_);
  attrs_.emplace_back(name, std::move(value));
  sources_.push_back(&from);
}

void Call::fail_count() const {
  std::vector<std::string> expected;
  for (const ArgDef& arg : op_.inputs) {
    const AttrValue* t = arg.type_attr.empty() ? nullptr : find(attrs_, arg.type_attr);
    std::string type = arg.type != DType::kInvalid ? std::string(dtype_proto_name(arg.type))
                       : t != nullptr              ? std::string(dtype_proto_name(t->as<DType>()))
                                                   : arg.type_attr + arg.type_list_attr;
    if (!arg.number_attr.empty()) type = arg.number_attr + "*" + type;
    expected.push_back(std::move(type));
  }
  throw invalid_argument(fmt::format(
      "NodeDef expected inputs '{}' do not match {} inputs specified; {}{}",
      fmt::join(expected, ", "), inputs_.size(), op_.summary(), node_clause(node_)));
}

// At most one attribute of list lengths may be open: the inputs that are left over tell it.
void Call::infer_lengths() {
  int64_t fixed = 0, shares = 0;
  const ArgDef* open = nullptr;
  for (const ArgDef& arg : op_.inputs) {
    if (const auto n = length_of(arg, attrs_)) {
      if (*n < 0 || *n > static_cast<int64_t>(inputs_.size())) fail_count();
      fixed += *n;
      continue;
    }
    if (open != nullptr && length_attr(*open) != length_attr(arg))
      throw invalid_argument(fmt::format(
          "Op '{}' has several list arguments; attr '{}' must say the length of '{}'", op_.name,
          length_attr(arg), arg.name));
    open = &arg;
    ++shares;
  }
  const int64_t left = static_cast<int64_t>(inputs_.size()) - fixed;
  if (open == nullptr ? left != 0 : left < 0 || left % shares != 0) fail_count();
  if (open == nullptr) return;
  const int64_t length = open_length_ = left / shares;
  const AttrDef* def = op_.find_attr(length_attr(*open));
  if (def != nullptr && def->minimum && length < *def->minimum)
    throw invalid_argument(
        fmt::format("List argument '{}' to '{}' Op with length {} shorter than minimum length {}.",
                    open->name, op_.name, length, *def->minimum));
  if (!open->number_attr.empty()) set_inferred(open->number_attr, length, *open);
}

void Call::infer_types() {
  size_t at = 0;
  for (const ArgDef& arg : op_.inputs) {
    const auto length = length_of(arg, attrs_);
    const auto n = static_cast<size_t>(length.value_or(open_length_));
    const Types types = inputs_.subspan(at, n);
    at += n;
    if (arg.is_list()) take_list(arg, types);
    else take_single(arg, types[0]);
  }
}

void Call::take_single(const ArgDef& arg, DType type) {
  const auto mismatch = [&](std::string_view why) {
    return invalid_argument(fmt::format("Input '{}' of '{}' Op has type {} that does not match {}.",
                                        arg.name, op_.name, dtype_name(type), why));
  };
  if (arg.type != DType::kInvalid) {
    if (type != arg.type)
      throw mismatch(fmt::format("expected type of {}", dtype_name(arg.type)));
    return;
  }
  for (size_t i = 0; i < attrs_.size(); ++i) {
    if (attrs_[i].first != arg.type_attr) continue;
    const DType known = attrs_[i].second.as<DType>();
    if (known == type) return;
    if (i < given_) throw mismatch(fmt::format("expected type of {}", dtype_name(known)));
    throw mismatch(fmt::format("type {} of argument '{}'", dtype_name(known),
                               sources_[i - given_]->name));
  }
  set_inferred(arg.type_attr, type, arg);
}

void Call::take_list(const ArgDef& arg, Types types) {
  if (!arg.type_list_attr.empty()) {
    const AttrValue* known = find(attrs_, arg.type_list_attr);
    if (known == nullptr) {
      set_inferred(arg.type_list_attr, std::vector<DType>(types.begin(), types.end()), arg);
    } else if (!types.empty() && !std::ranges::equal(known->as<std::vector<DType>>(), types)) {
      throw invalid_argument(
          fmt::format("Tensors passed to '{}' of '{}' Op have types that do not match attr '{}' {}",
                      arg.name, op_.name, arg.type_list_attr, known->str()));
    }
    return;
  }
  DType expected = arg.type;
  if (const AttrValue* known = find(attrs_, arg.type_attr)) expected = known->as<DType>();
  const bool alike = std::ranges::all_of(types, [&](DType t) { return t == types[0]; });
  if (!alike || (expected != DType::kInvalid && !types.empty() && types[0] != expected)) {
    std::vector<std::string_view> names;
    for (DType t : types) names.push_back(dtype_name(t));
    const std::string why = alike ? fmt::format("do not match expected type {}",
                                                dtype_name(expected))
                                  : "don't all match";
    throw invalid_argument(fmt::format("Tensors in list passed to '{}' of '{}' Op have types [{}] "
                                       "that {}.",
                                       arg.name, op_.name, fmt::join(names, ", "), why));
  }
  if (expected == DType::kInvalid && !types.empty()) set_inferred(arg.type_attr, types[0], arg);
}

void Call::fill_defaults() {
  for (const AttrDef& def : op_.attrs) {
    if (find(attrs_, def.name) != nullptr) continue;
    if (!def.default_value.is_set())
      throw invalid_argument(fmt::format("NodeDef missing attr '{}' from {}{}", def.name,
                                         op_.summary(), node_clause(node_)));
    attrs_.emplace_back(def.name, def.default_value);
  }
}

void append_types(std::vector<DType>& out, const ArgDef& arg, const AttrList& attrs) {
  if (!arg.type_list_attr.empty()) {
    const auto& types = find(attrs, arg.type_list_attr)->as<std::vector<DType>>();
    out.insert(out.end(), types.begin(), types.end());
    return;
  }
  const DType type =
      arg.type != DType::kInvalid ? arg.type : find(attrs, arg.type_attr)->as<DType>();
  const int64_t n = arg.number_attr.empty() ? 1 : find(attrs, arg.number_attr)->as<int64_t>();
  if (n < 0 || n > kMaxListLength)
    throw invalid_argument(fmt::format("Length {} of argument '{}' (attr '{}') is out of range", n,
                                       arg.name, arg.number_attr));
  out.insert(out.end(), static_cast<size_t>(n), type);
}

std::vector<DType> flat_types(const std::vector<ArgDef>& args, const AttrList& attrs) {
  std::vector<DType> out;
  out.reserve(args.size());
  for (const ArgDef& arg : args) append_types(out, arg, attrs);
  return out;
}

ArgRange range_of(const std::vector<ArgDef>& args, const AttrList& attrs, int index) {
  int begin = 0;
  for (int i = 0; i < index; ++i)
    begin += static_cast<int>(length_of(args[static_cast<size_t>(i)], attrs).value_or(0));
  const auto n = length_of(args[static_cast<size_t>(index)], attrs).value_or(0);
  return {begin, begin + static_cast<int>(n)};
}

std::vector<bool> flat_refs(const std::vector<ArgDef>& args, const AttrList& attrs) {
  std::vector<bool> out;
  for (const ArgDef& arg : args)
    out.insert(out.end(), static_cast<size_t>(length_of(arg, attrs).value_or(0)), arg.is_ref);
  return out;
}

}  // namespace

AttrList complete_attrs(const OpDef& op, std::span<const DType> input_types, AttrList attrs,
                        std::string_view node) {
  return complete_attrs(op, input_types, std::move(attrs), node, UnknownAttrs::kRefused);
}
AttrList complete_attrs(const OpDef& op, std::span<const DType> input_types, AttrList attrs,
                        std::string_view node, UnknownAttrs unknown) {
  return Call(op, input_types, std::move(attrs), node, unknown).completed();
}

std::vector<DType> input_types(const OpDef& op, const AttrList& attrs) {
  return flat_types(op.inputs, attrs);
}
std::vector<DType> output_types(const OpDef& op, const AttrList& attrs) {
  return flat_types(op.outputs, attrs);
}
ArgRange input_range(const OpDef& op, const AttrList& attrs, int arg) {
  return range_of(op.inputs, attrs, arg);
}
ArgRange output_range(const OpDef& op, const AttrList& attrs, int arg) {
  return range_of(op.outputs, attrs, arg);
}
std::vector<bool> input_refs(const OpDef& op, const AttrList& attrs) {
  return flat_refs(op.inputs, attrs);
}
std::vector<bool> output_refs(const OpDef& op, const AttrList& attrs) {
  return flat_refs(op.outputs, attrs);
}

}  // namespace emplace
