#include <fmt/format.h>

#include <unordered_set>

#include "exec/prune.h"
#include "exec/step_graph.h"

namespace emplace {

Space StepGraph::space_of(Device* device) {
  if (!device->is_async()) return kHostSpace;
  for (size_t i = 0; i < devices.size(); ++i)
    if (devices[i] == device) return static_cast<Space>(i + 1);
  devices.push_back(device);
  return static_cast<Space>(devices.size());
}

namespace {

// Functions called from functions: deep enough for anyone, and a bound for the stack.
constexpr int kMaxCallDepth = 100;

bool always_on_host(const StepOutput& o) { return o.is_ref || !is_plain(o.dtype); }

bool is_call(const Node& n) {
  return n.type() == "PartitionedCall" || n.type() == "StatefulPartitionedCall";
}

struct PortKey {
  int step, output, space;
  bool operator==(const PortKey&) const = default;
};
struct PortKeyHash {
  size_t operator()(const PortKey& k) const {
    return (static_cast<size_t>(k.step) * 1000003 + static_cast<size_t>(k.output)) * 31 +
           static_cast<size_t>(k.space);
  }
};

// The nodes of one graph (the session's, or a called function's body) on their way into steps.
struct Frame {
  std::string prefix;                       // "call/" for inlined nodes
  std::vector<std::vector<Port>> ports;     // by node id: where each output is now
  std::vector<int> done;                    // by node id: the step to wait for, or -1
  const std::vector<Device*>* devices = nullptr;  // of a body, by node id
  std::vector<int> entry_controls;          // what every source of a body waits for
  FeedIndex feeds;
};

class Builder {
 public:
  Builder(PlanEnvironment& env) : env_(env) {}

  StepGraph build(const Signature& s) {
    Frame frame;
    index_feeds(s, frame);
    std::vector<Node*> roots = s.targets;
    for (const Output& f : s.fetches)
      if (!frame.feeds.contains(f)) roots.push_back(f.node);
    add_nodes(frame, needed_nodes(roots, frame.feeds));
    for (const Output& f : s.fetches) g_.fetches.push_back(fetch(frame, f));
    return std::move(g_);
  }

 private:
  void index_feeds(const Signature& s, Frame& frame) {
    for (size_t i = 0; i < s.feeds.size(); ++i) {
      const Output& f = s.feeds[i];
      if (!frame.feeds.emplace(f, static_cast<int>(i)).second)
        throw invalid_argument(fmt::format("Endpoint \"{}\" fed more than once.", f.name()))
            .at_node(f.node->name(), f.node->type());
      Step step;
      step.kind = StepKind::kFeed;
      step.node = f.node;
      step.name = &f.node->name();
      step.source = &f.node->source();
      step.device = env_.host();
      step.outputs.push_back({f.dtype(), false, kHostSpace, f.shape(), {}, {}});
      g_.feeds.push_back(append(std::move(step)));
    }
  }

  int append(Step step) {
    g_.steps.push_back(std::move(step));
    return static_cast<int>(g_.steps.size()) - 1;
  }

  void add_nodes(Frame& frame, const std::vector<Node*>& order) {
    size_t max_id = 0;
    for (const Node* n : order) max_id = std::max(max_id, static_cast<size_t>(n->id()));
    frame.ports.resize(std::max(frame.ports.size(), max_id + 1));
    frame.done.resize(std::max(frame.done.size(), max_id + 1), -1);
    g_.steps.reserve(g_.steps.size() + order.size());
    for (Node* n : order) add_node(frame, n);
  }

  void add_node(Frame& frame, Node* n) {
    if (n->type() == "_Arg") return;  // its port was set by the call
    Device* device = frame.devices ? (*frame.devices)[n->id()] : env_.device_of(*n);
    if (!device)
      throw internal_error(fmt::format("node '{}' has no device", n->name()))
          .at_node(n->name(), n->type());
    if (is_call(*n)) return inline_call(frame, n, device);
    Step step = make_step(frame, n, device);
    connect(frame, n, step);
    const int i = append(std::move(step));
    auto& ports = frame.ports[n->id()];
    ports.clear();
    for (int o = 0; o < n->num_outputs(); ++o) ports.push_back({i, o});
    frame.done[n->id()] = i;
  }

  const std::string* name_of(const Frame& frame, const Node* n) {
    if (frame.prefix.empty()) return &n->name();
    g_.names.push_back(std::make_unique<std::string>(frame.prefix + n->name()));
    return g_.names.back().get();
  }

  Step make_step(const Frame& frame, Node* n, Device* device) {
    Step step;
    step.node = n;
    step.name = name_of(frame, n);
    step.source = &n->source();
    step.device = device;
    step.device_space = g_.space_of(device);
    step.row = env_.kernels().find(n->type(), device->type(), n->attrs());
    if (!step.row)
      throw not_found(fmt::format("No registered '{}' OpKernel for {} devices compatible with "
                                  "node {{{{node {}}}}}\nRegistered kernels:\n{}",
                                  n->type(), device->type(), n->name(),
                                  env_.kernels().list(n->type())))
          .at_node(n->name(), n->type())
          .from_source(n->source());
    if (n->type() == "Const") step.kind = StepKind::kConst;
    step.outputs.resize(static_cast<size_t>(n->num_outputs()));
    for (int o = 0; o < n->num_outputs(); ++o) {
      StepOutput& out = step.outputs[o];
      out.dtype = n->output_type(o);
      out.is_ref = n->output_is_ref(o);
      out.space = always_on_host(out) ? kHostSpace : step.device_space;
    }
    if (step.device_space != kHostSpace) mark_host_args(n, step);
    return step;
  }

  void mark_host_args(const Node* n, Step& step) {
    for (const std::string& arg : step.row->host_args) {
      if (const int i = n->op().input_index(arg); i >= 0) {
        const ArgRange r = input_range(n->op(), n->attrs(), i);
        for (int k = r.begin; k < r.end && k < 64; ++k) step.host_inputs |= uint64_t{1} << k;
      }
      if (const int o = n->op().output_index(arg); o >= 0) {
        const ArgRange r = output_range(n->op(), n->attrs(), o);
        for (int k = r.begin; k < r.end; ++k) step.outputs[k].space = kHostSpace;
      }
    }
    for (const auto& [name, inputs] : {std::pair{"_input_hostmem", true}, {"_output_hostmem", false}})
      if (const AttrValue* v = n->attr(name); v && v->is<std::vector<int64_t>>())
        for (int64_t k : v->as<std::vector<int64_t>>()) {
          if (inputs && k >= 0 && k < 64) step.host_inputs |= uint64_t{1} << k;
          if (!inputs && k >= 0 && k < n->num_outputs()) step.outputs[k].space = kHostSpace;
        }
  }

  void connect(Frame& frame, Node* n, Step& step) {
    const auto inputs = n->inputs();
    step.inputs.reserve(inputs.size());
    const std::vector<bool> wants_ref =
        has_ref_source(inputs) ? input_refs(n->op(), n->attrs()) : std::vector<bool>();
    for (Node* c : n->control_inputs())
      if (!is_fed_placeholder(*c, frame.feeds)) add_control(step, frame.done[c->id()]);
    if (inputs.empty())
      for (int c : frame.entry_controls) add_control(step, c);
    for (size_t i = 0; i < inputs.size(); ++i) {
      Port p = port_of(frame, inputs[i]);
      if (g_.out(p).is_ref && !wants_ref[i]) p = read(p, step.controls);
      else if (!g_.out(p).is_ref && !wants_ref.empty() && wants_ref[i]) refuse_value(*n, i);
      const bool host = step.device_space == kHostSpace || (i < 64 && (step.host_inputs >> i & 1));
      if (!always_on_host(g_.out(p))) p = in_space(p, host ? kHostSpace : step.device_space);
      step.inputs.push_back(p);
    }
  }

  // A fed variable is a value: nobody can write to it.
  [[noreturn]] static void refuse_value(const Node& n, size_t i) {
    const Output& o = n.inputs()[i];
    const std::string_view type = dtype_proto_name(o.dtype());
    throw invalid_argument(fmt::format("Input {} of node {} was passed {} from {} incompatible "
                                       "with expected {}_ref.",
                                       i, n.name(), type, o.name(), type))
        .at_node(n.name(), n.type())
        .from_source(n.source());
  }

  void add_control(Step& step, int before) {
    if (before >= 0 && !g_.steps[before].is_value()) step.controls.push_back(before);
  }

  static bool has_ref_source(std::span<const Output> inputs) {
    for (const Output& o : inputs)
      if (o.is_ref()) return true;
    return false;
  }

  Port port_of(Frame& frame, const Output& o) {
    if (!frame.feeds.empty())
      if (const auto it = frame.feeds.find(o); it != frame.feeds.end())
        return {g_.feeds[it->second], 0};
    return frame.ports[o.node->id()][o.index];
  }

  // The value of a reference, taken when the reader runs: each reader has a read of its own, which
  // waits for what the reader waits for.
  Port read(Port p, const std::vector<int>& controls) {
    const Step& from = g_.steps[p.step];
    Step step;
    step.kind = StepKind::kRead;
    step.node = from.node;
    step.name = from.name;
    step.source = from.source;
    step.device = from.device;
    step.device_space = from.device_space;
    step.inputs = {p};
    step.controls = controls;
    StepOutput out = g_.out(p);
    out.is_ref = false;
    out.space = step.device_space;
    if (!is_plain(out.dtype)) out.space = kHostSpace;
    step.outputs.push_back(std::move(out));
    return {append(std::move(step)), 0};
  }

  Port in_space(Port p, Space space) {
    if (g_.out(p).space == space) return p;
    const auto [it, fresh] = copies_.try_emplace(PortKey{p.step, p.output, space}, Port{});
    if (!fresh) return it->second;
    const Step& from = g_.steps[p.step];
    Step step;
    step.kind = StepKind::kCopy;
    step.node = from.node;
    step.name = from.name;
    step.source = from.source;
    const Space source_space = g_.out(p).space;
    step.device = g_.devices[(space == kHostSpace ? source_space : space) - 1];
    step.device_space = g_.space_of(step.device);
    step.inputs = {p};
    StepOutput out = g_.out(p);
    out.space = space;
    step.outputs.push_back(std::move(out));
    return it->second = {append(std::move(step)), 0};
  }

  Port fetch(Frame& frame, const Output& f) {
    Port p = port_of(frame, f);
    if (g_.out(p).is_ref) p = read(p, {});
    return always_on_host(g_.out(p)) ? p : in_space(p, kHostSpace);
  }

  // The body takes the call's place: its arguments are the call's inputs, what the call waited for
  // its sources wait for, and whoever waits for the call waits for all of it.
  void inline_call(Frame& frame, Node* call, Device* device) {
    const AttrValue* f = call->attr("f");
    if (!f) throw invalid_argument("call without attribute 'f'").at_node(call->name(), call->type());
    const std::string& name = f->as<FunctionName>().name;
    const auto function = call->graph().find_function(name);
    if (!function)
      throw not_found(fmt::format("Function '{}' is not defined.", name))
          .at_node(call->name(), call->type())
          .from_source(call->source());
    for (const auto& open : calls_)
      if (open == name)
        throw unimplemented(fmt::format("Recursive function calls are not supported: '{}'", name))
            .at_node(call->name(), call->type());
    if (calls_.size() >= kMaxCallDepth)
      throw invalid_argument("function calls nest too deeply").at_node(call->name(), call->type());
    calls_.push_back(name);
    g_.functions.push_back(function);

    Frame body;
    body.prefix = frame.prefix + call->name() + "/";
    const std::vector<Device*> devices = env_.place_function(*function, *call, device);
    body.devices = &devices;
    for (Node* c : call->control_inputs())
      if (const int d = frame.done[c->id()]; d >= 0 && !is_fed_placeholder(*c, frame.feeds))
        body.entry_controls.push_back(d);
    for (int c : frame.entry_controls) body.entry_controls.push_back(c);
    bind_arguments(frame, call, *function, body);
    std::vector<Node*> roots;
    for (const Output& o : function->outputs) roots.push_back(o.node);
    for (Node* n : function->control_outputs) roots.push_back(n);
    for (Node* n : function->body->nodes())
      if (n->op().stateful && n->type() != "_Arg") roots.push_back(n);
    const int first = static_cast<int>(g_.steps.size());
    add_nodes(body, needed_nodes(roots, {}));
    leave_call(frame, call, *function, body, first);
    calls_.pop_back();
  }

  void bind_arguments(Frame& frame, Node* call, const Function& f, Frame& body) {
    if (f.inputs.size() != call->inputs().size())
      throw invalid_argument(fmt::format("function '{}' takes {} inputs but is called with {}",
                                         f.name, f.inputs.size(), call->inputs().size()))
          .at_node(call->name(), call->type());
    for (size_t i = 0; i < f.inputs.size(); ++i) {
      const auto id = static_cast<size_t>(f.inputs[i]->id());
      if (id >= body.ports.size()) body.ports.resize(id + 1), body.done.resize(id + 1, -1);
      Port p = port_of(frame, call->inputs()[i]);
      if (g_.out(p).is_ref) p = read(p, {});
      body.ports[id] = {p};
    }
  }

  void leave_call(Frame& frame, Node* call, const Function& f, Frame& body, int first) {
    auto& ports = frame.ports[call->id()];
    ports.clear();
    for (const Output& o : f.outputs) ports.push_back(port_of(body, o));
    Step exit;
    exit.node = call;
    exit.name = name_of(frame, call);
    exit.source = &call->source();
    exit.device = env_.host();
    exit.kernel = {[](const void*, KernelContext&) {}, nullptr};
    for (int i = first; i < static_cast<int>(g_.steps.size()); ++i)
      if (!g_.steps[i].is_value()) exit.controls.push_back(i);
    for (int c : body.entry_controls) add_control(exit, c);
    frame.done[call->id()] = append(std::move(exit));
  }

  PlanEnvironment& env_;
  StepGraph g_;
  std::unordered_map<PortKey, Port, PortKeyHash> copies_;
  std::vector<std::string> calls_;  // open, outermost first
};

}  // namespace

StepGraph build_steps(const Graph&, const Signature& signature, PlanEnvironment& env) {
  return Builder(env).build(signature);
}

}  // namespace emplace
