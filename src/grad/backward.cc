// The backward pass: gradients(ys, xs).
#include <deque>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "grad/rows.h"

namespace emplace {
namespace grad {

AttrList Forward::attrs(std::span<const std::string_view> names) const {
  AttrList kept;
  for (std::string_view a : names) set_attr(kept, a, *node.attr(a));
  return kept;
}

void Rows::add(std::initializer_list<const char*> ops, Row row) {
  for (const char* op : ops) rows_[op] = row;
}
void Rows::stop(std::initializer_list<const char*> ops) { add(ops, Row()); }
const Row* Rows::find(std::string_view op) const {
  const auto it = rows_.find(std::string(op));
  return it == rows_.end() ? nullptr : &it->second;
}

namespace {

// Ours, and those that users add while the process runs.
class Registry {
 public:
  static Registry& instance() {
    static Registry registry;
    return registry;
  }
  Row find(const Node& node) {
    const std::scoped_lock lock(mutex_);
    const Row* row = rows_.find(node.type());
    if (!row)
      throw unimplemented(fmt::format("No gradient is defined for the operation {}", node.type()))
          .at_node(node.name(), node.type())
          .from_source(node.source());
    return *row;
  }
  void add(std::string op, Row row) {
    const std::scoped_lock lock(mutex_);
    if (rows_.find(op)) throw already_exists(fmt::format("'{}' has a gradient already", op));
    rows_.add(std::move(op), std::move(row));
  }

 private:
  Registry() {
    add_unary(rows_);
    add_binary(rows_);
    add_reductions(rows_);
    add_arrays(rows_);
    add_products(rows_);
    add_matrices(rows_);
    add_nets(rows_);
    add_calls(rows_);
  }
  std::mutex mutex_;
  Rows rows_;
};

bool flows(DType t) { return is_number(t) || t == DType::kResource; }

// A node's turn comes when everything between it and the targets that reads it has had its own.
class Backward {
 public:
  Backward(std::span<const Output> ys, std::span<const Output> xs, const GradientOptions& options)
      : options_(options) {
    for (const Output& x : xs) ends_.insert(x.node);
    for (const Output& s : options.stop_gradients) stops_.insert(s.node);
    find_between(ys);
    for (Node* n : between_)
      for (const Output& in : n->inputs())
        if (between_.contains(in.node)) ++pending_[in.node];
  }

  void receive(Output y, Output g) {
    auto& of_node = grads_[y.node];
    of_node.resize(y.node->num_outputs());
    of_node[y.index].push_back(g);
  }

  void run(std::span<const Output> ys) {
    std::deque<Node*> ready;
    std::unordered_set<Node*> seen;
    for (const Output& y : ys)
      if (between_.contains(y.node) && !pending_[y.node] && seen.insert(y.node).second)
        ready.push_back(y.node);
    while (!ready.empty()) {
      Node* n = ready.front();
      ready.pop_front();
      visit(*n);
      for (const Output& in : n->inputs())
        if (between_.contains(in.node) && --pending_[in.node] == 0) ready.push_back(in.node);
    }
  }

  Output found(Output x) {
    const auto it = grads_.find(x.node);
    return it == grads_.end() || x.index >= std::ssize(it->second) ? Output{}
                                                                    : sum(it->second[x.index]);
  }

 private:
  // Nodes on a way from a source to a target.
  void find_between(std::span<const Output> ys) {
    std::unordered_set<Node*> below;
    std::vector<Node*> order;  // every node behind its inputs
    struct Visit {
      Node* node;
      size_t next = 0;
    };
    for (const Output& y : ys) {
      if (!below.insert(y.node).second) continue;
      std::vector<Visit> stack{{y.node}};
      while (!stack.empty()) {
        Visit& v = stack.back();
        if (v.next == v.node->inputs().size()) {
          order.push_back(v.node);
          stack.pop_back();
        } else if (Node* in = v.node->inputs()[v.next++].node; below.insert(in).second) {
          stack.push_back({in});
        }
      }
    }
    for (Node* n : order) {
      bool reached = ends_.contains(n);
      for (const Output& in : n->inputs()) reached |= between_.contains(in.node);
      if (reached) between_.insert(n);
    }
  }

  void visit(Node& n) {
    auto& received = grads_[&n];
    received.resize(n.num_outputs());
    bool leads_on = false, any = false;
    for (const Output& in : n.inputs()) leads_on |= between_.contains(in.node);
    for (const auto& g : received) any |= !g.empty();
    if (!leads_on || !any || stops_.contains(&n)) return;
    const Row row = Registry::instance().find(n);
    if (!row) return;
    Graph& graph = n.graph();
    const Scope scope = graph.name_scope(n.name() + "_grad");
    std::optional<Scope> with_forward;
    if (options_.colocate_with_ops) with_forward.emplace(graph.colocate_with(&n));
    std::vector<Output> grads;
    for (int i = 0; i < n.num_outputs(); ++i) {
      const bool nothing = received[i].empty() && flows(n.output_type(i));
      grads.push_back(nothing ? zeros_like(n.output(i)) : sum(received[i]));
    }
    const std::vector<Output> back = row({n, grads});
    for (size_t i = 0; i < back.size() && i < n.inputs().size(); ++i)
      if (back[i] && flows(n.inputs()[i].dtype())) receive(n.inputs()[i], back[i]);
  }

  // One value for all that was received; they are kept as one.
  static Output sum(std::vector<Output>& all) {
    if (all.size() > 1) all = {add_n(all)};
    return all.empty() ? Output{} : all[0];
  }

  const GradientOptions& options_;
  std::unordered_set<Node*> ends_, stops_, between_;
  std::unordered_map<Node*, int> pending_;
  std::unordered_map<Node*, std::vector<std::vector<Output>>> grads_;
};

Output seed(Output y) {
  if (!is_floating(y.dtype()))
    throw invalid_argument(fmt::format("the gradient of {}, of type {}, needs grad_ys", y.name(),
                                       dtype_name(y.dtype())));
  return f("Fill", shape_of(y), number(1, y));
}

}  // namespace
}  // namespace grad

std::vector<Output> gradients(std::span<const Output> ys, std::span<const Output> xs,
                              const GradientOptions& options) {
  if (ys.empty()) throw invalid_argument("gradients of nothing");
  if (!options.grad_ys.empty() && options.grad_ys.size() != ys.size())
    throw invalid_argument(
        fmt::format("Passed {} grad_ys for {} ys", options.grad_ys.size(), ys.size()));
  Graph& graph = ys[0].graph();
  const Scope in_graph = graph.as_default();
  const Scope scope = graph.name_scope(options.name);
  grad::Backward pass(ys, xs, options);
  for (size_t i = 0; i < ys.size(); ++i)
    pass.receive(ys[i], options.grad_ys.empty() ? grad::seed(ys[i]) : options.grad_ys[i]);
  pass.run(ys);
  std::vector<Output> found;
  for (const Output& x : xs) found.push_back(pass.found(x));
  return found;
}

void register_gradient(std::string op, GradientFunction function) {
  grad::Registry::instance().add(std::move(op), [function = std::move(function)](
                                                    const grad::Forward& n) {
    return function ? function(n.node, n.grads) : std::vector<Output>{};
  });
}

Node* gradient_descent(Output loss, std::span<const VariableNodes> variables, double rate,
                       std::string name) {
  std::vector<Output> values;
  for (const VariableNodes& v : variables) values.push_back(v.value);
  const std::vector<Output> found = gradients(std::span(&loss, 1), values);
  const Scope in_graph = loss.graph().as_default();
  const Scope scope = loss.graph().name_scope(name);
  std::vector<Node*> updates;
  for (size_t i = 0; i < variables.size(); ++i) {
    if (!found[i]) continue;
    const Scope with_variable = loss.graph().colocate_with(variables[i].ref.node);
    const Output step = grad::number(rate, variables[i].value);
    const Output update = op("ApplyGradientDescent", {variables[i].ref, step, found[i]}, {}, "update");
    updates.push_back(update.node);
  }
  if (updates.empty()) throw invalid_argument("no gradient reaches any of the variables");
  return group(updates);
}

}  // namespace emplace
