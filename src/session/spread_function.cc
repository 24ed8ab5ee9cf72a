#include "session/spread_function.h"

#include <algorithm>

namespace emplace {

const SpreadFunction::Places& SpreadFunction::asked_for() {
  const std::lock_guard lock(mutex_);
  if (!asked_) {
    const DeviceName outer = device_.empty() ? DeviceName{} : DeviceName::parse(device_);
    Places found{device_.empty() ? nullptr : tasks_.find(outer, true).get()};
    look_for_tasks(*graph_, tasks_, outer, found);
    for (const auto& f : graph_->functions()) look_for_tasks(*f->body, tasks_, outer, found);
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
  eager_.run_as_one([&] {
    outputs =
        evaluate({"", signature_.feeds, signature_.fetches, signature_.targets}, inputs, device_);
  });
  return true;
}

// ---- Of several tasks.

const FunctionStages& SpreadFunction::stages(const Body& body, std::span<const Tensor> values,
                                             const std::string& device) {
  std::vector<const RemoteTask*> lie_in;
  for (const Tensor& t : values)
    lie_in.push_back(t.dtype() == DType::kResource ? task_that_holds(t) : nullptr);
  const std::lock_guard lock(mutex_);
  auto& made = stages_[{body.name, device, lie_in}];
  if (!made)
    made = std::make_unique<FunctionStages>(
        FunctionStages::Request{eager_, tasks_, *graph_, device, random_scope_, body.given,
                                body.wanted, lie_in, body.effects});
  return *made;
}

std::vector<Tensor> SpreadFunction::evaluate(const Body& body, std::span<const Tensor> values,
                                             const std::string& device) {
  std::map<std::pair<const Node*, int>, Tensor> known;
  const auto of = [&](std::span<const Output> outputs) {
    std::vector<Tensor> all;
    for (const Output& o : outputs) all.push_back(known.at({o.node, o.index}));
    return all;
  };
  for (size_t i = 0; i < values.size(); ++i)
    known[{body.given[i].node, body.given[i].index}] = values[i];
  for (const FunctionStages::Stage& s : stages(body, values, device).stages()) {
    const std::vector<Tensor> inputs = of(s.inputs);
    std::vector<Tensor> outputs;
    if (s.spread)
      outputs = run_spread(*s.spread, inputs, device);
    else if (s.there)
      outputs = s.there->run(inputs, eager_.operation_timeout());
    else
      s.here->run(inputs, outputs);
    for (size_t i = 0; i < s.outputs.size(); ++i)
      known[{s.outputs[i].node, s.outputs[i].index}] = outputs.at(i);
  }
  return of(body.wanted);
}

// A node that is of several tasks itself.
std::vector<Tensor> SpreadFunction::run_spread(const Node& n, std::vector<Tensor> inputs,
                                               const std::string& around) {
  const std::string& type = n.type();
  const std::string& device = n.device().empty() ? around : n.device();
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
bool SpreadFunction::truth(const Tensor& t) {
  if (t.dtype() == DType::kBool && t.num_elements() == 1) return *eager_.to_host(t).data<bool>();
  if (t.rank() > 0) return t.num_elements() > 0;
  const Tensor zero = eager_.execute("ZerosLike", {{t}})[0];
  return *eager_.to_host(eager_.execute("NotEqual", {{t, zero}})[0]).data<bool>();
}

std::vector<Tensor> SpreadFunction::call(const Node& n, const char* attr,
                                         std::span<const Tensor> inputs,
                                         const std::string& device) {
  return call(n.attr(attr)->as<FunctionName>(), inputs, device);
}

std::vector<Tensor> SpreadFunction::call(const FunctionName& name, std::span<const Tensor> inputs,
                                         const std::string& device) {
  const auto f = graph_->find_function(name.name);
  if (!f) throw not_found("Function '" + name.name + "' is not defined.");
  Body body{name.name, {}, f->outputs, f->control_outputs};
  for (Node* const n : f->inputs) body.given.push_back(n->output());
  return evaluate(body, inputs, device);
}

}  // namespace emplace
