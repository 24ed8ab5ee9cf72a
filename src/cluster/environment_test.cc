#include "cluster/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/cluster_testutil.h"

namespace emplace::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Environment = std::map<std::string, std::string>;

std::optional<FoundTask> found_in(const Environment& e) {
  return cluster::find_task(
      [&](const char* name) -> const char* {
        const auto it = e.find(name);
        return it == e.end() ? nullptr : it->second.c_str();
      },
      2222);
}

TEST(Environment, NothingIsFoundWhereNothingIsSaid) {
  EXPECT_FALSE(found_in({}));
  EXPECT_FALSE(found_in({{"TF_CONFIG", "{}"}}));
  EXPECT_FALSE(found_in({{"RANK", "1"}}));  // anybody's
}

TEST(Environment, TfConfig) {
  const auto found = found_in({{"TF_CONFIG", R"({"cluster": {"ps": ["a:1"], "worker": {"0": "b:2", "3": "c:3"}},
                                                "task": {"type": "worker", "index": "3"}})"}});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->cluster.at("ps").at(0), "a:1");
  EXPECT_EQ(found->cluster.at("worker").at(3), "c:3");
  EXPECT_EQ(found->str(), "TF_CONFIG: /job:worker/task:3 of 3 tasks at c:3");
  EXPECT_EQ(error_of([] { found_in({{"TF_CONFIG", "{"}}); }).code(), Code::kInvalidArgument);
  EXPECT_THROW(found_in({{"TF_CONFIG", R"({"cluster": {"ps": 3}, "task": {}})"}}), Error);
}

TEST(Environment, Slurm) {
  const auto found = found_in({{"SLURM_PROCID", "3"},
                               {"SLURM_STEP_NUM_TASKS", "5"},
                               {"SLURM_STEP_NODELIST", "gpu[01-02,07]"},
                               {"SLURM_STEP_TASKS_PER_NODE", "2(x2),1"}});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->str(), "Slurm: /job:worker/task:3 of 5 tasks at gpu02:2223");
  EXPECT_EQ(found->cluster.at("worker").at(4), "gpu07:2222");
  EXPECT_THAT(slurm_host_names("a[1-2]-x,b,c[9-11]"),
              ElementsAre("a1-x", "a2-x", "b", "c9", "c10", "c11"));
  for (const char* bad : {"a[1-", "a[x]", "a[1-99999999]"}) EXPECT_THROW(slurm_host_names(bad), Error) << bad;
  EXPECT_THROW(slurm_task_counts("2(x"), Error);
}

TEST(Environment, OpenMpiAndTorchrunOnOneMachineOrMore) {
  Environment mpi{{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}};
  EXPECT_EQ(found_in(mpi)->str(), "Open MPI: /job:worker/task:1 of 4 tasks at localhost:2223");
  mpi["OMPI_COMM_WORLD_LOCAL_SIZE"] = "2";
  EXPECT_THAT(error_of([&] { found_in(mpi); }).message(), HasSubstr("EMPLACE_HOSTS"));
  mpi["EMPLACE_HOSTS"] = "a,b";
  EXPECT_EQ(found_in(mpi)->cluster.at("worker").at(3), "b:2223");
  EXPECT_EQ(found_in({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"LOCAL_WORLD_SIZE", "2"}, {"MASTER_ADDR", "x"}})->by,
            "torchrun");
  EXPECT_THROW(found_in({{"OMPI_COMM_WORLD_RANK", "4"}, {"OMPI_COMM_WORLD_SIZE", "4"}}), Error);
}

TEST(Environment, KubernetesIndexedJobs) {
  Environment pod{{"JOB_COMPLETION_INDEX", "2"}, {"HOSTNAME", "train-2"}};
  EXPECT_THAT(error_of([&] { found_in(pod); }).message(), HasSubstr("EMPLACE_TASKS"));
  pod["EMPLACE_TASKS"] = "3";
  pod["EMPLACE_SERVICE"] = "svc";
  EXPECT_EQ(found_in(pod)->str(), "Kubernetes: /job:worker/task:2 of 3 tasks at train-2.svc:2222");
}

}  // namespace
}  // namespace emplace::testing
