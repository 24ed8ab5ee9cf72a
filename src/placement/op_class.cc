#include "placement/op_class.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "op/op_def.h"
#include "placement/context.h"

namespace emplace::placement {
namespace {

constexpr std::array kCalls = {"PartitionedCall", "StatefulPartitionedCall"};
// The branches and bodies of control flow are placed over all devices, like those of calls.
constexpr std::array kExempt = {
    "PartitionedCall", "StatefulPartitionedCall", "RemoteCall",       "IdentityN",
    "If",              "StatelessIf",             "While",            "StatelessWhile",
    "Case",            "StatelessCase",           "ReduceDataset",    "GeneratorDataset",
    "OneShotIterator", "DeleteMultiDeviceIterator"};
constexpr std::array kMetadata = {"Shape", "Size", "Rank"};

template <size_t N>
bool among(const std::array<const char*, N>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// "MapDataset", "BatchDatasetV2": one variant out, and the name says so.
bool is_dataset(const OpDef& op) {
  if (op.outputs.size() != 1 || op.outputs[0].type != DType::kVariant) return false;
  std::string_view name = op.name;
  while (!name.empty() && std::isdigit(static_cast<unsigned char>(name.back()))) {
    name.remove_suffix(1);
  }
  if (name.size() < op.name.size() && name.ends_with('V')) name.remove_suffix(1);
  return name.ends_with("Dataset");
}

bool takes_function(const OpDef& op) {
  return std::ranges::any_of(op.attrs, [](const AttrDef& a) { return a.type == AttrType::kFunc; });
}

OpClass::Elements elements_of(const Node& node) {
  const AttrValue* type = node.attr("element_dtype");
  if (!type || !type->is<DType>()) return OpClass::Elements::kUnknown;
  const DType t = type->as<DType>();
  const bool host = t == DType::kString || t == DType::kResource;
  return host ? OpClass::Elements::kHost : OpClass::Elements::kDevice;
}

void append_type(std::string& key, DType t) { key += static_cast<char>(t); }

}  // namespace

bool is_ref_input(const Node& node, int i) {
  // Before the first list, positions and arguments are the same.
  const auto& args = node.op().inputs;
  const auto list = std::ranges::find_if(args, &ArgDef::is_list);
  if (i < list - args.begin()) return args[i].is_ref;
  return input_refs(node.op(), node.attrs())[i];
}

void OpClasses::make_key(const Node& node) {
  const OpDef* op = &node.op();
  key_.assign(reinterpret_cast<const char*>(&op), sizeof op);
  for (const auto& [name, value] : node.attrs()) {
    if (value.is<DType>()) {
      append_type(key_, value.as<DType>());
    } else if (value.is<std::vector<DType>>()) {
      for (DType t : value.as<std::vector<DType>>()) append_type(key_, t);
      key_ += '\xff';
    } else if (name == "_kernel" && value.is<std::string>()) {
      key_ += '\xfe';
      key_ += value.as<std::string>();
    }
  }
}

int OpClasses::find(const Node& node) {
  make_key(node);
  if (auto found = by_key_.find(key_); found != by_key_.end()) return found->second;
  classes_.push_back(classify(node));
  const int id = static_cast<int>(classes_.size()) - 1;
  by_key_.emplace(key_, id);
  return id;
}

OpClass OpClasses::classify(const Node& node) const {
  const OpDef& op = node.op();
  const Kernels kernels = context_.oracle.kernels(node);
  OpClass c;
  c.types = kernels.any_type ? context_.types.all()
                             : context_.types.intern(std::span<const Support>(kernels.types));
  c.other_attrs = kernels.other_attrs;
  c.has_ref_inputs = std::ranges::any_of(op.inputs, &ArgDef::is_ref);
  c.calls = among(kCalls, op.name);
  c.dataset = is_dataset(op);
  c.exempt = among(kExempt, op.name) || (c.dataset && takes_function(op));
  c.metadata = among(kMetadata, op.name);
  c.identity = op.name == "Identity" || op.name == "RefIdentity";
  c.elements = elements_of(node);
  return c;
}

}  // namespace emplace::placement
