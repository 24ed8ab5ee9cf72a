#pragma once
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "exec/users.h"

namespace emplace {

// Makes one step of several: the work of a group is done where its last step stands. Looks at the
// step graph as it was when it was made: joined steps must not be looked at again.
class Joiner {
 public:
  explicit Joiner(StepGraph& g);

  // Steps may be passed over in a run: then each keeps its own life, and nothing is joined.
  static bool branches(const StepGraph& g);

  // Does only the group need step i, and nobody wait for it before `last`?
  bool only_for(int i, int last, const std::vector<int>& group) const;
  bool waited_for_before(int i, int last) const { return first_waiter_[i] <= last; }
  // `last` and producers that nobody but the group needs and that `fits` takes, in their order.
  std::vector<int> group_of(int last, size_t most, const std::function<bool(int)>& fits) const;

  // The group computes i again, and takes these inputs, where its members took i's result.
  void copied(int i, const std::vector<int>& group, const std::vector<Port>& inputs);
  // A step that all who took it have copied does nothing any more.
  bool drop_if_copied(int i);

  // The group is now its last step, with these inputs.
  void join(const std::vector<int>& group, std::vector<Port> inputs);
  // Whoever waited for a joined step waits for the one it went into.
  void finish();

  const Users& users() const { return users_; }

 private:
  static uint64_t edge(int i, int user) {
    return static_cast<uint64_t>(i) << 32 | static_cast<uint32_t>(user);
  }
  void clear(Step& s) const;
  void silence(int i, int last);

  StepGraph& g_;
  const Users users_;
  std::vector<int> first_waiter_;  // by step: the first that only waits for it
  std::vector<std::pair<int, int>> moved_;
  std::unordered_set<uint64_t> gone_;               // edges: the user takes the result no more
  std::unordered_map<int, std::vector<int>> more_;  // by step: users that users_ doesn't know
};

// The kernel of joined work: `row` of a backend, over these inputs and the outputs of a step.
Prepared make_joined(const StepGraph& g, const KernelRow& row, const Step& step,
                     const std::vector<Port>& inputs, const AttrList& attrs);

}  // namespace emplace
