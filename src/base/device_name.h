#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace emplace {

// What merge() does when two names disagree about the device type or id.
enum class OnConflict { kFail, kSoften, kOverride };

// A full or partial device name: a value, one optional per part; an absent part (or `*`) matches
// anything. Parsing allocates nothing beyond strings longer than the small-string buffer, since the
// placer parses one name a node.
//
// Spellings understood: `/job:J`, `/replica:N`, `/task:N`, `/device:TYPE[:N]` in any order, the
// last of a repeated part winning; the legacy `/cpu:N`, `/GPU:N` (normalised to upper case, while
// `/device:gpu:0` keeps its lower case and is another type); `/` or nothing for "anywhere".
struct DeviceName {
  std::optional<std::string> job;
  std::optional<int32_t> replica;
  std::optional<int32_t> task;
  std::optional<std::string> type;
  std::optional<int32_t> id;

  // The address of a task without a device; a convenience for those who build names.
  static DeviceName of_task(std::string job, int32_t replica, int32_t task);

  // Full or partial form. nullopt when malformed.
  static std::optional<DeviceName> try_parse(std::string_view text);
  // Local form only: `CPU:0`.
  static std::optional<DeviceName> try_parse_local(std::string_view text);
  // Either form; throws InvalidArgument `Malformed device specification '<text>'`.
  static DeviceName parse(std::string_view text);

  // `/job:x/replica:0/task:0/device:GPU:0`, set parts only; a type without id ends in `:*`.
  std::string to_string() const;
  // `/job:x/replica:0/task:0/gpu:0`: the spelling under which devices are registered a second time.
  std::string legacy_name() const;
  // `GPU:0` (`*` for what is unset).
  std::string local_name() const;
  // `/job:x/replica:0/task:0`, set parts only.
  std::string task_name() const;

  bool empty() const { return !job && !replica && !task && !type && !id; }
  // All five parts are set.
  bool is_complete() const { return has_full_task() && type && id; }
  bool has_full_task() const { return job && replica && task; }
  // Every part set here is set and equal in `more`: this is the less (or equally) specific name.
  bool is_specification_of(const DeviceName& more) const;
  bool same_address_space(const DeviceName& other) const;

  // Adds other's parts to this. A conflict of job, replica or task always throws InvalidArgument,
  // and leaves this as it was. A conflict of type or id: kFail throws; kSoften drops (type: both
  // type and id; id: the id); kOverride takes other's.
  void merge(const DeviceName& other, OnConflict on_conflict = OnConflict::kFail);
  void merge_override(const DeviceName& other) { merge(other, OnConflict::kOverride); }
  // Fills only what is unset here.
  void merge_unset(const DeviceName& base);

  // Unset parts sort before set ones; then job, replica, task, type, id.
  auto operator<=>(const DeviceName&) const = default;
};

// A device name as its owner spells it → its full name, unset parts taken from `base`, which must
// name job, replica and task. Accepts full, partial, legacy and local forms.
std::string canonical_device_name(std::string_view name, std::string_view base);

// `/job:a/replica:0/task:1/cpu:2` → {`/job:a/replica:0/task:1`, `CPU:2`}; nullopt unless the name
// parses and has both type and id.
std::optional<std::pair<std::string, std::string>> split_device_name(std::string_view name);

// The two names under which a device is found: today's and the legacy one.
std::array<std::string, 2> names_for_device_mapping(const DeviceName& name);
// The same for the device within its task: `/device:GPU:1` and `GPU:1`.
std::array<std::string, 2> local_names_for_device_mapping(const DeviceName& name);

// A strict weak order of spellings: those that do not parse first (by text), then as DeviceName.
bool device_name_less(std::string_view a, std::string_view b);

}  // namespace emplace
