// Functions take their call's place: once for PartitionedCall, each behind a gate for If and Case,
// as a loop's round for While.
#include <fmt/format.h>

#include <algorithm>

#include "exec/builder.h"
#include "exec/lives.h"
#include "graph/function_op.h"

namespace emplace {
namespace {

// Functions called from functions: deep enough for anyone, and a bound for the stack.
constexpr size_t kMaxCallDepth = 100;

const std::string& function_name(const Node& call, std::string_view attr) {
  if (calls_by_name(call)) return call.type();
  const AttrValue* f = call.attr(attr);
  if (!f)
    throw invalid_argument(fmt::format("call without attribute '{}'", attr))
        .at_node(call.name(), call.type());
  return f->as<FunctionName>().name;
}

FeedIndex inputs_as_feeds(const Function& f) {
  FeedIndex feeds;
  for (size_t i = 0; i < f.inputs.size(); ++i) feeds.emplace(f.inputs[i]->output(), static_cast<int>(i));
  return feeds;
}

// ---- What a call declares must be what its function takes and gives: nothing checks later.

void check_argument(const Function& f, const Node& call, size_t i, DType given) {
  if (const DType taken = f.inputs[i]->output_type(0); taken != given)
    throw invalid_argument(fmt::format("Expects arg[{}] to be {} but {} is provided", i,
                                       dtype_proto_name(taken), dtype_proto_name(given)))
        .at_node(call.name(), call.type());
}

void check_results(const Function& f, const Node& call) {
  const size_t declared = static_cast<size_t>(call.num_outputs()), given = f.outputs.size();
  const auto fail = [&](std::string message) {
    return internal_error(std::move(message)).at_node(call.name(), call.type());
  };
  if (given > declared)
    throw fail(fmt::format("Function instantiation included invalid output index: {0} not in [0, {0}).",
                           declared));
  for (size_t i = 0; i < given; ++i)
    if (const DType t = call.output_type(static_cast<int>(i)); f.outputs[i].dtype() != t)
      throw fail(fmt::format(
          "Output {} of type {} does not match declared output type {} for node {{{{node {}}}}}", i,
          dtype_proto_name(f.outputs[i].dtype()), dtype_proto_name(t), call.name()));
  if (given < declared)
    throw fail(fmt::format("Missing {}-th output from {{{{node {}}}}}", given, call.name()));
}

void check_branch_results(const Function& f, const Node& call) {
  const size_t declared = static_cast<size_t>(call.num_outputs());
  if (f.outputs.size() != declared)
    throw internal_error(fmt::format("Expect to produce {} tensors, but only get {}", declared,
                                     f.outputs.size()))
        .at_node(call.name(), call.type());
  for (size_t i = 0; i < declared; ++i)
    if (const DType t = call.output_type(static_cast<int>(i)); f.outputs[i].dtype() != t)
      throw internal_error(fmt::format("Expect {}-th output is of type {} but get {}", i,
                                       dtype_proto_name(t), dtype_proto_name(f.outputs[i].dtype())))
          .at_node(call.name(), call.type());
}

void check_round_results(const Function& body, const Node& call) {
  for (size_t i = 0; i < body.outputs.size(); ++i)
    if (const DType t = call.output_type(static_cast<int>(i)); body.outputs[i].dtype() != t)
      throw invalid_argument(fmt::format("Expected type {} for return value {} but got {}.",
                                         dtype_proto_name(t), i,
                                         dtype_proto_name(body.outputs[i].dtype())))
          .at_node(call.name(), call.type());
}

// Whether output i of a loop's body is its argument i, and so the same in every round.
bool passes_through(const Function& body, size_t i) {
  Output o = body.outputs[i];
  while (o.node->type() == "Identity" && o.node->control_inputs().empty()) o = o.node->inputs()[0];
  return o.node == body.inputs[i];
}

}  // namespace

std::shared_ptr<const Function> Builder::function_of(Node* call, const std::string& name) {
  auto function = call->graph().find_function(name);
  if (!function) function = graph_.find_function(name);
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
  return function;
}

std::vector<Value> Builder::arguments(Frame& frame, Node* call, size_t first) {
  std::vector<Value> args;
  for (size_t i = first; i < call->inputs().size(); ++i)
    args.push_back(read_if_ref(value_of(frame, call->inputs()[i])));
  return args;
}

std::vector<int> Builder::call_controls(Frame& frame, Node* call) {
  std::vector<int> controls;
  for (Node* c : call->control_inputs()) wait_for(frame, c, controls);
  if (call->inputs().empty())
    controls.insert(controls.end(), frame.entry_controls.begin(), frame.entry_controls.end());
  return controls;
}

// Where the resource is that a handle means; null for values.
Device* Builder::home_of(Port p) const {
  if (g_.out(p).dtype != DType::kResource) return nullptr;
  const Step& s = g_.steps[p.step];
  if (s.kind == StepKind::kFeed) {
    if (!outer_) return nullptr;  // the caller's: known when it runs
    const auto feed = std::find(g_.feeds.begin(), g_.feeds.end(), p.step) - g_.feeds.begin();
    return outer_->home_of(captured_[static_cast<size_t>(feed)]);
  }
  // Identity and merges hand on what they were given.
  if (!s.inputs.empty())
    if (Device* home = home_of(s.inputs[0])) return home;
  return s.device;
}

// The body's arguments are what the call was given; what the call waited for its sources wait for.
std::vector<Value> Builder::inline_body(const Function& f, const Call& call,
                                        std::vector<Value> args) {
  if (f.inputs.size() != args.size())
    throw invalid_argument(fmt::format("function '{}' takes {} inputs but is called with {}", f.name,
                                       f.inputs.size(), args.size()))
        .at_node(call.node->name(), call.node->type());
  for (size_t i = 0; i < args.size(); ++i)
    check_argument(f, *call.node, i, g_.out(args[i].port).dtype);
  calls_.push_back(f.name);
  Frame body;
  body.prefix = call.prefix;
  std::vector<Device*> homes;
  for (const Value& v : args) homes.push_back(home_of(v.port));
  const std::vector<Device*> devices = env_.place_function(f, call.device, homes);
  body.devices = &devices;
  body.entry_controls = call.controls;
  for (size_t i = 0; i < args.size(); ++i) {
    const size_t id = body.index(*f.inputs[i]);
    if (id >= body.ports.size()) body.ports.resize(id + 1), body.done.resize(id + 1, -1);
    body.ports[id] = {args[i].port};
    std::vector<int>& guards = args[i].guards;
    guards.insert(guards.end(), call.controls.begin(), call.controls.end());
    if (!guards.empty()) body.guards[f.inputs[i]->output()] = std::move(guards);
  }
  std::vector<Node*> roots;
  for (const Output& o : f.outputs) roots.push_back(o.node);
  for (Node* n : f.control_outputs) roots.push_back(n);
  for (Node* n : f.body->nodes())
    if (n->op().stateful && std::ranges::find(f.inputs, n) == f.inputs.end()) roots.push_back(n);
  std::vector<Node*> nodes = needed_nodes(roots, inputs_as_feeds(f));
  std::erase_if(nodes, [&](Node* n) { return std::ranges::find(f.inputs, n) != f.inputs.end(); });
  add_nodes(body, nodes);
  std::vector<Value> outputs;
  for (const Output& o : f.outputs) outputs.push_back(read_if_ref(value_of(body, o)));
  calls_.pop_back();
  return outputs;
}

void Builder::inline_call(Frame& frame, Node* call, Device* device) {
  const auto function = function_of(call, function_name(*call, "f"));
  g_.functions.push_back(function);
  const std::vector<int> controls = call_controls(frame, call);
  const int first = static_cast<int>(g_.steps.size());
  auto outputs = inline_body(*function, {call, device, frame.prefix + call->name() + "/", controls},
                             arguments(frame, call, 0));
  check_results(*function, *call);
  leave_call(frame, call, std::move(outputs), first, controls, nullptr);
}

// Whoever waits for the call waits for all of it; it lives by `life` when that is not the same.
void Builder::leave_call(Frame& frame, Node* call, std::vector<Value> outputs, int first,
                         const std::vector<int>& entry, const std::vector<int>* life) {
  auto& ports = frame.ports_of(*call);
  ports.clear();
  for (size_t i = 0; i < outputs.size(); ++i) {
    ports.push_back(outputs[i].port);
    if (!outputs[i].guards.empty())
      frame.guards[{call, static_cast<int>(i)}] = std::move(outputs[i].guards);
  }
  Step exit = plain_step(frame, call, env_.host());
  exit.kernel = {[](const void*, KernelContext&) {}, nullptr};
  for (int i = first; i < static_cast<int>(g_.steps.size()); ++i)
    if (!g_.steps[i].is_value()) exit.controls.push_back(i);
  for (int c : entry) add_control(exit, c);
  if (life) exit.own_life = true, exit.flow.set().life = *life;
  frame.done_of(*call) = append(std::move(exit));
}

void Builder::add_branches(Frame& frame, Node* call, Device* device) {
  std::vector<std::string> names;
  const bool by_number = call->attr("branches") != nullptr;
  if (by_number) {
    for (const FunctionName& f : call->attr("branches")->as<std::vector<FunctionName>>())
      names.push_back(f.name);
  } else {
    names = {function_name(*call, "else_branch"), function_name(*call, "then_branch")};
  }
  const Value predicate = read_if_ref(value_of(frame, call->inputs()[0]));
  const std::vector<Value> args = arguments(frame, call, 1);
  std::vector<int> controls = call_controls(frame, call);
  std::vector<int> life = life_of(predicate);
  for (const Value& v : args)
    for (int s : life_of(v)) life.push_back(s);
  life.insert(life.end(), controls.begin(), controls.end());
  const int first = static_cast<int>(g_.steps.size());
  std::vector<int> gates;
  std::vector<std::vector<Value>> results;
  for (size_t b = 0; b < names.size(); ++b) {
    const auto function = function_of(call, names[b]);
    g_.functions.push_back(function);
    Value asked = predicate;
    asked.guards.insert(asked.guards.end(), controls.begin(), controls.end());
    gates.push_back(
        gate(asked, static_cast<int>(b), by_number ? static_cast<int>(names.size()) : 0));
    const std::string prefix =
        frame.prefix + call->name() +
        (by_number ? fmt::format("/branch{}/", b) : std::string(b == 1 ? "/then/" : "/else/"));
    results.push_back(inline_body(*function, {call, device, prefix, {gates.back()}}, args));
    check_branch_results(*function, *call);
  }
  std::vector<Value> outputs;
  for (int o = 0; o < call->num_outputs(); ++o) {
    std::vector<Value> arms;
    for (auto& r : results) arms.push_back(r[static_cast<size_t>(o)]);
    outputs.push_back(merge_branches(frame, call, device, arms, gates));
  }
  leave_call(frame, call, std::move(outputs), first, controls, &life);
}

Value Builder::merge_branches(Frame& frame, Node* call, Device* device,
                              std::span<const Value> values, std::span<const int> gates) {
  const DType dtype = g_.out(values[0].port).dtype;
  Step step = plain_step(frame, call, device);
  step.kind = StepKind::kMerge;
  step.outputs.resize(1);
  step.outputs[0].dtype = dtype;
  step.outputs[0].space = space_for(device, dtype);
  for (size_t i = 0; i < values.size(); ++i) {
    std::vector<int>& arm = step.flow.set().arms.emplace_back(life_of(values[i]));
    arm.push_back(gates[i]);
    step.inputs.push_back(is_plain(dtype) ? in_space(values[i].port, step.outputs[0].space)
                                          : values[i].port);
    for (int s : arm) add_control(step, s);
  }
  return {{append(std::move(step)), 0}, {}};
}

void Builder::add_while(Frame& frame, Node* call, Device* device) {
  const auto test = function_of(call, function_name(*call, "cond"));
  const auto body = function_of(call, function_name(*call, "body"));
  const size_t n = call->inputs().size();
  if (body->outputs.size() != n || body->inputs.size() != n || test->outputs.size() != 1)
    throw invalid_argument(fmt::format("'{}' and '{}' do not fit a loop over {} values", test->name,
                                       body->name, n))
        .at_node(call->name(), call->type());
  g_.space_of(device);
  Builder round(*this);
  round.g_.functions = {test, body};
  round.g_.devices = g_.devices;
  const std::vector<Value> args = arguments(frame, call, 0);
  std::vector<Value> inside(n);
  std::vector<size_t> variables;
  for (const bool varies : {true, false})
    for (size_t i = 0; i < n; ++i) {
      if (passes_through(*body, i) == varies) continue;
      const DType dtype = g_.out(args[i].port).dtype;
      inside[i] = {round.capture(call, args[i], space_for(device, dtype)), {}};
      if (varies) variables.push_back(i);
    }
  round.plan_.num_variables = variables.size();
  round.note_parallel_iterations(*call);
  const std::string prefix = frame.prefix + call->name() + "/";
  const Value goes_on =
      round.inline_body(*test, {call, device, prefix + "cond/", {}}, inside)[0];
  check_round_results(*body, *call);
  const int gate = round.gate(goes_on, 1, 0);
  round.plan_.goes_on = {gate};
  const std::vector<Value> next =
      round.inline_body(*body, {call, device, prefix + "body/", {gate}}, inside);
  for (size_t i : variables) {
    const Space space = round.g_.out(inside[i].port).space;
    const Port p = next[i].port;
    round.g_.fetches.push_back(is_plain(round.g_.out(p).dtype) ? round.in_space(p, space) : p);
    round.g_.fetch_lives.push_back(life_of(next[i]));
    round.g_.fetch_lives.back().push_back(gate);
  }
  for (size_t i : variables) {
    round.g_.fetches.push_back(inside[i].port);
    round.g_.fetch_lives.emplace_back();
  }
  const int loop = round.finish_loop(frame, call, call_controls(frame, call));
  auto& ports = frame.ports_of(*call);
  ports.assign(n, Port{});
  for (size_t k = 0; k < variables.size(); ++k) ports[variables[k]] = {loop, static_cast<int>(k)};
  for (size_t i = 0; i < n; ++i)
    if (ports[i].step < 0) {
      ports[i] = args[i].port;
      frame.guards[{call, static_cast<int>(i)}] = {loop};
    }
  frame.done_of(*call) = loop;
}

}  // namespace emplace
