#include <emplace/export.h>

#include <cstdio>
#include <string>

#include "tensorflow/core/framework/graph.pb.h"

int main() {
  tensorflow::GraphDef graph;
  graph.add_node()->set_only_here("mine");
  tensorflow::GraphDef back;
  if (!back.ParseFromString(graph.SerializeAsString())) return 1;
  if (back.node(0).only_here() != "mine") return 1;
  if (tensorflow::GraphDef::descriptor()->full_name() != "tensorflow.GraphDef") return 1;
  std::printf("consumer with messages of its own: emplace %s\n", emplace::version());
  return *emplace::version() ? 0 : 1;
}
