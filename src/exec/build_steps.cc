#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "exec/builder.h"
#include "exec/lives.h"
#include "graph/function_op.h"
#include "graph/look_ahead.h"

namespace emplace {

int64_t bytes_of(const Shape& shape, DType dtype) {
  auto bytes = static_cast<int64_t>(dtype_size(dtype));
  for (const int64_t d : shape.dims())
    if (d == 0) return 0;
  for (const int64_t d : shape.dims())
    if (__builtin_mul_overflow(bytes, d, &bytes) || bytes > kNoRoom) return kNoRoom;
  return bytes;
}

Space StepGraph::space_of(Device* device) {
  if (!device->is_async()) return kHostSpace;
  for (size_t i = 0; i < devices.size(); ++i)
    if (devices[i] == device) return static_cast<Space>(i + 1);
  devices.push_back(device);
  return static_cast<Space>(devices.size());
}

void StepOutput::set_handle(HandleInfo handle) {
  if (this->handle().dtype == DType::kInvalid && handle.dtype == DType::kInvalid) return;
  rare_.set().handle = std::move(handle);
}

void StepOutput::set_value(Tensor value) {
  if (has_value() || value.has_value()) rare_.set().value = std::move(value);
}

namespace {

bool always_on_host(const StepOutput& o) { return o.is_ref || !is_plain(o.dtype); }

Special special_kind(const Node& n) {
  static const std::unordered_map<std::string_view, Special> kinds = {
      {"_Arg", Special::kArgument},
      {"Const", Special::kConst},
      {"Identity", Special::kIdentity},
      {"PartitionedCall", Special::kCall},
      {"StatefulPartitionedCall", Special::kCall},
      {"If", Special::kBranches},
      {"StatelessIf", Special::kBranches},
      {"Case", Special::kBranches},
      {"StatelessCase", Special::kBranches},
      {"While", Special::kWhile},
      {"StatelessWhile", Special::kWhile},
      {"Switch", Special::kSwitch},
      {"RefSwitch", Special::kSwitch},
      {"_SwitchN", Special::kSwitch},
      {"Merge", Special::kMerge},
      {"RefMerge", Special::kMerge},
      {"LoopCond", Special::kAlias},
      {"NextIteration", Special::kAlias},
      {"RefNextIteration", Special::kAlias},
      {"ControlTrigger", Special::kTrigger}};
  const auto it = kinds.find(n.type());
  if (it != kinds.end()) return it->second;
  return calls_by_name(n) ? Special::kCall : Special::kNone;
}

// A fed variable is a value: nobody can write to it.
[[noreturn]] void refuse_value(const Node& n, size_t i) {
  const Output& o = n.inputs()[i];
  const std::string_view type = dtype_proto_name(o.dtype());
  throw invalid_argument(fmt::format("Input {} of node {} was passed {} from {} incompatible with "
                                     "expected {}_ref.",
                                     i, n.name(), type, o.name(), type))
      .at_node(n.name(), n.type())
      .from_source(n.source());
}

}  // namespace

Special Builder::special(const Node& n) {
  const auto [it, fresh] = specials_.try_emplace(&n.op(), Special::kNone);
  if (fresh) it->second = special_kind(n);
  return it->second;
}

StepGraph Builder::build(const Signature& s) {
  Frame frame;
  index_feeds(s, frame);
  std::vector<Node*> roots = s.targets;
  for (const Output& f : s.fetches)
    if (!frame.feeds.contains(f)) roots.push_back(f.node);
  add_nodes(frame, needed_nodes(roots, frame.feeds));
  for (const Output& f : s.fetches) {
    g_.fetch_lives.emplace_back();
    g_.fetches.push_back(fetch(frame, f, g_.fetch_lives.back(), s.stay));
  }
  find_gates(g_);
  return std::move(g_);
}

void Builder::index_feeds(const Signature& s, Frame& frame) {
  for (size_t i = 0; i < s.feeds.size(); ++i) {
    const Output& f = s.feeds[i];
    if (!frame.feeds.emplace(f, static_cast<int>(i)).second)
      throw invalid_argument(fmt::format("Endpoint \"{}\" fed more than once.", f.name()))
          .at_node(f.node->name(), f.node->type())
          .from_source(f.node->source());
    StepOutput out;
    out.dtype = f.dtype();
    out.shape = f.shape();
    Device* const there = i < s.feed_devices.size() ? s.feed_devices[i] : nullptr;
    if (there) out.space = g_.space_of(there);
    append_feed(f.node, &f.node->name(), std::move(out));
  }
}

int Builder::append(Step step) {
  g_.steps.push_back(std::move(step));
  return static_cast<int>(g_.steps.size()) - 1;
}

int Builder::append_feed(const Node* node, const std::string* name, StepOutput out) {
  Step step;
  step.kind = StepKind::kFeed;
  step.node = node;
  step.name = name;
  step.source = &node->source();
  step.device = out.space == kHostSpace ? env_.host() : g_.devices[out.space - 1];
  step.outputs.push_back(std::move(out));
  g_.feeds.push_back(append(std::move(step)));
  return g_.feeds.back();
}

void Builder::make_room(Frame& frame, const std::vector<Node*>& order) {
  size_t max = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    look_ahead_ids(order, i);
    max = std::max(max, frame.index(*order[i]));
  }
  frame.ports.resize(std::max(frame.ports.size(), max + 1));
  frame.done.resize(std::max(frame.done.size(), max + 1), -1);
}

void Builder::add_nodes(Frame& frame, const std::vector<Node*>& order) {
  make_room(frame, order);
  g_.steps.reserve(g_.steps.size() + order.size());
  const LoopNest nest(order);
  if (nest.any()) return add_units(frame, nest, 0);
  for (size_t i = 0; i < order.size(); ++i) {
    look_ahead(order, i);
    add_node(frame, order[i]);
  }
}

Device* Builder::device_of(const Frame& frame, const Node* n) {
  Device* device = frame.devices ? (*frame.devices)[n->id()] : env_.device_of(*n);
  if (!device)
    throw internal_error(fmt::format("node '{}' has no device", n->name()))
        .at_node(n->name(), n->type());
  return device;
}

void Builder::add_node(Frame& frame, Node* n) {
  const Special kind = special(*n);
  if (kind == Special::kArgument) return;  // its port was set by the call
  Device* device = device_of(frame, n);
  switch (kind) {
    case Special::kCall: return inline_call(frame, n, device);
    case Special::kBranches: return add_branches(frame, n, device);
    case Special::kWhile: return add_while(frame, n, device);
    case Special::kSwitch: return add_switch(frame, n);
    case Special::kAlias: return add_alias(frame, n);
    case Special::kMerge: return add_merge(frame, n, device);
    case Special::kIdentity:
      if (outer_) return add_alias(frame, n);  // a round does without what only costs time
      break;
    case Special::kConst:
      return add_constant(frame, n, device);
    default: break;
  }
  Step step = make_step(frame, n, device);
  connect(frame, n, step);
  step.own_life = kind == Special::kTrigger;  // lives whatever dies
  publish(frame, n, append(std::move(step)));
  note_writer(static_cast<int>(g_.steps.size()) - 1);
}

// A constant is there at once; whoever takes it waits for what it waits for.
void Builder::add_constant(Frame& frame, Node* n, Device* device) {
  Step step = make_step(frame, n, device);
  publish(frame, n, append(std::move(step)));
  std::vector<int> guards = frame.entry_controls;
  for (Node* c : n->control_inputs()) wait_for(frame, c, guards);
  if (guards.empty()) return;
  std::ranges::sort(guards);
  guards.erase(std::ranges::unique(guards).begin(), guards.end());
  frame.guards[n->output()] = std::move(guards);
  frame.done_of(*n) = -1;
}

void Builder::publish(Frame& frame, Node* n, int step) {
  auto& ports = frame.ports_of(*n);
  ports.clear();
  for (int o = 0; o < n->num_outputs(); ++o) ports.push_back({step, o});
  frame.done_of(*n) = step;
}

const std::string* Builder::name_of(const Frame& frame, const Node* n) {
  if (frame.prefix.empty()) return &n->name();
  g_.names->push_back(std::make_unique<std::string>(frame.prefix + n->name()));
  return g_.names->back().get();
}

Step Builder::plain_step(const Frame& frame, const Node* n, Device* device) {
  Step step;
  step.node = n;
  step.name = name_of(frame, n);
  step.source = &n->source();
  step.device = device;
  step.device_space = g_.space_of(device);
  return step;
}

Step Builder::make_step(const Frame& frame, Node* n, Device* device) {
  Step step = plain_step(frame, n, device);
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

void Builder::mark_host_args(const Node* n, Step& step) {
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

void Builder::connect(Frame& frame, Node* n, Step& step) {
  const auto inputs = n->inputs();
  step.inputs.reserve(inputs.size());
  for (Node* c : n->control_inputs()) wait_for(frame, c, step.controls);
  if (inputs.empty())
    for (int c : frame.entry_controls) add_control(step, c);
  bool any_ref = false;
  for (const Output& in : inputs) {
    Value v = value_of(frame, in);
    any_ref |= in.is_ref() || g_.out(v.port).is_ref;
    for (int guard : v.guards) add_control(step, guard);
    step.inputs.push_back(v.port);
  }
  const std::vector<bool> wants_ref =
      any_ref ? input_refs(n->op(), n->attrs()) : std::vector<bool>();
  for (size_t i = 0; i < inputs.size(); ++i) {
    Port p = step.inputs[i];
    if (!writers_.empty()) p = read_again(p, step);
    // An array's handle is no variable, whatever the first version calls it.
    if (g_.out(p).is_ref && !wants_ref[i] && n->type() != "TensorArrayGrad") {
      p = read(p, step.controls);
      g_.steps[p.step].name = step.name;  // what it complains of is the reader's trouble
      g_.steps[p.step].source = step.source;
    } else if (!g_.out(p).is_ref && any_ref && wants_ref[i]) {
      refuse_value(*n, i);
    }
    const bool host = step.device_space == kHostSpace || (i < 64 && (step.host_inputs >> i & 1));
    if (!always_on_host(g_.out(p))) p = in_space(p, host ? kHostSpace : step.device_space);
    step.inputs[i] = p;
  }
}

void Builder::add_control(Step& step, int before) {
  if (before >= 0 && !g_.steps[before].is_value()) step.controls.push_back(before);
}

// What is only another name for its input has nothing of its own to wait for.
void Builder::wait_for(Frame& frame, Node* n, std::vector<int>& controls) {
  if (is_fed_placeholder(*n, frame.feeds)) return;
  const auto add = [&](int s) {
    if (s < 0 || g_.steps[s].is_value()) return;
    controls.push_back(s);
    if (is_name(s)) awaited_.insert(s);
  };
  if (!frame.has(*n) || frame.done_of(*n) >= 0) {
    if (n->id() >= frame.first_id && frame.index(*n) < frame.done.size()) add(frame.done_of(*n));
    return;
  }
  if (special(*n) == Special::kConst) {
    for (int guard : frame.guards[n->output()]) add(guard);
    return;
  }
  if (is_merge(*n)) return;  // a loop's variable: there when the round begins
  for (const Output& in : n->inputs()) {
    const Value v = value_of(frame, in);
    add(v.port.step);
    for (int guard : v.guards) add(guard);
  }
  for (Node* c : n->control_inputs()) wait_for(frame, c, controls);
}

Value Builder::value_of(Frame& frame, const Output& o) {
  if (!frame.feeds.empty())
    if (const auto it = frame.feeds.find(o); it != frame.feeds.end())
      return {{g_.feeds[it->second], 0}, {}};
  if (!frame.has(*o.node)) {
    if (frame.outer && is_enter(*o.node)) return enter(frame, o.node);
    throw invalid_argument(fmt::format("'{}' can't be had here: it is fed, or not part of the loop",
                                       o.name()))
        .at_node(o.node->name(), o.node->type());
  }
  const Port p = frame.ports_of(*o.node)[o.index];
  if (p.step < 0)
    throw unimplemented(fmt::format("output {} of '{}' is not kept in a loop", o.index,
                                    o.node->name()))
        .at_node(o.node->name(), o.node->type());
  if (!frame.guards.empty())
    if (const auto it = frame.guards.find(o); it != frame.guards.end()) return {p, it->second};
  return {p, {}};
}

// The value of a reference, taken when the reader runs: each reader has a read of its own, which
// waits for what the reader waits for.
Port Builder::read(Port p, const std::vector<int>& controls) {
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

Port Builder::in_space(Port p, Space space) {
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

Value Builder::read_if_ref(Value v) {
  if (g_.out(v.port).is_ref) v.port = read(v.port, v.guards);
  return v;
}

// As TensorFlow keeps them: int32 and what is no plain memory in the host's.
Space Builder::space_for(Device* device, DType dtype) {
  return is_plain(dtype) && dtype != DType::kInt32 ? g_.space_of(device) : kHostSpace;
}

std::vector<int> Builder::life_of(const Value& v) {
  std::vector<int> life = v.guards;
  life.push_back(v.port.step);
  return life;
}

// A fetched variable is read when whatever writes it in this step has: TensorFlow hands out the
// variable's own memory, and so what is in it in the end. What an operation read stays as read:
// control edges may have put it before a write.
Value Builder::read_last(Value v) {
  const Port ref = v.port;
  if (!v.guards.empty() || !g_.out(ref).is_ref) return v;
  const auto writers = writers_.find(variable_of(ref));
  if (writers == writers_.end()) return v;
  const std::vector<int> controls = g_.steps[ref.step].controls;
  const int step = read(ref, controls).step;
  Step& read = g_.steps[step];
  read.own_life = true;
  read.flow.set().life = controls;
  read.flow.set().life.push_back(ref.step);
  for (int w : writers->second) add_control(read, w);
  return {{step, 0}, {}};
}

Port Builder::fetch(Frame& frame, const Output& f, std::vector<int>& life, bool stay) {
  const Value found = value_of(frame, f);
  const Value v = read_if_ref(stay ? found : read_last(found));
  life = life_of(v);
  return stay || always_on_host(g_.out(v.port)) ? v.port : in_space(v.port, kHostSpace);
}

StepGraph build_steps(const Graph& graph, const Signature& signature, PlanEnvironment& env) {
  return Builder(graph, env).build(signature);
}

}  // namespace emplace
