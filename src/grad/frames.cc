#include "grad/frames.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "emplace/op.h"
#include "emplace/ops.h"
#include "grad/part.h"

namespace emplace::grad {
namespace {

using Nodes = std::unordered_set<Node*>;
constexpr std::string_view kRaised = "_raised_to";

bool is(const Node& n, std::string_view type) { return n.type() == type; }

[[noreturn]] void refuse(const Node& n, std::string_view why) {
  throw unimplemented(fmt::format("No gradient is defined for the operation {}: {}", n.type(), why))
      .at_node(n.name(), n.type())
      .from_source(n.source());
}

// What decides a Switch; TensorFlow hands it to some of them by an Identity.
Output question_of(const Node& gate) {
  Output o = gate.inputs()[1];
  while (is(*o.node, "Identity")) o = o.node->inputs()[0];
  return o;
}

// Merges choose between two ways, or begin a round.
bool begins_round(const Node& merge) {
  return std::ranges::any_of(merge.inputs(),
                             [](const Output& in) { return is(*in.node, "NextIteration"); });
}

class Raiser {
 public:
  explicit Raiser(Graph& graph) : graph_(graph) {}

  // Everything that leads to `roots`, up to `ends`; with `only`, what is among these.
  void raise_above(std::vector<Node*> stack, const Nodes& ends, const Nodes* only = nullptr) {
    Nodes seen;
    while (!stack.empty()) {
      Node* n = stack.back();
      stack.pop_back();
      if (ends.contains(n) || (only && !only->contains(n)) || !seen.insert(n).second) continue;
      if (is(*n, "Exit") && !n->attr(kRaised)) raise_loop(n);
      if (is(*n, "Merge") && !n->attr(kRaised)) raise_branches(n);
      redirect(n);
      const Node* now = n->attr(kRaised) ? raised(n->output()).node : n;
      for (const Output& in : now->inputs()) stack.push_back(in.node);
    }
  }

 private:
  struct Variable {
    Node* merge;
    Node* gate;    // the Switch
    Output start, next;
    Node* exit = nullptr;
  };

  std::vector<Node*> all(std::string_view type) const {
    std::vector<Node*> found;
    for (Node* n : graph_.nodes())
      if (is(*n, type)) found.push_back(n);
    return found;
  }
  void redirect(Node* n) {
    for (size_t i = 0; i < n->inputs().size(); ++i)
      if (const Output now = raised(n->inputs()[i]); now != n->inputs()[i])
        graph_.update_input(n, static_cast<int>(i), now);
  }
  // Output k of `by` in the place of each of these.
  void replace(std::span<Node* const> old, Node* by) {
    for (size_t k = 0; k < old.size(); ++k)
      if (old[k]) graph_.set_attr(old[k], kRaised, by->output(static_cast<int>(k)).name());
    for (Node* n : graph_.nodes()) redirect(n);
  }
  Node* add(std::string_view type, const std::string& name, const std::vector<Output>& inputs,
            AttrList attrs) {
    NodeOptions options;
    options.name = name;
    options.raw = true;
    return graph_.add(type, inputs, std::move(attrs), std::move(options));
  }
  static bool any_stateful(const std::vector<Node*>& nodes) {
    return std::ranges::any_of(nodes, [](const Node* n) { return n->op().stateful; });
  }

  // ---- Loops.

  std::vector<Variable> variables(Node* condition) const {
    std::vector<Variable> found;
    for (Node* gate : all("Switch")) {
      if (gate->inputs()[1].node != condition) continue;
      Variable v{gate->inputs()[0].node, gate, {}, {}};
      for (const Output& in : v.merge->inputs())
        is(*in.node, "NextIteration") ? v.next = in.node->inputs()[0] : v.start = in;
      if (!v.next || !v.start || !is(*v.start.node, "Enter")) refuse(*v.merge, "no loop's variable");
      found.push_back(v);
    }
    for (Node* exit : all("Exit"))
      for (Variable& v : found)
        if (exit->inputs()[0] == v.gate->output(0)) v.exit = exit;
    return found;
  }

  void raise_loop(Node* exit) {
    Node* gate = exit->inputs()[0].node;
    if (!is(*gate, "Switch") || !is(*gate->inputs()[1].node, "LoopCond"))
      refuse(*exit, "it leaves no loop");
    Node* condition = gate->inputs()[1].node;
    std::vector<Variable> vars = variables(condition);
    const std::string frame = vars[0].start.node->attr("frame_name")->as<std::string>();
    Nodes ends;
    std::vector<Node*> roots = {condition->inputs()[0].node};
    for (const Variable& v : vars) ends.insert(v.merge), ends.insert(v.gate), roots.push_back(v.next.node);
    for (Node* enter : all("Enter"))
      if (enter->attr("frame_name")->as<std::string>() == frame) ends.insert(enter);
    raise_above(roots, ends);
    vars = variables(condition);  // with what stands in their places now
    roots = {condition->inputs()[0].node};
    for (const Variable& v : vars) roots.push_back(v.next.node);
    const std::vector<Node*> inside = in_order(roots, true, ends);
    add_loop(vars, condition, inside, frame);
  }

  void add_loop(const std::vector<Variable>& vars, Node* condition, const std::vector<Node*>& inside,
                const std::string& frame) {
    std::vector<Output> starts, asked, taken, next;
    std::vector<Node*> exits;
    std::vector<Shape> shapes;
    for (const Variable& v : vars) {
      starts.push_back(v.start.node->inputs()[0]);
      asked.push_back(v.merge->output(0));
      taken.push_back(v.gate->output(1));
      next.push_back(v.next);
      exits.push_back(v.exit);
      shapes.push_back(v.gate->output_shape(0));
    }
    for (Node* n : inside) {
      if (!is(*n, "Enter")) continue;  // what is the same in every round
      starts.push_back(n->inputs()[0]);
      for (auto* values : {&asked, &taken, &next}) values->push_back(n->output());
      shapes.push_back(n->output_shape(0));
    }
    PartOptions options;
    options.with_controls = true;
    const Output goes_on = condition->inputs()[0];
    const std::string test = add_part(graph_, frame + "_cond", asked, std::span(&goes_on, 1), options);
    const std::string round = add_part(graph_, frame + "_body", taken, next, options);
    AttrList attrs = {{"cond", FunctionName{test, {}}}, {"body", FunctionName{round, {}}},
                      {"output_shapes", shapes}};
    set_attr(attrs, "parallel_iterations", *vars[0].start.node->attr("parallel_iterations"));
    replace(exits, add(any_stateful(inside) ? "While" : "StatelessWhile", frame + "/While", starts,
                       std::move(attrs)));
  }

  // ---- Branches.

  struct Choice {
    Output question;
    std::vector<Node*> gates;  // Switches by which values come in
    std::vector<Node*> inside;
  };

  // Looks at both ways to a Merge; what is chosen on them is raised first.
  Choice choice(Node* merge) {
    const std::vector<Node*> switches = all("Switch");
    const Nodes ends(switches.begin(), switches.end());
    std::vector<Node*> roots;
    for (const Output& in : merge->inputs()) roots.push_back(in.node);
    raise_above(roots, ends);
    roots.clear();
    for (const Output& in : merge->inputs()) roots.push_back(in.node);
    Choice c;
    for (Node* n : in_order(roots, true, ends)) (ends.contains(n) ? c.gates : c.inside).push_back(n);
    if (!c.gates.empty()) c.question = question_of(*c.gates[0]);
    for (const Node* gate : c.gates)
      if (question_of(*gate) != c.question) return {};
    return c;
  }
  // Merges of one question of which none needs another are the results of one choice.
  std::vector<Node*> with_brothers(Node* merge, const Choice& c) {
    std::vector<Node*> found = {merge};
    for (Node* other : all("Merge")) {
      if (other == merge || other->attr(kRaised) || begins_round(*other)) continue;
      if (other->inputs().size() != 2 || !comes_by(other, c.question)) continue;
      const bool apart = std::ranges::none_of(found, [&](Node* m) {
        return needs(m, other) || needs(other, m);
      });
      if (apart && choice(other).question == c.question) found.push_back(other);
    }
    return found;
  }
  static bool needs(Node* n, Node* other) {
    return leads_to(n, [&](const Node& at) { return &at == other; });
  }
  static bool comes_by(Node* n, Output question) {
    return leads_to(n, [&](const Node& at) {
      return is(at, "Switch") && question_of(at) == question;
    });
  }
  // Whether one such is among what the node is computed from.
  template <class F>
  static bool leads_to(Node* n, F such) {
    std::vector<Node*> stack = {n};
    Nodes seen;
    while (!stack.empty()) {
      Node* at = stack.back();
      stack.pop_back();
      if (is(*at, "NextIteration") || !seen.insert(at).second) continue;
      if (such(*at)) return true;
      for (const Output& in : at->inputs()) stack.push_back(in.node);
      for (Node* before : at->control_inputs()) stack.push_back(before);
    }
    return false;
  }

  void raise_branches(Node* merge) {
    if (merge->inputs().size() != 2 || begins_round(*merge)) refuse(*merge, "it joins no two ways");
    Choice c = choice(merge);
    if (!c.question) refuse(*merge, "no one question decides between its ways");
    const std::vector<Node*> merges = with_brothers(merge, c);
    std::vector<Node*> gates = c.gates;
    for (size_t i = 1; i < merges.size(); ++i) {
      const Choice other = choice(merges[i]);
      for (Node* gate : other.gates)
        if (std::ranges::find(gates, gate) == gates.end()) gates.push_back(gate);
      c.inside.insert(c.inside.end(), other.inside.begin(), other.inside.end());
    }
    std::vector<Output> inputs = {c.question};
    for (Node* gate : gates) inputs.push_back(gate->inputs()[0]);
    const std::vector<Output> outside = read_from_outside(merges, c.inside, gates);
    inputs.insert(inputs.end(), outside.begin(), outside.end());
    std::vector<std::string> names;
    for (int way : {0, 1}) {
      std::vector<Output> takes, gives;
      for (Node* gate : gates) takes.push_back(gate->output(way));
      takes.insert(takes.end(), outside.begin(), outside.end());
      for (Node* m : merges) gives.push_back(m->inputs()[static_cast<size_t>(way)]);
      PartOptions options;
      options.with_controls = true;
      names.push_back(add_part(graph_, merge->name() + (way ? "_true" : "_false"), takes, gives, options));
    }
    std::vector<DType> types;
    std::vector<Shape> shapes;
    for (Node* m : merges) types.push_back(m->output_type(0)), shapes.push_back(m->output_shape(0));
    AttrList attrs = {{"Tout", types}, {"output_shapes", shapes},
                      {"then_branch", FunctionName{names[1], {}}},
                      {"else_branch", FunctionName{names[0], {}}}};
    replace(merges, add(any_stateful(c.inside) ? "If" : "StatelessIf", merge->name() + "/If", inputs,
                        std::move(attrs)));
  }
  // Values that come in by no Switch.
  static std::vector<Output> read_from_outside(const std::vector<Node*>& merges,
                                               const std::vector<Node*>& inside,
                                               const std::vector<Node*>& gates) {
    Nodes behind(gates.begin(), gates.end());  // inside is in order
    for (Node* n : inside) {
      const bool is_behind =
          std::ranges::any_of(n->inputs(), [&](const Output& in) { return behind.contains(in.node); }) ||
          std::ranges::any_of(n->control_inputs(), [&](Node* c) { return behind.contains(c); });
      if (is_behind) behind.insert(n);
    }
    std::vector<Output> found;
    const auto look = [&](std::span<const Output> values) {
      for (const Output& v : values)
        if (!behind.contains(v.node) && std::ranges::find(found, v) == found.end()) found.push_back(v);
    };
    for (Node* n : inside)
      if (behind.contains(n)) look(n->inputs());
    for (Node* m : merges) look(m->inputs());
    return found;
  }

  Graph& graph_;
};

// All that is computed from these values.
Nodes computed_from(const Graph& graph, std::span<const Output> values) {
  std::unordered_map<const Node*, std::vector<Node*>> readers;
  for (Node* n : graph.nodes())
    for (const Output& in : n->inputs()) readers[in.node].push_back(n);
  std::vector<Node*> stack;
  for (const Output& v : values) stack.push_back(v.node);
  Nodes found;
  while (!stack.empty()) {
    Node* n = stack.back();
    stack.pop_back();
    if (found.insert(n).second) stack.insert(stack.end(), readers[n].begin(), readers[n].end());
  }
  return found;
}

}  // namespace

void raise_frames(std::span<const Output> outputs, std::span<const Output> sources) {
  Graph& graph = outputs[0].graph();
  std::vector<Output> from(sources.begin(), sources.end());
  for (const Output& s : sources) from.push_back(raised(s));
  const Nodes on_the_way = computed_from(graph, from);
  std::vector<Node*> roots;
  for (const Output& o : outputs) roots.push_back(o.node);
  Raiser(graph).raise_above(roots, {}, &on_the_way);
}

Output raised(Output output) {
  const AttrValue* to = output.index == 0 && output.node ? output.node->attr(kRaised) : nullptr;
  return to ? output.graph().tensor(to->as<std::string>()) : output;
}

std::vector<Output> raised(std::span<const Output> outputs) {
  std::vector<Output> all;
  for (const Output& o : outputs) all.push_back(raised(o));
  return all;
}

}  // namespace emplace::grad
