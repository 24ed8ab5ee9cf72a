#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace emplace {

// What of this machine the process may use. Nothing is cached: the answers follow the affinity
// mask and the environment of the moment, and callers ask once, when they make a pool.

// Cores of the affinity mask, ascending; never empty.
std::vector<int> usable_cores();

// CPUs that the process's control groups grant (quota / period, the tightest on the way up to the
// root; versions 1 and 2); nullopt when unlimited. `root` is put before every path read, for tests.
std::optional<double> cgroup_cpu_quota(const std::string& root = "");

// The least of affinity mask and quota (rounded up); at least 1.
int num_usable_cores();

// The default size of a pool: num_usable_cores(), lowered by EMPLACE_NUM_THREADS, by what batch
// systems and numeric libraries agree on (OMP_NUM_THREADS, SLURM_CPUS_PER_TASK), and by the
// variable of its kind: TF_NUM_INTEROP_THREADS or TF_NUM_INTRAOP_THREADS.
int default_num_threads();
int default_interop_threads();
int default_intraop_threads();

struct NumaNode {
  int id = 0;
  std::vector<int> cores;  // usable ones only, ascending
};

// Nodes with at least one usable core; a machine that tells of none is one node.
std::vector<NumaNode> numa_nodes(const std::string& root = "");

// `0-2,8` → 0 1 2 8, ascending and without repeats; nullopt when malformed. Empty text: no core.
std::optional<std::vector<int>> parse_core_list(std::string_view text);
// The inverse.
std::string format_core_list(const std::vector<int>& cores);

}  // namespace emplace
