#pragma once
#include "emplace/graph.h"
#include "emplace/proto/graph.pb.h"

namespace emplace {

// The graph's wire form as messages; the forms in <emplace/graph.h> wrap these.
void to_proto(const Graph& graph, const ExportOptions& options, proto::GraphDef* out);
void to_proto(const Node& node, proto::NodeDef* out);
ImportResult import_graph_def(Graph& graph, const proto::GraphDef& def,
                              const ImportOptions& options);

// A source as GraphDefs spell it: "a", "a:1", "^c".
struct SourceName {
  std::string_view node;
  int index = 0;  // -1: a control input
  bool operator==(const SourceName&) const = default;
};
SourceName parse_source(std::string_view text);

// Throws InvalidArgument when a program of our op definitions may not read it.
void check_versions(const proto::VersionDef& versions);

}  // namespace emplace
