#pragma once
#include <string>
#include <utility>
#include <vector>

#include "kernel/collectives.h"

namespace emplace {

// Which of a group's members are whose: tasks in the group's order, each with
// its members' places in it.
struct CollectiveGroup {
  explicit CollectiveGroup(const CollectiveMembers& members);
  static std::string task_of(const std::string& member);

  struct OfTask {
    std::string task;
    std::vector<int32_t> members;
  };
  std::vector<OfTask> tasks;
  int32_t size = 0;
};

// How one task exchanges values with the others of its group, in one round of
// an instance.
class PartWay {
 public:
  virtual ~PartWay() = default;
  virtual void send(size_t task, int32_t from, int32_t phase, const Tensor& value) = 0;
  virtual Tensor receive(int32_t from, int32_t phase) = 0;  // waits for it
  virtual void settle() = 0;  // waits until the memory of all that was sent may
                              // be written over
};

// What all of the group's values are together, of which `own`, in the group's
// order, are those of task `me`. A reduction has the same bits on every task:
// short values are merged by each in the group's order, of long ones each task
// makes one piece, in a ring, and gives it to the others.
Tensor exchanged(const CollectiveGroup& group, size_t me,
                 const std::vector<const CollectiveCall*>& own, PartWay& way);

}  // namespace emplace
