// Stages with threads, with datasets of datasets, with memory; and where an iterator goes on.
#include <gtest/gtest.h>

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "data/pipeline_testutil.h"

namespace emplace::data {
namespace {

const std::vector<DType> kNone{};

class Stages : public ::testing::Test {
 protected:
  static Output constant(Graph& g, Tensor t) {
    return g.add("Const", {}, {{"dtype", t.dtype()}, {"value", t}})->output();
  }
  std::string squares() {
    return p.function({DType::kInt64}, [](Graph& g, const std::vector<Output>& x) {
      return std::vector<Output>{g.add("Mul", {x[0], x[0]})->output()};
    });
  }
  // x -> a dataset of 10x, 10x + 1 … as many as x
  std::string tens() {
    return p.function({DType::kInt64}, [](Graph& g, const std::vector<Output>& x) {
      const Output ten = g.add("Mul", {x[0], constant(g, n(10))})->output();
      const Output end = g.add("AddV2", {ten, x[0]})->output();
      return std::vector<Output>{g.add("RangeDataset", {ten, end, constant(g, n(1))},
                                       {{"output_types", std::vector<DType>{DType::kInt64}},
                                        {"output_shapes", std::vector<Shape>{Shape{}}}})
                                     ->output()};
    });
  }
  static AttrList with(const std::string& f, AttrList more = {}) {
    set_attr(more, "f", FunctionName{f, {}});
    set_attr(more, "Targuments", kNone);
    return more;
  }
  Tensor parallel_map(Tensor in, const std::string& f, int64_t calls,
                      const char* ordered = "true") {
    return p.dataset("ParallelMapDatasetV2", {std::move(in), n(calls)},
                     with(f, {{"deterministic", ordered}}));
  }
  Tensor shuffled(Tensor in) {
    const Tensor seeds = p.e.execute("DummySeedGenerator", {}).at(0);
    return p.dataset("ShuffleDatasetV3", {std::move(in), n(6), n(1), n(2), seeds});
  }
  // Takes `before` elements, and the rest from an iterator that was put where that one was.
  void goes_on(const Tensor& dataset, int before) {
    const Tensor first = p.iterator(dataset);
    std::vector<std::string> rest, again;
    for (int i = 0; i < before; ++i) p.next(first);
    const Tensor state = p.e.execute("SerializeIterator", std::vector{first}).at(0);
    const auto drain = [&](const Tensor& it, std::vector<std::string>& into) {
      try {
        for (;;) into.push_back(p.next(it).at(0).str());
      } catch (const Error& e) {
        ASSERT_EQ(e.code(), Code::kOutOfRange) << e.what();
      }
    };
    drain(first, rest);
    const Tensor second = p.iterator(dataset);
    p.e.execute("DeserializeIterator", std::vector{second, state});
    drain(second, again);
    EXPECT_EQ(rest, again);
    EXPECT_FALSE(rest.empty());
  }
  Pipeline p;
};

TEST_F(Stages, ParallelMapKeepsTheOrder) {
  for (const int64_t calls : {1, 3, -1})
    EXPECT_EQ(p.all(parallel_map(p.range(6), squares(), calls)), "0 1 4 9 16 25");
}

TEST_F(Stages, ParallelMapOutOfOrderGivesEveryElement) {
  const Tensor d = parallel_map(p.range(200), squares(), 4, "false");
  int64_t sum = 0, count = 0;
  const Tensor it = p.iterator(d);
  try {
    for (;; ++count) sum += p.next(it).at(0).item<int64_t>();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kOutOfRange);
  }
  EXPECT_EQ(count, 200);
  EXPECT_EQ(sum, 199 * 200 * 399 / 6);
}

// None may go on before eight of them are there.
TEST_F(Stages, CallsRunAtTheSameTime) {
  const AttrList numbers{{"component_types", std::vector<DType>{DType::kInt64}}};
  const AttrList queues[] = {{numbers[0], {"shared_name", "here"}}, {numbers[0], {"shared_name", "go"}}};
  const std::string f = p.function({DType::kInt64}, [&](Graph& g, const std::vector<Output>& x) {
    Output handles[2];
    for (int i : {0, 1}) handles[i] = g.add("FIFOQueueV2", {}, queues[i])->output();
    Node* const here = g.add("QueueEnqueueV2", {handles[0], x[0]}, {{"Tcomponents", std::vector<DType>{DType::kInt64}}});
    Node* const go = g.add("QueueDequeueV2", {handles[1]}, numbers);
    g.add_control_input(go, here);
    Node* const out = g.add("Identity", {x[0]});
    g.add_control_input(out, go);
    return std::vector<Output>{out->output()};
  }, true);
  std::thread gate([&] {
    const Tensor here = p.e.execute("FIFOQueueV2", {}, queues[0]).at(0), go = p.e.execute("FIFOQueueV2", {}, queues[1]).at(0);
    for (int i = 0; i < 8; ++i) p.e.execute("QueueDequeueV2", std::vector{here}, numbers);
    for (int i = 0; i < 16; ++i) p.e.execute("QueueEnqueueV2", std::vector{go, n(i)});
  });
  EXPECT_EQ(p.all(parallel_map(p.range(16), f, 8)), "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15");
  gate.join();
}

TEST_F(Stages, AnIteratorThatGoesAwayEndsItsThreads) {
  const Tensor d = p.dataset("SleepDataset", {p.range(1000), n(86'400'000'000)});  // a day
  {
    const Tensor it =
        p.iterator(p.dataset("PrefetchDataset", {parallel_map(d, squares(), 4), n(2)}));
    std::thread asks([&] { EXPECT_THROW(p.next(it), Error); });
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    // Beginning anew ends what was under way.
    p.e.execute("MakeIterator", std::vector{d, it});
    asks.join();
  }
}

TEST_F(Stages, FlatMapAndInterleave) {
  const Tensor from = p.dataset("SkipDataset", {p.range(4), n(1)});
  EXPECT_EQ(p.all(p.dataset("FlatMapDataset", {from}, with(tens()))), "10 20 21 30 31 32");
  const auto turns = [&](int64_t length, int64_t block) {
    return p.all(p.dataset("InterleaveDataset", {from, n(length), n(block)}, with(tens())));
  };
  EXPECT_EQ(turns(2, 1), "10 20 21 30 31 32");
  EXPECT_EQ(turns(3, 2), "10 20 21 30 31 32");
  EXPECT_EQ(turns(3, 1), "10 20 30 21 31 32");
}

TEST_F(Stages, ParallelInterleaveGivesTheSameOrder) {
  const Tensor from = p.range(12);
  for (const int64_t length : {1, 3, 5})
    for (const int64_t block : {1, 2}) {
      const std::string one =
          p.all(p.dataset("InterleaveDataset", {from, n(length), n(block)}, with(tens())));
      const Tensor many =
          p.dataset("ParallelInterleaveDatasetV4",
                    {from, n(length), n(block), n(2), n(2), n(std::min<int64_t>(length, 3))},
                    with(tens(), {{"deterministic", "true"}}));
      EXPECT_EQ(p.all(many), one);
      EXPECT_EQ(p.all(many), one);
    }
}

TEST_F(Stages, UnbatchWindowAndScan) {
  const Tensor rows = p.slices({Tensor::of<int64_t>({1, 2, 3, 4}, {2, 2})});
  EXPECT_EQ(p.all(p.dataset("UnbatchDataset", {rows})), "1 2 3 4");
  const Tensor windows = p.dataset(
      "WindowDataset", {p.range(5), n(2), n(2), n(1), Tensor::scalar(false)}, {DType::kVariant});
  EXPECT_EQ(p.next(p.iterator(windows, {DType::kVariant}), {DType::kVariant}).size(), 1u);
  const std::string sum =
      p.function({DType::kInt64, DType::kInt64}, [](Graph& g, const std::vector<Output>& x) {
        const Output s = g.add("AddV2", {x[0], x[1]})->output();
        return std::vector<Output>{s, s};
      });
  EXPECT_EQ(p.all(p.dataset("ScanDataset", {p.range(5), n(0)},
                            with(sum, {{"Tstate", std::vector<DType>{DType::kInt64}}}))),
            "0 1 3 6 10");
}

TEST_F(Stages, PaddedBatchFillsUp) {
  const std::string row = p.function({DType::kInt64}, [](Graph& g, const std::vector<Output>& x) {
    return std::vector<Output>{
        g.add("Range", {constant(g, n(0)), x[0], constant(g, n(1))})->output()};
  });
  const std::vector<Tensor> inputs{p.map(p.range(4), row), n(4), Tensor::of<int64_t>({-1}, {1}),
                                   n(-7), Tensor::scalar(false)};
  const Tensor d = p.e.execute("PaddedBatchDatasetV2", inputs,
                               {{"Toutput_types", std::vector<DType>{DType::kInt64}},
                                {"output_shapes", std::vector<Shape>{Shape::unknown()}},
                                {"N", 1}})
                       .at(0);
  EXPECT_EQ(p.all(d), "[[-7 -7 -7]\n [ 0 -7 -7]\n [ 0  1 -7]\n [ 0  1  2]]");
}

TEST_F(Stages, CachesKeepTheFirstRound) {
  const Tensor cached = p.dataset("CacheDataset", {shuffled(p.range(6)), Tensor::string("")});
  EXPECT_EQ(p.all(cached), p.all(cached));
  const auto folder =
      std::filesystem::temp_directory_path() / ("emplace_data_cache_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const Tensor filed =
      p.dataset("CacheDataset", {shuffled(p.range(6)), Tensor::string((folder / "c").string())});
  EXPECT_EQ(p.all(filed), p.all(filed));
  std::filesystem::remove_all(folder);
}

TEST_F(Stages, ParallelFilterKeepsTheOrder) {
  const std::string odd = p.function({DType::kInt64}, [](Graph& g, const std::vector<Output>& x) {
    const Output rest = g.add("FloorMod", {x[0], constant(g, n(2))})->output();
    return std::vector<Output>{g.add("Equal", {rest, constant(g, n(1))})->output()};
  });
  const Tensor d = p.dataset("ParallelFilterDataset", {p.range(9), n(3)},
                             {{"predicate", FunctionName{odd, {}}},
                              {"Targuments", kNone},
                              {"deterministic", "true"}});
  EXPECT_EQ(p.all(d), "1 3 5 7");
}

TEST_F(Stages, OneShotIteratorsGoOverWhatTheirFunctionGives) {
  const std::string three = p.function({}, [](Graph& g, const std::vector<Output>&) {
    const AttrList kind{{"output_types", std::vector<DType>{DType::kInt64}},
                        {"output_shapes", std::vector<Shape>{Shape{}}}};
    const Output d = g.add("RangeDataset", {constant(g, n(0)), constant(g, n(3)), constant(g, n(1))},
                           kind)
                         ->output();
    return std::vector<Output>{d};
  });
  const Tensor it = p.e.execute("OneShotIterator", {},
                                {{"dataset_factory", FunctionName{three, {}}},
                                 {"output_types", std::vector<DType>{DType::kInt64}},
                                 {"output_shapes", std::vector<Shape>{Shape{}}}})
                        .at(0);
  EXPECT_EQ(p.next(it).at(0).str(), "0");
  EXPECT_EQ(p.next(it).at(0).str(), "1");
}

TEST_F(Stages, SavedElementsAreLoadedShardByShard) {
  const auto folder = std::filesystem::temp_directory_path() /
                      ("emplace_data_saved_" + std::to_string(getpid()));
  const Tensor path = Tensor::string(folder.string());
  const std::string shard = p.function({DType::kInt64}, [](Graph& g, const std::vector<Output>& x) {
    return std::vector<Output>{g.add("FloorMod", {x[0], constant(g, n(2))})->output()};
  });
  const std::string one_by_one = p.function({DType::kInt64}, [](Graph& g, const auto& x) {
    return std::vector<Output>{g.add("Identity", {x[0]})->output()};
  });
  // From a dataset of datasets to one of their elements.
  const std::string flat = p.function({DType::kVariant}, [&](Graph& g, const auto& x) {
    auto f = std::make_shared<Function>();
    f->name = "as_it_is";
    f->body = std::make_shared<Graph>();
    f->inputs = {f->body->add("_Arg", {}, {{"T", DType::kVariant}, {"index", 0}})};
    f->outputs = {f->inputs[0]->output()};
    g.add_function(f);
    return std::vector<Output>{g.add("FlatMapDataset", {x[0]},
                                     {{"f", FunctionName{"as_it_is", {}}},
                                      {"Targuments", kNone},
                                      {"output_types", std::vector<DType>{DType::kInt64}},
                                      {"output_shapes", std::vector<Shape>{Shape{}}}})
                                   ->output()};
  });
  p.e.execute("SaveDataset", std::vector{p.range(5), path},
              {{"shard_func", FunctionName{shard, {}}}, {"Tshard_func_args", kNone}});
  EXPECT_EQ(p.all(p.dataset("LoadDataset", {path},
                            {{"reader_func", FunctionName{flat, {}}},
                             {"Treader_func_args", kNone}})),
            "0 2 4 1 3");
  const Tensor kept = p.dataset("SnapshotDatasetV2",
                                {shuffled(p.range(6)), Tensor::string((folder / "s").string())},
                                {{"reader_func", FunctionName{flat, {}}},
                                 {"shard_func", FunctionName{one_by_one, {}}},
                                 {"Treader_func_args", kNone},
                                 {"Tshard_func_args", kNone}});
  const std::string first = p.all(kept);
  EXPECT_EQ(first.size(), 11u);
  EXPECT_EQ(p.all(kept), "0 1 2 3 4 5");
  std::filesystem::remove_all(folder);
}

TEST_F(Stages, WhatHandlesOwnIsGivenUp) {
  const std::vector<Tensor> seeds{n(1), n(2)};
  const auto cache = p.e.execute("AnonymousMemoryCache", {});
  p.e.execute("DeleteMemoryCache", cache);
  p.e.execute("DeleteRandomSeedGenerator", p.e.execute("AnonymousRandomSeedGenerator", seeds));
  p.e.execute("DeleteSeedGenerator",
              p.e.execute("AnonymousSeedGenerator",
                          std::vector{n(1), n(2), Tensor::scalar(true)}));
  p.e.execute("DeleteIterator",
              p.e.execute("AnonymousIteratorV2", {},
                          {{"output_types", std::vector<DType>{DType::kInt64}},
                           {"output_shapes", std::vector<Shape>{Shape{}}}}));
}

TEST_F(Stages, LinesOfFiles) {
  const auto path =
      std::filesystem::temp_directory_path() / ("emplace_data_lines_" + std::to_string(getpid()));
  std::ofstream(path) << "one\ntwo\r\n";
  const std::vector<DType> text{DType::kString};
  const Tensor d = p.e.execute("TextLineDataset",
                               std::vector{Tensor::string(path.string()), Tensor::string(""), n(0)})
                       .at(0);
  const Tensor it = p.iterator(d, text);
  EXPECT_EQ(p.next(it, text).at(0).item<std::string>(), "one");
  EXPECT_EQ(p.next(it, text).at(0).item<std::string>(), "two");
  EXPECT_THROW(p.next(it, text), Error);
  std::filesystem::remove(path);
}

TEST_F(Stages, IteratorsGoOnWhereTheyWere) {
  const Tensor long_one = p.dataset("RepeatDataset", {shuffled(p.range(10)), n(3)});
  goes_on(long_one, 13);
  goes_on(p.dataset("PrefetchDataset", {long_one, n(3)}), 4);
  goes_on(parallel_map(long_one, squares(), 3), 5);
  goes_on(p.dataset("FlatMapDataset", {p.range(6)}, with(tens())), 4);
  goes_on(p.dataset("ParallelInterleaveDatasetV4", {p.range(8), n(3), n(1), n(2), n(1), n(2)},
                    with(tens(), {{"deterministic", "true"}})),
          7);
  goes_on(p.dataset("BatchDatasetV2", {long_one, n(4), Tensor::scalar(false)}), 2);
  goes_on(p.dataset("ConcatenateDataset", {p.range(3), long_one}), 6);
}

}  // namespace
}  // namespace emplace::data
