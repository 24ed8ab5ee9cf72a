#include "base/free_memory.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>
#include <string_view>

namespace emplace {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  if (in) text << in.rdbuf();
  return text.str();
}

std::optional<size_t> number_at(std::string_view text, size_t at) {
  while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) ++at;
  size_t value = 0;
  const auto [end, failure] = std::from_chars(text.data() + at, text.data() + text.size(), value);
  return failure == std::errc() ? std::optional(value) : std::nullopt;
}

// The number that follows `key` at the beginning of a line.
std::optional<size_t> number_after(std::string_view text, std::string_view key) {
  for (size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1))
    if (at == 0 || text[at - 1] == '\n') return number_at(text, at + key.size());
  return std::nullopt;
}

std::optional<size_t> machine(const std::string& root) {
  const std::string text = text_of(root + "/proc/meminfo");
  const auto available = number_after(text, "MemAvailable:");
  if (!available) return std::nullopt;
  return (*available + number_after(text, "SwapFree:").value_or(0)) * 1024;
}

// What one group leaves, files in its cache that can go counted as free.
std::optional<size_t> group(const std::string& folder, const char* most, const char* used,
                            std::string_view files) {
  const auto limit = number_at(text_of(folder + most), 0);
  const auto current = number_at(text_of(folder + used), 0);
  if (!limit || !current) return std::nullopt;  // "max": no limit
  const size_t cached = number_after(text_of(folder + "/memory.stat"), files).value_or(0);
  const size_t held = *current - std::min(cached, *current);
  return *limit - std::min(held, *limit);
}

// The path of the process's group: `0::/a/b`, or `9:memory:/a/b`.
std::string group_path(const std::string& cgroups, std::string_view marker) {
  const size_t at = cgroups.find(marker);
  if (at == std::string::npos) return "";
  const size_t begin = at + marker.size();
  const std::string path = cgroups.substr(begin, cgroups.find('\n', begin) - begin);
  return path == "/" ? "" : path;
}

}  // namespace

std::optional<size_t> free_memory(const std::string& root) {
  std::optional<size_t> least = machine(root);
  const auto lower = [&](std::optional<size_t> bytes) {
    if (bytes) least = std::min(least.value_or(*bytes), *bytes);
  };
  const std::string cgroups = text_of(root + "/proc/self/cgroup");
  // A container sees its own group at the mount point, whatever the file calls it: go up to there.
  for (std::string path = group_path(cgroups, "0::");; path.erase(path.rfind('/'))) {
    lower(
        group(root + "/sys/fs/cgroup" + path, "/memory.max", "/memory.current", "inactive_file "));
    if (path.find('/') == std::string::npos) break;
  }
  for (std::string path = group_path(cgroups, ":memory:");; path.erase(path.rfind('/'))) {
    lower(group(root + "/sys/fs/cgroup/memory" + path, "/memory.limit_in_bytes",
                "/memory.usage_in_bytes", "total_inactive_file "));
    if (path.find('/') == std::string::npos) break;
  }
  return least;
}

}  // namespace emplace
