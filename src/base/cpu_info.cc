#include "base/cpu_info.h"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>

namespace emplace {
namespace {

constexpr int kMaxCores = 1 << 16;  // bounds what a damaged file can make us allocate

std::string read_file(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::optional<int> positive_environment(const char* name) {
  const char* text = std::getenv(name);
  if (!text) return std::nullopt;
  int value = 0;
  const std::string_view view(text);
  // OMP_NUM_THREADS may be a list, one entry a nesting level: from_chars stops at the comma.
  const auto [end, failure] = std::from_chars(view.data(), view.data() + view.size(), value);
  const bool whole = end == view.data() + view.size() || *end == ',';
  if (failure != std::errc() || !whole || value <= 0) return std::nullopt;
  return value;
}

int lowered(int count, std::initializer_list<const char*> variables) {
  for (const char* name : variables)
    count = std::min(count, positive_environment(name).value_or(count));
  return count;
}

std::optional<double> quota_v2(const std::string& dir) {
  std::istringstream in(read_file(dir + "/cpu.max"));
  double quota = 0, period = 0;  // "max 100000" fails to read: unlimited
  if (!(in >> quota >> period) || quota <= 0 || period <= 0) return std::nullopt;
  return quota / period;
}

std::optional<double> quota_v1(const std::string& dir) {
  std::istringstream quota_in(read_file(dir + "/cpu.cfs_quota_us"));
  std::istringstream period_in(read_file(dir + "/cpu.cfs_period_us"));
  double quota = 0, period = 0;
  if (!(quota_in >> quota) || !(period_in >> period) || quota <= 0 || period <= 0)
    return std::nullopt;
  return quota / period;
}

bool lists(std::string_view comma_separated, std::string_view word) {
  while (!comma_separated.empty()) {
    const size_t comma = comma_separated.find(',');
    if (comma_separated.substr(0, comma) == word) return true;
    if (comma == std::string_view::npos) return false;
    comma_separated.remove_prefix(comma + 1);
  }
  return false;
}

// One of the hierarchies the process is in.
struct Hierarchy {
  bool v2 = false;
  std::string mount_root;   // the group that the mount point shows
  std::string mount_point;  // where
  std::string group;        // the process's group
};

// /proc/self/mountinfo: id parent major:minor root mount-point options… - type source super-options
std::optional<Hierarchy> read_mount(const std::string& line) {
  const size_t dash = line.find(" - ");
  if (dash == std::string::npos) return std::nullopt;
  std::istringstream left(line.substr(0, dash)), right(line.substr(dash + 3));
  std::string skip, type, options;
  Hierarchy found;
  left >> skip >> skip >> skip >> found.mount_root >> found.mount_point;
  right >> type >> skip >> options;
  found.v2 = type == "cgroup2";
  if (!found.v2 && !(type == "cgroup" && lists(options, "cpu"))) return std::nullopt;
  return found;
}

// /proc/self/cgroup: id:controllers:path; version 2 is the line with id 0 and no controllers.
std::optional<std::string> group_in(const std::string& cgroups, bool v2) {
  std::istringstream in(cgroups);
  for (std::string line; std::getline(in, line);) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string_view controllers =
        std::string_view(line).substr(first + 1, second - first - 1);
    if (v2 ? controllers.empty() : lists(controllers, "cpu")) return line.substr(second + 1);
  }
  return std::nullopt;
}

std::vector<Hierarchy> read_hierarchies(const std::string& root) {
  const std::string cgroups = read_file(root + "/proc/self/cgroup");
  std::istringstream mounts(read_file(root + "/proc/self/mountinfo"));
  std::vector<Hierarchy> all;
  for (std::string line; std::getline(mounts, line);) {
    auto found = read_mount(line);
    if (!found) continue;
    auto group = group_in(cgroups, found->v2);
    if (!group) continue;
    found->group = *std::move(group);
    all.push_back(*std::move(found));
  }
  return all;
}

// The group's path below the mount point. In a container the file may name the group as the host
// sees it while the mount shows only a part of the tree; then the mount point itself is ours.
std::string path_below_mount(const Hierarchy& h) {
  std::string path = h.group;
  if (h.mount_root != "/") {
    if (!path.starts_with(h.mount_root)) return "";
    path.erase(0, h.mount_root.size());
  }
  return path == "/" ? "" : path;
}

std::optional<double> tightest_quota(const Hierarchy& h, const std::string& root) {
  std::optional<double> least;
  std::string below = path_below_mount(h);
  while (true) {
    const std::string dir = root + h.mount_point + below;
    const auto quota = h.v2 ? quota_v2(dir) : quota_v1(dir);
    if (quota) least = std::min(least.value_or(*quota), *quota);
    const size_t slash = below.rfind('/');
    if (slash == std::string::npos) return least;
    below.erase(slash);
  }
}

std::vector<int> every_core() {
  std::vector<int> cores(std::max(1u, std::thread::hardware_concurrency()));
  for (size_t i = 0; i < cores.size(); ++i) cores[i] = static_cast<int>(i);
  return cores;
}

std::optional<int> take_core(std::string_view& text) {
  int core = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), core);
  if (failure != std::errc() || core < 0 || core >= kMaxCores) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return core;
}

// One entry of a core list: `3` or `4-7`.
bool append_range(std::string_view text, std::vector<int>& cores) {
  const auto first = take_core(text);
  auto last = first;
  if (first && text.starts_with('-')) {
    text.remove_prefix(1);
    last = take_core(text);
  }
  if (!first || !last || *last < *first || !text.empty()) return false;
  for (int core = *first; core <= *last; ++core) cores.push_back(core);
  return true;
}

}  // namespace

std::vector<int> usable_cores() {
  // A mask too small for the machine fails with EINVAL: try larger ones.
  for (int capacity = CPU_SETSIZE; capacity <= kMaxCores; capacity *= 4) {
    cpu_set_t* set = CPU_ALLOC(capacity);
    const size_t bytes = CPU_ALLOC_SIZE(capacity);
    std::vector<int> cores;
    if (set && sched_getaffinity(0, bytes, set) == 0) {
      for (int core = 0; core < capacity; ++core) {
        if (CPU_ISSET_S(static_cast<size_t>(core), bytes, set)) cores.push_back(core);
      }
    }
    CPU_FREE(set);
    if (!cores.empty()) return cores;
  }
  return every_core();
}

std::optional<double> cgroup_cpu_quota(const std::string& root) {
  std::optional<double> least;
  for (const Hierarchy& hierarchy : read_hierarchies(root)) {
    const auto quota = tightest_quota(hierarchy, root);
    if (quota) least = std::min(least.value_or(*quota), *quota);
  }
  return least;
}

int num_usable_cores() {
  int count = static_cast<int>(usable_cores().size());
  if (const auto quota = cgroup_cpu_quota()) {
    if (*quota < count) count = static_cast<int>(std::ceil(*quota));
  }
  return std::max(1, count);
}

int default_num_threads() {
  return lowered(num_usable_cores(),
                 {"EMPLACE_NUM_THREADS", "OMP_NUM_THREADS", "SLURM_CPUS_PER_TASK"});
}

int default_interop_threads() { return lowered(default_num_threads(), {"TF_NUM_INTEROP_THREADS"}); }

int default_intraop_threads() { return lowered(default_num_threads(), {"TF_NUM_INTRAOP_THREADS"}); }

std::vector<NumaNode> numa_nodes(const std::string& root) {
  const std::vector<int> usable = usable_cores();
  std::vector<NumaNode> nodes;
  std::error_code ignored;
  for (const auto& entry :
       std::filesystem::directory_iterator(root + "/sys/devices/system/node", ignored)) {
    const std::string name = entry.path().filename().string();
    NumaNode node;
    if (!name.starts_with("node")) continue;
    const char* end = name.data() + name.size();
    if (std::from_chars(name.data() + 4, end, node.id).ptr != end) continue;
    std::string text = read_file(entry.path().string() + "/cpulist");
    while (!text.empty() && text.back() == '\n') text.pop_back();
    const auto cores = parse_core_list(text).value_or(std::vector<int>());
    std::set_intersection(cores.begin(), cores.end(), usable.begin(), usable.end(),
                          std::back_inserter(node.cores));
    if (!node.cores.empty()) nodes.push_back(std::move(node));
  }
  std::sort(nodes.begin(), nodes.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  if (nodes.empty()) nodes.push_back({0, usable});
  return nodes;
}

std::optional<std::vector<int>> parse_core_list(std::string_view text) {
  std::vector<int> cores;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    if (!append_range(text.substr(0, comma), cores)) return std::nullopt;
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
    if (text.empty()) return std::nullopt;  // "1,"
  }
  std::sort(cores.begin(), cores.end());
  cores.erase(std::unique(cores.begin(), cores.end()), cores.end());
  return cores;
}

std::string format_core_list(const std::vector<int>& cores) {
  std::string out;
  for (size_t i = 0; i < cores.size();) {
    size_t last = i;
    while (last + 1 < cores.size() && cores[last + 1] == cores[last] + 1) ++last;
    if (!out.empty()) out += ',';
    out += std::to_string(cores[i]);
    if (last > i) out += '-' + std::to_string(cores[last]);
    i = last + 1;
  }
  return out;
}

}  // namespace emplace
