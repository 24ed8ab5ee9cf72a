#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "placement/request.h"
#include "placement/spec_table.h"

namespace emplace::placement {

// A device type with the priority of the kernel that runs there.
struct RankedType {
  int type;
  int priority;
  auto operator<=>(const RankedType&) const = default;
};

// Sets of device types as small numbers, in order of preference: by kernel priority, then by the
// type's own, then by name. Intersections are computed once a pair. Not thread-safe.
class TypeTable {
 public:
  static constexpr int kNone = -1;  // the empty set

  explicit TypeTable(std::span<const DeviceInfo> devices);

  int type(std::string_view name);  // number of a device type, new if need be
  const std::string& name(int type) const { return types_[type].name; }
  std::span<const RankedType> operator[](int set) const { return sets_[set]; }

  int intern(std::vector<RankedType> types);   // kNone if empty
  int intern(std::span<const Support> types);  // those of which there are devices
  int all() const { return all_; }             // every type that has devices, no priorities
  int single(std::string_view type);
  bool contains(int set, int type) const;

  // What both support. Priorities: those of the side that has some; both: kept if they order the
  // types alike, else all zero. kNone if nothing is common.
  int intersect(int a, int b);
  // Types that compile whole graphs are never chosen unless asked for by name.
  static bool is_xla(std::string_view type);
  bool has_xla() const { return has_xla_; }
  int without_xla(int set);  // unless nothing else is left
  int only(int set, std::string_view type);

  std::string list(int set, std::string_view separator) const;  // "GPU, CPU"

 private:
  struct Type {
    std::string name;
    int priority;
    bool present;
  };
  bool before(const RankedType& a, const RankedType& b) const;
  int add_type(std::string_view name, int priority, bool present);
  int combine(int a, int b);

  std::vector<Type> types_;
  TextMap<int> type_by_name_;
  std::vector<std::vector<RankedType>> sets_;
  std::map<std::vector<RankedType>, int> set_by_value_;
  std::unordered_map<uint64_t, int> intersections_;
  int all_ = kNone;
  bool has_xla_ = false;
};

}  // namespace emplace::placement
