#include "data/pipeline_testutil.h"

#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <thread>

namespace emplace::data {
namespace {

class Data : public ::testing::Test {
 protected:
  std::string times_two() {
    return p.function({DType::kInt64}, [](Graph& g, const std::vector<Output>& x) {
      return std::vector<Output>{g.add("AddV2", {x[0], x[0]})->output()};
    });
  }
  std::string is_even() {
    return p.function({DType::kInt64}, [](Graph& g, const std::vector<Output>& x) {
      const Output two = constant(g, n(2)), zero = constant(g, n(0));
      return std::vector<Output>{
          g.add("Equal", {g.add("FloorMod", {x[0], two})->output(), zero})->output()};
    });
  }
  static Output constant(Graph& g, Tensor t) {
    return g.add("Const", {}, {{"dtype", t.dtype()}, {"value", t}})->output();
  }
  Tensor filter(Tensor in, const std::string& f) {
    return p.dataset("FilterDataset", {std::move(in)},
                     {{"predicate", FunctionName{f, {}}}, {"Targuments", std::vector<DType>{}}});
  }
  Tensor batch(Tensor in, int64_t size, bool drop = false) {
    return p.dataset("BatchDatasetV2", {std::move(in), n(size), Tensor::scalar(drop)});
  }
  Tensor shuffle(Tensor in, int64_t room, bool again = true) {
    const Tensor seeds = p.e.execute("DummySeedGenerator", {}).at(0);
    return p.dataset("ShuffleDatasetV3", {std::move(in), n(room), n(1), n(2), seeds},
                     {{"reshuffle_each_iteration", again}});
  }
  Pipeline p;
};

TEST_F(Data, RangeMapFilterBatch) {
  const Tensor d = batch(filter(p.map(p.range(10), times_two()), is_even()), 4);
  EXPECT_EQ(p.all(d), "[0 2 4 6] [ 8 10 12 14] [16 18]");
  EXPECT_EQ(p.all(d), "[0 2 4 6] [ 8 10 12 14] [16 18]");
}

TEST_F(Data, RepeatTakeSkipShardConcatenate) {
  EXPECT_EQ(p.all(p.dataset("RepeatDataset", {p.range(2), n(2)})), "0 1 0 1");
  const Tensor endless = p.dataset("RepeatDataset", {p.range(3), n(-1)});
  EXPECT_EQ(p.all(p.dataset("TakeDataset", {endless, n(4)})), "0 1 2 0");
  EXPECT_EQ(p.all(p.dataset("RepeatDataset", {p.range(0), n(-1)})), "");
  EXPECT_EQ(p.all(p.dataset("SkipDataset", {p.range(4), n(3)})), "3");
  EXPECT_EQ(p.all(p.dataset("ShardDataset", {p.range(7), n(3), n(1)})), "1 4");
  EXPECT_EQ(p.all(p.dataset("ConcatenateDataset", {p.range(2), p.range(1)})), "0 1 0");
}

TEST_F(Data, ZipEndsWithTheShortest) {
  const std::vector<DType> two{DType::kInt64, DType::kInt64};
  const Tensor d = p.dataset("ZipDataset", {p.range(2), p.range(5)}, two, {{"N", 2}});
  const Tensor it = p.iterator(d, two);
  EXPECT_EQ(p.next(it, two)[1].str(), "0");
  EXPECT_EQ(p.next(it, two)[1].str(), "1");
  EXPECT_THROW(p.next(it, two), Error);
}

TEST_F(Data, Cardinality) {
  const auto size = [&](const Tensor& d) {
    return p.e.execute("DatasetCardinality", std::vector{d}).at(0).item<int64_t>();
  };
  EXPECT_EQ(size(batch(p.range(10), 4)), 3);
  EXPECT_EQ(size(batch(p.range(10), 4, true)), 2);
  EXPECT_EQ(size(p.dataset("RepeatDataset", {p.range(3), n(-1)})), -1);
  EXPECT_EQ(size(filter(p.range(3), is_even())), -2);
}

TEST_F(Data, ShuffleGivesEachElementOnceInAnOrderOfItsOwn) {
  const Tensor d = shuffle(p.range(20), 5);
  const std::string first = p.all(d), again = p.all(d);
  EXPECT_NE(first, again);
  const Tensor same = shuffle(p.range(20), 5, false);
  EXPECT_EQ(p.all(same), p.all(same));
}

TEST_F(Data, PrefetchMakesElementsAheadAndEndsWithItsIterator) {
  for (const int64_t room : {-1, 0, 1, 7}) {
    const Tensor d = p.dataset("PrefetchDataset", {p.range(5), n(room)});
    EXPECT_EQ(p.all(d), "0 1 2 3 4");
    const Tensor left = p.iterator(p.dataset("RepeatDataset", {d, n(-1)}));
    p.next(left);
  }
}

TEST_F(Data, AnErrorNamesItsElementAndTheNextOneFollows) {
  const std::string f = p.function({DType::kInt64}, [](Graph& g, const std::vector<Output>& x) {
    return std::vector<Output>{g.add("FloorDiv", {constant(g, n(12)), x[0]})->output()};
  });
  const Tensor it = p.iterator(p.map(p.range(3), f));
  try {
    p.next(it);
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(e.message().find("element 0 of MapDataset"), std::string::npos) << e.what();
  }
  EXPECT_EQ(p.next(it).at(0).str(), "12");
}

TEST_F(Data, ReduceFoldsAllElements) {
  const std::string f =
      p.function({DType::kInt64, DType::kInt64}, [](Graph& g, const std::vector<Output>& x) {
        return std::vector<Output>{g.add("AddV2", {x[0], x[1]})->output()};
      });
  const std::vector<DType> one{DType::kInt64};
  const auto sum = p.e.execute("ReduceDataset", std::vector{p.range(5), n(100)},
                               {{"f", FunctionName{f, {}}},
                                {"Tstate", one},
                                {"Targuments", std::vector<DType>{}},
                                {"output_types", one},
                                {"output_shapes", std::vector<Shape>{Shape{}}}});
  EXPECT_EQ(sum.at(0).str(), "110");
}

TEST_F(Data, OneIteratorFeedsManyThreads) {
  const Tensor it = p.iterator(p.dataset("PrefetchDataset", {p.range(400), n(4)}));
  std::mutex mutex;
  std::set<int64_t> seen;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      try {
        for (;;) {
          const int64_t v = p.next(it).at(0).item<int64_t>();
          const std::lock_guard lock(mutex);
          seen.insert(v);
        }
      } catch (const Error& e) {
        EXPECT_EQ(e.code(), Code::kOutOfRange) << e.what();
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(seen.size(), 400u);
}

TEST_F(Data, RandomNumbersInMapBeginAnewWithEachIterator) {
  const std::string f = p.function(
      {DType::kInt64},
      [](Graph& g, const std::vector<Output>&) {
        const Output shape = constant(g, Tensor::of<int32_t>({1}, {1}));
        return std::vector<Output>{
            g.add("RandomUniform", {shape}, {{"dtype", DType::kFloat}, {"seed", 3}, {"seed2", 4}})
                ->output()};
      },
      true);
  const std::vector<DType> one{DType::kFloat};
  const Tensor d = p.map(p.range(3), f, one);
  EXPECT_EQ(p.all(d, one), p.all(d, one));
}

TEST_F(Data, RunsInASession) {
  Graph g;
  const AttrList kind{{"output_types", std::vector<DType>{DType::kInt64}},
                      {"output_shapes", std::vector<Shape>{Shape{}}}};
  const auto add = [&](const char* op, std::vector<Output> in, AttrList more = {}) {
    AttrList attrs = kind;
    for (auto& [k, v] : more) set_attr(attrs, k, v);
    return g.add(op, std::span<const Output>(in), attrs);
  };
  Node* const range =
      add("RangeDataset", {constant(g, n(0)), constant(g, n(3)), constant(g, n(1))});
  Node* const ahead = add("PrefetchDataset", {range->output(), constant(g, n(2))});
  Node* const it = add("IteratorV2", {}, {{"shared_name", ""}, {"container", ""}});
  Node* const begin = g.add("MakeIterator", {ahead->output(), it->output()});
  Node* const next = add("IteratorGetNext", {it->output()});
  Session s(g);
  s.run(begin);
  for (int64_t i = 0; i < 3; ++i) EXPECT_EQ(s.run(next->output()).item<int64_t>(), i);
  EXPECT_THROW(s.run(next->output()), Error);
  s.run(begin);
  EXPECT_EQ(s.run(next->output()).item<int64_t>(), 0);
}

}  // namespace
}  // namespace emplace::data
