#include "graph/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "emplace/error.h"
#include "emplace/graph.h"

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

void append_number(std::string& name, uint32_t number) {
  char digits[12];
  const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  name += '_';
  name.append(digits, end);
}

uint64_t hash_any_case(std::string_view name) {
  uint64_t h = 0xcbf29ce484222325u;
  for (char c : name) h = (h ^ static_cast<unsigned char>(lower(c))) * 0x100000001b3u;
  h ^= h >> 29;
  return h == 0 ? 1 : h;
}

bool same_any_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace

NameTable::Entry* NameTable::find_any_case(std::string_view name, uint64_t hash) const {
  if (slots_.empty()) return nullptr;
  const size_t mask = slots_.size() - 1;
  for (size_t i = hash & mask; slots_[i].hash != 0; i = (i + 1) & mask)
    if (slots_[i].hash == hash && same_any_case(slots_[i].name, name)) return &slots_[i];
  return nullptr;
}

Node* NameTable::find(std::string_view name) const {
  if (slots_.empty()) return nullptr;
  const uint64_t hash = hash_any_case(name);
  const size_t mask = slots_.size() - 1;
  for (size_t i = hash & mask; slots_[i].hash != 0; i = (i + 1) & mask)
    if (slots_[i].hash == hash && slots_[i].node != nullptr && slots_[i].name == name)
      return slots_[i].node;
  return nullptr;
}

bool NameTable::is_taken(std::string_view name) const {
  return find_any_case(name, hash_any_case(name)) != nullptr;
}

void NameTable::drop(const std::function<bool(const Node*)>& gone) {
  std::vector<Entry> old(slots_.size());
  old.swap(slots_);
  used_ = 0;
  for (const Entry& e : old)
    if (e.hash != 0 && (e.node == nullptr || !gone(e.node))) {
      Entry& kept = insert(e.name, e.hash);
      kept.node = e.node;
      kept.next_number = e.next_number;
    }
}

void NameTable::grow() {
  std::vector<Entry> old(slots_.empty() ? 64 : slots_.size() * 2);
  old.swap(slots_);
  const size_t mask = slots_.size() - 1;
  for (Entry& e : old) {
    if (e.hash == 0) continue;
    size_t i = e.hash & mask;
    while (slots_[i].hash != 0) i = (i + 1) & mask;
    slots_[i] = e;
  }
}

NameTable::Entry& NameTable::insert(std::string_view name, uint64_t hash) {
  if (2 * (used_ + 1) > slots_.size()) grow();
  ++used_;
  const size_t mask = slots_.size() - 1;
  size_t i = hash & mask;
  while (slots_[i].hash != 0) i = (i + 1) & mask;
  slots_[i].hash = hash;
  slots_[i].name = name;
  return slots_[i];
}

std::string NameTable::unique(std::string_view name) const {
  const Entry* taken = find_any_case(name, hash_any_case(name));
  std::string out(name);
  if (taken == nullptr) return out;
  for (uint32_t number = taken->next_number;; ++number) {
    append_number(out, number);
    if (find_any_case(out, hash_any_case(out)) == nullptr) return out;
    out.resize(name.size());
  }
}

void NameTable::take(std::string_view asked, std::string_view given) {
  Entry* base = find_any_case(asked, hash_any_case(asked));
  if (base != nullptr && asked != given) ++base->next_number;  // whether or not that one was free
  const uint64_t hash = hash_any_case(given);
  if (find_any_case(given, hash) == nullptr) insert(owned_.emplace_back(given), hash);
}

void NameTable::take(std::string_view asked, Node* node) {
  const std::string_view given = node->name();
  if (asked != given)
    if (Entry* base = find_any_case(asked, hash_any_case(asked))) ++base->next_number;
  const uint64_t hash = hash_any_case(given);
  Entry* same = find_any_case(given, hash);
  if (same != nullptr && same->node == nullptr && same->name == given) same->node = node;
  else insert(given, hash).node = node;
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
