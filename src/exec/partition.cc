#include "exec/partition.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

#include "exec/branches.h"
#include "exec/loops.h"
#include "exec/prune.h"
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

class Cutter {
 public:
  Cutter(const Graph& graph, const Signature& s, const PlaceOf& place,
         std::span<const std::string> hosts)
      : graph_(graph), signature_(s), place_(place), hosts_(hosts), fed_(index(s)),
        order_(needed_nodes(roots(s), fed_)), branches_(order_, fed_) {
    find_units();
  }

  Partition cut() {
    for (Node* n : order_) add_node(*n);
    for (size_t i = 0; i < signature_.fetches.size(); ++i) {
      const Output& o = signature_.fetches[i];
      const int task = place_(*o.node).task;
      const std::string name = tensor_in(task, o, nullptr);
      part(task).fetches.emplace_back(static_cast<int>(i), full(name));
    }
    order_receives();
    for (const Node* n : signature_.targets) part(place_(*n).task).targets.push_back(n->name());
    Partition result;
    for (auto& [task, part] : parts_) {
      if (part.fetches.empty() && part.targets.empty()) continue;  // its constants were copied
      finish(part);
      result.parts.push_back(std::move(part));
    }
    result.crossings = std::move(crossings_);
    return result;
  }

 private:
  static FeedIndex index(const Signature& s) {
    FeedIndex fed;
    for (size_t i = 0; i < s.feeds.size(); ++i) fed.emplace(s.feeds[i], static_cast<int>(i));
    return fed;
  }
  static std::vector<Node*> roots(const Signature& s) {
    std::vector<Node*> roots = s.targets;
    for (const Output& o : s.fetches)
      if (std::ranges::find(s.feeds, o) == s.feeds.end()) roots.push_back(o.node);
    return roots;
  }

  GraphPart& part(int task) {
    GraphPart& p = parts_[task];
    p.task = task;
    return p;
  }

  // In an order in which they may run: nodes, and loops as a whole.
  void find_units() {
    const LoopNest nest(order_);
    if (!nest.any()) {
      for (Node* n : order_) units_.push_back({n});
      return;
    }
    for (const LoopNest::Unit& unit : nest.units(0))
      units_.push_back(unit.loop < 0 ? std::vector<Node*>{unit.node} : nest.nodes(unit.loop));
    for (const auto& nodes : units_)
      if (nodes.size() > 1) in_loop_.insert(nodes.begin(), nodes.end());
  }

  // ---- Nodes as they are.
  void add_node(Node& n) {
    const NodePlace at = place_(n);
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
  std::string tensor_in(int task, const Output& o, const Node* user) {
    if (const auto it = fed_.find(o); it != fed_.end()) return fed_in(task, o, it->second);
    if (place_(*o.node).task == task) return tensor_name(o);
    const auto [it, fresh] = known_.try_emplace({task, o.node, o.index});
    if (fresh) it->second = can_copy(*o.node) ? copied(task, *o.node) : received(task, o, user);
    return it->second;
  }

  std::string fed_in(int task, const Output& o, int number) {
    const auto [it, fresh] = known_.try_emplace({task, o.node, o.index});
    if (!fresh) return it->second;
    proto::NodeDef& def = new_node(task, "Placeholder", o.node->name());
    (*def.mutable_attr())["dtype"].set_type(to_proto(o.dtype()));
    to_proto(o.shape(), (*def.mutable_attr())["shape"].mutable_shape());
    part(task).feeds.emplace_back(number, full(def.name()));
    return it->second = def.name();
  }

  static bool can_copy(const Node& n) {
    if (n.type() != "Const" || !n.control_inputs().empty()) return false;
    const AttrValue* const value = n.attr("value");
    return value && value->is<Tensor>() && value->as<Tensor>().bytes() <= kCopiedConstant;
  }
  std::string copied(int task, const Node& n) {
    proto::NodeDef& def = new_node(task, "Const", n.name());
    const std::string name = def.name();
    to_proto(n, &def);
    def.set_name(name);
    def.set_device(hosts_[static_cast<size_t>(task)]);
    def.mutable_attr()->erase("_class");
    return name;
  }

  std::string control_in(int task, Node& n, const Node& user) {
    if (place_(n).task == task) return n.name();
    const auto [it, fresh] = known_.try_emplace({task, &n, -1});
    if (!fresh) return it->second;
    check_loop(n, user, task);
    const int from = place_(n).task;
    const std::string none = nothing(from);
    return it->second = crossing(from, task, none, "^" + n.name(), n, -1, DType::kFloat,
                                 branches_.of(n), &n);
  }

  // ---- What goes from task to task.
  std::string received(int task, const Output& o, const Node* user) {
    check_kind(o, user, task);
    if (user) check_loop(*o.node, *user, task);
    return crossing(place_(*o.node).task, task, tensor_name(o), o.name(), *o.node, o.index,
                    o.dtype(), branches_.of(o), nullptr);
  }

  std::string crossing(int from, int to, const std::string& tensor, std::string name,
                       const Node& node, int index, DType dtype, const Conditions& conditions,
                       const Node* after) {
    std::vector<std::string> pivots;
    for (const Condition& c : conditions) pivots.push_back(pivot_in(to, c));
    const auto channel = static_cast<int64_t>(crossings_.size());
    proto::NodeDef& send = new_node(from, "_Send", node.name());
    send.add_input(tensor);
    if (after) send.add_input("^" + after->name());
    (*send.mutable_attr())["T"].set_type(to_proto(dtype));
    part(from).targets.push_back(send.name());
    proto::NodeDef& receive = new_node(to, "_Recv", node.name());
    for (const std::string& pivot : pivots) receive.add_input("^" + pivot);
    (*receive.mutable_attr())["tensor_type"].set_type(to_proto(dtype));
    for (proto::NodeDef* def : {&send, &receive}) {
      auto& attrs = *def->mutable_attr();
      attrs["tensor_name"].set_s(name);
      attrs["send_device"].set_s(hosts_[static_cast<size_t>(from)]);
      attrs["send_device_incarnation"].set_i(0);
      attrs["recv_device"].set_s(hosts_[static_cast<size_t>(to)]);
      attrs["_channel"].set_i(channel);
    }
    crossings_.push_back({from, to, std::move(name)});
    ways_.push_back({&send, &receive, &node, index, conditions});
    channels_[receive.name()] = static_cast<int>(channel);
    return receive.name();
  }

  // A node of `task` that runs where the predicate, wherever it is made, takes this branch.
  std::string pivot_in(int task, const Condition& c) {
    const auto [it, fresh] =
        pivots_.try_emplace({task, c.predicate.node, c.predicate.index, c.branch});
    if (!fresh) return it->second;
    const std::string predicate = tensor_in(task, c.predicate, nullptr);
    proto::NodeDef& chooser = new_node(task, "Switch", c.predicate.node->name());
    chooser.add_input(predicate);
    chooser.add_input(predicate);
    (*chooser.mutable_attr())["T"].set_type(to_proto(DType::kBool));
    const std::string source = c.branch == 0 ? chooser.name() : chooser.name() + ":1";
    proto::NodeDef& pivot = new_node(task, "Identity", c.predicate.node->name());
    pivot.add_input(source);
    (*pivot.mutable_attr())["T"].set_type(to_proto(DType::kBool));
    return it->second = pivot.name();
  }

  // What a message says whose coming is all that matters.
  std::string nothing(int task) {
    std::string& name = nothings_[task];
    if (!name.empty()) return name;
    proto::NodeDef& def = new_node(task, "Const", "nothing");
    (*def.mutable_attr())["dtype"].set_type(to_proto(DType::kFloat));
    to_proto(Tensor(DType::kFloat, Shape{0}), (*def.mutable_attr())["value"].mutable_tensor());
    return name = def.name();
  }

  // No node of the user's can be called so: a part of its name begins with '_'.
  proto::NodeDef& new_node(int task, std::string_view op, const std::string& like) {
    proto::NodeDef* const def = part(task).graph.add_node();
    do {
      def->set_name(fmt::format("{}/_{}", like, next_name_++));
    } while (graph_.find(def->name()));
    def->set_op(std::string(op));
    def->set_device(hosts_[static_cast<size_t>(task)]);
    return *def;
  }

  // ---- Order. A device that makes its calls in a fixed order, or joins them, could wait for a value in
  // front of what another task needs to send it. So values have levels, by how many messages they come
  // after, and on tasks with such devices what has come at one level waits for what was to be sent at
  // those below. Across tasks all waiting then goes from level to level.
  void find_levels() {
    for (const auto& nodes : units_) {
      int level = 0;
      for (const Node* n : nodes) {
        const int task = place_(*n).task;
        for (const Output& in : n->inputs())
          if (!fed_.contains(in)) level = std::max(level, level_of(task, *in.node, in.index));
        for (const Node* c : n->control_inputs()) level = std::max(level, level_of(task, *c, -1));
      }
      for (const Node* n : nodes) levels_[n] = level;
    }
  }
  // Of a value where it is taken.
  int level_of(int task, const Node& from, int index) const {
    const auto it = known_.find({task, &from, index});
    const auto channel = it == known_.end() ? channels_.end() : channels_.find(it->second);
    if (channel == channels_.end()) {
      const auto own = levels_.find(&from);
      return own == levels_.end() ? 0 : own->second;
    }
    const Way& way = ways_[static_cast<size_t>(channel->second)];
    int level = levels_.at(way.node) + 1;
    for (const Condition& c : way.conditions)
      level = std::max(level, level_of(task, *c.predicate.node, c.predicate.index));
    return level;
  }

  void order_receives() {
    std::set<int> in_fixed_order;
    for (const Node* n : order_)
      if (const NodePlace at = place_(*n); at.device->find("/device:CPU:") == std::string::npos)
        in_fixed_order.insert(at.task);
    if (ways_.empty() || in_fixed_order.empty()) return;
    find_levels();
    for (const int task : in_fixed_order) order_task(task);
  }

  void order_task(int task) {
    std::map<int, std::vector<std::string>> sends;         // by level
    std::map<int, std::vector<proto::NodeDef*>> receives;
    for (size_t i = 0; i < ways_.size(); ++i) {
      if (crossings_[i].from == task)
        sends[levels_.at(ways_[i].node)].push_back(ways_[i].send->name());
      if (crossings_[i].to != task) continue;
      const auto index = ways_[i].index;
      receives[level_of(task, *ways_[i].node, index)].push_back(ways_[i].receive);
    }
    std::string before;
    auto next = sends.begin();
    for (const auto& [level, all] : receives) {
      for (; next != sends.end() && next->first < level; ++next) {
        proto::NodeDef& trigger = new_node(task, "ControlTrigger", "sent");  // lives whatever dies
        for (const std::string& send : next->second) trigger.add_input("^" + send);
        if (!before.empty()) trigger.add_input("^" + before);
        before = trigger.name();
      }
      if (before.empty()) continue;
      for (proto::NodeDef* receive : all) receive->add_input("^" + before);
    }
  }

  // ---- What can't be cut.
  std::string ends(const Node& from, const Node* to, int task) const {
    return fmt::format("'{}' on {} to {} on {}", from.name(), *place_(from).device,
                       to ? fmt::format("'{}'", to->name()) : "its user",
                       to ? *place_(*to).device : hosts_[static_cast<size_t>(task)]);
  }

  void check_kind(const Output& o, const Node* user, int task) const {
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
  static bool wants_ref(const Output& o, const Node& user) {
    const std::vector<bool> refs = input_refs(user.op(), user.attrs());
    for (size_t i = 0; i < user.inputs().size(); ++i)
      if (user.inputs()[i] == o && i < refs.size() && refs[i]) return true;
    return false;
  }

  void check_loop(const Node& from, const Node& to, int task) const {
    const bool leaves = in_loop_.contains(&from) || is_enter(from);
    const bool enters = in_loop_.contains(&to) && !is_enter(to);
    if (!leaves && !enters) return;
    throw unimplemented(fmt::format("A loop over several tasks: from {}. Place the whole loop on one "
                                    "task.",
                                    ends(from, &to, task)))
        .at_node(to.name(), to.type())
        .from_source(to.source());
  }

  void finish(GraphPart& part) const {
    const GraphVersions versions = graph_.versions();
    part.graph.mutable_versions()->set_producer(versions.producer);
    part.graph.mutable_versions()->set_min_consumer(versions.min_consumer);
    for (const auto& f : graph_.functions())
      to_proto(*f, part.graph.mutable_library()->add_function());
  }

  const Graph& graph_;
  const Signature& signature_;
  const PlaceOf& place_;
  const std::span<const std::string> hosts_;
  const FeedIndex fed_;
  const std::vector<Node*> order_;
  const Branches branches_;
  std::vector<std::vector<Node*>> units_;
  std::unordered_set<const Node*> in_loop_;
  std::map<int, GraphPart> parts_;
  std::vector<Crossing> crossings_;
  std::map<std::tuple<int, const Node*, int>, std::string> known_;  // by task and output; -1: control
  std::map<std::tuple<int, const Node*, int, int>, std::string> pivots_;
  std::map<int, std::string> nothings_;
  int next_name_ = 0;
  struct Way {
    proto::NodeDef *send, *receive;
    const Node* node;  // whose value it is …
    int index;         // … and which; -1: that it is done
    Conditions conditions;
  };
  std::vector<Way> ways_;                        // by channel
  std::unordered_map<std::string, int> channels_;  // by the receive's name
  std::unordered_map<const Node*, int> levels_;
};

}  // namespace

Partition partition(const Graph& graph, const Signature& signature, const PlaceOf& place,
                    std::span<const std::string> hosts) {
  return Cutter(graph, signature, place, hosts).cut();
}

}  // namespace emplace
