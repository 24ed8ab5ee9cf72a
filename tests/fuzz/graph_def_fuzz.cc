// GraphDefs as bytes: what is taken can be written and taken again.
#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace emplace;
  return fuzz::tried(data, size, [](std::string_view bytes) {
    Graph graph;
    import_graph_def(graph, bytes);
    graph.verify();
    Graph again;
    import_graph_def(again, graph_def(graph));
    if (again.num_nodes() != graph.num_nodes()) __builtin_trap();
  });
}
