#include "session/function_stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "graph/function_def.h"
#include "graph/graph_def.h"
#include "graph/tensor_proto.h"
#include "op/op_def.h"

namespace emplace {
namespace {

bool runs_programs_code(const Node& n) {
  return n.type() == "PyFunc" || n.type() == "PyFuncStateless" || n.type() == "EagerPyFunc";
}

DeviceName task_around(const std::string& device) {
  const DeviceName outer = device.empty() ? DeviceName{} : DeviceName::parse(device);
  return {outer.job, outer.replica, outer.task, {}, {}};
}

std::vector<std::string> called(const Node& n) {
  std::vector<std::string> names;
  for (const auto& [key, value] : n.attrs()) {
    if (value.is<FunctionName>()) names.push_back(value.as<FunctionName>().name);
    if (value.is<std::vector<FunctionName>>())
      for (const FunctionName& f : value.as<std::vector<FunctionName>>()) names.push_back(f.name);
  }
  return names;
}

// Who runs a node: a task (null: this one), or, by itself, whoever runs the parts.
struct Place {
  const RemoteTask* task = nullptr;
  Node* alone = nullptr;
  auto operator<=>(const Place&) const = default;
};

class Cutter {
 public:
  explicit Cutter(const FunctionStages::Request& r) : r_(r), outer_(task_around(r.device)) {
    for (size_t i = 0; i < r.given.size(); ++i) {
      given_.insert(r.given[i].node);
      held_[{r.given[i].node, r.given[i].index}] = r.lie_in[i];
    }
  }

  std::vector<FunctionStages::Stage> cut() {
    for (const Output& o : r_.wanted) visit(o.node);
    for (Node* const n : r_.effects) visit(n);
    for (Node* const n : order_) place(*n);
    for (const Output& o : r_.wanted) note_use(o, nullptr);
    for (const Node* n : order_)
      for (const Output& in : n->inputs()) note_use(in, n);
    std::vector<FunctionStages::Stage> made;
    for (const auto& [key, nodes] : parts_) made.push_back(stage(key.second, nodes));
    return made;
  }

 private:
  using Key = std::pair<int, Place>;

  // Sources first; long chains must not use the thread's stack.
  void visit(Node* wanted) {
    std::vector<Node*> stack{wanted};
    while (!stack.empty()) {
      Node* const n = stack.back();
      if (seen_.contains(n) || given_.contains(n)) {
        stack.pop_back();
        continue;
      }
      const size_t before = stack.size();
      const auto need = [&](Node* source) {
        if (!seen_.contains(source) && !given_.contains(source)) stack.push_back(source);
      };
      for (const Output& in : n->inputs()) need(in.node);
      for (Node* const in : n->control_inputs()) need(in);
      if (stack.size() > before) continue;
      stack.pop_back();
      seen_.insert(n);
      order_.push_back(n);
    }
  }

  void place(Node& n) {
    const Place at = place_of(n);
    int level = 0;
    const auto after = [&](const Node* source) {
      const auto it = part_of_.find(source);
      if (it == part_of_.end()) return;
      level = std::max(level, it->second.first + (it->second.second == at && !at.alone ? 0 : 1));
    };
    for (const Output& in : n.inputs()) after(in.node);
    for (const Node* in : n.control_inputs()) after(in);
    part_of_[&n] = {level, at};
    parts_[{level, at}].push_back(&n);
    for (int i = 0; i < n.num_outputs(); ++i)
      if (n.output_type(i) == DType::kResource)
        held_[{&n, i}] = at.alone ? std::nullopt : std::optional(at.task);
  }

  Place place_of(Node& n) {
    if (runs_programs_code(n)) return {};
    DeviceName spec = n.device().empty() ? outer_ : DeviceName::parse(n.device());
    spec.merge_unset(outer_);
    std::set<const RemoteTask*> tasks;
    for (const Output& in : n.inputs()) {
      const auto held = held_.find({in.node, in.index});
      if (in.dtype() != DType::kResource || held == held_.end()) continue;
      if (!held->second) return {nullptr, &n};
      tasks.insert(*held->second);
    }
    const RemoteTask* const asked =
        tasks.empty() ? r_.tasks.find(spec, true).get() : *tasks.begin();
    tasks.insert(asked);
    look_into(n, spec, tasks);
    if (tasks.size() > 1) return {nullptr, &n};
    return {asked, nullptr};
  }

  // The functions that a node calls, and those call.
  std::map<std::string, std::shared_ptr<const Function>> functions_of(const Node& n) const {
    std::map<std::string, std::shared_ptr<const Function>> found;
    std::vector<std::string> names = called(n);
    while (!names.empty()) {
      const std::string name = std::move(names.back());
      names.pop_back();
      const auto f = found.contains(name) ? nullptr : r_.library.find_function(name);
      if (!f) continue;
      found[name] = f;
      for (const Node* inner : f->body->nodes())
        for (std::string& more : called(*inner)) names.push_back(std::move(more));
    }
    return found;
  }

  void look_into(const Node& n, const DeviceName& around,
                 std::set<const RemoteTask*>& tasks) const {
    for (const auto& [name, f] : functions_of(n)) look_for_tasks(*f->body, r_.tasks, around, tasks);
  }

  // What another part, or the caller, takes is one of its part's outputs.
  void note_use(const Output& o, const Node* user) {
    const auto from = part_of_.find(o.node);
    if (from == part_of_.end()) return;  // given
    if (user && part_of_.at(user) == from->second) return;
    auto& taken = outputs_[from->second];
    if (std::ranges::find(taken, o) == taken.end()) taken.push_back(o);
  }

  FunctionStages::Stage stage(const Place& at, const std::vector<const Node*>& nodes) {
    FunctionStages::Stage made;
    const Key key = part_of_.at(nodes[0]);
    if (at.alone) {
      made.spread = at.alone;
      made.inputs.assign(at.alone->inputs().begin(), at.alone->inputs().end());
      for (int i = 0; i < at.alone->num_outputs(); ++i) made.outputs.push_back(at.alone->output(i));
      return made;
    }
    made.outputs = outputs_[key];
    RemoteCall call;
    call.graph = with_functions(nodes);
    const std::unordered_set<const Node*> inside(nodes.begin(), nodes.end());
    for (const Node* n : nodes) add(*n, inside, made.inputs, call);
    for (const Output& o : made.outputs) call.fetches.push_back(o.name());
    call.targets = ends(nodes, made.outputs);
    // The device around the function is its own task's.
    const bool around =
        !r_.device.empty() && r_.tasks.find(DeviceName::parse(r_.device), true).get() == at.task;
    call.device = around ? r_.device : "";
    call.random_scope = r_.random_scope;
    if (at.task)
      made.there = std::make_unique<PreparedRemoteCall>(shared(at.task), std::move(call));
    else
      made.here = function(call);
    return made;
  }

  void add(const Node& n, const std::unordered_set<const Node*>& inside,
           std::vector<Output>& inputs, RemoteCall& call) {
    proto::NodeDef def;
    to_proto(n, &def);
    def.clear_input();
    def.mutable_attr()->erase("_class");  // its partners may be elsewhere
    for (const Output& in : n.inputs()) {
      if (inside.contains(in.node)) {
        def.add_input(in.name());
        continue;
      }
      const auto known = std::ranges::find(inputs, in);
      const auto number = known - inputs.begin();
      const std::string name = fmt::format("_stage_input_{}", number);
      if (known == inputs.end()) {
        inputs.push_back(in);
        call.feeds.push_back(name + ":0");
        proto::NodeDef& fed = *call.graph.add_node();
        fed.set_name(name);
        fed.set_op("Placeholder");
        (*fed.mutable_attr())["dtype"].set_type(to_proto(in.dtype()));
      }
      def.add_input(name);
    }
    for (const Node* in : n.control_inputs())
      if (inside.contains(in)) def.add_input("^" + in->name());
    *call.graph.add_node() = std::move(def);
  }

  // Nodes that run although nobody in the part takes anything of them.
  static std::vector<std::string> ends(const std::vector<const Node*>& nodes,
                                       std::span<const Output> outputs) {
    std::unordered_set<const Node*> taken;
    for (const Output& o : outputs) taken.insert(o.node);
    for (const Node* n : nodes) {
      for (const Output& in : n->inputs()) taken.insert(in.node);
      for (const Node* in : n->control_inputs()) taken.insert(in);
    }
    std::vector<std::string> names;
    for (const Node* n : nodes)
      if (!taken.contains(n)) names.push_back(n->name());
    return names;
  }

  // A graph without nodes, but with what they call.
  proto::GraphDef with_functions(const std::vector<const Node*>& nodes) const {
    proto::GraphDef def;
    def.mutable_versions()->set_producer(r_.library.versions().producer);
    def.mutable_versions()->set_min_consumer(r_.library.versions().min_consumer);
    std::map<std::string, std::shared_ptr<const Function>> all;
    for (const Node* n : nodes) all.merge(functions_of(*n));
    for (const auto& [name, f] : all) to_proto(*f, def.mutable_library()->add_function());
    return def;
  }

  std::shared_ptr<RemoteTask> shared(const RemoteTask* task) const {
    return r_.tasks.find(DeviceName::parse(task->name()), true);
  }

  std::shared_ptr<EagerFunction> function(RemoteCall& call) const {
    for (proto::NodeDef& n : *call.graph.mutable_node())
      if (!n.device().empty())
        n.set_device(r_.tasks.local(DeviceName::parse(n.device())).to_string());
    auto graph = std::make_shared<Graph>();
    ImportOptions import;
    import.allow_internal_names = true;
    import_graph_def(*graph, call.graph, import);
    std::vector<Output> feeds, fetches;
    std::vector<Node*> targets;
    for (const std::string& name : call.feeds) feeds.push_back(graph->tensor(name));
    for (const std::string& name : call.fetches) fetches.push_back(graph->tensor(name));
    for (const std::string& name : call.targets) targets.push_back(graph->find(name));
    return r_.eager.prepare(std::move(graph), std::move(feeds), std::move(fetches),
                            std::move(targets), call.device, call.random_scope);
  }

  const FunctionStages::Request& r_;
  const DeviceName outer_;
  std::unordered_set<const Node*> seen_, given_;
  std::vector<Node*> order_;
  // Where what a handle stands for lies; nothing: known when it runs.
  std::map<std::pair<const Node*, int>, std::optional<const RemoteTask*>> held_;
  std::unordered_map<const Node*, Key> part_of_;
  std::map<Key, std::vector<const Node*>> parts_;  // in the order in which they run
  std::map<Key, std::vector<Output>> outputs_;
};

}  // namespace

void look_for_tasks(const Graph& graph, const EagerTasks& tasks, const DeviceName& outer,
                    std::set<const RemoteTask*>& found) {
  for (const Node* n : graph.nodes()) {
    if (runs_programs_code(*n)) found.insert(nullptr);
    if (n->device().empty()) continue;
    DeviceName spec = DeviceName::parse(n->device());
    if (!spec.job && !spec.task) continue;  // any device of the task around it
    spec.merge_unset(DeviceName{outer.job, outer.replica, outer.task, {}, {}});
    found.insert(tasks.find(spec, true).get());
  }
}

FunctionStages::FunctionStages(const Request& request) : stages_(Cutter(request).cut()) {}

}  // namespace emplace
