// The backward pass: gradients(ys, xs).
#include <algorithm>
#include <deque>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "grad/frames.h"
#include "grad/joint.h"
#include "grad/part.h"
#include "grad/rows.h"
#include "graph/source_line.h"

namespace emplace {
namespace grad {

AttrList Forward::attrs(std::span<const std::string_view> names) const {
  AttrList kept;
  for (std::string_view a : names) set_attr(kept, a, *node.attr(a));
  return kept;
}

Output Forward::dy(int i) const {
  Gradient& g = grads[i];
  g = g ? g.dense() : zeros_like(y(i));
  return g.values;
}
std::vector<Output> Forward::dys() const {
  std::vector<Output> all;
  for (int i = 0; i < node.num_outputs(); ++i)
    all.push_back(grads[i] || is_number(node.output_type(i)) ? dy(i) : Output{});
  return all;
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
    add_gathers(rows_);
    add_products(rows_);
    add_matrices(rows_);
    add_nets(rows_);
    add_calls(rows_);
    add_loops(rows_);
    add_lists(rows_);
  }
  std::mutex mutex_;
  Rows rows_;
};

// Slices stay slices when all of them are.
Gradient add_up(std::span<const Gradient> all) {
  const auto joined = [&](Output Gradient::*part, DType dtype) {
    std::vector<Output> parts;
    for (const Gradient& g : all) parts.push_back(cast(g.*part, dtype));
    parts.push_back(constant(0));
    return op("ConcatV2", parts);
  };
  const auto is_dense = [](const Gradient& g) { return !g.is_slices(); };
  if (std::ranges::any_of(all, is_dense)) {
    std::vector<Output> tensors;
    for (const Gradient& g : all) tensors.push_back(g.dense());
    return add_n(tensors);
  }
  const DType first = all[0].indices.dtype();
  const bool alike = std::ranges::all_of(
      all, [&](const Gradient& g) { return g.indices.dtype() == first; });
  return {joined(&Gradient::values, all[0].values.dtype()),
          joined(&Gradient::indices, alike ? first : DType::kInt64), all[0].dense_shape};
}

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

  void receive(Output y, Gradient g) {
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

  Gradient found(Output x) {
    const auto it = grads_.find(x.node);
    return it == grads_.end() || x.index >= std::ssize(it->second) ? Gradient{}
                                                                    : sum(it->second[x.index]);
  }

 private:
  // Nodes on a way from a source to a target.
  void find_between(std::span<const Output> ys) {
    std::vector<Node*> roots;
    for (const Output& y : ys) roots.push_back(y.node);
    for (Node* n : in_order(roots, false)) {
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
    std::vector<Gradient> grads;
    for (auto& g : received) grads.push_back(sum(g));
    const Back back = row({n, grads});
    for (size_t i = 0; i < back.size() && i < n.inputs().size(); ++i)
      if (back[i] && flows(n.inputs()[i].dtype())) receive(n.inputs()[i], back[i]);
  }

  // One value for all that was received; they are kept as one.
  static Gradient sum(std::vector<Gradient>& all) {
    if (all.size() > 1) all = {add_up(all)};
    return all.empty() ? Gradient{} : all[0];
  }

  const GradientOptions& options_;
  std::unordered_set<Node*> ends_, stops_, between_;
  std::unordered_map<Node*, int> pending_;
  std::unordered_map<Node*, std::vector<std::vector<Gradient>>> grads_;
};

Output seed(Output y) {
  if (!is_floating(y.dtype()))
    throw invalid_argument(fmt::format("the gradient of {}, of type {}, needs grad_ys", y.name(),
                                       dtype_name(y.dtype())));
  return f("Fill", shape_of(y), number(1, y));
}

// `ref` less `rate` times its gradient.
Output updated(Output ref, const Gradient& g, Output rate) {
  if (!g.is_slices()) return op("ApplyGradientDescent", {ref, rate, g.values}, {}, "update");
  return op("ScatterSub", {ref, g.indices, g.values * rate}, {}, "update");
}

}  // namespace
}  // namespace grad

namespace {

void check_target(const Output& y, size_t i) {
  if (!y) throw invalid_argument(fmt::format("gradients of an empty Output: ys[{}]", i));
  if (y.index < 0 || y.index >= y.node->num_outputs())
    throw invalid_argument(fmt::format("gradients of '{}:{}': node '{}' has {} outputs",
                                       y.node->name(), y.index, y.node->name(),
                                       y.node->num_outputs()));
}

template <class Found>
std::vector<Found> find_gradients(std::span<const Output> given_ys,
                                  std::span<const Output> given_xs, const GradientOptions& given,
                                  Found (*as)(const Gradient&)) {
  if (given_ys.empty()) throw invalid_argument("gradients of nothing");
  if (!given.grad_ys.empty() && given.grad_ys.size() != given_ys.size())
    throw invalid_argument(
        fmt::format("Passed {} grad_ys for {} ys", given.grad_ys.size(), given_ys.size()));
  for (size_t i = 0; i < given_ys.size(); ++i) check_target(given_ys[i], i);
  Graph& graph = given_ys[0].graph();
  const Scope in_graph = graph.as_default();
  grad::raise_frames(given_ys, given_xs);
  const std::vector<Output> ys = grad::raised(given_ys), xs = grad::raised(given_xs);
  GradientOptions options = given;
  options.stop_gradients = grad::raised(given.stop_gradients);
  const Scope scope = graph.name_scope(options.name);
  grad::Backward pass(ys, xs, options);
  for (size_t i = 0; i < ys.size(); ++i)
    pass.receive(ys[i], options.grad_ys.empty() ? grad::seed(ys[i]) : options.grad_ys[i]);
  pass.run(ys);
  std::vector<Found> found;
  for (const Output& x : xs) found.push_back(as(pass.found(x)));
  return found;
}

}  // namespace

Output Gradient::dense(SourceLocation where) const {
  if (!is_slices()) return values;
  const SourceScope line(where);
  const Scope in_graph = values.graph().as_default();
  const Output rows = grad::f("GatherV2", dense_shape, constant(0), constant(0));
  return grad::f("UnsortedSegmentSum", values, indices, rows);
}

std::vector<Gradient> gradients_or_slices(std::span<const Output> ys, std::span<const Output> xs,
                                          const GradientOptions& options, SourceLocation where) {
  const SourceScope line(where);
  return find_gradients<Gradient>(ys, xs, options, [](const Gradient& g) { return g; });
}
std::vector<Output> gradients(std::span<const Output> ys, std::span<const Output> xs,
                              const GradientOptions& options, SourceLocation where) {
  const SourceScope line(where);
  return find_gradients<Output>(ys, xs, options, [](const Gradient& g) { return g.dense(); });
}

void register_gradient(std::string op, GradientFunction function) {
  grad::Registry::instance().add(std::move(op), [function = std::move(function)](
                                                    const grad::Forward& n) {
    return function ? function(n.node, n.dys()) : std::vector<Output>{};
  });
}

Node* gradient_descent(Output loss, std::span<const VariableNodes> variables, double rate,
                       std::string name, SourceLocation where) {
  const SourceScope line(where);
  std::vector<Output> values;
  for (const VariableNodes& v : variables) values.push_back(v.value);
  const std::vector<Gradient> found = gradients_or_slices(std::span(&loss, 1), values);
  const Scope in_graph = loss.graph().as_default();
  const Scope scope = loss.graph().name_scope(name);
  std::vector<Node*> updates;
  for (size_t i = 0; i < variables.size(); ++i) {
    if (!found[i]) continue;
    const Scope with_variable = loss.graph().colocate_with(variables[i].ref.node);
    const Output step = grad::number(rate, variables[i].value);
    updates.push_back(grad::updated(variables[i].ref, found[i], step).node);
  }
  if (updates.empty()) throw invalid_argument("no gradient reaches any of the variables");
  return group(updates);
}

}  // namespace emplace
