// Iterators whose elements go to several devices in turn, each with a buffer on the host.
#include <fmt/format.h>

#include <deque>

#include "base/stop_scope.h"
#include "data/iterator.h"
#include "data/kernels.h"
#include "data/stage_thread.h"
#include "kernel/host_threads.h"
#include "kernel/pending.h"
#include "kernel/shared_resource.h"

namespace emplace::data {
namespace {

constexpr const char* kManyTypeName = "tensorflow::data::MultiDeviceIterator";

// A dataset being gone through for `shards` readers: a thread deals out the elements, and waits
// while the buffer of the next one in turn is full. Any thread may read.
class Dealing {
 public:
  Dealing(DatasetPtr dataset, size_t shards, int64_t room)
      : walk_(std::move(dataset)),
        room_(static_cast<size_t>(std::max<int64_t>(1, room))),
        buffers_(shards),
        thread_("data_devices", [this] { deal(); }) {}

  ~Dealing() {
    end();
    changed_.notify_all();
  }

  // Every reader is told that there is no more, as soon as may be.
  void end() {
    walk_.end();
    scope_.cancel(cancelled("The iterator was destroyed."));
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }

  bool next(CallScope& scope, size_t shard, Element& out) {
    std::unique_lock lock(mutex_);
    auto& mine = buffers_[shard];
    while (mine.empty() && !ended_ && !stopped_) {
      lock.unlock();
      scope.check();
      StopScope::attend();
      lock.lock();
      if (mine.empty()) changed_.wait_for(lock, std::chrono::milliseconds(20));
    }
    if (mine.empty()) return false;
    Made one = std::move(mine.front());
    mine.pop_front();
    lock.unlock();
    changed_.notify_all();
    if (one.error) throw *std::move(one.error);
    out = std::move(one.element);
    return true;
  }

 private:
  struct Made {
    Element element;
    std::optional<Error> error;
  };

  void deal() {
    std::unique_lock lock(mutex_);
    for (size_t turn = 0; !stopped_ && !ended_; turn = (turn + 1) % buffers_.size()) {
      changed_.wait(lock, [&] { return stopped_ || buffers_[turn].size() < room_; });
      if (stopped_) return;
      lock.unlock();
      Made m;
      bool more = true;
      try {
        more = walk_.next(scope_, m.element, false);
      } catch (const Error& e) {
        m.error = e;
      } catch (const std::exception& e) {
        m.error = internal_error(e.what());
      }
      lock.lock();
      if (more) buffers_[turn].push_back(std::move(m));
      else ended_ = true;
      changed_.notify_all();
    }
  }

  Walk walk_;
  CallScope scope_;
  const size_t room_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::vector<std::deque<Made>> buffers_;
  bool ended_ = false, stopped_ = false;
  StageThread thread_;  // goes first
};

class MultiDeviceIterator final : public Resource {
 public:
  MultiDeviceIterator(std::string name, size_t shards) : name_(std::move(name)), shards_(shards) {}
  ~MultiDeviceIterator() override {
    if (dealing_) dealing_->end();
  }
  std::string debug_string() const override { return "iterator '" + name_ + "' for devices"; }
  const std::string& name() const { return name_; }

  // Begins at the start of the dataset. Readers of the incarnation before are refused from now on.
  int64_t begin(DatasetPtr dataset, int64_t room) {
    auto fresh = std::make_shared<Dealing>(std::move(dataset), shards_, room);
    const std::lock_guard lock(mutex_);
    if (dealing_) dealing_->end();
    dealing_ = std::move(fresh);
    return ++incarnation_;
  }

  bool next(CallScope& scope, int64_t shard, int64_t incarnation, Element& out) {
    return dealing(shard, incarnation)->next(scope, static_cast<size_t>(shard), out);
  }

 private:
  std::shared_ptr<Dealing> dealing(int64_t shard, int64_t incarnation) {
    const std::lock_guard lock(mutex_);
    if (incarnation != incarnation_)
      throw invalid_argument(fmt::format("Invalid incarnation id. Provided: {}; Expected: {}",
                                         incarnation, incarnation_));
    if (shard < 0 || static_cast<size_t>(shard) >= shards_)
      throw invalid_argument(fmt::format("shard_num must be in [0, {}), not {}", shards_, shard));
    if (!dealing_) throw failed_precondition("The iterator was not initialized.");
    return dealing_;
  }

  const std::string name_;
  const size_t shards_;
  std::mutex mutex_;
  std::shared_ptr<Dealing> dealing_;
  int64_t incarnation_ = 0;
};

size_t shards_of(const KernelInit& init) {
  return init.attr<std::vector<std::string>>("devices").size();
}

struct AnonymousMany {
  size_t shards;
  void operator()(KernelContext& c) const {
    const auto it = std::make_shared<MultiDeviceIterator>("AnonymousMultiDeviceIterator", shards);
    c.set_output(0, handle_to(it, it->name(), kManyTypeName, c));
    if (c.num_outputs() > 1) c.set_output(1, Tensor(DType::kVariant, Shape{}));
  }
};

Prepared make_anonymous_many(const KernelInit& init) { return prepared(AnonymousMany{shards_of(init)}); }

Prepared make_named_many(const KernelInit& init) {
  const std::string name = shared_name(init);
  auto it = init.resources->find_or_create_as<MultiDeviceIterator>(
      init.attr<std::string>("container"), name,
      [&] { return std::make_shared<MultiDeviceIterator>(name, shards_of(init)); });
  return prepared(GiveHandle{std::move(it), init.attr<std::string>("container"), name, kManyTypeName});
}

void many_begin(KernelContext& c) {
  *c.output(0, Shape{}).data<int64_t>() = c.resource<MultiDeviceIterator>(1)->begin(
      dataset_in(c.input(0)), int_input(c, 2, "max_buffer_size"));
}

void many_get_next(KernelContext& c) {
  const int64_t shard = c.input(1).item<int32_t>(), incarnation = c.input(2).item<int64_t>();
  ask(c, [it = c.resource<MultiDeviceIterator>(0), shard, incarnation](
             CallScope& scope, Element& out) { return it->next(scope, shard, incarnation, out); });
}

void many_to_string(KernelContext& c) {
  const auto it = c.resource<MultiDeviceIterator>(0);
  *c.output(0, Shape{}).data<std::string>() = resource_text(it, it->name());
}

void many_from_string(KernelContext& c) {
  const Tensor& text = c.input(0);
  if (text.num_elements() != 1) throw invalid_argument("string_handle must be a scalar");
  const auto it =
      std::dynamic_pointer_cast<MultiDeviceIterator>(resource_of_text(*text.data<std::string>()));
  if (!it) throw invalid_argument("The string handle is not one of a MultiDeviceIterator");
  c.set_output(0, handle_to(it, it->name(), kManyTypeName, c));
}

void many_remove(KernelContext&) {}  // its handles own it

}  // namespace

void add_multi_device_kernels(KernelList& rows) {
  add_row(rows, "AnonymousMultiDeviceIterator", make_anonymous_many);
  add_row(rows, "AnonymousMultiDeviceIteratorV3", make_anonymous_many);
  add_row(rows, "MultiDeviceIterator", make_named_many);
  add_row(rows, "MultiDeviceIteratorInit", stateless<many_begin>);
  add_row(rows, "MultiDeviceIteratorGetNextFromShard", stateless<many_get_next>, true);
  add_row(rows, "MultiDeviceIteratorToStringHandle", stateless<many_to_string>);
  add_row(rows, "MultiDeviceIteratorFromStringHandle", stateless<many_from_string>);
  add_row(rows, "DeleteMultiDeviceIterator", stateless<many_remove>);
}

}  // namespace emplace::data
