#include "bench/common/rows.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <sstream>

namespace emplace::bench {
namespace {

Row row_of(std::optional<double> value) {
  return {"sched/chain", value, "ns/node", {{"floor", 4, false}, {"a", 20}, {"b", 10}}, 9};
}

TEST(Rows, RatioIsOursOverTheBestPeerThatCounts) {
  EXPECT_EQ(row_of(5).best_peer()->name, "b");
  EXPECT_DOUBLE_EQ(*row_of(5).ratio(), 0.5);
}

TEST(Rows, HigherIsBetterTurnsTheBestPeerRound) {
  Row row = row_of(5);
  row.higher_is_better = true;
  EXPECT_EQ(row.best_peer()->name, "a");
}

TEST(Rows, NoRatioWithoutOursOrWithoutRivals) {
  EXPECT_FALSE(row_of(std::nullopt).ratio());
  EXPECT_FALSE((Row{"x", 1.0, "ns", {{"floor", 4, false}}}.ratio()));
}

TEST(Rows, JsonCarriesNameValueUnitPeersRatio) {
  EXPECT_EQ(to_json(row_of(5)),
            R"({"name": "sched/chain", "value": 5, "unit": "ns/node", )"
            R"("peers": {"floor": 4, "a": 20, "b": 10}, "ratio": 0.5, "best_peer": "b", )"
            R"("quiet_rounds": 9})");
}

TEST(Rows, JsonOfAnAbsentValueIsNull) {
  EXPECT_NE(to_json(row_of(std::nullopt)).find(R"("value": null)"), std::string::npos);
  EXPECT_NE(to_json(row_of(std::nullopt)).find(R"("ratio": null)"), std::string::npos);
}

TEST(Rows, FileHasOneObjectALine) {
  const std::string path = testing::TempDir() + "/rows.json";
  write_json(path, {row_of(5), row_of(6)});
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  EXPECT_EQ(text.str(), to_json(row_of(5)) + "\n" + to_json(row_of(6)) + "\n");
  std::remove(path.c_str());
}

TEST(Rows, UnwritableFileIsAnError) {
  EXPECT_THROW(write_json("/nonexistent/rows.json", {row_of(5)}), std::runtime_error);
}

TEST(Rows, TableSaysWhenTheMachineWasNeverQuiet) {
  Row row = row_of(5);
  row.quiet_rounds = 0;
  std::ostringstream out;
  print_table(out, {row});
  EXPECT_NE(out.str().find("never quiet"), std::string::npos);
}

}  // namespace
}  // namespace emplace::bench
