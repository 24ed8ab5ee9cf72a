#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "placement/request.h"

namespace emplace {

enum class Reason : uint8_t {
  kAlreadyPlaced,    // in an earlier run
  kPinned,           // the user asked for it
  kColocated,        // with the nodes it shares a reference, a resource or a group with
  kFollowsConsumer,  // a source goes where all its readers are
  kFollowsInput,     // Shape, Size, Rank and some Identities stay with their input
  kDefault,          // best device of the best type that has a kernel
  kSoft,             // the user's wish cannot be met; soft placement took the next best
  kCost,             // what the step costs was weighed
};
std::string_view reason_name(Reason reason);  // "pinned", "colocated", …

struct Rejected {
  std::string device;
  std::string why;
};

struct PlacedNode {
  const Node* node = nullptr;
  int device = -1;  // index into the devices of the request
  Reason reason = Reason::kDefault;
  std::string detail;  // in words: "pinned by the user to '/device:GPU:2'"
  std::vector<Rejected> rejected;
};

// Says why nodes are where they are, when somebody asks: nothing of it costs anything while
// placing. The nodes' graph must outlive it. Any thread may ask.
class Explainer {
 public:
  virtual ~Explainer() = default;
  virtual PlacedNode explain(size_t node) const = 0;  // by its number in the request
};

// The outcome of placing: plain data, and who can explain it.
struct Placement {
  std::vector<int> devices;        // of each node of the request: index into its devices
  std::vector<std::string> notes;  // requests that were ignored (with options.log), and the like
  std::shared_ptr<const Explainer> explainer;
  double step_s = 0;     // how long a step is expected to take; 0: nobody looked
  std::string quality = {};  // "within 1.7 % of the optimum", where that is known
  std::string remark = {};   // what the step was weighed against, in words

  PlacedNode explain(size_t node) const { return explainer->explain(node); }
  std::vector<PlacedNode> explain() const;  // all nodes
};

// How long a step is expected to take, and how far off that may be.
struct StepForecast {
  double step_s = 0, spread_s = 0;
};

// Gives every node a device. place() is a pure function of the request: it changes nothing, and the
// same request gives the same answer (a search that is limited by time aside). What the user asked
// for, kernels, ties and what is placed already hold in every answer; what can't be met is an Error
// with node, op and source filled in. One placer serves any number of threads.
class Placer {
 public:
  virtual ~Placer() = default;
  virtual Placement place(const PlacementRequest& request) const = 0;
  // What the request's step takes when its nodes are where `devices` says; null: it never looks.
  virtual std::optional<StepForecast> forecast(const PlacementRequest&,
                                               std::span<const int> /*devices*/) const {
    return std::nullopt;
  }
  // The device of an operation that is run at once; -1 where none that is wanted can run it. Unless
  // overridden the first device of the first type.
  virtual int place_call(const CallRequest& request) const;
};

// The placer of a name ("simple", …). Throws InvalidArgument that lists those there are.
std::unique_ptr<const Placer> make_placer(std::string_view name);

}  // namespace emplace
