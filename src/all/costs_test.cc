// What sessions measure of their steps.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>

#include "all/session_fixture.h"
#include "placement/costs/source.h"
#include "session/calibrate.h"

namespace emplace {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class CostsTest : public testing::SessionFixture {
 protected:
  // A product, then a chain that becomes one kernel where it is large; and a constant that is folded.
  CostsTest() {
    x_ = placeholder(DType::kFloat, Shape{-1, 64}, "x");
    const Output folded = op("Add", {constant(1.f), constant(2.f)}, {}, "folded");
    product_ = op("MatMul", {x_, op("Fill", {shape(), constant(0.1f)})}, {}, "product");
    y_ = op("Tanh", {op("Mul", {product_, folded}, {}, "scaled")}, {}, "tanh");
  }
  static Output op(std::string_view type, std::vector<Output> in, AttrList attrs = {},
                   std::string name = {}) {
    NodeOptions options;
    options.name = std::move(name);
    return Graph::current().add(type, in, std::move(attrs), std::move(options))->output();
  }
  static Output shape() { return op("Const", {}, {{"value", Tensor::of({64, 64}, {2})}, {"dtype", DType::kInt32}}); }
  static SessionOptions measuring() {
    SessionOptions o;
    o.measure_costs = true;
    return o;
  }
  void run(Session& s, int steps, int64_t rows = 8) {
    const Tensor fed(DType::kFloat, Shape{rows, 64});
    std::fill_n(const_cast<Tensor&>(fed).data<float>(), fed.num_elements(), 1.f);
    for (int i = 0; i < steps; ++i) s.run(y_, {{x_, fed}});
  }
  static std::vector<CostRow> rows_of(const CostBook& book, std::string_view node) {
    std::vector<CostRow> rows;
    for (CostRow& r : book.rows())
      if (r.node == node) rows.push_back(std::move(r));
    return rows;
  }

  Output x_, product_, y_;
};

TEST_F(CostsTest, MeasuresNothingUnasked) {
  auto s = session();
  run(*s, 20);
  EXPECT_EQ(s->costs().size(), 0u);
}

TEST_F(CostsTest, MeasuresNodesAndCalls) {
  auto s = session(measuring());
  run(*s, 20);
  const CostBook book = s->costs();
  const auto product = rows_of(book, "product");
  ASSERT_EQ(product.size(), 1u);
  EXPECT_EQ(product[0].call.op, "MatMul");
  EXPECT_EQ(product[0].call.inputs, "float32[8,64] float32[64,64]");
  EXPECT_EQ(product[0].outputs, "float32[8,64]");
  EXPECT_THAT(product[0].device, StartsWith("CPU x"));
  EXPECT_GT(product[0].cost.seconds, 0);
  EXPECT_TRUE(book.find(product[0].call, product[0].device).has_value());
}

TEST_F(CostsTest, KnowsWhatHasNoTimeOfItsOwn) {
  bool none = false;
  for (int tries = 0; tries < 10 && !none; ++tries) {  // others may have been at work
    auto s = session(measuring());
    run(*s, 20, 2048);
    const CostBook book = s->costs();
    const auto tanh = rows_of(book, "tanh");
    ASSERT_EQ(tanh.size(), 1u);
    none = true;
    for (const char* node : {"folded", "scaled"}) {
      const auto rows = rows_of(book, node);
      ASSERT_EQ(rows.size(), 1u) << node;
      none &= rows[0].cost.seconds < tanh[0].cost.seconds / 4;
    }
    for (const CostRow& r : book.rows())
      EXPECT_FALSE(r.node.empty() && r.call.op == "Tanh") << "it does the work of others besides";
  }
  EXPECT_TRUE(none);
}

TEST_F(CostsTest, KeepsShapesApart) {
  auto s = session(measuring());
  run(*s, 20, 8);
  run(*s, 20, 16);
  EXPECT_EQ(rows_of(s->costs(), "product").size(), 2u);
  EXPECT_EQ(s->costs().last_seen("product")->outputs, "float32[16,64]");
}

// A sample costs some microseconds at least, and a hundred times as much has to run before the next.
TEST_F(CostsTest, SamplesFewSteps) {
  int64_t samples = 400;
  for (int tries = 0; tries < 10 && samples >= 200; ++tries) {  // others may have been at work
    auto s = session(measuring());
    run(*s, 400);
    const auto product = rows_of(s->costs(), "product");
    ASSERT_EQ(product.size(), 1u);
    samples = product[0].cost.count;
  }
  EXPECT_LT(samples, 200);
}

TEST_F(CostsTest, MeasuresVirtualGpus) {
  SessionOptions o = gpus(1);
  o.measure_costs = true;
  graph.set_device(product_.node, "/gpu:0");
  auto s = session(o);
  run(*s, 20);
  const auto product = rows_of(s->costs(), "product");
  ASSERT_EQ(product.size(), 1u);
  EXPECT_THAT(product[0].device, StartsWith("Virtual GPU x"));
  EXPECT_EQ(product[0].call.inputs, "float32[8,64] float32[64,64]");
  EXPECT_GT(product[0].cost.seconds, 0);
}

TEST_F(CostsTest, ChargesACallWithWhatItsFunctionDoes) {
  auto f = function("f", [](Output x) {
    return op("Sum", {op("Fill", {shape(), x}), op("Const", {}, {{"value", Tensor::of({0, 1}, {2})},
                                                                {"dtype", DType::kInt32}})});
  });
  const Output fed = placeholder(DType::kFloat, Shape{}, "fed"), y = call(*f, fed);
  auto s = session(measuring());
  for (int i = 0; i < 20; ++i) s->run(y, {{fed, Tensor::scalar(1.f)}});
  const auto rows = rows_of(s->costs(), y.node->name());
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_GT(rows[0].cost.seconds, 1e-7);
}

TEST_F(CostsTest, SurvivesFailedSteps) {
  auto s = session(measuring());
  const Output bad = op("Reshape", {x_, op("Placeholder", {}, {{"dtype", DType::kInt32}}, "to")});
  const Tensor fed(DType::kFloat, Shape{2, 64});
  for (int i = 0; i < 20; ++i)
    EXPECT_THROW(s->run(bad, {{x_, fed}, {graph.tensor("to:0"), Tensor::of({7}, {1})}}), Error);
  for (int i = 0; i < 20; ++i) s->run(bad, {{x_, fed}, {graph.tensor("to:0"), Tensor::of({128}, {1})}});
  EXPECT_FALSE(rows_of(s->costs(), bad.node->name()).empty());
}

TEST_F(CostsTest, SavesWhenClosedAndStartsFromABook) {
  const auto path = std::filesystem::temp_directory_path() / ("emplace_costs_test_" + std::to_string(getpid()));
  SessionOptions o = measuring();
  o.save_costs = path.string();
  auto s = session(o);
  run(*s, 20);
  const auto before = rows_of(s->costs(), "product");
  s->close();
  SessionOptions later;
  later.costs = path.string();
  auto t = session(later);
  EXPECT_EQ(rows_of(t->costs(), "product").at(0).cost.seconds, before.at(0).cost.seconds);
  std::filesystem::remove(path);
  EXPECT_EQ(error_of([&] { session(later); }).code(), Code::kNotFound);
  o.save_costs = "/nowhere/at/all/costs.json";
  auto u = session(o);
  EXPECT_EQ(error_of([&] { u->close(); }).code(), Code::kNotFound);
}

TEST_F(CostsTest, TellsPlacersWhatItMeasuredAndEstimatesTheRest) {
  setenv("XDG_CACHE_HOME", "/dev/null/cannot/be/written", 1);
  auto s = session(measuring());
  const DeviceInfo& cpu = s->impl().device_infos.front();
  const auto estimated = s->impl().cost_source()->time(*product_.node, cpu);
  EXPECT_FALSE(estimated->measured);
  EXPECT_GT(estimated->seconds, 0);
  run(*s, 20);
  EXPECT_TRUE(s->impl().cost_source()->time(*product_.node, cpu)->measured);
  EXPECT_EQ(s->impl().cost_source()->bytes(*product_.node, 0), 8 * 64 * 4) << "as last seen";
}

TEST_F(CostsTest, MeasuresRatesAndLinks) {
  SessionOptions o = gpus(1);
  o.virtual_gpu_memory = 512 << 20;
  auto s = session(o);
  Session::Impl& impl = s->impl();
  const SharedParts parts{impl.pools, impl.devices, impl.resources_owner, nullptr};
  const DeviceKinds kinds = device_kinds(*impl.devices);
  const Device &cpu = *impl.devices->front(), &gpu = *impl.devices->back();
  const DeviceRates rates = measure_rates(parts, gpu, kinds.at(gpu.name()), impl.kernels);
  EXPECT_GT(rates.launch_s, 0);
  EXPECT_LT(rates.launch_s, 1);
  EXPECT_GE(rates.products.size(), 4u);
  for (const auto& r : rates.products) EXPECT_GT(r.per_s, 0);
  EXPECT_GE(rates.moves.size(), 4u);
  for (const auto& r : rates.moves) EXPECT_GT(r.per_s, 0);
  EXPECT_GT(rates.ops_per_s, 0);
  const LinkRate link = measure_link(parts, cpu, gpu, kinds, impl.kernels);
  EXPECT_GT(link.latency_s, 0);
  EXPECT_GT(link.bytes_per_s, 0);
}

TEST_F(CostsTest, FindsTheUsersCache) {
  const std::string home = std::getenv("HOME") ? std::getenv("HOME") : "/";
  setenv("XDG_CACHE_HOME", "/some/cache", 1);
  EXPECT_THAT(rates_cache_path(), StartsWith("/some/cache/emplace/rates-"));
  setenv("XDG_CACHE_HOME", "relative", 1);
  setenv("HOME", "/home/me", 1);
  EXPECT_THAT(rates_cache_path(), StartsWith("/home/me/.cache/emplace/"));
  unsetenv("HOME");
  EXPECT_EQ(rates_cache_path(), "");
  setenv("HOME", home.c_str(), 1);
  unsetenv("XDG_CACHE_HOME");
}

}  // namespace
}  // namespace emplace
