#include "session/spread_function.h"

#include <algorithm>
#include <functional>
#include <unordered_map>

namespace emplace {
namespace {

// Runs a graph's operations one after another.
class OperationWalk {
 public:
  OperationWalk(Eager& eager, const Graph& library) : eager_(eager), library_(library) {}

  using Values = std::unordered_map<const Node*, std::vector<Tensor>>;
  // What `outputs` and `effects` need of the graph, beside what is given.
  std::vector<Tensor> evaluate(Values values, std::span<const Output> outputs,
                               std::span<Node* const> effects, const std::string& device) {
    std::vector<Tensor> results;
    for (const Output& o : outputs) evaluate(o.node, values, device);
    for (Node* const n : effects) evaluate(n, values, device);
    for (const Output& o : outputs)
      results.push_back(values.at(o.node).at(static_cast<size_t>(o.index)));
    return results;
  }

 private:
  // Long chains must not use the thread's stack.
  void evaluate(const Node* wanted, Values& values, const std::string& device) {
    std::vector<const Node*> stack{wanted};
    while (!stack.empty()) {
      const Node* const n = stack.back();
      if (values.contains(n)) {
        stack.pop_back();
        continue;
      }
      const size_t before = stack.size();
      for (const Output& in : n->inputs())
        if (!values.contains(in.node)) stack.push_back(in.node);
      for (const Node* in : n->control_inputs())
        if (!values.contains(in)) stack.push_back(in);
      if (stack.size() > before) continue;
      stack.pop_back();
      std::vector<Tensor> inputs;
      for (const Output& in : n->inputs())
        inputs.push_back(values.at(in.node).at(static_cast<size_t>(in.index)));
      values[n] = run(*n, std::move(inputs), n->device().empty() ? device : n->device());
    }
  }

  std::vector<Tensor> run(const Node& n, std::vector<Tensor> inputs, const std::string& device) {
    const std::string& type = n.type();
    if (type == "NoOp") return {};
    if (type.ends_with("PartitionedCall")) return call(n, "f", inputs, device);
    if (type == "If" || type == "StatelessIf") {
      const bool so = truth(inputs.at(0));
      return call(n, so ? "then_branch" : "else_branch", std::span(inputs).subspan(1), device);
    }
    if (type == "Case" || type == "StatelessCase") {
      const auto& branches = n.attr("branches")->as<std::vector<FunctionName>>();
      const int64_t at = *eager_.to_host(inputs.at(0)).data<int32_t>();
      const bool known = at >= 0 && at < std::ssize(branches);
      return call(branches.at(known ? static_cast<size_t>(at) : branches.size() - 1),
                  std::span(inputs).subspan(1), device);
    }
    if (type == "While" || type == "StatelessWhile") {
      while (truth(call(n, "cond", inputs, device).at(0))) inputs = call(n, "body", inputs, device);
      return inputs;
    }
    try {
      return eager_.execute(type, inputs, n.attrs(), device);
    } catch (Error& e) {
      e.at_node(n.name(), type).from_source(n.source());
      throw;
    }
  }

  // As branches and loops take a value for a truth.
  bool truth(const Tensor& t) {
    if (t.dtype() == DType::kBool && t.num_elements() == 1) return *eager_.to_host(t).data<bool>();
    if (t.rank() > 0) return t.num_elements() > 0;
    const Tensor zero = eager_.execute("ZerosLike", {{t}})[0];
    return *eager_.to_host(eager_.execute("NotEqual", {{t, zero}})[0]).data<bool>();
  }

  std::vector<Tensor> call(const Node& n, const char* attr, std::span<const Tensor> inputs,
                           const std::string& device) {
    return call(n.attr(attr)->as<FunctionName>(), inputs, device);
  }
  std::vector<Tensor> call(const FunctionName& name, std::span<const Tensor> inputs,
                           const std::string& device) {
    const auto f = library_.find_function(name.name);
    if (!f) throw not_found("Function '" + name.name + "' is not defined.");
    Values values;
    for (size_t i = 0; i < f->inputs.size(); ++i) values[f->inputs[i]] = {inputs[i]};
    return evaluate(std::move(values), f->outputs, f->control_outputs, device);
  }

  Eager& eager_;
  const Graph& library_;
};

bool runs_programs_code(const Node& n) {
  return n.type() == "PyFunc" || n.type() == "PyFuncStateless" || n.type() == "EagerPyFunc";
}

}  // namespace

void SpreadFunction::look_at(const Graph& graph, Places& found) const {
  const DeviceName outer = device_.empty() ? DeviceName{} : DeviceName::parse(device_);
  for (const Node* n : graph.nodes()) {
    if (runs_programs_code(*n)) found.insert(nullptr);
    if (n->device().empty()) continue;
    DeviceName spec = DeviceName::parse(n->device());
    if (!spec.job && !spec.task) continue;  // any device of the task around it
    spec.merge_unset(DeviceName{outer.job, outer.replica, outer.task, {}, {}});
    found.insert(tasks_.find(spec, true).get());
  }
}

const SpreadFunction::Places& SpreadFunction::asked_for() {
  const std::lock_guard lock(mutex_);
  if (!asked_) {
    Places found{device_.empty() ? nullptr : tasks_.find(DeviceName::parse(device_), true).get()};
    look_at(*graph_, found);
    for (const auto& f : graph_->functions()) look_at(*f->body, found);
    asked_ = std::move(found);
  }
  return *asked_;
}

SpreadFunction::Places SpreadFunction::places(std::span<const Tensor> inputs) {
  Places found = asked_for();
  for (const Tensor& t : inputs)
    if (t.dtype() == DType::kResource) found.insert(task_that_holds(t));
  return found;
}

const PreparedRemoteCall& SpreadFunction::prepared() {
  const std::lock_guard lock(mutex_);
  if (!prepared_)
    prepared_ =
        std::make_unique<PreparedRemoteCall>(tasks_.find(DeviceName::parse(device_), true),
                                             call_of(*graph_, signature_, device_, random_scope_));
  return *prepared_;
}

bool SpreadFunction::run(std::span<const Tensor> inputs, std::vector<Tensor>& outputs) {
  if (!tasks_.any()) return false;
  const Places found = places(inputs);
  if (found == Places{nullptr}) return false;
  if (found.size() == 1) {
    outputs = prepared().run(inputs, eager_.operation_timeout());
    return true;
  }
  OperationWalk walk(eager_, *graph_);
  OperationWalk::Values values;
  for (size_t i = 0; i < inputs.size(); ++i) {
    auto& of_node = values[signature_.feeds[i].node];
    of_node.resize(std::max(of_node.size(), static_cast<size_t>(signature_.feeds[i].index) + 1));
    of_node[static_cast<size_t>(signature_.feeds[i].index)] = inputs[i];
  }
  eager_.run_as_one([&] {
    outputs = walk.evaluate(std::move(values), signature_.fetches, signature_.targets, device_);
  });
  return true;
}

}  // namespace emplace
