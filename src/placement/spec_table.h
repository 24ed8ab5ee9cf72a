#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/device_name.h"

namespace emplace::placement {

// Hashing of strings that may be looked up by view.
struct TextHash {
  using is_transparent = void;
  size_t operator()(std::string_view s) const { return std::hash<std::string_view>()(s); }
};
template <class Value>
using TextMap = std::unordered_map<std::string, Value, TextHash, std::equal_to<>>;

// Partial device names as small numbers: each spelling is parsed once, each pair merged once, so
// that a group's constraints are three integers. Not thread-safe.
class SpecTable {
 public:
  static constexpr int kAny = 0;   // the empty name
  static constexpr int kBad = -1;  // malformed, or two names that contradict each other

  SpecTable() { intern({}); }
  const DeviceName& operator[](int spec) const { return specs_[spec]; }

  int parse(std::string_view text);  // kBad if malformed
  int intern(const DeviceName& name);
  // Both wishes in one name; kBad if they contradict each other. With `soft` a contradiction about
  // type or id drops that part.
  int merge(int a, int b, bool soft);
  // `a`, with every part that `b` has taken from `b`.
  int imprint(int a, int b);
  int without_device(int spec, bool keep_type, bool keep_id);
  bool compatible(int a, int b) const;
  std::string conflict(int a, int b) const;  // why merge(a, b, false) is kBad

 private:
  std::deque<DeviceName> specs_;  // addresses stay
  TextMap<int> by_name_, by_text_;
  std::unordered_map<uint64_t, int> merged_;
};

}  // namespace emplace::placement
