#include <gtest/gtest.h>

#include <fmt/format.h>

#include "data/pipeline_testutil.h"
#include "emplace/cluster.h"
#include "emplace/proto/data_service.pb.h"

namespace emplace::service {
namespace {

using data::n;

class DataService : public ::testing::Test {
 protected:
  void start(int workers) {
    for (int i = 0; i < workers; ++i)
      workers_.push_back(std::make_unique<DataWorker>(DataWorkerOptions{.dispatcher = address()}));
  }
  std::string address() const { return fmt::format("localhost:{}", dispatcher_.port()); }

  Tensor served(const Tensor& dataset, int policy, const std::string& job = "") {
    const Tensor id =
        p.e.execute("RegisterDatasetV2",
                    std::vector{dataset, Tensor::string(address()), Tensor::string("grpc")},
                    {{"external_state_policy", 0}})
            .at(0);
    proto::ProcessingModeDef mode;
    mode.set_sharding_policy(policy);
    const std::string same =
        p.function({DType::kVariant}, [](Graph&, const std::vector<Output>& x) { return x; });
    return p.dataset("DataServiceDatasetV4",
                     {id, Tensor::string(mode.SerializeAsString()), Tensor::string(address()),
                      Tensor::string("grpc"), Tensor::string(job), n(-1), n(-1), n(-1),
                      p.e.execute("DummyIterationCounter", {}).at(0)},
                     {{"uncompress_fn", FunctionName{same, {}}}});
  }
  std::vector<int64_t> sorted(const Tensor& dataset) {
    const Tensor it = p.iterator(dataset);
    std::vector<int64_t> all;
    try {
      for (;;) all.push_back(p.next(it).at(0).item<int64_t>());
    } catch (const Error& e) {
      if (e.code() != Code::kOutOfRange) throw;
    }
    std::ranges::sort(all);
    return all;
  }

  data::Pipeline p;
  DataDispatcher dispatcher_{DataDispatcherOptions{}};
  std::vector<std::unique_ptr<DataWorker>> workers_;
};

TEST_F(DataService, EachWorkerGivesTheWhole) {
  start(2);
  EXPECT_EQ(dispatcher_.num_workers(), 2);
  EXPECT_EQ(sorted(served(p.range(3), 0)), (std::vector<int64_t>{0, 0, 1, 1, 2, 2}));
}

TEST_F(DataService, WorkersShareTheElementsOut) {
  start(3);
  const Tensor d = served(p.dataset("RepeatDataset", {p.range(4), n(2)}), 1);
  for (int round = 0; round < 3; ++round)
    EXPECT_EQ(sorted(d), (std::vector<int64_t>{0, 0, 1, 1, 2, 2, 3, 3}));
}

TEST_F(DataService, AWorkerThatStopsLeavesTheRestToOthers) {
  start(2);
  const Tensor it = p.iterator(served(p.dataset("RepeatDataset", {p.range(50), n(-1)}), 1));
  for (int i = 0; i < 10; ++i) p.next(it);
  workers_[0]->stop();
  for (int i = 0; i < 200; ++i) p.next(it);
  EXPECT_EQ(dispatcher_.num_workers(), 1);
}

TEST_F(DataService, ReadersOfAJobWaitForAWorkerToCome) {
  const Tensor it = p.iterator(served(p.range(1), 0, "job"));
  std::thread later([&] { start(1); });
  EXPECT_EQ(p.next(it).at(0).item<int64_t>(), 0);
  later.join();
}

TEST_F(DataService, AReaderThatGoesEndsItsTask) {
  start(1);
  {
    const Tensor it = p.iterator(served(p.dataset("RepeatDataset", {p.range(2), n(-1)}), 0));
    p.next(it);
    EXPECT_EQ(workers_[0]->num_tasks(), 1);
  }
  while (workers_[0]->num_tasks() > 0) std::this_thread::yield();
}

TEST_F(DataService, ADispatcherThatStopsEndsNoReaderForEver) {
  start(1);
  const Tensor it = p.iterator(served(p.dataset("RepeatDataset", {p.range(2), n(-1)}), 0));
  p.next(it);
  dispatcher_.stop();
  workers_.clear();
  // The iterator goes, its threads with it.
}

}  // namespace
}  // namespace emplace::service
