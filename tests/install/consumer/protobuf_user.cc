// A program whose own messages bear TensorFlow's names, in one process with the library's.
#include <emplace/emplace.h>

#include <cstdio>
#include <string>

#include "tensorflow/core/framework/graph.pb.h"

namespace em = emplace;

int main() {
  tensorflow::GraphDef mine;
  mine.add_node()->set_only_here("mine");
  tensorflow::GraphDef back;
  if (!back.ParseFromString(mine.SerializeAsString())) return 1;
  if (back.node(0).only_here() != "mine") return 2;
  if (tensorflow::GraphDef::descriptor()->full_name() != "tensorflow.GraphDef") return 3;

  em::Graph graph;
  const auto in_graph = graph.as_default();
  em::Session session(graph);
  const auto three = em::constant(3.f, "three");
  const auto seven = three + em::constant(4.f);
  if (session.run(seven).values<float>()[0] != 7.f) return 4;

  // The library's wire form, read with the consumer's message: the same fields, another type.
  if (!back.ParseFromString(em::graph_def(graph))) return 5;
  if (back.node_size() != 3 || back.node(0).name() != "three") return 6;
  std::printf("consumer with messages of its own: emplace %s\n", em::version());
}
