#pragma once
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "emplace/error.h"
#include "emplace/graph.h"
#include "graph/names.h"
#include "graph/node_store.h"
#include "graph/scope_stacks.h"
#include "op/op_def.h"

namespace emplace {

// What a graph holds; guarded by Graph::mutex_ where it can change.
struct Graph::State {
  explicit State(Graph& g);

  Graph& graph;
  const uint64_t number;  // of the graph in this process: scope stacks are kept under it
  NodeStore store;
  std::vector<NodeStore::Owned> nodes;
  NameTable names;
  uint64_t version = 0;
  bool finalized = false;
  GraphVersions versions;
  std::vector<std::shared_ptr<const Function>> functions;
  std::unordered_map<std::string, size_t> function_index;
  std::unordered_map<std::string, std::unique_ptr<OpDef>> function_ops;  // called by their names

  // ---- Making a node. All but `make` run under the lock.
  const OpDef& op_for(std::string_view type) const;
  NodeStore::Owned make(const OpDef& op, std::span<const Output> inputs, AttrList attrs,
                        const NodeOptions& options);
  void check_inputs(const OpDef& op, std::span<const Output> inputs) const;
  void check_refs(const Node& node) const;
  void infer(Node& node) const;  // shapes, handles, known values
  struct Naming {
    std::string asked, given;
  };
  Naming name_for(const Node& node, const NodeOptions& options) const;
  void apply_colocation(Node& node, const ScopeStacks* scopes) const;
  void apply_scopes(Node& node, const ScopeStacks* scopes) const;
  Node* insert(NodeStore::Owned node, std::string_view asked_name);
  // A node as it is imported: exact name, no scopes; under the lock.
  Node* add_raw(const OpDef& op, std::span<const Output> inputs, AttrList attrs,
                const NodeOptions& options);
  void replace_input(Node* node, int index, Output source);
  void merge_shape(Output output, const Shape& shape);
  void extend(Node* node, std::span<const Output> more, AttrList attrs);  // see extend_call
  void change_attr(Node& node, std::string_view name, AttrValue value);
  // The node as it would be with these, and what it takes from that.
  NodeStore::Owned remade(const Node& node, std::span<const Output> inputs, AttrList attrs);
  void take_over(Node& node, Node& made);
  void take_back(size_t num_nodes);  // all nodes but the first
  void insert_function(std::shared_ptr<const Function> f);
  void check_open() const;  // FailedPrecondition when finalized
  void check_owned(const Node* node, std::string_view what) const;
  void verify_node(const Node& node) const;
  void verify_acyclic() const;
};

// What `f` throws is about this node.
template <class F>
void blaming(const Node& node, F f) {
  try {
    f();
  } catch (Error& e) {
    e.at_node(node.name(), node.type()).from_source(node.source());
    throw;
  }
}

// "a", "b:1", "^c": as node definitions and GraphDefs spell inputs.
std::string input_text(const Output& input);
// "MatMul[T=DT_FLOAT](a, b:1, ^c)": what follows "name = " in a definition.
std::string call_text(const Node& node);

}  // namespace emplace
