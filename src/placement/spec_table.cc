#include "placement/spec_table.h"

#include "emplace/error.h"

namespace emplace::placement {
namespace {

template <class T>
bool agree(const std::optional<T>& a, const std::optional<T>& b) {
  return !a || !b || *a == *b;
}

template <class T>
void take(std::optional<T>& to, const std::optional<T>& from) {
  if (from) to = from;
}

}  // namespace

int SpecTable::parse(std::string_view text) {
  if (text.empty()) return kAny;
  if (auto found = by_text_.find(text); found != by_text_.end()) return found->second;
  const auto name = DeviceName::try_parse(text);
  const int spec = name ? intern(*name) : kBad;
  by_text_.emplace(text, spec);
  return spec;
}

int SpecTable::intern(const DeviceName& name) {
  const auto [at, fresh] = by_name_.try_emplace(name.to_string(), static_cast<int>(specs_.size()));
  if (fresh) specs_.push_back(name);
  return at->second;
}

int SpecTable::merge(int a, int b, bool soft) {
  if (b == kAny || a == b) return a;
  if (a == kAny) return b;
  const uint64_t key = uint64_t(a) << 33 | uint64_t(b) << 1 | uint64_t(soft);
  if (auto found = merged_.find(key); found != merged_.end()) return found->second;
  int result = kBad;
  try {
    DeviceName name = specs_[a];
    name.merge(specs_[b], soft ? OnConflict::kSoften : OnConflict::kFail);
    result = intern(name);
  } catch (const Error&) {
  }
  merged_.emplace(key, result);
  return result;
}

int SpecTable::imprint(int a, int b) {
  if (b == kAny || a == b) return a;
  if (a == kAny) return b;
  DeviceName name = specs_[a];
  const DeviceName& from = specs_[b];
  take(name.job, from.job);
  take(name.replica, from.replica);
  take(name.task, from.task);
  take(name.type, from.type);
  take(name.id, from.id);
  return intern(name);
}

int SpecTable::without_device(int spec, bool keep_type, bool keep_id) {
  DeviceName name = specs_[spec];
  if (!keep_type) name.type.reset();
  if (!keep_id) name.id.reset();
  return intern(name);
}

bool SpecTable::compatible(int a, int b) const {
  if (a == kAny || b == kAny || a == b) return true;
  const DeviceName &x = specs_[a], &y = specs_[b];
  return agree(x.job, y.job) && agree(x.replica, y.replica) && agree(x.task, y.task) &&
         agree(x.type, y.type) && agree(x.id, y.id);
}

std::string SpecTable::conflict(int a, int b) const {
  try {
    DeviceName name = specs_[a];
    name.merge(specs_[b]);
  } catch (const Error& e) {
    return e.message();
  }
  return {};
}

}  // namespace emplace::placement
