#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "emplace/graph.h"
#include "placement/context.h"
#include "placement/node_index.h"

namespace emplace::placement {

// A node, or a port of a function call, in the forest of groups; at a root, the whole group's
// constraints. Whatever meets `requested` meets `resource` and `assigned` too.
struct Member {
  int parent = 0;
  int rank = 0;
  int requested = SpecTable::kAny;  // what the user wants of the group
  int resource = SpecTable::kAny;   // where its variables and handles were asked to be
  int assigned = SpecTable::kAny;   // where some of it already is
  int types = TypeTable::kNone;     // device types that can run all of it
  int device = -1;                  // once chosen
  int leader = -1;                  // the node for which it was chosen
  int asked = SpecTable::kAny;      // `requested`, before a device was chosen
  bool overridden = false;          // a reference or resource edge beat a request
  bool softened = false;            // the candidates do not meet the request
  const std::vector<int>* list = nullptr;  // candidates, best first, once looked for
};

// Nodes that must share a device, and what limits that device. Built once from the graph; then
// the passes of the placer fix one group after another. Not thread-safe.
class Colocation {
 public:
  // `placed`: a device index or -1 per node; empty: none is placed.
  Colocation(Context& context, std::span<Node* const> nodes, std::span<const int> placed,
             std::string function);

  void build();  // throws Error when constraints contradict each other

  // Devices that can take the node's group, best first; empty if none can.
  const std::vector<int>& candidates(int node);
  void fix(int node, int device);  // puts the node's whole group there
  // The calls whose insides limit the device of a resource, wherever that resource is read.
  std::vector<int> ports() const;
  int port_owner(int port) const { return port_owner_[port - size()]; }

  Context& context() const { return context_; }
  int size() const { return static_cast<int>(nodes_.size()); }
  const Node& node(int i) const { return *nodes_[i < size() ? i : port_owner(i)]; }
  const OpClass& op(int node) const { return context_.ops[classes_[node]]; }
  const NodeIndex& index() const { return index_; }
  std::span<Node* const> nodes() const { return nodes_; }

  int find(int member) const;
  const Member& root(int member) const { return members_[find(member)]; }
  int endpoint(const Output& source) const;  // the member an output stands for; -1 if outside
  int own_request(int node) const;           // SpecTable
  int own_types(int node) const;             // TypeTable; kNone if nothing runs it
  int placed_before(int node) const { return placed_.empty() ? -1 : placed_[node]; }
  std::vector<int> members(int member) const;  // the nodes of its group
  int group_size(int member) const { return static_cast<int>(members(member).size()); }

 private:
  enum class Flaw { kNone, kAssigned, kKernels, kSpelling };
  struct Call {
    int node;
    std::vector<int> in, out;  // ports of resources; -1 for other values
  };

  void make_members();
  bool may_be_tied(int i) const;
  Flaw make_member(int i);
  void report_flaw(int i, Flaw flaw) const;  // throws unless kNone
  void add_ports(int node);

  void tie_edges();
  bool ties(const Output& source, int source_node, int node, int input) const;
  void tie_ports();
  void apply(const Call& call, const ResourceGroups& groups);
  void limit(int member, const ResourceGroups::Constraint& constraint);
  void tie(int source, int target);
  void tie_named_groups();
  void join_group(int node, std::string_view group, TextMap<int>& first);
  std::optional<std::string> unite(int a, int b);
  void keep_host_elements_on_cpu();
  void leave_xla_out();

  Context& context_;
  std::span<Node* const> nodes_;
  std::span<const int> placed_;
  std::string function_;
  NodeIndex index_;
  mutable std::vector<Member> members_;  // nodes, then ports; finding shortens paths
  std::vector<int> classes_;             // OpClasses, per node
  std::vector<int> tied_;  // nodes that references, handles or variants may tie to others
  std::vector<std::pair<int, const std::vector<std::string>*>> asking_;  // nodes with a `_class`
  std::vector<int> port_owner_;          // call node of each port
  std::vector<Call> calls_;
  std::vector<std::pair<int, int>> late_edges_;  // from ports, after all others
};

// A PartitionedCall that returns a resource: only those need a look inside.
bool returns_resource_from_call(const Node& node);

}  // namespace emplace::placement
