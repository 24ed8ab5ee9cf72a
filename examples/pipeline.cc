// A line is learned from an input pipeline: numbers, mapped, shuffled, repeated, in batches, ahead
// of time.
#include <emplace/emplace.h>

#include <cstdio>

namespace em = emplace;

// x -> (x / 100, 2 x / 100 - 1), which the engine compiles and calls for each element.
em::FunctionName point(em::Graph& graph) {
  auto f = std::make_shared<em::Function>();
  f->name = "point";
  f->body = std::make_shared<em::Graph>();
  const auto in_body = f->body->as_default();
  f->inputs = {f->body->add("_Arg", {}, {{"T", em::DType::kInt64}, {"index", 0}})};
  const auto x =
      em::op("Cast", {f->inputs[0]->output()}, {{"DstT", em::DType::kFloat}}) * em::constant(0.01f);
  f->outputs = {x, em::constant(2.f) * x - em::constant(1.f)};
  graph.add_function(f);
  return {"point", {}};
}

int main() {
  em::Graph graph;
  const auto in_graph = graph.as_default();
  const auto int64 = [](int64_t v) { return em::constant(v); };
  // What the elements of a dataset are is said with each.
  const auto with = [](std::vector<em::DType> types, em::Shape shape, em::AttrList more = {}) {
    em::set_attr(more, "output_shapes", std::vector<em::Shape>(types.size(), shape));
    em::set_attr(more, "output_types", std::move(types));
    return more;
  };
  const std::vector<em::DType> number{em::DType::kInt64},
      pair{em::DType::kFloat, em::DType::kFloat};

  auto data = em::op("RangeDataset", {int64(0), int64(100), int64(1)}, with(number, {}));
  data = em::op("ParallelMapDatasetV2", {data, int64(2)},
                with(pair, {}, {{"f", point(graph)}, {"Targuments", std::vector<em::DType>{}}}));
  data = em::op("ShuffleDataset", {data, int64(50), int64(7), int64(8)}, with(pair, {}));
  data = em::op("RepeatDataset", {data, int64(-1)}, with(pair, {}));
  data = em::op("BatchDatasetV2", {data, int64(20), em::constant(true)}, with(pair, {20}));
  data = em::op("PrefetchDataset", {data, int64(2)}, with(pair, {20}));
  const auto iterator =
      em::op("IteratorV2", {}, with(pair, {20}, {{"shared_name", "points"}, {"container", ""}}));
  em::Node* const begin = graph.add("MakeIterator", {data, iterator});
  em::Node* const next = graph.add("IteratorGetNext", {iterator}, with(pair, {20}));

  const std::vector<em::VariableNodes> line{em::variable(em::Tensor::scalar(0.f), "slope"),
                                            em::variable(em::Tensor::scalar(0.f), "offset")};
  const auto guess = next->output(0) * line[0].value + line[1].value;
  const auto loss = em::reduce_sum(em::op("SquaredDifference", {guess, next->output(1)}), {0});
  em::Node* const step = em::gradient_descent(loss, line, 0.01);

  em::Session session(graph);
  for (em::Node* n : {line[0].initializer, line[1].initializer, begin}) session.run(n);
  for (int i = 0; i < 1000; ++i) session.run(step);
  const float a = session.run(line[0].value).item<float>();
  const float b = session.run(line[1].value).item<float>();
  std::printf("y = %.3f x + %.3f\n", a, b);
  return a > 1.98f && a < 2.02f && b > -1.02f && b < -0.98f ? 0 : 1;
}
