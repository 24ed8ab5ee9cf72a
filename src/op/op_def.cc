#include "op/op_def.h"

#include <fmt/format.h>

#include <algorithm>

#include "emplace/error.h"

namespace emplace {
namespace {

int index_of(const std::vector<ArgDef>& args, std::string_view name) {
  for (size_t i = 0; i < args.size(); ++i)
    if (args[i].name == name) return static_cast<int>(i);
  return -1;
}

std::string type_text(const ArgDef& arg) {
  std::string type = arg.type != DType::kInvalid ? std::string(dtype_proto_name(arg.type))
                     : arg.type_attr.empty()     ? arg.type_list_attr
                                                 : arg.type_attr;
  if (!arg.number_attr.empty()) type = arg.number_attr + "*" + type;
  return arg.is_ref ? "Ref(" + type + ")" : type;
}

std::string args_text(const std::vector<ArgDef>& args) {
  std::vector<std::string> parts;
  for (const ArgDef& arg : args) parts.push_back(arg.name + ":" + type_text(arg));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string allowed_text(const AttrDef& attr) {
  std::vector<std::string> parts;
  for (DType t : attr.allowed_types) parts.emplace_back(dtype_enum_name(t));
  for (const std::string& s : attr.allowed_strings) parts.push_back('"' + s + '"');
  return fmt::format(",allowed=[{}]", fmt::join(parts, ", "));
}

std::string attr_text(const AttrDef& attr) {
  std::string out = fmt::format("; attr={}:{}", attr.name, attr_type_name(attr.type, attr.is_list));
  if (attr.default_value.is_set()) out += ",default=" + attr.default_value.str();
  if (attr.minimum) out += fmt::format(",min={}", *attr.minimum);
  if (!attr.allowed_types.empty() || !attr.allowed_strings.empty()) out += allowed_text(attr);
  return out;
}

}  // namespace

const AttrDef* OpDef::find_attr(std::string_view attr) const {
  for (const AttrDef& a : attrs)
    if (a.name == attr) return &a;
  return nullptr;
}

int OpDef::input_index(std::string_view arg) const { return index_of(inputs, arg); }
int OpDef::output_index(std::string_view arg) const { return index_of(outputs, arg); }

std::string OpDef::summary() const {
  std::string out = fmt::format("Op<name={}; signature={} -> {}", name, args_text(inputs),
                                args_text(outputs));
  for (const AttrDef& attr : attrs) out += attr_text(attr);
  if (commutative) out += "; is_commutative=true";
  if (aggregate) out += "; is_aggregate=true";
  if (stateful) out += "; is_stateful=true";
  if (allows_uninitialized_input) out += "; allows_uninitialized_input=true";
  return out + ">";
}

std::string attr_type_name(AttrType type, bool is_list) {
  static constexpr std::string_view kNames[] = {"string", "int",   "float",  "bool",
                                                "type",   "shape", "tensor", "func"};
  const std::string_view name = kNames[static_cast<size_t>(type)];
  return is_list ? fmt::format("list({})", name) : std::string(name);
}

void OpRegistry::add(OpDef def) {
  if (find(def.name) != nullptr)
    throw already_exists(fmt::format("Op with name {} is registered twice", def.name));
  auto row = std::make_unique<OpDef>(std::move(def));
  const OpDef* op = row.get();
  defs_.emplace(op->name, std::move(row));
  index_.emplace(op->name, op);
}

void OpRegistry::add(std::span<const OpRow> rows) {
  for (const OpRow& row : rows) {
    OpDef def = parse_signature(row.signature);
    def.shape_rule = row.shape_rule;
    def.cost_rule = row.cost_rule;
    if (row.doc != nullptr) def.doc = row.doc;
    add(std::move(def));
  }
}

const OpDef* OpRegistry::find(std::string_view name) const {
  const auto it = index_.find(name);
  return it == index_.end() ? nullptr : it->second;
}

const OpDef& OpRegistry::get(std::string_view name) const {
  if (const OpDef* op = find(name)) return *op;
  throw not_found(fmt::format("Op type not registered '{}'", name));
}

std::vector<const OpDef*> OpRegistry::all() const {
  std::vector<const OpDef*> out;
  for (const auto& [name, op] : index_) out.push_back(op);
  std::sort(out.begin(), out.end(), [](auto* a, auto* b) { return a->name < b->name; });
  return out;
}

}  // namespace emplace
