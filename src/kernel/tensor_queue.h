#pragma once
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "kernel/kernel.h"
#include "kernel/philox.h"

namespace emplace {

// A queue of tuples of tensors. Nobody waits inside: an operation that can't be done yet is kept
// with its continuation and done by whoever makes it possible. Any thread may call.
class TensorQueue : public Resource {
 public:
  using Tuple = std::vector<Tensor>;
  enum class Order { kFirstIn, kRandom, kPriority };
  struct Options {
    std::string type;  // "FIFOQueue", as errors say it
    std::string name;
    std::vector<DType> types;
    std::vector<Shape> shapes;  // empty: any
    int64_t capacity = -1;      // below 0: no limit
    Order order = Order::kFirstIn;
    bool pads = false;          // batches are padded to one shape
    int64_t min_after_dequeue = 0;
    uint64_t seed = 0, seed2 = 0;  // of a random order
  };

  explicit TensorQueue(Options options);
  std::string debug_string() const override;
  const Options& options() const { return options_; }

  // What an operation came to: nothing, or the error.
  using Done = std::function<void(std::optional<Error>)>;
  using DoneWith = std::function<void(std::optional<Error>, std::vector<Tuple>)>;

  // Each returns a number for cancel; 0: it is done already. `done` is called exactly once, maybe
  // from inside the call.
  uint64_t enqueue(std::vector<Tuple> tuples, Done done);
  // `up_to`: fewer than n are enough, but for none, when no more can come.
  uint64_t dequeue(int64_t n, bool up_to, DoneWith done);
  void cancel(uint64_t number);
  bool close(bool cancel_pending_enqueues);  // false: it was closed already
  bool closed() const;
  int64_t size() const;

 private:
  struct Waiting {
    uint64_t number;
    bool enqueues;
    std::vector<Tuple> tuples;  // still to put in, or taken out so far
    size_t put = 0;
    int64_t wanted = 0;
    bool up_to = false;
    Done put_done;
    DoneWith taken_done;
  };
  using Calls = std::vector<std::function<void()>>;

  uint64_t wait(Waiting w);
  void settle(Calls& calls);              // does whatever can be done now
  bool try_put(Waiting& w, Calls& calls);
  bool try_take(Waiting& w, Calls& calls);
  Tuple take_one();
  void insert(Tuple t);
  int64_t available() const;
  Error closed_error() const;
  Error insufficient(int64_t requested) const;

  const Options options_;
  mutable std::mutex mutex_;
  std::deque<Tuple> items_;
  std::deque<Waiting> putting_, taking_;
  bool closed_ = false;
  uint64_t next_number_ = 1;
  PhiloxWords random_;
};

}  // namespace emplace
