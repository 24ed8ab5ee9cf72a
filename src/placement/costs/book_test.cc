#include <gtest/gtest.h>

#include <cmath>

#include "emplace/error.h"
#include "emplace/plan.h"

namespace emplace {
namespace {

const CostCall kProduct{"MatMul", "", "float32[2,3] float32[3,4]"};

CostRow call_row(double seconds, int64_t count = 1, std::string device = "CPU x1") {
  return {{}, kProduct, {}, std::move(device), {seconds, 0, count}};
}
CostRow node_row(std::string node, double seconds, CostCall call = kProduct) {
  return {std::move(node), std::move(call), "float32[2,4]", "CPU x1", {seconds, 0, 1}};
}

TEST(CostBook, KeepsMeanSpreadAndCount) {
  CostBook book;
  for (const double s : {1.0, 2.0, 3.0}) book.add(call_row(s));
  const Cost cost = book.find(kProduct, "CPU x1").value();
  EXPECT_DOUBLE_EQ(cost.seconds, 2);
  EXPECT_NEAR(cost.spread, std::sqrt(2.0 / 3), 1e-12);
  EXPECT_EQ(cost.count, 3);
  EXPECT_FALSE(book.find(kProduct, "GPU").has_value());
  EXPECT_FALSE(book.find({"MatMul", "", "float32[9,9] float32[9,9]"}, "CPU x1").has_value());
}

// The system may hold a call up for as long as a thousand others.
TEST(CostBook, LetsOneHeldUpCallSpoilLittle) {
  CostBook book;
  for (int i = 0; i < 10; ++i) book.add(call_row(1));
  book.add(call_row(1000));
  EXPECT_LT(book.find(kProduct, "CPU x1")->seconds, 1.1);
  for (int i = 0; i < 40; ++i) book.add(call_row(5));  // but one that is really slower now shows
  EXPECT_GT(book.find(kProduct, "CPU x1")->seconds, 3);
}

TEST(CostBook, ForgetsFirstCallsThatWereHeldUp) {
  CostBook book;
  for (const double s : {100.0, 1.0, 1.0}) book.add(call_row(s));
  EXPECT_EQ(book.find(kProduct, "CPU x1")->seconds, 1);
  EXPECT_EQ(book.find(kProduct, "CPU x1")->count, 2);
}

TEST(CostBook, FindsNodesByCallOrAsLastSeen) {
  const CostCall other{"MatMul", "", "float32[8,3] float32[3,4]"};
  CostBook book;
  book.add(node_row("a", 1));
  book.add(node_row("a", 7, other));
  EXPECT_EQ(book.find_node("a", "CPU x1", &kProduct)->seconds, 1);
  EXPECT_EQ(book.find_node("a", "CPU x1")->seconds, 7);
  EXPECT_EQ(book.last_seen("a")->call, other);
  EXPECT_FALSE(book.find_node("b", "CPU x1").has_value());
  EXPECT_FALSE(book.last_seen("b").has_value());
  EXPECT_FALSE(book.find(kProduct, "CPU x1").has_value()) << "a node's cost is its own";
}

TEST(CostBook, MergesAsThoughOneHadSeenAll) {
  CostBook a, b, all;
  for (const double s : {1.0, 2.0}) a.add(call_row(s)), all.add(call_row(s));
  for (const double s : {4.0, 9.0}) b.add(call_row(s)), all.add(call_row(s));
  a.set_link({"CPU x1", "GPU", 1e-6, 1e9});
  b.set_link({"CPU x1", "GPU", 2e-6, 2e9});
  b.set_rates({"GPU", 1e-6, 1e12, {}, {}});
  a.merge(b);
  EXPECT_DOUBLE_EQ(a.find(kProduct, "CPU x1")->seconds, all.find(kProduct, "CPU x1")->seconds);
  EXPECT_NEAR(a.find(kProduct, "CPU x1")->spread, all.find(kProduct, "CPU x1")->spread, 1e-12);
  EXPECT_EQ(a.link("CPU x1", "GPU")->bytes_per_s, 2e9);
  EXPECT_NE(a.rates("GPU"), nullptr);
  a.merge(a);
  EXPECT_EQ(a.find(kProduct, "CPU x1")->count, 8);
}

TEST(CostBook, IsAValue) {
  CostBook a;
  a.add(node_row("n", 1));
  CostBook b = a;
  b.add(node_row("m", 1));
  EXPECT_EQ(a.size(), 1u);
  EXPECT_EQ(b.size(), 2u);
  a = std::move(b);
  EXPECT_EQ(a.size(), 2u);
}

TEST(CostBook, ForgetsWhatWasNotSeenForLongest) {
  CostBook book;
  book.add(node_row("first", 1));
  for (size_t i = 0; i < CostBook::kMaxRows; ++i) {
    book.add(node_row("n" + std::to_string(i), 1));
    if (i % 1000 == 0) book.add(node_row("kept", 1));
  }
  EXPECT_LE(book.size(), CostBook::kMaxRows);
  EXPECT_FALSE(book.find_node("first", "CPU x1").has_value());
  EXPECT_FALSE(book.last_seen("first").has_value());
  EXPECT_TRUE(book.find_node("kept", "CPU x1").has_value());
}

TEST(CostBook, RefusesWhatIsNoCost) {
  CostBook book;
  for (const double bad : {-1.0, std::nan(""), double(INFINITY)})
    EXPECT_THROW(book.add(call_row(bad)), Error) << bad;
  EXPECT_THROW(book.add(call_row(1, 0)), Error);
  EXPECT_THROW(book.add(call_row(1, 1, "")), Error);
  EXPECT_THROW(book.add({{}, {}, {}, "CPU x1", {1, 0, 1}}), Error);
  EXPECT_EQ(book.size(), 0u);
}

}  // namespace
}  // namespace emplace
