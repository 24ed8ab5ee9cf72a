#include "emplace/contract.h"

#include <gtest/gtest.h>

#include "emplace/error.h"
#include "emplace/ops.h"

namespace emplace {
namespace {

using ::testing::Test;

// tower_0/a on GPU:0, tower_0/b on the CPU, loss on GPU:1, which reads both.
class Contracts : public Test {
 protected:
  void SetUp() override {
    const Scope in_graph = graph.as_default();
    const Tensor value(DType::kFloat, Shape{256, 1024});
    const Output a = constant(value, "tower_0/a");
    const Output b = constant(value, "tower_0/b");
    graph.add("AddV2", {a, b}, {}, {.name = "loss"});
    graph.add("Neg", {a}, {}, {.name = "other"});
    row("tower_0/a", "GPU:0");
    row("tower_0/b", "CPU:0");
    row("loss", "GPU:1");
    row("other", "GPU:1");
  }
  void row(const char* node, const char* device) {
    report.rows.push_back({node, graph.find(node)->type(),
                           std::string("/job:localhost/replica:0/task:0/device:") + device,
                           "by default", {}});
  }
  std::vector<Violation> check(Contract c) {
    return violations(graph, report, std::span(&c, 1), peaks);
  }
  Graph graph;
  PlacementReport report;
  std::vector<DeviceForecast> peaks;
};

TEST_F(Contracts, NameEveryNodeThatIsElsewhereWithItsLine) {
  EXPECT_TRUE(check({.device = "/gpu:*", .ops = "loss"}).empty());
  const auto v = check({.device = "/gpu:*", .ops = "tower_*/**"});
  ASSERT_EQ(v.size(), 1u);
  EXPECT_EQ(v[0].node, "tower_0/b");
  EXPECT_EQ(v[0].op, "Const");
  EXPECT_EQ(v[0].device, "/job:localhost/replica:0/task:0/device:CPU:0");
  EXPECT_NE(v[0].reason.find("must be on /gpu:*: by default"), std::string::npos) << v[0].reason;
  EXPECT_NE(v[0].source.find("contract_test.cc:"), std::string::npos) << v[0].source;
  EXPECT_EQ(check({.device = "/job:worker"}).size(), 4u);
  EXPECT_TRUE(check({.device = "*"}).empty());
}

TEST_F(Contracts, CountACopyForEachTensorAndDevice) {
  EXPECT_TRUE(check({.ops = "tower_0/**", .max_copies = 2}).empty());
  const auto v = check({.ops = "tower_0/a", .max_copies = 0});
  ASSERT_EQ(v.size(), 1u);  // loss and other read one copy
  EXPECT_NE(v[0].reason.find("1 copies a step, 0 allowed: tower_0/a:0 (1.0 MiB) to"),
            std::string::npos) << v[0].reason;
  EXPECT_EQ(check({.ops = "loss", .max_copies = 1}).size(), 1u);
}

TEST_F(Contracts, SumTheBytesThatAreCopied) {
  EXPECT_TRUE(check({.max_copied_bytes = 2 << 20}).empty());
  const auto v = check({.max_copied_bytes = (2 << 20) - 1});
  ASSERT_EQ(v.size(), 1u);
  EXPECT_NE(v[0].reason.find("2.0 MiB copied a step"), std::string::npos) << v[0].reason;
}

TEST_F(Contracts, LookAtThePeakOfTheDevicesConcerned) {
  EXPECT_EQ(check({.ops = "loss", .max_peak = 100}).size(), 1u);  // not foretold
  for (const PlacementRow& r : report.rows) {
    DeviceForecast f;
    f.device = r.device;
    f.peak = 101;
    f.holders = {{r.node, 60}, {"x", 41}};
    peaks.push_back(f);
  }
  EXPECT_TRUE(check({.ops = "loss", .max_peak = 101}).empty());
  const auto v = check({.ops = "loss", .max_peak = 100});
  ASSERT_EQ(v.size(), 1u);
  EXPECT_EQ(v[0].node, "loss");
  EXPECT_NE(v[0].reason.find("101 bytes held at once, 100 bytes allowed: loss (60 bytes)"),
            std::string::npos) << v[0].reason;
}

TEST_F(Contracts, AreNotMetByNothing) {
  const auto v = check({.ops = "towre/**"});
  ASSERT_EQ(v.size(), 1u);
  EXPECT_EQ(v[0].reason, "no operation matches 'towre/**'");
}

TEST_F(Contracts, AreAllLookedAtAtOnce) {
  const std::vector<Contract> all{{.device = "/cpu:*", .ops = "loss", .source = "my.py:3"},
                                  {.device = "/gpu:7"}};
  const auto v = violations(graph, report, all);
  EXPECT_EQ(v.size(), 5u);
  const std::string text = violations_text(v, all);
  EXPECT_NE(text.find("demanded of 'loss' on /cpu:* (my.py:3)\n"), std::string::npos) << text;
}

TEST(ContractFile, HasAContractALine) {
  const auto all = read_contracts(
      "# towers\n\n/gpu:*  ops=tower_*/** max_copies=2\tmax_copied_bytes=64MiB max_peak=8GiB # one\n"
      "ops=loss max_copies=0\r\n/job:worker", "want.txt");
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].device, "/gpu:*");
  EXPECT_EQ(all[0].ops, "tower_*/**");
  EXPECT_EQ(all[0].max_copies, 2);
  EXPECT_EQ(all[0].max_copied_bytes, 64 << 20);
  EXPECT_EQ(all[0].max_peak, int64_t{8} << 30);
  EXPECT_EQ(all[0].source, "want.txt:3");
  EXPECT_EQ(all[1].device, "");
  EXPECT_EQ(all[2].source, "want.txt:5");
}

TEST(ContractFile, SaysWhichLineIsWrong) {
  for (const char* line : {"/gpu:* max_copies=x", "/gpu:* max_copies=-1", "/gpu:* max_peak=8 GiB",
                           "/gpu:* peak=1", "/gpu:* ops=", "/device::::", "/gpu:* max_copies"}) {
    try {
      read_contracts(std::string("\n") + line, "f");
      ADD_FAILURE() << line;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::kInvalidArgument);
      EXPECT_TRUE(e.message().starts_with("f:2: ")) << e.message();
    }
  }
}

}  // namespace
}  // namespace emplace
