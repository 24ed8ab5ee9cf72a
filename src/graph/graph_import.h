#pragma once
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "graph/graph_def.h"
#include "graph/graph_state.h"

namespace emplace {

// One import of a GraphDef: names are checked and made, then nodes are added as their sources get
// there (the earliest in the GraphDef first), loops are closed last. Time is linear in the size of
// the GraphDef, up to the order kept among ready nodes. Whatever fails, the graph is as before.
class GraphImporter {
 public:
  GraphImporter(Graph& graph, const proto::GraphDef& def, const ImportOptions& options);
  ImportResult run();
  // What the graph keeps to itself.
  static Graph::State& state(Graph& graph) { return *graph.state_; }

 private:
  // Where an input of a NodeDef comes from.
  struct Source {
    int node = -1;           // in the GraphDef; -1: mapped
    int index = 0;           // -1: control
    Output mapped;           // of this graph
    bool back_edge = false;  // closes a loop
  };
  struct Planned {
    std::string name;
    std::vector<Source> sources;
    int waits_for = 0;
    bool skip = false;
    Node* made = nullptr;
  };

  // ---- Before anything is added.
  void index_nodes();
  void check_control_order(const proto::NodeDef& node) const;
  void check_ops() const;
  void index_input_map();
  void choose_prefix();
  void choose_names();
  std::string unique_name(const std::string& name) const;
  bool is_taken(const std::string& name) const;
  void resolve_sources();
  Source resolve(const proto::NodeDef& node, const std::string& input);
  void count_waits();
  void check_returns() const;

  // ---- Adding.
  void import_functions();
  void add_nodes();
  void add_node(int i);
  AttrList attrs_of(const proto::NodeDef& def, const OpDef& op, const std::string& name) const;
  std::vector<std::string> colocation(const proto::NodeDef& def,
                                      const std::vector<std::string>& groups) const;
  void gather_inputs(int i, const OpDef& op, std::vector<Output>& inputs, NodeOptions& options);
  void check_types(const OpDef& op, const AttrList& attrs, const std::string& name,
                   std::span<const Output> inputs) const;
  std::string source_of(const std::string& node) const;  // "file.py:12", from debug_info
  void take_shapes(Node* node, const std::vector<Shape>& shapes);
  void close_loops();
  void merge_versions();
  ImportResult result() const;
  void apply_device_scopes();

  Graph& graph_;
  Graph::State& state_;
  const proto::GraphDef& def_;
  const ImportOptions& options_;
  std::string prefix_;  // with its '/', or empty
  std::unordered_map<std::string_view, int> index_;
  std::vector<Planned> planned_;
  std::vector<std::vector<int>> readers_;
  std::unordered_map<std::string, Output> input_map_;  // "a:0", "^c"
  std::unordered_set<std::string> used_keys_;
  std::unordered_set<std::string> prefixes_;  // of existing names, when names are made unique
  size_t added_functions_ = 0;
};

}  // namespace emplace
