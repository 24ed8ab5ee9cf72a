#include "base/cpu_info.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

namespace emplace {
namespace {

namespace fs = std::filesystem;

// A root directory with only the files that a test writes into it.
class FakeRoot {
 public:
  FakeRoot() {
    std::string pattern = (fs::temp_directory_path() / "emplace_cpu_info_XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~FakeRoot() { fs::remove_all(path_); }
  void write(const std::string& name, const std::string& text) const {
    const fs::path file = path_ + name;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

constexpr const char* kV2Mount =
    "24 30 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";

TEST(CgroupQuota, IsUnlimitedWithoutFiles) { EXPECT_FALSE(cgroup_cpu_quota(FakeRoot().path())); }

TEST(CgroupQuota, ReadsVersion2) {
  FakeRoot root;
  root.write("/proc/self/cgroup", "0::/user/job\n");
  root.write("/proc/self/mountinfo", kV2Mount);
  root.write("/sys/fs/cgroup/user/job/cpu.max", "150000 100000\n");
  EXPECT_EQ(cgroup_cpu_quota(root.path()), 1.5);
}

TEST(CgroupQuota, TakesTheTightestOfTheParents) {
  FakeRoot root;
  root.write("/proc/self/cgroup", "0::/a/b/c\n");
  root.write("/proc/self/mountinfo", kV2Mount);
  root.write("/sys/fs/cgroup/a/b/c/cpu.max", "max 100000\n");
  root.write("/sys/fs/cgroup/a/b/cpu.max", "400000 100000\n");
  root.write("/sys/fs/cgroup/a/cpu.max", "200000 100000\n");
  EXPECT_EQ(cgroup_cpu_quota(root.path()), 2.0);
}

TEST(CgroupQuota, MaxMeansUnlimited) {
  FakeRoot root;
  root.write("/proc/self/cgroup", "0::/\n");
  root.write("/proc/self/mountinfo", kV2Mount);
  root.write("/sys/fs/cgroup/cpu.max", "max 100000\n");
  EXPECT_FALSE(cgroup_cpu_quota(root.path()));
}

TEST(CgroupQuota, ReadsVersion1AmongOtherControllers) {
  FakeRoot root;
  root.write("/proc/self/cgroup", "12:cpuset:/x\n4:cpu,cpuacct:/docker/abc\n1:name=systemd:/x\n");
  root.write("/proc/self/mountinfo",
             "33 30 0:29 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
             "34 30 0:30 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n");
  root.write("/sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_quota_us", "300000\n");
  root.write("/sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_period_us", "100000\n");
  root.write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  root.write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cgroup_cpu_quota(root.path()), 3.0);
}

TEST(CgroupQuota, FindsTheGroupInAContainersPartOfTheTree) {
  FakeRoot root;
  root.write("/proc/self/cgroup", "4:cpu:/docker/abc\n");
  root.write("/proc/self/mountinfo", "34 30 0:30 /docker/abc /cg rw - cgroup cgroup rw,cpu\n");
  root.write("/cg/cpu.cfs_quota_us", "50000\n");
  root.write("/cg/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cgroup_cpu_quota(root.path()), 0.5);
}

TEST(CgroupQuota, IgnoresDamagedFiles) {
  FakeRoot root;
  root.write("/proc/self/cgroup", "nonsense\n::\n0::/a\n");
  root.write("/proc/self/mountinfo", std::string("x y\n - \n") + kV2Mount);
  root.write("/sys/fs/cgroup/a/cpu.max", "lots\n");
  EXPECT_FALSE(cgroup_cpu_quota(root.path()));
}

TEST(UsableCores, FollowTheAffinityMask) {
  const std::vector<int> before = usable_cores();
  ASSERT_FALSE(before.empty());
  std::thread([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<size_t>(before.back()), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_EQ(usable_cores(), std::vector<int>{before.back()});
    EXPECT_EQ(num_usable_cores(), 1);
  }).join();
  EXPECT_EQ(usable_cores(), before);
  EXPECT_GE(num_usable_cores(), 1);
  EXPECT_LE(num_usable_cores(), static_cast<int>(before.size()));
}

class DefaultThreads : public ::testing::Test {
 protected:
  void SetUp() override { clear(); }
  void TearDown() override { clear(); }
  static void clear() {
    for (const char* name : {"EMPLACE_NUM_THREADS", "OMP_NUM_THREADS", "SLURM_CPUS_PER_TASK",
                             "TF_NUM_INTEROP_THREADS", "TF_NUM_INTRAOP_THREADS"}) {
      unsetenv(name);
    }
  }
};

TEST_F(DefaultThreads, AreTheUsableCores) {
  EXPECT_EQ(default_num_threads(), num_usable_cores());
  EXPECT_EQ(default_interop_threads(), num_usable_cores());
  EXPECT_EQ(default_intraop_threads(), num_usable_cores());
}

TEST_F(DefaultThreads, AreLoweredByTheEnvironment) {
  for (const char* name : {"EMPLACE_NUM_THREADS", "OMP_NUM_THREADS", "SLURM_CPUS_PER_TASK"}) {
    clear();
    setenv(name, "1", 1);
    EXPECT_EQ(default_num_threads(), 1) << name;
    EXPECT_EQ(default_interop_threads(), 1) << name;
  }
}

TEST_F(DefaultThreads, EachKindHasItsVariable) {
  setenv("TF_NUM_INTEROP_THREADS", "1", 1);
  EXPECT_EQ(default_interop_threads(), 1);
  EXPECT_EQ(default_intraop_threads(), num_usable_cores());
  clear();
  setenv("TF_NUM_INTRAOP_THREADS", "1", 1);
  EXPECT_EQ(default_intraop_threads(), 1);
  EXPECT_EQ(default_interop_threads(), num_usable_cores());
}

TEST_F(DefaultThreads, AreNeverRaisedAndIgnoreNonsense) {
  for (const char* value : {"100000", "0", "-1", "", "many", "1x", "99999999999999"}) {
    setenv("EMPLACE_NUM_THREADS", value, 1);
    EXPECT_EQ(default_num_threads(), num_usable_cores()) << value;
  }
}

TEST(NumaNodes, ReadsUsableCoresOfEachNode) {
  FakeRoot root;
  const std::vector<int> usable = usable_cores();
  root.write("/sys/devices/system/node/node1/cpulist", "60000-60001\n");  // none of ours
  root.write("/sys/devices/system/node/node0/cpulist", format_core_list(usable) + ",61000\n");
  root.write("/sys/devices/system/node/online", "0-1\n");
  const auto nodes = numa_nodes(root.path());
  ASSERT_EQ(nodes.size(), 1u);
  EXPECT_EQ(nodes[0].id, 0);
  EXPECT_EQ(nodes[0].cores, usable);
}

TEST(NumaNodes, AreOneWhenTheSystemTellsOfNone) {
  const auto nodes = numa_nodes(FakeRoot().path());
  ASSERT_EQ(nodes.size(), 1u);
  EXPECT_EQ(nodes[0].cores, usable_cores());
}

TEST(CoreList, ParsesAndPrints) {
  using Cores = std::vector<int>;
  EXPECT_EQ(parse_core_list("0-2,8"), Cores({0, 1, 2, 8}));
  EXPECT_EQ(parse_core_list("5,3,3-4"), Cores({3, 4, 5}));
  EXPECT_EQ(parse_core_list(""), Cores());
  for (const char* bad :
       {"a", "1-", "-1", "3-1", "1,,2", "1,", ",", "1 2", "0-99999999", "1-2-3"}) {
    EXPECT_FALSE(parse_core_list(bad)) << bad;
  }
  EXPECT_EQ(format_core_list({0, 1, 2, 8, 10, 11}), "0-2,8,10-11");
  EXPECT_EQ(format_core_list({}), "");
}

}  // namespace
}  // namespace emplace
