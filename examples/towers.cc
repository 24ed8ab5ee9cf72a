// Two towers on two GPUs, summed on the CPU: the graph of "Using multiple GPUs".
#include <emplace/emplace.h>

#include <cstdio>
#include <iostream>

namespace em = emplace;

int main() {
  em::Graph graph;
  const auto in_graph = graph.as_default();
  std::vector<em::Output> towers;
  for (const char* gpu : {"/gpu:2", "/gpu:3"}) {
    const auto on = graph.device(gpu);
    const auto a = em::constant({1.f, 2.f, 3.f, 4.f, 5.f, 6.f}, {2, 3});
    const auto b = em::constant({1.f, 2.f, 3.f, 4.f, 5.f, 6.f}, {3, 2});
    towers.push_back(em::matmul(a, b));
  }
  const auto on_cpu = graph.device("/cpu:0");
  const auto sum = em::add_n(towers);

  em::Session session(graph, {.virtual_gpus = 4});

  std::cout << "Where, and why there:\n" << session.placement().table() << '\n';

  em::RunMetadata step;
  session.run({}, std::span(&sum, 1));  // plans, and starts the queues
  const auto result = session.run({}, std::span(&sum, 1), {}, {.trace = true}, &step);
  std::cout << "What the step did (µs):\n";
  for (const auto& n : step.nodes)
    std::printf("  %7.1f %7.1f  %-10s %-8s %s\n", n.start_ns / 1e3, n.end_ns / 1e3, n.node.c_str(),
                n.op.c_str(), n.device.substr(n.device.rfind("/device")).c_str());
  std::cout << "\nsum =\n" << result[0] << '\n';
}
