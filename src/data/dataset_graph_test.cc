#include <gtest/gtest.h>

#include "data/pipeline_testutil.h"

namespace emplace::data {
namespace {

class DatasetGraph : public ::testing::Test {
 protected:
  // Written and read again.
  Tensor again(const Tensor& d) {
    const Tensor graph = p.e.execute("DatasetToGraphV2", std::vector{d}).at(0);
    return p.e.execute("DatasetFromGraph", std::vector{graph}).at(0);
  }
  Tensor share(const Tensor& d, int64_t index) {
    return p.dataset("AutoShardDataset", {d, n(2), n(index)});
  }
  std::string times_two() {
    return p.function({DType::kInt64}, [](Graph& g, const std::vector<Output>& x) {
      return std::vector<Output>{g.add("AddV2", {x[0], x[0]})->output()};
    });
  }
  Pipeline p;
};

TEST_F(DatasetGraph, GivesTheSameElementsWhenItIsReadAgain) {
  const Tensor mapped = p.map(p.range(4), times_two());
  const Tensor both =
      p.dataset("ConcatenateDataset", {mapped, p.slices({Tensor::of<int64_t>({7, 8}, {2})})});
  EXPECT_EQ(p.all(again(both)), "0 2 4 6 7 8");
  EXPECT_EQ(p.all(again(again(both))), "0 2 4 6 7 8");
}

TEST_F(DatasetGraph, OutlivesWhatItWasMadeOf) {
  Tensor made;
  {
    Pipeline other;
    const Tensor d = other.map(
        other.range(3), other.function({DType::kInt64}, [](Graph& g, const std::vector<Output>& x) {
          return std::vector<Output>{g.add("Neg", {x[0]})->output()};
        }));
    made = other.e.execute("DatasetToGraphV2", std::vector{d}).at(0);
  }
  EXPECT_EQ(p.all(p.e.execute("DatasetFromGraph", std::vector{made}).at(0)), "0 -1 -2");
}

TEST_F(DatasetGraph, SharesOutByElements) {
  const Tensor d = p.map(p.range(5), times_two());
  EXPECT_EQ(p.all(share(d, 0)), "0 4 8");
  EXPECT_EQ(p.all(share(d, 1)), "2 6");
}

TEST_F(DatasetGraph, RefusesWhatIsNone) {
  EXPECT_THROW(p.e.execute("DatasetFromGraph", std::vector{Tensor::string("")}), Error);
  EXPECT_THROW(p.e.execute("DatasetFromGraph", std::vector{Tensor::string("none")}), Error);
}

}  // namespace
}  // namespace emplace::data
