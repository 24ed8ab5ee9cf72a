// What a user writes on the first day: two towers on virtual GPUs, summed on the CPU.
#include <emplace/emplace.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

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
  const em::Tensor result = session.run(sum);
  const std::vector<float> expected{44, 56, 98, 128};
  const auto values = result.values<float>();
  if (!std::equal(values.begin(), values.end(), expected.begin(), expected.end())) return 1;

  // An error crosses from the library into the consumer as the type its header declares.
  try {
    const auto nowhere = graph.device("/gpu:9");
    session.run(em::identity(sum, "lost"));
    return 2;
  } catch (const em::Error& error) {
    if (std::string(error.what()).find("lost") == std::string::npos) return 3;
  }
  std::printf("plain consumer: emplace %s\n", em::version());
}
