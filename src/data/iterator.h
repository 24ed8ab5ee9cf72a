#pragma once
#include <functional>
#include <memory>
#include <chrono>
#include <mutex>
#include <optional>

#include "data/dataset.h"
#include "data/splits.h"
#include "kernel/kernel.h"

namespace emplace::data {

// A dataset being gone through from outside: by a kernel's loop or behind a handle. One thread at a
// time, but for `end`.
class Walk {
 public:
  // `splits`: deals the elements out to several processes.
  explicit Walk(DatasetPtr dataset, std::shared_ptr<SplitProvider> splits = nullptr);
  ~Walk();
  bool next(CallScope& scope, Element& out, bool helped = true);
  // … in the memory of a device, where the dataset copied it there.
  bool next_anywhere(CallScope& scope, Element& out, bool helped = true);
  bool ready() const { return iterator_ && iterator_->ready(); }
  const DatasetPtr& dataset() const { return dataset_; }
  const PipelineCounts& counts() const { return *counts_; }
  // Begins already, if the options say so.
  void warm_up();
  std::vector<Tensor> save();
  void restore(CallScope& scope, std::vector<Tensor> state);
  void end() { pass_.end(); }

 private:
  Iterator& iterator(Caller& c);

  const DatasetPtr dataset_, root_;  // as given, and with what the options add
  const std::shared_ptr<PipelineCounts> counts_;
  Pass pass_;
  std::unique_ptr<Iterator> iterator_;  // made by the first who asks
};

// Cancels what a kernel calls when its own step is cancelled.
class KernelScope {
 public:
  explicit KernelScope(Cancellation& step);
  ~KernelScope();
  CallScope& calls() { return *calls_; }

 private:
  Cancellation& step_;
  const std::shared_ptr<CallScope> calls_ = std::make_shared<CallScope>();
  uint64_t id_;
};

// What an iterator's handle stands for. Any thread may use it, several at once: each element goes
// to one of them.
class IteratorResource : public Resource {
 public:
  IteratorResource(std::string name, std::vector<DType> types, std::vector<Shape> shapes);
  ~IteratorResource() override;

  // Begins at the start of the dataset. InvalidArgument where its elements are of another kind.
  void begin(DatasetPtr dataset, std::shared_ptr<SplitProvider> splits = nullptr);
  // FailedPrecondition where no dataset was given.
  bool next(CallScope& scope, Element& out);
  // Would next give its answer without waiting?
  bool ready();
  std::vector<Tensor> save();
  void restore(CallScope& scope, std::vector<Tensor> state);
  DatasetPtr dataset() { return walk()->dataset(); }
  // Where the time goes, as a message (PipelineCounts::proto).
  std::string model();
  // Runs f once, the first time; others wait. When it throws, the next one
  // tries again.
  void once(const std::function<void()>& f);

  const std::string& name() const { return name_; }
  const std::vector<DType>& types() const { return types_; }
  const std::vector<Shape>& shapes() const { return shapes_; }
  std::string debug_string() const override { return "iterator '" + name_ + "'"; }

 private:
  std::shared_ptr<Walk> walk();
  std::unique_lock<std::timed_mutex> lock(CallScope& scope);
  void check(const Element& e) const;

  const std::string name_;
  const std::vector<DType> types_;
  const std::vector<Shape> shapes_;
  std::timed_mutex turn_;  // whose it is to ask for an element
  std::mutex mutex_;
  std::shared_ptr<Walk> walk_;
  std::mutex once_mutex_;
  bool done_once_ = false;
};

// The iterators of this process by a text that stands for one. NotFound when it is gone.
std::string resource_text(const std::shared_ptr<Resource>& it, const std::string& name);
std::shared_ptr<Resource> resource_of_text(const std::string& text);
// A handle to an iterator.
Tensor handle_to(const std::shared_ptr<Resource>& it, const std::string& name,
                 const char* type_name, KernelContext& c);

// Gives a kernel's outputs the next element, or OutOfRange where `next` says false: on this thread
// where nobody else needs it, or `at_once`.
void ask(KernelContext& c, std::function<bool(CallScope&, Element&)> next, bool at_once = false);

// InvalidArgument unless elements of `types` and `shapes` can be had as those wanted.
void check_element_kind(const std::vector<DType>& wanted, const std::vector<Shape>& shapes,
                        const Dataset::Spec& given);

}  // namespace emplace::data
