#include "base/device_name.h"

#include <charconv>

#include "emplace/error.h"

namespace emplace {
namespace {

bool is_alpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return is_alpha(c) || is_digit(c) || c == '_'; }
char to_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool take_prefix(std::string_view& in, std::string_view prefix) {
  if (!in.starts_with(prefix)) return false;
  in.remove_prefix(prefix.size());
  return true;
}

bool take_word(std::string_view& in, std::optional<std::string>& out) {
  if (in.empty() || !is_alpha(in.front())) return false;
  size_t n = 1;
  while (n < in.size() && is_word(in[n])) ++n;
  out.emplace(in.substr(0, n));
  in.remove_prefix(n);
  return true;
}

bool take_number(std::string_view& in, std::optional<int32_t>& out) {
  if (in.empty() || !is_digit(in.front())) return false;  // from_chars would take a minus sign
  int32_t value = 0;
  auto [end, failure] = std::from_chars(in.data(), in.data() + in.size(), value);
  if (failure != std::errc()) return false;  // does not fit
  in.remove_prefix(static_cast<size_t>(end - in.data()));
  out = value;
  return true;
}

// A value or `*`, which clears: of repeated parts the last wins.
bool take_word_or_star(std::string_view& in, std::optional<std::string>& out) {
  out.reset();
  return take_prefix(in, "*") || take_word(in, out);
}

bool take_number_or_star(std::string_view& in, std::optional<int32_t>& out) {
  out.reset();
  return take_prefix(in, "*") || take_number(in, out);
}

bool take_device(std::string_view& in, DeviceName& out) {
  if (!take_word_or_star(in, out.type)) return false;
  out.id.reset();
  return !take_prefix(in, ":") || take_number_or_star(in, out.id);
}

bool take_legacy(std::string_view& in, const char* type, DeviceName& out) {
  out.type = type;
  return take_number_or_star(in, out.id);
}

bool take_part(std::string_view& in, DeviceName& out) {
  if (take_prefix(in, "/job:")) return take_word_or_star(in, out.job);
  if (take_prefix(in, "/replica:")) return take_number_or_star(in, out.replica);
  if (take_prefix(in, "/task:")) return take_number_or_star(in, out.task);
  if (take_prefix(in, "/device:")) return take_device(in, out);
  if (take_prefix(in, "/cpu:") || take_prefix(in, "/CPU:")) return take_legacy(in, "CPU", out);
  if (take_prefix(in, "/gpu:") || take_prefix(in, "/GPU:")) return take_legacy(in, "GPU", out);
  return false;
}

void append_number(std::string& to, const std::optional<int32_t>& n) {
  if (!n) {
    to += '*';
    return;
  }
  char digits[12];
  to.append(digits, std::to_chars(digits, digits + sizeof digits, *n).ptr);
}

void append_task(std::string& to, const DeviceName& name) {
  if (name.job) to.append("/job:").append(*name.job);
  if (name.replica) append_number(to += "/replica:", name.replica);
  if (name.task) append_number(to += "/task:", name.task);
}

[[noreturn]] void fail_merge(const char* what, const DeviceName& a, const DeviceName& b) {
  throw invalid_argument(std::string("Cannot merge devices with incompatible ") + what + ": '" +
                         a.to_string() + "' and '" + b.to_string() + "'");
}

template <typename T>
bool differ(const std::optional<T>& a, const std::optional<T>& b) {
  return a && b && *a != *b;
}

template <typename T>
void fill(std::optional<T>& target, const std::optional<T>& from) {
  if (!target && from) target = from;
}

template <typename T>
bool covers(const std::optional<T>& less, const std::optional<T>& more) {
  return !less || less == more;
}

DeviceName parse_base(std::string_view base) {
  auto parsed = DeviceName::try_parse(base);
  if (!parsed) {
    throw invalid_argument("Could not parse basename: " + std::string(base) +
                           " into a device specification.");
  }
  if (!parsed->has_full_task()) {
    throw invalid_argument("Basename: " + std::string(base) + " should be fully specified.");
  }
  return *std::move(parsed);
}

}  // namespace

DeviceName DeviceName::of_task(std::string job, int32_t replica, int32_t task) {
  DeviceName name;
  name.job = std::move(job);
  name.replica = replica;
  name.task = task;
  return name;
}

std::optional<DeviceName> DeviceName::try_parse(std::string_view text) {
  std::optional<DeviceName> name(std::in_place);
  if (text == "/") return name;
  while (!text.empty()) {
    if (!take_part(text, *name)) return std::nullopt;
  }
  return name;
}

std::optional<DeviceName> DeviceName::try_parse_local(std::string_view text) {
  std::optional<DeviceName> name(std::in_place);
  const bool ok = take_word(text, name->type) && take_prefix(text, ":") &&
                  take_number(text, name->id) && text.empty();
  if (!ok) name.reset();
  return name;
}

DeviceName DeviceName::parse(std::string_view text) {
  auto name = try_parse(text);
  if (!name) {
    name = try_parse_local(text);
    // As "/gpu:1" is; other types are as they are written.
    if (name && name->type == "gpu") name->type = "GPU";
    if (name && name->type == "cpu") name->type = "CPU";
  }
  if (!name) {
    throw invalid_argument("Malformed device specification '" + std::string(text) + "'");
  }
  return *std::move(name);
}

std::string DeviceName::to_string() const {
  std::string out;
  append_task(out, *this);
  if (type || id) out.append("/device:").append(local_name());
  return out;
}

std::string DeviceName::legacy_name() const {
  std::string out;
  append_task(out, *this);
  if (!type && !id) return out;
  out += '/';
  for (char c : type ? std::string_view(*type) : "*") out += to_lower(c);
  append_number(out += ':', id);
  return out;
}

std::string DeviceName::local_name() const {
  std::string out(type ? std::string_view(*type) : "*");
  append_number(out += ':', id);
  return out;
}

std::string DeviceName::task_name() const {
  std::string out;
  append_task(out, *this);
  return out;
}

bool DeviceName::is_specification_of(const DeviceName& more) const {
  return covers(id, more.id) && covers(type, more.type) && covers(task, more.task) &&
         covers(replica, more.replica) && covers(job, more.job);
}

bool DeviceName::same_address_space(const DeviceName& other) const {
  return has_full_task() && other.has_full_task() && task == other.task &&
         replica == other.replica && job == other.job;
}

void DeviceName::merge(const DeviceName& other, OnConflict on_conflict) {
  const bool types_differ = differ(type, other.type);
  const bool ids_differ = differ(id, other.id);
  if (differ(job, other.job)) fail_merge("jobs", *this, other);
  if (differ(replica, other.replica)) fail_merge("replicas", *this, other);
  if (differ(task, other.task)) fail_merge("tasks", *this, other);
  if (on_conflict == OnConflict::kFail) {
    if (types_differ) fail_merge("types", *this, other);
    if (ids_differ) fail_merge("ids", *this, other);
  }
  fill(job, other.job);
  fill(replica, other.replica);
  fill(task, other.task);
  const bool override_conflicts = on_conflict == OnConflict::kOverride;
  if (types_differ && !override_conflicts) {
    type.reset();
    id.reset();  // an id means nothing without the type it was given for
    return;
  }
  if (other.type) type = other.type;
  if (ids_differ && !override_conflicts) {
    id.reset();
  } else if (other.id) {
    id = other.id;
  }
}

void DeviceName::merge_unset(const DeviceName& base) {
  fill(job, base.job);
  fill(replica, base.replica);
  fill(task, base.task);
  fill(type, base.type);
  fill(id, base.id);
}

std::string canonical_device_name(std::string_view name, std::string_view base) {
  const DeviceName parsed_base = parse_base(base);
  auto parsed = DeviceName::try_parse_local(name);
  if (!parsed) parsed = DeviceName::try_parse(name);
  if (!parsed) {
    throw invalid_argument("Could not parse " + std::string(name) +
                           " into a device specification.");
  }
  parsed->merge_unset(parsed_base);
  return parsed->to_string();
}

std::optional<std::pair<std::string, std::string>> split_device_name(std::string_view name) {
  const auto parsed = DeviceName::try_parse(name);
  if (!parsed || !parsed->type || !parsed->id) return std::nullopt;
  return std::pair(parsed->task_name(), parsed->local_name());
}

std::array<std::string, 2> names_for_device_mapping(const DeviceName& name) {
  return {name.to_string(), name.legacy_name()};
}

std::array<std::string, 2> local_names_for_device_mapping(const DeviceName& name) {
  return {"/device:" + name.local_name(), name.local_name()};
}

bool device_name_less(std::string_view a, std::string_view b) {
  const auto parsed_a = DeviceName::try_parse(a);
  const auto parsed_b = DeviceName::try_parse(b);
  if (parsed_a.has_value() != parsed_b.has_value()) return !parsed_a;
  return parsed_a ? *parsed_a < *parsed_b : a < b;
}

}  // namespace emplace
