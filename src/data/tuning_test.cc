// What stages count and how they adapt; elements dealt out to several readers.
#include <gtest/gtest.h>

#include <thread>

#include "data/pipeline_testutil.h"
#include "emplace/proto/dataset_options.pb.h"
#include "emplace/proto/pipeline_model.pb.h"

namespace emplace::data {
namespace {

class Tuning : public ::testing::Test {
 protected:
  std::string squares() {
    return p.function({DType::kInt64}, [](Graph& g, const std::vector<Output>& x) {
      return std::vector<Output>{g.add("Mul", {x[0], x[0]})->output()};
    });
  }
  Tensor mapped(Tensor in, int64_t calls) {
    return p.dataset("ParallelMapDatasetV2", {std::move(in), n(calls)},
                     {{"f", FunctionName{squares(), {}}},
                      {"Targuments", std::vector<DType>{}},
                      {"deterministic", "true"}});
  }
  Tensor with(Tensor in, const proto::Options& options) {
    return p.dataset("OptionsDataset", {std::move(in)},
                     {{"serialized_options", options.SerializeAsString()}});
  }
  proto::ModelProto model_of(const Tensor& iterator) {
    proto::ModelProto m;
    m.ParseFromString(p.e.execute("IteratorGetModelProto", std::vector{iterator})
                          .at(0)
                          .data<std::string>()[0]);
    return m;
  }
  size_t drained(const Tensor& it) {
    size_t count = 0;
    try {
      for (;; ++count) p.next(it);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::kOutOfRange);
    }
    return count;
  }
  Pipeline p;
};

TEST_F(Tuning, EachStageCountsItsElements) {
  const Tensor source = p.range(100);
  const Tensor it =
      p.iterator(p.dataset("PrefetchDataset", {mapped(mapped(source, -1), 3), n(-1)}));
  EXPECT_EQ(drained(it), 100u);
  const proto::ModelProto m = model_of(it);
  ASSERT_EQ(m.nodes_size(), 4);
  const char* const ops[] = {"PrefetchDataset", "ParallelMapDatasetV2", "ParallelMapDatasetV2",
                             "RangeDataset"};
  for (int64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(m.nodes().at(i).name(), ops[i]);
    EXPECT_EQ(m.nodes().at(i).num_elements(), 100);
  }
  EXPECT_TRUE(m.nodes().at(2).autotune());
  EXPECT_FALSE(m.nodes().at(1).autotune());
  EXPECT_EQ(m.nodes().at(1).parameters(0).value(), 3);
}

TEST_F(Tuning, WhoLooksDisturbsNobody) {
  const Tensor it = p.iterator(p.dataset("PrefetchDataset", {mapped(p.range(3000), -1), n(-1)}));
  std::thread looks([&] {
    for (int i = 0; i < 50; ++i) model_of(it);
  });
  EXPECT_EQ(drained(it), 3000u);
  looks.join();
}

TEST_F(Tuning, OptionsHoldForAllStages) {
  proto::Options o;
  o.mutable_threading_options()->set_private_threadpool_size(1);
  o.mutable_autotune_options()->set_initial_parallelism(4);
  o.set_warm_start(true);
  o.set_dataset_name("named");
  const Tensor it = p.iterator(with(mapped(mapped(p.range(200), -1), -1), o));
  EXPECT_EQ(drained(it), 200u);
  EXPECT_EQ(model_of(it).dataset_name(), "named");
  EXPECT_EQ(model_of(it).nodes().at(0).parameters(0).value(), 4);
}

TEST_F(Tuning, AskedForRewritesAndRefusesOthers) {
  proto::Options o;
  o.mutable_optimization_options()->set_inject_prefetch(true);
  o.mutable_optimization_options()->set_map_parallelization(true);
  const Tensor it = p.iterator(with(p.map(p.range(50), squares()), o));
  EXPECT_EQ(drained(it), 50u);
  EXPECT_EQ(model_of(it).nodes().at(0).name(), "PrefetchDataset");
  o.mutable_optimization_options()->set_map_fusion(true);
  try {
    with(p.range(3), o);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kUnimplemented);
  }
}

TEST_F(Tuning, ReadersGetElementsInTurn) {
  const std::vector<DType> one{DType::kInt64};
  const AttrList kind{{"output_types", one}, {"output_shapes", std::vector<Shape>{Shape{}}}};
  AttrList named = kind;
  set_attr(named, "devices", std::vector<std::string>{"/cpu:0", "/cpu:0", "/cpu:0"});
  const Tensor it = p.e.execute("AnonymousMultiDeviceIteratorV3", {}, named).at(0);
  const Tensor now =
      p.e.execute("MultiDeviceIteratorInit", std::vector{mapped(p.range(301), 2), it, n(2)}).at(0);
  std::vector<int64_t> sums(3);
  std::vector<std::thread> readers;
  for (int32_t shard = 0; shard < 3; ++shard)
    readers.emplace_back([&, shard] {
      try {
        for (;;)
          sums[static_cast<size_t>(shard)] +=
              p.e.execute("MultiDeviceIteratorGetNextFromShard",
                          std::vector{it, Tensor::scalar(shard), now}, kind)
                  .at(0)
                  .item<int64_t>();
      } catch (const Error& e) {
        EXPECT_EQ(e.code(), Code::kOutOfRange) << e.what();
      }
    });
  for (std::thread& t : readers) t.join();
  std::vector<int64_t> expected(3);
  for (int64_t i = 0; i < 301; ++i) expected[static_cast<size_t>(i % 3)] += i * i;
  EXPECT_EQ(sums, expected);
}

}  // namespace
}  // namespace emplace::data
