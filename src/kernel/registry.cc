#include <algorithm>

#include <fmt/format.h>

#include "kernel/kernel.h"

namespace emplace {
namespace {

bool contains(const std::vector<DType>& allowed, DType t) {
  return std::find(allowed.begin(), allowed.end(), t) != allowed.end();
}

// A list(type) attribute meets a constraint when each of its dtypes does.
bool meets(const TypeConstraint& constraint, const AttrList& attrs) {
  const AttrValue* v = find_attr(attrs, constraint.attr);
  if (!v) return false;
  if (v->is<DType>()) return contains(constraint.allowed, v->as<DType>());
  if (!v->is<std::vector<DType>>()) return false;
  const auto& list = v->as<std::vector<DType>>();
  return std::all_of(list.begin(), list.end(),
                     [&](DType t) { return contains(constraint.allowed, t); });
}

bool meets(const KernelRow& row, const AttrList& attrs) {
  return std::all_of(row.types.begin(), row.types.end(),
                     [&](const TypeConstraint& t) { return meets(t, attrs); });
}

std::string type_list(const std::vector<DType>& types) {
  std::string text;
  for (DType t : types) text += fmt::format("{}{}", text.empty() ? "" : ", ", dtype_enum_name(t));
  return text;
}

}  // namespace

void KernelRegistry::add(KernelRow row) {
  auto& rows = rows_[row.op];
  rows.push_back(std::move(row));
}

const KernelRow* KernelRegistry::find(std::string_view op, std::string_view device_type,
                                      const AttrList& attrs) const {
  const KernelRow* best = nullptr;
  for (const KernelRow& row : rows(op)) {
    if (row.device_type != device_type || !row.label.empty()) continue;
    if (best && row.priority <= best->priority) continue;
    if (meets(row, attrs)) best = &row;
  }
  return best;
}

std::span<const KernelRow> KernelRegistry::rows(std::string_view op) const {
  auto it = rows_.find(op);
  return it == rows_.end() ? std::span<const KernelRow>{} : it->second;
}

std::vector<std::string> KernelRegistry::ops() const {
  std::vector<std::string> names;
  for (const auto& [name, rows] : rows_) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

std::string KernelRegistry::list(std::string_view op) const {
  std::string text;
  for (const KernelRow& row : rows(op)) {
    text += fmt::format("  device='{}'", row.device_type);
    if (!row.label.empty()) text += fmt::format("; label='{}'", row.label);
    for (const TypeConstraint& t : row.types)
      text += fmt::format("; {} in [{}]", t.attr, type_list(t.allowed));
    text += "\n";
  }
  return text.empty() ? "  <no registered kernels>\n" : text;
}

}  // namespace emplace
