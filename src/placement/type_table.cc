#include "placement/type_table.h"

#include <algorithm>

namespace emplace::placement {
namespace {

bool prioritised(const std::vector<RankedType>& set) {
  return std::ranges::any_of(set, [](const RankedType& t) { return t.priority != 0; });
}

bool same_order(const std::vector<RankedType>& a, const std::vector<RankedType>& b) {
  return std::ranges::equal(a, b, {}, &RankedType::type, &RankedType::type);
}

}  // namespace

bool TypeTable::is_xla(std::string_view type) { return type.starts_with("XLA_") || type == "TPU"; }

TypeTable::TypeTable(std::span<const DeviceInfo> devices) {
  std::vector<RankedType> present;
  for (const DeviceInfo& d : devices) {
    if (type_by_name_.contains(d.type)) continue;
    present.push_back({add_type(d.type, d.priority, true), 0});
  }
  all_ = intern(std::move(present));
}

int TypeTable::add_type(std::string_view name, int priority, bool present) {
  const int id = static_cast<int>(types_.size());
  types_.push_back({std::string(name), priority, present});
  has_xla_ = has_xla_ || is_xla(name);
  type_by_name_.emplace(name, id);
  return id;
}

int TypeTable::type(std::string_view name) {
  if (auto found = type_by_name_.find(name); found != type_by_name_.end()) return found->second;
  return add_type(name, device_type_priority(name), false);
}

bool TypeTable::before(const RankedType& a, const RankedType& b) const {
  if (a.priority != b.priority) return a.priority > b.priority;
  const Type &x = types_[a.type], &y = types_[b.type];
  return x.priority != y.priority ? x.priority > y.priority : x.name < y.name;
}

int TypeTable::intern(std::vector<RankedType> types) {
  if (types.empty()) return kNone;
  std::ranges::sort(types, [&](const auto& a, const auto& b) { return before(a, b); });
  const auto [at, fresh] = set_by_value_.try_emplace(types, static_cast<int>(sets_.size()));
  if (fresh) sets_.push_back(std::move(types));
  return at->second;
}

int TypeTable::intern(std::span<const Support> types) {
  std::vector<RankedType> set;
  for (const Support& s : types) {
    const int id = type(s.type);
    const bool twice = std::ranges::any_of(set, [&](const auto& t) { return t.type == id; });
    if (types_[id].present && !twice) set.push_back({id, s.priority});
  }
  return intern(std::move(set));
}

int TypeTable::single(std::string_view name) {
  return intern(std::vector{RankedType{type(name), 0}});
}

bool TypeTable::contains(int set, int type) const {
  return set != kNone &&
         std::ranges::any_of(sets_[set], [&](const auto& t) { return t.type == type; });
}

int TypeTable::intersect(int a, int b) {
  if (a == b) return a;
  if (a == kNone || b == kNone) return kNone;
  const uint64_t key = uint64_t(a) << 32 | uint64_t(b);
  if (auto found = intersections_.find(key); found != intersections_.end()) return found->second;
  return intersections_[key] = combine(a, b);
}

int TypeTable::combine(int a, int b) {
  std::vector<RankedType> ours, theirs;
  std::ranges::copy_if(sets_[a], std::back_inserter(ours),
                       [&](const auto& t) { return contains(b, t.type); });
  std::ranges::copy_if(sets_[b], std::back_inserter(theirs),
                       [&](const auto& t) { return contains(a, t.type); });
  if (!prioritised(theirs)) return intern(std::move(ours));
  if (!prioritised(ours)) return intern(std::move(theirs));
  if (!same_order(ours, theirs)) {
    for (RankedType& t : ours) t.priority = 0;
  }
  return intern(std::move(ours));
}

int TypeTable::without_xla(int set) {
  std::vector<RankedType> rest;
  std::ranges::copy_if(sets_[set], std::back_inserter(rest),
                       [&](const auto& t) { return !is_xla(types_[t.type].name); });
  if (rest.empty() || rest.size() == sets_[set].size()) return set;
  return intern(std::move(rest));
}

int TypeTable::only(int set, std::string_view name) {
  std::vector<RankedType> rest;
  std::ranges::copy_if(sets_[set], std::back_inserter(rest),
                       [&](const auto& t) { return types_[t.type].name == name; });
  return intern(std::move(rest));
}

std::string TypeTable::list(int set, std::string_view separator) const {
  std::string out;
  if (set == kNone) return out;
  for (const RankedType& t : sets_[set]) {
    if (!out.empty()) out += separator;
    out += types_[t.type].name;
  }
  return out;
}

}  // namespace emplace::placement
