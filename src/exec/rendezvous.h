#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "emplace/tensor.h"
#include "kernel/pending.h"

namespace emplace {

// A number given when the graph was cut (partition.h). In a step each is sent into and taken from once
// at most, or, between the parts of a loop, once in every round that gets there: rounds follow one
// another, so what is sent n-th is received n-th.
struct ValueChannel {
  int number = 0;
  bool every_round = false;
};

// Where the part of one step that is this task's meets those of other tasks. Any thread may call.
class Rendezvous {
 public:
  virtual ~Rendezvous() = default;
  // Hands a value on, and ends the kernel when its memory may be written over.
  virtual void send(ValueChannel channel, const Tensor& value, std::shared_ptr<Pending> kernel) = 0;
  // Gives the kernel its output 0 when the value is there, and ends it; with an error when the step
  // has failed elsewhere.
  virtual void receive(ValueChannel channel, std::shared_ptr<Pending> kernel) = 0;
  // The part runs and can be ended by `cancel`, until it has left.
  virtual void joined(std::function<void(const Error&)> cancel) = 0;
  virtual void left() = 0;
};

// What has come for one step in one task, and who waits for what has not, by channel and round. Any
// thread may call.
class Inbox : public std::enable_shared_from_this<Inbox> {
 public:
  void put(int64_t channel, Tensor value);
  void take(int64_t channel, std::shared_ptr<Pending> kernel);
  // Nothing more will come: whoever waits, or comes to wait, fails.
  void fail(const Error& error);

 private:
  std::shared_ptr<Pending> withdraw(int64_t channel);

  std::mutex mutex_;
  std::unordered_map<int64_t, Tensor> values_;
  std::unordered_map<int64_t, std::shared_ptr<Pending>> waiting_;
  std::optional<Error> error_;
};

class KernelRegistry;
void register_rendezvous_kernels(KernelRegistry& registry);  // _Send, _Recv

}  // namespace emplace
