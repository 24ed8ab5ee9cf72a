#include "exec/partition.h"

#include <fmt/format.h>

#include <algorithm>

#include "exec/cutter.h"
#include "graph/attr_proto.h"
#include "graph/function_def.h"
#include "graph/graph_def.h"
#include "graph/tensor_proto.h"
#include "op/op_def.h"

namespace emplace {
namespace {

constexpr size_t kCopiedConstant = 4096;  // bytes: up to this a task gets a copy rather than a message

std::string tensor_name(const Output& o) {
  return o.index == 0 ? o.node->name() : fmt::format("{}:{}", o.node->name(), o.index);
}

std::string full(const std::string& tensor) {
  return tensor.find(':') == std::string::npos ? tensor + ":0" : tensor;
}

FeedIndex index(const Signature& s) {
  FeedIndex fed;
  for (size_t i = 0; i < s.feeds.size(); ++i) fed.emplace(s.feeds[i], static_cast<int>(i));
  return fed;
}

std::vector<Node*> roots(const Signature& s) {
  std::vector<Node*> roots = s.targets;
  for (const Output& o : s.fetches)
    if (std::ranges::find(s.feeds, o) == s.feeds.end()) roots.push_back(o.node);
  return roots;
}

bool can_copy(const Node& n) {
  if (n.type() != "Const" || !n.control_inputs().empty()) return false;
  const AttrValue* const value = n.attr("value");
  return value && value->is<Tensor>() && value->as<Tensor>().bytes() <= kCopiedConstant;
}

bool wants_ref(const Output& o, const Node& user) {
  const std::vector<bool> refs = input_refs(user.op(), user.attrs());
  for (size_t i = 0; i < user.inputs().size(); ++i)
    if (user.inputs()[i] == o && i < refs.size() && refs[i]) return true;
  return false;
}

}  // namespace

Cutter::Cutter(const Graph& graph, const Signature& s, const PlaceOf& place,
               std::span<const std::string> hosts)
    : graph_(graph), signature_(s), place_(place), hosts_(hosts), fed_(index(s)),
      order_(needed_nodes(roots(s), fed_)), nest_(order_), branches_(order_, fed_, nest_) {
  find_homes();
}

Partition Cutter::cut() {
  for (Node* n : order_) add_node(*n);
  for (size_t i = 0; i < signature_.fetches.size(); ++i) {
    const Output& o = signature_.fetches[i];
    const int task = home(*o.node).task;
    const std::string name = tensor_in(task, o, nullptr);
    part(task).fetches.emplace_back(static_cast<int>(i), full(name));
  }
  order_receives();
  for (const Node* n : signature_.targets) part(home(*n).task).targets.push_back(n->name());
  Partition result;
  for (auto& [task, part] : parts_) {
    if (part.fetches.empty() && part.targets.empty()) continue;  // its constants were copied
    finish(part);
    result.parts.push_back(std::move(part));
  }
  result.crossings = std::move(crossings_);
  return result;
}

// ---- Nodes as they are.

GraphPart& Cutter::part(int task) {
  GraphPart& p = parts_[task];
  p.task = task;
  return p;
}

void Cutter::add_node(Node& n) {
  if (is_enter(n) && !variable_enters_.contains(&n)) return;  // goes where it is used
  const NodePlace at = home(n);
  if (spans(frame(n))) round(frame(n), at.task);
  proto::NodeDef def;
  to_proto(n, &def);
  def.set_device(*at.device);
  def.clear_input();
  def.mutable_attr()->erase("_class");
  for (const Output& in : n.inputs()) def.add_input(tensor_in(at.task, in, &n));
  for (Node* c : n.control_inputs())
    if (!is_fed_placeholder(*c, fed_)) def.add_input("^" + control_in(at.task, *c, n));
  *part(at.task).graph.add_node() = std::move(def);
}

// The name by which `task` knows a value that `user` takes.
std::string Cutter::tensor_in(int task, const Output& o, const Node* user) {
  if (const auto it = fed_.find(o); it != fed_.end()) return fed_in(task, o, it->second);
  if (is_enter(*o.node)) return entered(task, *o.node);
  if (home(*o.node).task == task) return tensor_name(o);
  if (o.node->type() == "LoopCond" && spans(frame(*o.node))) return round(frame(*o.node), task).condition;
  const auto known = known_.find({task, o.node, o.index});
  if (known != known_.end()) return known->second;
  std::string name = can_copy(*o.node) ? copied(task, *o.node) : received(task, o, user);
  return known_[{task, o.node, o.index}] = std::move(name);
}

std::string Cutter::fed_in(int task, const Output& o, int number) {
  const auto [it, fresh] = known_.try_emplace({task, o.node, o.index});
  if (!fresh) return it->second;
  proto::NodeDef& def = new_node(task, "Placeholder", o.node->name());
  (*def.mutable_attr())["dtype"].set_type(to_proto(o.dtype()));
  to_proto(o.shape(), (*def.mutable_attr())["shape"].mutable_shape());
  part(task).feeds.emplace_back(number, full(def.name()));
  return it->second = def.name();
}

std::string Cutter::copied(int task, const Node& n) {
  proto::NodeDef& def = new_node(task, "Const", n.name());
  const std::string name = def.name();
  to_proto(n, &def);
  def.set_name(name);
  def.set_device(hosts_[static_cast<size_t>(task)]);
  def.mutable_attr()->erase("_class");
  return name;
}

std::string Cutter::control_in(int task, Node& n, const Node& user) {
  if (is_enter(n)) return entered(task, n);
  if (home(n).task == task) return n.name();
  const auto known = known_.find({task, &n, -1});
  if (known != known_.end()) return known->second;
  check_loop(n, user, task);
  const int from = home(n).task;
  const std::string none = nothing(from, frame(n), {{n.name()}});
  std::string name = crossing(from, task, none, "^" + n.name(), n, -1, DType::kFloat, branches_.of(n), &n);
  return known_[{task, &n, -1}] = std::move(name);
}

// No node of the user's can be called so: a part of its name begins with '_'.
proto::NodeDef& Cutter::new_node(int task, std::string_view op, const std::string& like) {
  proto::NodeDef* const def = part(task).graph.add_node();
  do {
    def->set_name(fmt::format("{}/_{}", like, next_name_++));
  } while (graph_.find(def->name()));
  def->set_op(std::string(op));
  def->set_device(hosts_[static_cast<size_t>(task)]);
  return *def;
}

void Cutter::finish(GraphPart& part) const {
  const GraphVersions versions = graph_.versions();
  part.graph.mutable_versions()->set_producer(versions.producer);
  part.graph.mutable_versions()->set_min_consumer(versions.min_consumer);
  for (const auto& f : graph_.functions())
    to_proto(*f, part.graph.mutable_library()->add_function());
}

// ---- What goes from task to task.

std::string Cutter::received(int task, const Output& o, const Node* user) {
  check_kind(o, user, task);
  if (user) check_loop(*o.node, *user, task);
  return crossing(home(*o.node).task, task, tensor_name(o), o.name(), *o.node, o.index, o.dtype(),
                  branches_.of(o), nullptr);
}

std::string Cutter::crossing(int from, int to, const std::string& tensor, std::string name,
                             const Node& node, int index, DType dtype,
                             const Conditions& conditions, const Node* after) {
  const int in = frame(node);
  const std::vector<std::string> waits = waits_in(to, in, conditions);
  proto::NodeDef* const sent = in > 0 ? round(in, from).sent : nullptr;
  const auto channel = static_cast<int64_t>(crossings_.size());
  proto::NodeDef& send = new_node(from, "_Send", node.name());
  send.add_input(tensor);
  if (after) send.add_input("^" + after->name());
  (*send.mutable_attr())["T"].set_type(to_proto(dtype));
  if (sent) sent->add_input("^" + send.name());
  else part(from).targets.push_back(send.name());
  proto::NodeDef& receive = new_node(to, "_Recv", node.name());
  for (const std::string& wait : waits) receive.add_input("^" + wait);
  (*receive.mutable_attr())["tensor_type"].set_type(to_proto(dtype));
  for (proto::NodeDef* def : {&send, &receive}) {
    auto& attrs = *def->mutable_attr();
    attrs["tensor_name"].set_s(name);
    attrs["send_device"].set_s(hosts_[static_cast<size_t>(from)]);
    attrs["send_device_incarnation"].set_i(0);
    attrs["recv_device"].set_s(hosts_[static_cast<size_t>(to)]);
    attrs["_channel"].set_i(channel);
    if (in > 0) attrs["_every_round"].set_b(true);
  }
  crossings_.push_back({from, to, std::move(name)});
  ways_.push_back({&send, &receive, &node, index, conditions});
  channels_[receive.name()] = static_cast<int>(channel);
  return receive.name();
}

// A node of `task` that runs where the predicate, wherever it is made, takes this branch.
std::string Cutter::pivot_in(int task, const Condition& c) {
  const int in = frame(*c.predicate.node);
  if (c.predicate.node->type() == "LoopCond" && c.branch == 1 && spans(in))
    return round(in, task).body;
  const std::tuple key(task, c.predicate.node, c.predicate.index, c.branch);
  if (const auto known = pivots_.find(key); known != pivots_.end()) return known->second;
  const std::string predicate = tensor_in(task, c.predicate, nullptr);
  proto::NodeDef& chooser = new_node(task, "Switch", c.predicate.node->name());
  chooser.add_input(predicate);
  chooser.add_input(predicate);
  (*chooser.mutable_attr())["T"].set_type(to_proto(DType::kBool));
  const std::string source = c.branch == 0 ? chooser.name() : chooser.name() + ":1";
  proto::NodeDef& pivot = new_node(task, "Identity", c.predicate.node->name());
  pivot.add_input(source);
  (*pivot.mutable_attr())["T"].set_type(to_proto(DType::kBool));
  return pivots_[key] = pivot.name();
}

// What a message says whose coming is all that matters; in a loop one that belongs to the round.
std::string Cutter::nothing(int task, int frame, std::span<const std::string> after) {
  if (frame == 0 && after.size() <= 1)
    if (const auto it = nothings_.find(task); it != nothings_.end()) return it->second;
  proto::NodeDef& def = new_node(task, "Const", "nothing");
  (*def.mutable_attr())["dtype"].set_type(to_proto(DType::kFloat));
  to_proto(Tensor(DType::kFloat, Shape{0}), (*def.mutable_attr())["value"].mutable_tensor());
  if (frame == 0) return nothings_[task] = def.name();
  for (const std::string& node : after) def.add_input("^" + node);
  return def.name();
}

// ---- What can't be cut.

std::string Cutter::ends(const Node& from, const Node* to, int task) const {
  return fmt::format("'{}' on {} to {} on {}", from.name(), *home(from).device,
                     to ? fmt::format("'{}'", to->name()) : "its user",
                     to ? *home(*to).device : hosts_[static_cast<size_t>(task)]);
}

void Cutter::check_kind(const Output& o, const Node* user, int task) const {
  std::string_view kind;
  if (o.dtype() == DType::kResource) kind = "resource handle";
  else if (o.dtype() == DType::kVariant) kind = "variant";
  else if (o.is_ref() && user && wants_ref(o, *user)) kind = "reference";
  if (kind.empty()) return;
  throw invalid_argument(fmt::format("A {} can't go from {}: it means memory of its task. Place "
                                     "both on one task.",
                                     kind, ends(*o.node, user, task)))
      .at_node(user ? user->name() : o.node->name(), user ? user->type() : o.node->type())
      .from_source(user ? user->source() : o.node->source());
}

Partition partition(const Graph& graph, const Signature& signature, const PlaceOf& place,
                    std::span<const std::string> hosts) {
  return Cutter(graph, signature, place, hosts).cut();
}

}  // namespace emplace
