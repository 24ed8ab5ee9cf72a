// A net of two layers learns the exclusive or, one layer on each of two virtual GPUs.
#include <emplace/emplace.h>

#include <cstdio>
#include <iostream>

namespace em = emplace;

int main() {
  em::Graph graph;
  const auto in_graph = graph.as_default();
  const auto x = em::constant({0.f, 0.f, 0.f, 1.f, 1.f, 0.f, 1.f, 1.f}, {4, 2}, "x");
  const auto wanted = em::constant({0.f, 1.f, 1.f, 0.f}, {4, 1}, "wanted");

  std::vector<em::VariableNodes> weights;
  const auto layer = [&](const char* gpu, em::Output in, em::Tensor w, em::Tensor b) {
    const auto on = graph.device(gpu);
    weights.push_back(em::variable(w, "w"));
    weights.push_back(em::variable(b, "b"));
    return em::matmul(in, weights[weights.size() - 2].value) + weights.back().value;
  };
  const auto hidden = em::tanh(layer("/gpu:0", x,
                                     em::Tensor::of({.5f, -.4f, .3f, .6f, .2f, -.7f}, {2, 3}),
                                     em::Tensor::of({.1f, -.1f, 0.f}, {3})));
  const auto guess = layer("/gpu:1", hidden, em::Tensor::of({.7f, -.5f, .4f}, {3, 1}),
                           em::Tensor::of({0.f}, {1}));
  const auto loss = em::reduce_sum(em::op("SquaredDifference", {guess, wanted}), {0, 1});
  em::Node* const step = em::gradient_descent(loss, weights, 0.05);

  em::Session session(graph, {.allow_soft_placement = true, .virtual_gpus = 2});
  for (const auto& w : weights) session.run(w.initializer);
  for (int i = 0; i <= 400; ++i) {
    if (i % 100 == 0) std::printf("step %3d  loss %.4f\n", i, session.run(loss).item<float>());
    session.run(step);
  }
  std::cout << "guesses:\n" << session.run(guess) << '\n';
  return session.run(loss).item<float>() < 0.01f ? 0 : 1;
}
