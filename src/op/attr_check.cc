#include "op/attr_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "emplace/error.h"

namespace emplace {
namespace {

// Index of a kind among the alternatives of AttrValue::Value (scalars come first, then lists).
size_t alternative(const AttrDef& def) {
  return 1 + static_cast<size_t>(def.type) + (def.is_list ? 8u : 0u);
}

std::string kind_name(const AttrValue& value) {
  const size_t i = value.value().index();
  if (i == 0) return "unset";
  return attr_type_name(static_cast<AttrType>((i - 1) % 8), i > 8);
}

bool is_empty_list(const AttrValue& value) {
  return value.is_list() && std::visit(
                                [](const auto& v) {
                                  if constexpr (requires { v.empty(); }) return v.empty();
                                  return false;
                                },
                                value.value());
}

AttrValue empty_list(AttrType type) {
  switch (type) {
    case AttrType::kString: return std::vector<std::string>{};
    case AttrType::kInt: return std::vector<int64_t>{};
    case AttrType::kFloat: return std::vector<float>{};
    case AttrType::kBool: return std::vector<bool>{};
    case AttrType::kType: return std::vector<DType>{};
    case AttrType::kShape: return std::vector<Shape>{};
    case AttrType::kTensor: return std::vector<Tensor>{};
    case AttrType::kFunc: return std::vector<FunctionName>{};
  }
  return {};
}

void convert(const AttrDef& def, AttrValue& value) {
  if (def.is_list && is_empty_list(value)) {
    value = empty_list(def.type);
  } else if (def.type == AttrType::kFloat && !def.is_list && value.is<int64_t>()) {
    value = static_cast<float>(value.as<int64_t>());
  } else if (def.type == AttrType::kFloat && def.is_list && value.is<std::vector<int64_t>>()) {
    const auto& ints = value.as<std::vector<int64_t>>();
    value = std::vector<float>(ints.begin(), ints.end());
  }
}

int64_t list_size(const AttrValue& value) {
  return std::visit(
      [](const auto& v) -> int64_t {
        if constexpr (requires { v.size(); }) return static_cast<int64_t>(v.size());
        return 0;
      },
      value.value());
}

std::string minimum_error(const AttrDef& def, const AttrValue& value) {
  if (!def.minimum) return {};
  if (def.is_list) {
    const int64_t n = list_size(value);
    if (n >= *def.minimum) return {};
    return fmt::format("Length for attr '{}' of {} must be at least minimum {}", def.name, n,
                       *def.minimum);
  }
  if (def.type != AttrType::kInt || value.as<int64_t>() >= *def.minimum) return {};
  return fmt::format("Value for attr '{}' of {} must be at least minimum {}", def.name,
                     value.as<int64_t>(), *def.minimum);
}

template <class T, class Text>
std::string allowed_error(const AttrDef& def, const std::vector<T>& allowed, const T& v, Text text) {
  if (allowed.empty() || std::ranges::find(allowed, v) != allowed.end()) return {};
  std::vector<std::string> names;
  for (const T& a : allowed) names.push_back(text(a));
  return fmt::format("Value for attr '{}' of {} is not in the list of allowed values: {}", def.name,
                     text(v), fmt::join(names, ", "));
}

std::string type_error(const AttrDef& def, DType t) {
  if (t == DType::kInvalid) return fmt::format("Invalid dtype for attr '{}'", def.name);
  return allowed_error(def, def.allowed_types, t,
                       [](DType a) { return std::string(dtype_proto_name(a)); });
}

std::string string_error(const AttrDef& def, const std::string& s) {
  return allowed_error(def, def.allowed_strings, s,
                       [](const std::string& a) { return '"' + a + '"'; });
}

std::string value_error(const AttrDef& def, const AttrValue& value) {
  std::string error;
  if (value.is<DType>()) error = type_error(def, value.as<DType>());
  if (value.is<std::string>()) error = string_error(def, value.as<std::string>());
  if (value.is<std::vector<DType>>())
    for (DType t : value.as<std::vector<DType>>())
      if (error.empty()) error = type_error(def, t);
  if (value.is<std::vector<std::string>>())
    for (const auto& s : value.as<std::vector<std::string>>())
      if (error.empty()) error = string_error(def, s);
  return error;
}

}  // namespace

std::string node_clause(std::string_view node) {
  return node.empty() ? std::string() : fmt::format("; NodeDef: {{{{node {}}}}}", node);
}

void check_attr(const OpDef& op, const AttrDef& def, AttrValue& value, std::string_view node) {
  if (value.value().index() != alternative(def)) convert(def, value);
  std::string error;
  if (value.value().index() != alternative(def))
    error = fmt::format("AttrValue had value with type '{}' when '{}' expected\n\t for attr '{}'",
                        kind_name(value), attr_type_name(def.type, def.is_list), def.name);
  if (error.empty()) error = minimum_error(def, value);
  if (error.empty()) error = value_error(def, value);
  if (error.empty()) return;
  throw invalid_argument(fmt::format("{}\n\t{}; {}", error, node_clause(node), op.summary()));
}

}  // namespace emplace
