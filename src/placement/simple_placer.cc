#include "placement/simple_placer.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "placement/place_error.h"
#include "placement/result.h"

namespace emplace {
namespace placement {
namespace {

// A source of values: it can go wherever it is read.
bool is_generator(const Node& node) {
  return node.inputs().empty() && node.num_outputs() == 1 && !node.output_is_ref(0);
}

bool contains(const std::vector<int>& list, int value) {
  return std::ranges::find(list, value) != list.end();
}

// The two passes over the nodes. Sources wait for the second, when their readers have a place.
class Passes {
 public:
  explicit Passes(Result& result) : r_(result), groups_(result.groups) {}

  void run() {
    std::vector<int> sources;
    for (int i = 0; i < groups_.size(); ++i) {
      if (const int device = groups_.placed_before(i); device >= 0) {
        assign(i, device, Reason::kAlreadyPlaced);
      } else if (is_generator(*r_.nodes[i])) {
        sources.push_back(i);
      } else {
        choose(i, Reason::kFollowsInput);
      }
    }
    for (int i : sources) choose(i, Reason::kFollowsConsumer);
    check_ports();
  }

 private:
  void choose(int i, Reason why_drawn) {
    const std::vector<int>& list = groups_.candidates(i);
    if (list.empty()) fail();
    if (list.size() == 1) return assign(i, list.front(), Reason::kDefault);
    const int draw =
        why_drawn == Reason::kFollowsInput ? input_to_follow(i) : consumer_to_follow(i);
    const int there = draw < 0 ? -1 : r_.device[draw];
    if (there >= 0 && contains(list, there)) {
      r_.followed[i] = draw;
      assign(i, there, why_drawn);
    } else {
      assign(i, list.front(), Reason::kDefault);
    }
  }

  void assign(int i, int device, Reason reason) {
    groups_.fix(i, device);
    r_.device[i] = device;
    r_.reason[i] = reason;
  }

  // Shape, Size and Rank, and an Identity whose two neighbours ask for the same, stay with their
  // input. Unread nodes count as read by somebody who asks for nothing, as in TensorFlow.
  int input_to_follow(int i) {
    const Node& node = *r_.nodes[i];
    const OpClass& op = groups_.op(i);
    if (node.inputs().empty() || !(op.metadata || (op.identity && between_alike(i)))) return -1;
    return groups_.index().of(node.inputs()[0].node);
  }

  bool between_alike(int i) {
    const Node& node = *r_.nodes[i];
    const auto readers = consumers()[i];
    if (!node.device().empty() || readers.size() > 1) return false;
    if (node.inputs().size() + node.control_inputs().size() != 1) return false;
    const std::string& before = node.inputs()[0].node->device();
    return readers.empty() ? before.empty() : before == r_.nodes[readers[0]]->device();
  }

  // A reader, if all readers are on one device.
  int consumer_to_follow(int i) {
    const auto readers = consumers()[i];
    if (readers.empty()) return -1;
    const int device = r_.device[readers[0]];
    const auto there = [&](int reader) { return r_.device[reader] == device; };
    return std::ranges::all_of(readers, there) ? readers[0] : -1;
  }

  // What a function makes must be able to live where its readers are.
  void check_ports() {
    for (int port : groups_.ports()) {
      if (groups_.candidates(port).empty()) throw no_device(groups_, port);
    }
  }

  // Some group has no device: the first node of the log order that is in such a group is named.
  [[noreturn]] void fail() {
    for (int i : log_order(r_.nodes)) {
      if (groups_.placed_before(i) < 0 && groups_.candidates(i).empty()) {
        throw no_device(groups_, i);
      }
    }
    throw internal_error("a group without devices has no nodes");
  }

  // Only where there is a choice does it matter who reads what.
  const Consumers& consumers() {
    if (!consumers_) consumers_.emplace(r_.nodes, groups_.index());
    return *consumers_;
  }

  Result& r_;
  Colocation& groups_;
  std::optional<Consumers> consumers_;
};

void check_indices(std::span<Node* const> nodes, std::span<const int> placed, size_t devices) {
  if (!placed.empty() && placed.size() != nodes.size()) {
    throw internal_error("one device index a node is needed, or none at all");
  }
  for (size_t i = 0; i < placed.size(); ++i) {
    if (placed[i] < static_cast<int>(devices)) continue;
    throw attached(*nodes[i], Code::kInternal,
                   fmt::format("Assigned device number {} does not match any device", placed[i]));
  }
}

}  // namespace

std::shared_ptr<Result> tied(const PlacementRequest& request) {
  if (request.devices.empty()) throw failed_precondition("No devices are registered");
  check_indices(request.nodes, request.already_placed, request.devices.size());
  auto result = std::make_shared<Result>(request);
  result->groups.build();
  return result;
}

void place_by_rules(Result& result) { Passes(result).run(); }

}  // namespace placement

Placement SimplePlacer::place(const PlacementRequest& request) const {
  auto result = placement::place_simply(request);
  return {result->device, result->context.notes, result};
}

}  // namespace emplace
