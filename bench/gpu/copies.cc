#include "bench/gpu/copies.h"

#include <algorithm>
#include <chrono>
#include <functional>

#include "emplace/emplace.h"

namespace emplace::bench {
namespace {

using Clock = std::chrono::steady_clock;

double median_seconds(const std::function<void()>& step) {
  std::vector<double> rounds;
  for (int i = 0; i < 12; ++i) {
    const auto start = Clock::now();
    step();
    rounds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  std::sort(rounds.begin() + 3, rounds.end());  // the first ones make memory ready
  return rounds[3 + (rounds.size() - 3) / 2];
}

}  // namespace

CopyRates copy_rates(int64_t n) {
  Graph g;
  const Scope in_graph = g.as_default(), on = g.device("/gpu:0");
  const Output x = placeholder(DType::kFloat, Shape{n}, "x");
  auto add = [&](const char* op, std::initializer_list<Output> in, AttrList attrs = {}) {
    return g.add(op, in, std::move(attrs));
  };
  const AttrList whole = {{"dtype", DType::kFloat}, {"shape", Shape{n}}};
  const AttrList single = {{"dtype", DType::kFloat}, {"shape", Shape{1}}};
  const Output v = add("VarHandleOp", {}, whole)->output(), w = add("VarHandleOp", {}, single)->output();
  const Output numbers =
      add("RandomStandardNormal", {constant(Tensor::of<int32_t>({static_cast<int32_t>(n)}, {1}))},
          {{"dtype", DType::kFloat}, {"seed", 1}})->output();
  Node* const start = add("AssignVariableOp", {v, numbers});
  const Output value = add("ReadVariableOp", {v}, {{"dtype", DType::kFloat}})->output();
  const Output first = add("Slice", {x, constant(Tensor::of<int32_t>({0}, {1})),
                                     constant(Tensor::of<int32_t>({1}, {1}))})->output();
  Node* const taken = add("AssignVariableOp", {w, first});
  SessionOptions options;
  options.gpu_options.allow_growth = true;
  Session s(g, options);
  s.run({}, {}, std::vector<Node*>{start});
  const Tensor given = s.run(value);
  const double bytes = 4e-9 * static_cast<double>(n);
  CopyRates rates;
  rates.in = bytes / median_seconds([&] { s.run({{x, given}}, {}, std::vector<Node*>{taken}); });
  rates.out = bytes / median_seconds([&] { s.run(value); });
  rates.both = 2 * bytes / median_seconds([&] {
    s.run({{x, given}}, std::vector<Output>{value}, std::vector<Node*>{taken});
  });
  return rates;
}

}  // namespace emplace::bench
