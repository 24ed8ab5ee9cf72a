#include "session/called_function.h"

#include <fmt/format.h>

#include <map>

#include "graph/function_op.h"
#include "kernel/random_stream.h"
#include "kernel/variable_kernels.h"
#include "session/eager_function.h"
#include "tensor/attr_key.h"
#include "tensor/fingerprint.h"

namespace emplace {
namespace {

// The names of functions that a node calls, directly or in attributes.
std::vector<std::string> called_by(const Node& node) {
  std::vector<std::string> names;
  if (calls_by_name(node)) names.push_back(node.type());
  for (const auto& [key, value] : node.attrs()) {
    if (value.is<FunctionName>()) names.push_back(value.as<FunctionName>().name);
    if (!value.is<std::vector<FunctionName>>()) continue;
    for (const FunctionName& f : value.as<std::vector<FunctionName>>()) names.push_back(f.name);
  }
  return names;
}

// Callers have what is in the functions that they call; a dataset and what it
// makes for itself, and a table that is only asked, change nothing.
bool has_state(const Node& n) {
  if (!n.op().stateful || n.type() == "Assert" || n.type() == "PrintV2" || n.type() == "_Arg" ||
      n.type() == "_Retval")
    return false;
  const bool free = n.type().starts_with("LookupTable") || n.type().ends_with("Cache") ||
                    n.type().find("SeedGenerator") != std::string::npos ||
                    n.type().find("Dataset") != std::string::npos;
  return !free && called_by(n).empty();
}

}  // namespace

void add_with_called(Graph& graph, const std::shared_ptr<const Function>& f,
                     const FunctionLookup& find, const std::function<void(const Node&)>& each) {
  if (graph.find_function(f->name)) return;
  graph.add_function(f);
  for (const Node* n : f->body->nodes()) {
    if (each) each(*n);
    for (const std::string& name : called_by(*n)) {
      auto called = f->body->find_function(name);
      if (!called) called = find(name);
      // If none is known the call says so, when it is planned.
      if (called) add_with_called(graph, called, find, each);
    }
  }
}

namespace {

// A graph of one call, and the functions that it needs.
class CallGraph {
 public:
  CallGraph(const std::string& name, const FunctionLookup& find) {
    const auto f = find(name);
    if (!f) throw not_found(fmt::format("Function '{}' is not defined.", name));
    add_with_called(*graph, f, find, [this](const Node& n) {
      draws_numbers = draws_numbers || draws(n.op());
      if (stateful_op.empty() && has_state(n)) stateful_op = n.type();
    });
    std::vector<DType> in, out;
    for (const Node* n : f->inputs) {
      in.push_back(n->output_type(0));
      Node* const fed = graph->add("Placeholder", {}, {{"dtype", in.back()}});
      inputs.push_back(fed->output());
    }
    for (const Output& o : f->outputs) out.push_back(o.dtype());
    Node* const call = graph->add("StatefulPartitionedCall", std::span<const Output>(inputs),
                                  {{"Tin", in}, {"Tout", out}, {"f", FunctionName{name, {}}}});
    for (int i = 0; i < call->num_outputs(); ++i) outputs.push_back(call->output(i));
    effects.push_back(call);
  }

  const std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  std::vector<Output> inputs, outputs;
  std::vector<Node*> effects;
  // Of what the function does, and those that it calls.
  uint64_t fingerprint(const std::string& name) const {
    const auto f = graph->find_function(name);
    if (!f) return 0;
    Fingerprint made;
    std::map<const Node*, uint64_t> numbers;
    for (const Node* n : f->body->nodes()) {
      numbers.emplace(n, numbers.size());
      made.add(std::string_view(n->type()));
      for (const auto& [key, value] : n->attrs()) add_attr(made, key, value);
      for (const Output& in : n->inputs()) {
        made.add(numbers[in.node]);
        made.add(static_cast<uint64_t>(in.index));
      }
    }
    for (const Output& o : f->outputs) made.add(numbers[o.node]);
    return made.value();
  }

  bool draws_numbers = false;
  std::string stateful_op;

 private:
  // Names of functions count for nothing, what they do does.
  void add_attr(Fingerprint& made, const std::string& key, const AttrValue& value) const {
    if (key.starts_with('_')) return;
    made.add(std::string_view(key));
    if (value.is<FunctionName>()) made.add(fingerprint(value.as<FunctionName>().name));
    else if (value.is<Tensor>()) made.add(value.as<Tensor>());
    else if (!value.is<std::vector<FunctionName>>()) made.add(std::string_view(attr_key(value)));
  }
};

SessionOptions inner(SessionOptions o) {
  o.target.clear();
  o.log_device_placement = false;
  o.measure_costs = false;
  o.costs.clear();
  o.save_costs.clear();
  o.replan_after_steps = 0;
  o.operation_timeout_in_ms = 0;
  o.allow_soft_placement = true;
  return o;
}

std::shared_ptr<ResourceManager> new_streams(ResourceManager& old) {
  auto made = std::make_shared<ResourceManager>();
  made->find_or_create("_random_epoch", "", [&] { return random_epoch_of(old); });
  return made;
}

class GraphFunction final : public CalledFunction,
                            public std::enable_shared_from_this<GraphFunction> {
 public:
  GraphFunction(std::string name, std::shared_ptr<const CallGraph> call, SessionOptions options,
                const KernelRegistry& kernels, SharedParts shared)
      : name_(std::move(name)),
        call_(std::move(call)),
        options_(std::move(options)),
        kernels_(kernels),
        shared_(std::move(shared)),
        plans_(call_->graph, options_, kernels_, shared_, no_timeout(),
               shared_.devices->front()->name(),
               Signature{call_->inputs, call_->outputs, call_->effects, {}, false}) {}

  const std::string& name() const override { return name_; }
  const std::string& stateful_op() const override { return call_->stateful_op; }
  uint64_t fingerprint() const override { return call_->fingerprint(name_); }
  const Graph& definitions() const override { return *call_->graph; }
  std::unique_ptr<FunctionCaller> caller(bool helped) override;

  std::shared_ptr<CalledFunction> afresh() override {
    if (!call_->draws_numbers) return shared_from_this();
    SharedParts parts = shared_;
    parts.streams = new_streams(*(parts.streams ? parts.streams : parts.resources));
    return std::make_shared<GraphFunction>(name_, call_, options_, kernels_, std::move(parts));
  }

  EagerFunction::Impl& plans() { return plans_; }

 private:
  static std::shared_ptr<const std::atomic<int64_t>> no_timeout() {
    static const auto none = std::make_shared<const std::atomic<int64_t>>(0);
    return none;
  }

  const std::string name_;
  const std::shared_ptr<const CallGraph> call_;
  const SessionOptions options_;
  const KernelRegistry& kernels_;
  const SharedParts shared_;
  EagerFunction::Impl plans_;
};

// Remembers the plan of its last call: elements of one shape come one after another.
class Caller final : public FunctionCaller, CallScope::Guest {
 public:
  Caller(std::shared_ptr<GraphFunction> f, bool helped) : f_(std::move(f)), helped_(helped) {}

  void call(CallScope& scope, std::span<const Tensor> inputs,
            std::vector<Tensor>& outputs) override {
    if (!fits(inputs)) look_up(inputs);
    std::unique_ptr<Instance> instance = program_->lease();
    instance_ = instance.get();
    step_ = instance->begin(program_);
    const Inside inside(*this, scope);
    StepRequest request = helped_ ? request_ : StepRequest{};
    request.feeds = inputs;
    Instance::run(std::move(instance), request, outputs, nullptr);
  }

 private:
  // In the scope, and the instance stays while somebody may cancel its step.
  struct Inside {
    Inside(Caller& c, CallScope& s) : caller(c), instance(*c.instance_), scope(s) {
      try {
        scope.enter(caller);
      } catch (...) {
        instance.let_go();
        throw;
      }
    }
    ~Inside() {
      scope.leave(caller);
      instance.let_go();
    }
    Caller& caller;
    Instance& instance;
    CallScope& scope;
  };

  struct Fed {
    DType dtype;
    Shape shape;
    const void* handle;  // of a resource, which decides where operations on it run
    Device* device;
  };

  void interrupt(const Error& why) override { instance_->cancel(step_, why); }

  static const void* handle_of(const Tensor& t) {
    return t.dtype() == DType::kResource ? t.raw() : nullptr;
  }

  bool fits(std::span<const Tensor> inputs) const {
    if (!program_ || inputs.size() != fed_.size() || shapes_outgrown() != outgrown_) return false;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Tensor& t = inputs[i];
      const Fed& f = fed_[i];
      if (t.dtype() != f.dtype || t.device() != f.device || handle_of(t) != f.handle ||
          !(t.shape() == f.shape))
        return false;
    }
    return true;
  }

  void look_up(std::span<const Tensor> inputs) {
    outgrown_ = shapes_outgrown();
    program_ = f_->plans().program(inputs, request_);
    fed_.clear();
    for (const Tensor& t : inputs) fed_.push_back({t.dtype(), t.shape(), handle_of(t), t.device()});
  }

  const std::shared_ptr<GraphFunction> f_;
  const bool helped_;
  std::shared_ptr<Program> program_;
  StepRequest request_;
  std::vector<Fed> fed_;
  uint64_t outgrown_ = 0;
  Instance* instance_ = nullptr;
  uint64_t step_ = 0;
};

std::unique_ptr<FunctionCaller> GraphFunction::caller(bool helped) {
  return std::make_unique<Caller>(shared_from_this(), helped);
}

}  // namespace

std::shared_ptr<CalledFunction> called_function(const std::string& name, const FunctionLookup& find,
                                                const SessionOptions& options,
                                                const KernelRegistry& kernels, SharedParts shared) {
  return std::make_shared<GraphFunction>(name, std::make_shared<const CallGraph>(name, find),
                                         inner(options), kernels, std::move(shared));
}

}  // namespace emplace
