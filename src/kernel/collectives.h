#pragma once
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "emplace/tensor.h"
#include "kernel/pending.h"

namespace emplace {

// What one member brings to an operation of its group.
struct CollectiveCall {
  enum class Kind { kReduce, kGather, kSend, kReceive };  // the last two: of a broadcast
  Kind kind = Kind::kReduce;
  int32_t group = 0, instance = 0;  // keys
  int32_t size = 0;                 // of the group
  double timeout_s = 0;             // 0: none
  Tensor value;                     // in host memory; none to receive
  // Of a reduction: to = both as one; and what becomes of the whole at the end,
  // if anything.
  void (*merge)(Tensor& to, const Tensor& from) = nullptr;
  void (*finish)(Tensor& all, int32_t size) = nullptr;
};

// A piece of a value on its way from task to task. An instance's n-th use has
// `round` n.
struct CollectivePart {
  int32_t group = 0, instance = 0, round = 0;
  int32_t from = 0;  // of the group's tasks, or, where values are gathered, of its members
  int32_t phase = 0;
  auto operator<=>(const CollectivePart&) const = default;
};

using CollectiveDone = std::function<void(std::optional<Error>)>;
using CollectiveMembers = std::vector<std::string>;  // devices' full names, in the group's order

// How a task reaches the others. Any thread may call; nothing waits.
class CollectiveTasks {
 public:
  virtual ~CollectiveTasks() = default;
  virtual const std::string& own() const = 0;  // "/job:worker/replica:0/task:0"
  // Tells the leader of a member; all of them are known when all have come.
  virtual void join(int32_t group, int32_t size, const std::string& member,
                    std::function<void(std::optional<Error>, CollectiveMembers)> done) = 0;
  // `sent` when the value's memory may be written over.
  virtual void send(const std::string& task, const CollectivePart& part, const Tensor& value,
                    CollectiveDone sent) = 0;
  // `done` when the other's collective operations have ended, or when it is
  // gone: with why.
  virtual void watch(const std::string& task, CollectiveDone done) = 0;
};

// Where the collective operations of a task meet: those of its own devices,
// and, with `tasks`, those of others. Members bring their values in any order;
// a group's instances may go on beside each other. What goes wrong with one
// ends all, here and on the tasks that they are made with, as members no longer
// know which round the others are in. Any thread may call.
class Collectives : public Resource, public std::enable_shared_from_this<Collectives> {
 public:
  explicit Collectives(std::shared_ptr<CollectiveTasks> tasks = nullptr)
      : tasks_(std::move(tasks)) {}
  std::string debug_string() const override { return "Collectives"; }

  // Ends the kernel with the whole as its output 0.
  void run(CollectiveCall call, const std::string& device, std::shared_ptr<Pending> kernel);
  // From another task.
  void arrived(const CollectivePart& part, Tensor value);
  // Those who are told why it ends, if it does.
  void watched(CollectiveDone done);
  void abort(const Error& why);
  void stop(const Error& why);  // … and waits until no other task is asked for
                                // anything any more

  // As leader: tells all who have joined the group of all of its members, once
  // there are `size`.
  void lead(int32_t group, int32_t size, const std::string& member,
            std::function<void(std::optional<Error>, CollectiveMembers)> done);

 private:
  using Clock = std::chrono::steady_clock;
  struct Key {
    int32_t group, instance, round;
    auto operator<=>(const Key&) const = default;
  };
  struct Instance;
  struct Exchange;
  struct Led {
    int32_t size;
    CollectiveMembers members;
    std::vector<std::function<void(std::optional<Error>, CollectiveMembers)>> waiting;
  };

  void make(Key key, std::shared_ptr<Instance> instance);
  CollectiveMembers members(Instance& instance);
  Tensor together(Exchange& exchange, const CollectiveMembers& all);
  void wait(std::unique_lock<std::mutex>& lock, const Instance& instance,
            const std::function<bool()>& over);
  void joined(int32_t group, std::optional<Error> error, CollectiveMembers members);
  void watch_others(const CollectiveMembers& members);
  void lost(const std::string& task, const Error& why);

  const std::shared_ptr<CollectiveTasks> tasks_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::optional<Error> ended_;
  std::map<std::string, std::pair<Error, Clock::time_point>> lost_;  // tasks, and since when
  std::map<std::pair<Key, std::string>, int32_t>
      rounds_;  // by instance (its round is 0) and member
  std::map<Key, std::shared_ptr<Instance>> instances_;
  std::map<std::pair<int32_t, std::string>, bool> asked_;  // members whose leader was told
  std::map<int32_t, CollectiveMembers> groups_;
  std::map<CollectivePart, Tensor> inbox_;
  std::map<std::string, bool> watching_;
  std::vector<CollectiveDone> watchers_;
  std::map<int32_t, Led> led_;
};

}  // namespace emplace
