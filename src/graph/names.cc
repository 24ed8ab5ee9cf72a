#include "graph/names.h"

#include <fmt/format.h>

#include <algorithm>

#include "emplace/error.h"

namespace emplace {
namespace {

constexpr std::string_view kNodePattern = R"(^[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*$)";
constexpr std::string_view kScopePattern = R"(^[A-Za-z0-9_.\\/>-]*$)";

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

bool is_alnum(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool may_follow(char c) {
  return is_alnum(c) || c == '_' || c == '.' || c == '\\' || c == '/' || c == '>' || c == '-';
}

std::string numbered(std::string_view name, int number) { return fmt::format("{}_{}", name, number); }

}  // namespace

std::string NameTable::unique(std::string_view name, bool mark) {
  std::string key(name);
  std::ranges::transform(key, key.begin(), lower);
  const auto found = used_.find(key);
  if (found == used_.end()) {
    if (mark) used_.emplace(std::move(key), 1);
    return std::string(name);
  }
  int number = found->second;
  if (mark) ++found->second;  // the number to try next, whether or not this one is free
  std::string candidate = numbered(key, number);
  while (used_.contains(candidate)) candidate = numbered(key, ++number);
  if (mark) used_.emplace(std::move(candidate), 1);
  return numbered(name, number);
}

void NameTable::mark(std::string_view name) {
  std::string key(name);
  std::ranges::transform(key, key.begin(), lower);
  used_.emplace(std::move(key), 1);
}

bool is_valid_node_name(std::string_view name) {
  return !name.empty() && (is_alnum(name[0]) || name[0] == '.') && is_valid_scope_name(name);
}

bool is_valid_scope_name(std::string_view name) { return std::ranges::all_of(name, may_follow); }

void check_node_name(std::string_view name) {
  if (!is_valid_node_name(name))
    throw invalid_argument(fmt::format(
        "`{}` is not a valid node name. Accepted names conform to Regex /{}/", name, kNodePattern));
}

void check_scope_name(std::string_view name, bool at_root) {
  if (at_root && !is_valid_node_name(name))
    throw invalid_argument(fmt::format("'{}' is not a valid root scope name. A root scope name has "
                                       "to match the following pattern: {}",
                                       name, kNodePattern));
  if (!is_valid_scope_name(name))
    throw invalid_argument(fmt::format("'{}' is not a valid scope name. A scope name has to match "
                                       "the following pattern: {}",
                                       name, kScopePattern));
}

}  // namespace emplace
