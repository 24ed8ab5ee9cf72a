// Elements made ahead of time, by a thread of their own.
#include <atomic>
#include <deque>
#include <optional>

#include "data/kernels.h"
#include "data/parallel.h"
#include "data/rows.h"
#include "data/stage_thread.h"
#include "data/state.h"

namespace emplace::data {
namespace {

class PrefetchDataset final : public OverInput {
 public:
  PrefetchDataset(Spec spec, DatasetPtr input, int64_t room, int64_t least)
      : OverInput(std::move(spec), std::move(input)), room_(room), least_(least) {}
  bool hands_on() const override { return true; }
  std::unique_ptr<Iterator> make_iterator(Caller& c) const override;

 private:
  class Over;
  const int64_t room_, least_;
};

class PrefetchDataset::Over final : public Iterator {
 public:
  Over(DatasetPtr self, std::unique_ptr<Iterator> input, const Caller& c, int64_t room, int64_t least)
      : self_(std::move(self)),
        input_(std::move(input)),
        pass_(c.pass),
        counts_(pass_.counts_of(*self_) ? *pass_.counts_of(*self_) : none_),
        scope_(c.pass),
        adapts_(room == kAutotune && pass_.options().autotune.value_or(true)),
        room_(room == kAutotune ? std::max<int64_t>(2, least) : room),
        caller_{c.pass, scope_.calls, false, c.branch} {
    counts_.has_threads = true;
    counts_.adapts = adapts_;
    StageCounts::set(counts_.room, room_);
  }

  ~Over() override {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    scope_.end();
    room_made_.notify_all();
    thread_.reset();
    pass_.budget().buffer(-bytes_);
    StageCounts::set(counts_.buffered, 0);
    StageCounts::set(counts_.buffered_bytes, 0);
  }

  void start() override {
    const std::lock_guard lock(mutex_);
    if (!thread_) begin();
  }

  bool ready() const override {
    const std::lock_guard lock(mutex_);
    return !made_.empty() || (ended_ && !paused_);
  }

  bool next(Caller& c, Element& out) override {
    std::unique_lock lock(mutex_);
    if (!thread_) begin();
    if (made_.empty() && !ended_) {
      was_empty();
      const auto begun = Clock::now();
      c.wait(made_one_, lock, [&] { return !made_.empty() || ended_; });
      StageCounts::add(counts_.waited, nanoseconds_since(begun));
    }
    if (made_.empty()) return false;
    Made one = std::move(made_.front());
    made_.pop_front();
    count(-one.bytes, -1);
    const bool wake = waits_ && static_cast<int64_t>(made_.size()) <= room_ / 2;
    lock.unlock();
    if (wake) room_made_.notify_one();
    if (one.error) throw *std::move(one.error);
    out = std::move(one.element);
    return true;
  }

  void save(StateWriter& w) override {
    std::unique_lock lock(mutex_);
    paused_ = true;
    room_made_.notify_one();
    idle_.wait(lock, [&] { return !inside_; });
    w.put(static_cast<int64_t>(made_.size()));
    for (const Made& m : made_) {
      w.put(int64_t{m.error.has_value()});
      if (m.error) w.put(static_cast<int64_t>(m.error->code())), w.put(m.error->message());
      else w.put(m.element);
    }
    w.put(int64_t{ended_});
    w.put(input_);
    paused_ = false;
    room_made_.notify_one();
  }

  void restore(Caller& c, StateReader& r) override {
    for (int64_t n = r.number(); n > 0; --n) {
      Made m;
      if (r.number()) {
        const auto code = static_cast<Code>(r.number());
        m.error = Error(code, r.text());
      } else {
        m.element = r.element();
      }
      m.bytes = bytes_of_element(m.element);
      count(m.bytes, 1);
      made_.push_back(std::move(m));
    }
    ended_ = r.number() != 0;
    r.number();
    input_->restore(c, r);
  }

 private:
  struct Made {
    Element element;
    std::optional<Error> error;
    int64_t bytes = 0;
  };

  void begin() {
    StageCounts::set(counts_.threads, 1);
    thread_ = std::make_unique<StageThread>("data_prefetch", [this] { make(); });
  }

  // Somebody waits although there was room: more room would have helped, if elements come in
  // bursts.
  void was_empty() {
    if (adapts_ && filled_ && pass_.budget().has_room_for(bytes_) && room_ < kMostRoom) room_ *= 2;
    StageCounts::set(counts_.room, room_);
    filled_ = false;
  }

  bool has_room() const {
    const auto n = static_cast<int64_t>(made_.size());
    return n < room_ && (!adapts_ || n == 0 || pass_.budget().has_room_for(bytes_ / n));
  }

  // With the lock: an element of so many bytes more or, below zero, less.
  void count(int64_t bytes, int64_t elements) {
    bytes_ += bytes;
    pass_.budget().buffer(bytes);
    StageCounts::add(counts_.buffered, elements);
    StageCounts::add(counts_.buffered_bytes, bytes);
  }

  void make() {
    std::unique_lock lock(mutex_);
    for (;;) {
      if (!has_room()) filled_ = true;
      waits_ = true;
      room_made_.wait(lock, [&] { return stopped_ || (has_room() && !paused_ && !ended_); });
      waits_ = false;
      if (stopped_) return;
      inside_ = true;
      lock.unlock();
      Made m;
      bool more = true;
      try {
        more = input_->next(caller_, m.element);
        m.bytes = bytes_of_element(m.element);
      } catch (const Error& e) {
        m.error = e;
      } catch (const std::exception& e) {
        m.error = internal_error(e.what());
      }
      lock.lock();
      inside_ = false;
      if (paused_) idle_.notify_all();
      if (!more) ended_ = true;
      else count(m.bytes, 1), made_.push_back(std::move(m));
      made_one_.notify_one();
    }
  }

  static constexpr int64_t kMostRoom = 1024;

  const DatasetPtr self_;
  const std::unique_ptr<Iterator> input_;
  Pass& pass_;
  StageCounts none_;  // for one that was made within another stage
  StageCounts& counts_;
  StageScope scope_;
  const bool adapts_;
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable made_one_, room_made_, idle_;
  std::deque<Made> made_;
  int64_t room_, bytes_ = 0;
  bool ended_ = false, stopped_ = false, waits_ = false, filled_ = false;
  bool paused_ = false, inside_ = false;  // for `save`
  Caller caller_;
  std::unique_ptr<StageThread> thread_;  // goes first
};

std::unique_ptr<Iterator> PrefetchDataset::make_iterator(Caller& c) const {
  if (room_ == 0) return input_->iterator(c);
  return std::make_unique<Over>(shared_from_this(), input_->iterator(c), c, room_, least_);
}

struct MakePrefetch {
  explicit MakePrefetch(const KernelInit& init) : least(init.attr<int64_t>("buffer_size_min")) {}
  std::shared_ptr<Dataset> make(const Dataset::Spec& spec, KernelContext& c) const {
    const int64_t room = int_input(c, 1, "buffer_size");
    if (room < 0 && room != kAutotune)
      throw invalid_argument(
          "buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning");
    return std::make_shared<PrefetchDataset>(spec, dataset_in(c.input(0)), room, least);
  }
  int64_t least;
};

}  // namespace

DatasetPtr prefetched(DatasetPtr input) {
  Dataset::Spec spec = input->spec();
  spec.op = spec.node = "PrefetchDataset";
  return std::make_shared<PrefetchDataset>(std::move(spec), std::move(input), kAutotune, 0);
}

void add_prefetch_kernels(KernelList& rows) {
  add_row(rows, "PrefetchDataset", dataset_kernel<MakePrefetch>);
}

}  // namespace emplace::data
