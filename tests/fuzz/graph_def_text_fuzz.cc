// GraphDefs as text.
#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace emplace;
  return fuzz::tried(data, size, [](std::string_view text) {
    Graph graph;
    import_graph_def_text(graph, text);
    graph.verify();
  });
}
