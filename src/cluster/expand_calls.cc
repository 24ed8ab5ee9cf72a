#include "cluster/expand_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/device_name.h"
#include "exec/prune.h"
#include "graph/attr_proto.h"
#include "graph/graph_def.h"
#include "graph/tensor_proto.h"
#include "op/op_def.h"

namespace emplace::cluster {
namespace {

constexpr int kMostDepth = 100;  // of calls in calls

std::string attr_function(const proto::NodeDef& def, const char* name) {
  const auto it = def.attr().find(name);
  return it == def.attr().end() ? "" : it->second.func().name();
}

// The functions that a node calls: one, else and then, or test and body.
std::vector<std::string> called(const proto::NodeDef& def, const Graph& graph) {
  const std::string& op = def.op();
  if (op == "PartitionedCall" || op == "StatefulPartitionedCall") return {attr_function(def, "f")};
  if (op == "If" || op == "StatelessIf")
    return {attr_function(def, "else_branch"), attr_function(def, "then_branch")};
  if (op == "While" || op == "StatelessWhile")
    return {attr_function(def, "cond"), attr_function(def, "body")};
  if (graph.find_function(op)) return {op};
  return {};
}

bool names_task(const std::string& device) {
  const auto name = DeviceName::try_parse(device);
  return name && (name->job || name->task);
}

class Expander {
 public:
  Expander(proto::GraphDef& def, const Graph& graph) : def_(def), graph_(graph) {}

  bool expand() {
    google::protobuf::RepeatedPtrField<proto::NodeDef> nodes;
    nodes.Swap(def_.mutable_node());
    for (proto::NodeDef& n : nodes) add(std::move(n), 0);
    if (sources_.empty()) return false;
    for (proto::NodeDef& n : *def_.mutable_node())
      for (std::string& input : *n.mutable_input()) input = source_of(input);
    return true;
  }

 private:
  // One body on its way into the graph.
  struct Call {
    const proto::NodeDef& node;
    std::string prefix;                // "call/"
    std::vector<std::string> args;     // what its arguments are
    std::vector<std::string> waits;    // what its sources wait for
    int depth = 0;
  };
  struct Body {
    std::vector<std::string> outputs;
    std::vector<DType> dtypes;
    std::vector<std::string> effects;  // nodes that whoever waits for the call waits for
  };

  void add(proto::NodeDef n, int depth) {
    const std::vector<std::string> functions = called(n, graph_);
    if (functions.empty() || !spans(n, functions)) {
      *def_.add_node() = std::move(n);
      return;
    }
    if (depth > kMostDepth)
      throw unimplemented("Recursive function calls are not supported: '" + functions[0] + "'")
          .at_node(n.name(), n.op());
    for (const std::string& f : functions)
      if (!graph_.find_function(f))
        throw not_found(fmt::format("Function '{}' is not defined.", f)).at_node(n.name(), n.op());
    if (functions.size() == 1) add_call(n, functions[0], depth);
    else if (n.op().ends_with("If")) add_branches(n, functions, depth);
    else add_loop(n, functions, depth);
  }

  // ---- Which calls.
  bool spans(const proto::NodeDef& n, std::span<const std::string> functions) {
    if (const auto it = n.attr().find("Tcond"); it != n.attr().end() && it->second.type() != to_proto(DType::kBool))
      return false;  // a Switch takes nothing else
    for (const char* list : {"Tin", "T"})
      if (const auto it = n.attr().find(list); it != n.attr().end())
        for (const int t : it->second.list().type())
          if (t == static_cast<int>(to_proto(DType::kResource))) return true;
    return std::ranges::any_of(functions, [&](const std::string& f) { return function_spans(f, 0); });
  }
  bool function_spans(const std::string& name, int depth) {
    const auto [it, fresh] = spans_.try_emplace(name, false);
    const auto f = graph_.find_function(name);
    if (!fresh || !f || depth > kMostDepth) return it->second;
    bool found = false;
    for (const Node* n : f->body->nodes()) {
      found = found || names_task(n->device());
      proto::NodeDef def;
      to_proto(*n, &def);
      for (const std::string& inner : called(def, graph_)) found = found || function_spans(inner, depth + 1);
    }
    return spans_[name] = found;
  }

  // ---- Names.
  static std::pair<std::string, std::vector<std::string>> split(const proto::NodeDef& n, std::vector<std::string>& values) {
    std::vector<std::string> controls;
    for (const std::string& in : n.input())
      (in.starts_with('^') ? controls : values).push_back(in.starts_with('^') ? in.substr(1) : in);
    return {n.name(), controls};
  }
  static std::string tensor(const std::string& node, int index) {
    return index == 0 ? node : fmt::format("{}:{}", node, index);
  }
  proto::NodeDef& node(std::string_view op, std::string name, const proto::NodeDef& like,
                       std::initializer_list<std::string> inputs, DType dtype = DType::kInvalid) {
    proto::NodeDef& n = *def_.add_node();
    n.set_op(std::string(op));
    n.set_name(std::move(name));
    if (dtype != DType::kResource) n.set_device(like.device());
    for (const std::string& in : inputs) n.add_input(in);
    if (dtype != DType::kInvalid) (*n.mutable_attr())["T"].set_type(to_proto(dtype));
    return n;
  }
  std::string source_of(const std::string& input) const {
    if (input.starts_with('^')) return input;
    const SourceName source = parse_source(input);
    const auto it = sources_.find(std::string(source.node));
    if (it == sources_.end() || source.index >= static_cast<int>(it->second.size())) return input;
    return source_of(it->second[static_cast<size_t>(source.index)]);
  }

  // ---- Bodies.
  static bool handles(const Node& n) {
    const auto is_handle = [](DType t) { return t == DType::kResource || t == DType::kVariant; };
    for (const Output& in : n.inputs())
      if (is_handle(in.dtype())) return true;
    for (int i = 0; i < n.num_outputs(); ++i)
      if (is_handle(n.output_type(i))) return true;
    return false;
  }
  // Nodes that say where they want to be want it in the caller's task; those of resources go to these.
  static std::string device_in(const Node& n, const proto::NodeDef& call) {
    auto own = DeviceName::try_parse(n.device());
    const auto around = DeviceName::try_parse(call.device());
    if (!own || !around || (own->empty() && handles(n))) return n.device();
    own->merge_unset(*around);
    return own->to_string();
  }

  Body put(const Call& call, const std::string& name) {
    const auto f = graph_.find_function(name);
    if (f->inputs.size() != call.args.size())
      throw invalid_argument(fmt::format("function '{}' takes {} inputs but is called with {}", name,
                                         f->inputs.size(), call.args.size()))
          .at_node(call.node.name(), call.node.op());
    std::map<const Node*, std::string> inputs;
    FeedIndex fed;
    for (size_t i = 0; i < f->inputs.size(); ++i) {
      inputs[f->inputs[i]] = call.args[i];
      fed.emplace(f->inputs[i]->output(), static_cast<int>(i));
    }
    std::vector<Node*> roots;
    for (const Output& o : f->outputs) roots.push_back(o.node);
    for (Node* n : f->control_outputs) roots.push_back(n);
    for (Node* n : f->body->nodes())
      if (n->op().stateful && !inputs.contains(n)) roots.push_back(n);
    const auto outside = [&](const Output& o) {
      const auto it = inputs.find(o.node);
      return it != inputs.end() ? it->second : tensor(call.prefix + o.node->name(), o.index);
    };
    Body body;
    for (Node* n : needed_nodes(roots, fed)) {
      if (inputs.contains(n)) continue;
      proto::NodeDef def;
      to_proto(*n, &def);
      def.set_name(call.prefix + n->name());
      def.set_device(device_in(*n, call.node));
      def.clear_input();
      def.mutable_attr()->erase("_class");
      bool waits = false;  // by something of the body's own
      for (const Output& in : n->inputs()) {
        def.add_input(outside(in));
        waits = waits || !inputs.contains(in.node);
      }
      for (const Node* c : n->control_inputs()) {
        if (inputs.contains(c)) continue;
        def.add_input("^" + call.prefix + c->name());
        waits = true;
      }
      if (!waits || handles(*n))
        for (const std::string& wait : call.waits) def.add_input("^" + wait);
      if (n->op().stateful) body.effects.push_back(def.name());
      add(std::move(def), call.depth + 1);
    }
    for (Node* n : f->control_outputs)
      if (!inputs.contains(n)) body.effects.push_back(call.prefix + n->name());
    for (const Output& o : f->outputs) {
      body.outputs.push_back(outside(o));
      body.dtypes.push_back(o.dtype());
    }
    return body;
  }

  // What has the call's name: its results for who is told of them by name, and that it is done.
  void close(const proto::NodeDef& call, const std::vector<std::string>& outputs,
             const std::vector<DType>& dtypes, const std::vector<std::string>& waits) {
    sources_[call.name()] = outputs;
    const bool plain = !outputs.empty() && std::ranges::none_of(dtypes, [](DType t) {
      return t == DType::kResource || t == DType::kVariant;
    });
    proto::NodeDef& end = node(plain ? "IdentityN" : "NoOp", call.name(), call, {});
    if (plain)
      for (size_t i = 0; i < outputs.size(); ++i) {
        end.add_input(outputs[i]);
        (*end.mutable_attr())["T"].mutable_list()->add_type(to_proto(dtypes[i]));
      }
    std::set<std::string> once;
    for (const std::string& wait : waits)
      if (once.insert(wait).second) end.add_input("^" + wait);
    if (!plain)
      for (const std::string& o : outputs)
        if (const std::string from(parse_source(o).node); once.insert(from).second) end.add_input("^" + from);
  }

  void add_call(const proto::NodeDef& call, const std::string& function, int depth) {
    std::vector<std::string> args;
    const auto [name, controls] = split(call, args);
    Body body = put({call, name + "/", args, controls, depth}, function);
    body.effects.insert(body.effects.end(), controls.begin(), controls.end());
    close(call, body.outputs, body.dtypes, body.effects);
  }

  // Handles are taken as they are, whichever branch is taken; who takes them waits for the branch.
  void add_branches(const proto::NodeDef& call, std::span<const std::string> functions, int depth) {
    std::vector<std::string> args;
    const auto [name, controls] = split(call, args);
    const std::string predicate = args.front();
    args.erase(args.begin());
    const auto types = graph_.find_function(functions[0])->inputs;
    proto::NodeDef& chosen = node("Switch", name + "/chosen", call, {predicate, predicate}, DType::kBool);
    for (const std::string& c : controls) chosen.add_input("^" + c);
    std::vector<std::string> gated;
    for (size_t i = 0; i < args.size() && i < types.size(); ++i) {
      const DType t = types[i]->output_type(0);
      gated.push_back(args[i]);
      if (t == DType::kResource || t == DType::kVariant) continue;
      gated.back() = fmt::format("{}/arg_{}", name, i);
      node("Switch", gated.back(), call, {args[i], predicate}, t);
    }
    std::vector<Body> bodies;
    std::vector<std::string> done;
    for (int b = 0; b < 2; ++b) {
      const std::string prefix = name + (b ? "/then/" : "/else/");
      const std::string pivot = prefix + "pivot";
      node("Identity", pivot, call, {tensor(name + "/chosen", b)}, DType::kBool);
      std::vector<std::string> taken;
      for (size_t i = 0; i < gated.size(); ++i)
        taken.push_back(gated[i] == args[i] ? gated[i] : tensor(gated[i], b));
      bodies.push_back(put({call, prefix, taken, {pivot}, depth}, functions[static_cast<size_t>(b)]));
      done.push_back(prefix + "done");
      proto::NodeDef& end = node("Identity", done.back(), call, {pivot}, DType::kBool);
      for (const std::string& effect : bodies.back().effects) end.add_input("^" + effect);
    }
    (*node("Merge", name + "/done", call, {done[0], done[1]}, DType::kBool).mutable_attr())["N"].set_i(2);
    std::vector<std::string> outputs;
    for (size_t i = 0; i < bodies[0].outputs.size(); ++i) {
      outputs.push_back(fmt::format("{}/merge_{}", name, i));
      // What a branch hands through lives whatever is chosen, so it is tied to the branch.
      std::vector<std::string> arms;
      for (int b = 0; b < 2; ++b) {
        arms.push_back(fmt::format("{}/{}/result_{}", name, b ? "then" : "else", i));
        node("Identity", arms.back(), call, {bodies[static_cast<size_t>(b)].outputs[i]}, bodies[0].dtypes[i])
            .add_input("^" + name + (b ? "/then/pivot" : "/else/pivot"));
      }
      (*node("Merge", outputs.back(), call, {arms[0], arms[1]}, bodies[0].dtypes[i]).mutable_attr())["N"].set_i(2);
    }
    close(call, outputs, bodies[0].dtypes, {name + "/done"});
  }

  void add_loop(const proto::NodeDef& call, std::span<const std::string> functions, int depth) {
    std::vector<std::string> args;
    const auto [name, controls] = split(call, args);
    const auto test = graph_.find_function(functions[0]), body = graph_.find_function(functions[1]);
    if (body->inputs.size() != args.size() || body->outputs.size() != args.size() || test->outputs.size() != 1)
      throw invalid_argument(fmt::format("'{}' and '{}' do not fit a loop over {} values", functions[0],
                                         functions[1], args.size()))
          .at_node(name, call.op());
    const auto iterations = call.attr().find("parallel_iterations");
    std::vector<std::string> outside = args, inside(args.size()), taken(args.size());
    std::vector<size_t> variables;
    for (size_t i = 0; i < args.size(); ++i) {
      const DType t = body->inputs[i]->output_type(0);
      const bool varies = !passes_through(*body, i);
      proto::NodeDef& enter = node("Enter", fmt::format("{}/enter_{}", name, i), call, {args[i]}, t);
      for (const std::string& c : controls) enter.add_input("^" + c);
      auto& attrs = *enter.mutable_attr();
      attrs["frame_name"].set_s(name);
      attrs["is_constant"].set_b(!varies);
      if (iterations != call.attr().end()) attrs["parallel_iterations"] = iterations->second;
      inside[i] = taken[i] = enter.name();
      if (!varies) continue;
      variables.push_back(i);
      inside[i] = fmt::format("{}/merge_{}", name, i);
      (*node("Merge", inside[i], call, {taken[i], fmt::format("{}/next_{}", name, i)}, t).mutable_attr())["N"].set_i(2);
    }
    if (variables.empty())
      throw invalid_argument(fmt::format("the loop of '{}' never ends", name)).at_node(name, call.op());
    const std::string every_round = inside[variables[0]];
    const Body tested = put({call, name + "/cond/", inside, {every_round}, depth}, functions[0]);
    node("LoopCond", name + "/condition", call, {tested.outputs[0]});
    for (const size_t i : variables) {
      const DType t = body->inputs[i]->output_type(0);
      node("Switch", fmt::format("{}/switch_{}", name, i), call, {inside[i], name + "/condition"}, t);
      taken[i] = fmt::format("{}/variable_{}", name, i);
      node("Identity", taken[i], call, {fmt::format("{}/switch_{}:1", name, i)}, t);
      outside[i] = fmt::format("{}/exit_{}", name, i);
      node("Exit", outside[i], call, {fmt::format("{}/switch_{}", name, i)}, t);
    }
    const Body made = put({call, name + "/body/", taken, {taken[variables[0]]}, depth}, functions[1]);
    for (const size_t i : variables) {
      proto::NodeDef& next = node("NextIteration", fmt::format("{}/next_{}", name, i), call,
                                  {made.outputs[i]}, body->inputs[i]->output_type(0));
      if (i != variables[0]) continue;
      for (const std::string& effect : made.effects) next.add_input("^" + effect);
      for (const std::string& effect : tested.effects) next.add_input("^" + effect);
    }
    std::vector<std::string> waits{outside[variables[0]]};
    waits.insert(waits.end(), controls.begin(), controls.end());
    close(call, outside, made.dtypes, waits);
  }

  static bool passes_through(const Function& body, size_t i) {
    Output o = body.outputs[i];
    while (o.node->type() == "Identity" && o.node->control_inputs().empty()) o = o.node->inputs()[0];
    return o.node == body.inputs[i];
  }

  proto::GraphDef& def_;
  const Graph& graph_;
  std::map<std::string, bool> spans_;
  std::map<std::string, std::vector<std::string>> sources_;  // of calls that were expanded: their results
};

}  // namespace

bool expand_calls(proto::GraphDef& def, const Graph& graph) { return Expander(def, graph).expand(); }

}  // namespace emplace::cluster
