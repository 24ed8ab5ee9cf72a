// Datasets in turns, with threads that make the elements of those that are open, and open some
// ahead.
#include <fmt/format.h>

#include "data/kernels.h"
#include "data/opened.h"
#include "data/parallel.h"
#include "data/stage_error.h"

namespace emplace::data {
namespace {

struct ParallelTurns {
  Turns turns;
  int64_t buffer = 1;  // elements that one may be ahead
  int64_t ahead = 0;   // opened before their turn
  int64_t calls = kAutotune;
};

class ParallelInterleaveDataset final : public OverInput {
 public:
  ParallelInterleaveDataset(Spec spec, DatasetPtr input, Captured f, ParallelTurns turns,
                            std::string deterministic)
      : OverInput(std::move(spec), std::move(input)),
        f_(std::move(f)),
        turns_(turns),
        deterministic_(std::move(deterministic)) {}
  int64_t cardinality() const override { return kUnknown; }
  std::string stateful_op() const override { return f_.stateful_op(); }
  std::unique_ptr<Iterator> make_iterator(Caller& c) const override;

 private:
  class Over;
  const Captured f_;
  const ParallelTurns turns_;
  const std::string deterministic_;
};

class ParallelInterleaveDataset::Over final : public Iterator {
 public:
  Over(DatasetPtr self, std::unique_ptr<Iterator> input, const Captured& f, ParallelTurns turns,
       bool ordered, const Caller& c)
      : self_(std::move(self)),
        input_(std::move(input)),
        f_(f),
        turns_(turns),
        ordered_(ordered),
        pass_(c.pass),
        branch_(c.branch),
        counts_(pass_.counts_of(*self_) ? *pass_.counts_of(*self_) : none_),
        scope_(c.pass),
        places_(static_cast<size_t>(turns.turns.length)) {
    counts_.has_threads = true;
    StageCounts::set(counts_.room, turns.buffer * (turns.turns.length + turns.ahead));
  }

  ~Over() override {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    scope_.end();
    wanted_.notify_all();
    threads_.clear();
    StageCounts::set(counts_.buffered, 0);
  }

  void start() override {
    const std::lock_guard lock(mutex_);
    if (!threads_.empty()) return;
    refill();
    begin();
  }

  bool ready() const override {
    const std::lock_guard lock(mutex_);
    const auto& p = places_[at_];
    return p && !p->made.empty();
  }

  bool next(Caller& c, Element& out) override {
    std::unique_lock lock(mutex_);
    if (threads_.empty()) begin();
    Made one;
    Found found = look(one);
    if (found == kWait) {
      wanted_.notify_all();
      const auto begun = Clock::now();
      c.wait(changed_, lock, [&] { return (found = look(one)) != kWait; });
      StageCounts::add(counts_.waited, nanoseconds_since(begun));
    }
    lock.unlock();
    wanted_.notify_all();
    if (found == kEnd) return false;
    if (one.error) throw at_stage(*std::move(one.error), *self_, one.number);
    out = std::move(one.element);
    return true;
  }

  void save(StateWriter& w) override {
    std::unique_lock lock(mutex_);
    paused_ = true;
    idle_.wait(lock, [&] { return busy_ == 0; });
    input_->save(w);
    w.put(int64_t{ended_});
    w.put(pulled_);
    w.put(static_cast<int64_t>(at_));
    w.put(in_block_);
    for (const auto& s : places_) save(w, s.get());
    w.put(static_cast<int64_t>(ahead_.size()));
    for (const auto& s : ahead_) save(w, s.get());
    paused_ = false;
    wanted_.notify_all();
  }

  void restore(Caller& c, StateReader& r) override {
    Opener opener(f_, c);
    input_->restore(c, r);
    ended_ = r.number() != 0;
    pulled_ = r.number();
    at_ = static_cast<size_t>(r.number()) % places_.size();
    in_block_ = r.number();
    for (auto& s : places_) s = restored(c, r, opener);
    for (int64_t n = r.number(); n > 0; --n)
      if (auto s = restored(c, r, opener)) ahead_.push_back(std::move(s));  // else it comes anew
  }

 private:
  struct Made {
    Element element;
    std::optional<Error> error;
    int64_t number = 0;
  };
  struct Source {
    Opened opened;
    std::deque<Made> made;
    int64_t number = 0;
    bool busy = false;  // a thread is at it
    bool is_open = false;
    bool ended = false;  // it has no more; `none`: there was no input for it
    bool none = false;
  };
  enum Found { kGot, kWait, kEnd };

  void begin() {
    int64_t n = turns_.calls;
    if (n == kAutotune)
      n = std::min<int64_t>(turns_.turns.length + turns_.ahead, 4 * pass_.budget().cpu);
    StageCounts::set(counts_.threads, n);
    for (int64_t i = 0; i < n; ++i)
      threads_.push_back(std::make_unique<StageThread>("data_interleave", [this] { run(); }));
  }

  // ---- Taking, with the lock: as the sequential one goes, as far as elements are made.
  Found look(Made& one) {
    refill();
    if (!ordered_) return look_anywhere(one);
    for (size_t empty = 0; empty < places_.size();) {
      auto& s = places_[at_];
      if (!s || s->none) {
        s.reset();
        ++empty;
        next_turn();
      } else if (!s->made.empty()) {
        take(*s, one);
        return kGot;
      } else if (s->ended) {
        s.reset();
        empty = 0;
        next_turn();
        refill();
      } else {
        return kWait;
      }
    }
    return kEnd;
  }

  Found look_anywhere(Made& one) {
    bool some = false;
    for (size_t k = 0; k < places_.size(); ++k) {
      auto& s = places_[(at_ + k) % places_.size()];
      if (s && (s->none || (s->ended && s->made.empty()))) {
        s.reset();
        refill();
      }
      if (!s) continue;
      some = true;
      if (s->made.empty()) continue;
      at_ = (at_ + k) % places_.size();
      take(*s, one);
      return kGot;
    }
    return some ? kWait : kEnd;
  }

  void take(Source& s, Made& one) {
    one = std::move(s.made.front());
    s.made.pop_front();
    StageCounts::add(counts_.buffered, -1);
    if (++in_block_ == turns_.turns.block) next_turn();
  }
  void next_turn() {
    in_block_ = 0;
    at_ = (at_ + 1) % places_.size();
  }

  // Every empty place gets the next source, those opened ahead first.
  void refill() {
    for (size_t k = 0; k < places_.size(); ++k) {
      auto& place = places_[(at_ + k) % places_.size()];
      if (place) continue;
      if (!ahead_.empty()) {
        place = std::move(ahead_.front());
        ahead_.pop_front();
      } else if (!ended_) {
        place = new_source();
      }
    }
    while (!ended_ && static_cast<int64_t>(ahead_.size()) < turns_.ahead)
      ahead_.push_back(new_source());
  }

  std::shared_ptr<Source> new_source() {
    auto s = std::make_shared<Source>();
    unopened_.push_back(s);
    return s;
  }

  // ---- Making.

  void run() {
    std::unique_lock lock(mutex_);
    Caller c{pass_, scope_.calls, false, branch_};
    std::unique_ptr<Opener> opener;
    for (;;) {
      std::shared_ptr<Source> s;
      wanted_.wait(lock, [&] { return stopped_ || (!paused_ && (s = work())); });
      if (stopped_) return;
      ++busy_;
      s->busy = true;
      if (!s->is_open) open(*s, c, opener, lock);
      else make(*s, c, lock);
      s->busy = false;
      --busy_;
      if (paused_) idle_.notify_all();
      changed_.notify_all();
    }
  }

  // What there is to do, those whose turn comes first first.
  std::shared_ptr<Source> work() {
    const auto wants = [&](const std::shared_ptr<Source>& s) {
      return s && s->is_open && !s->busy && !s->ended &&
             static_cast<int64_t>(s->made.size()) < turns_.buffer;
    };
    for (size_t k = 0; k < places_.size(); ++k)
      if (auto& s = places_[(at_ + k) % places_.size()]; wants(s)) return s;
    if (!pulling_ && !unopened_.empty()) {
      auto s = std::move(unopened_.front());
      unopened_.pop_front();
      pulling_ = true;
      return s;
    }
    for (auto& s : ahead_)
      if (wants(s)) return s;
    return nullptr;
  }

  template <class F>
  static void attempt(Made& m, F f) {
    try {
      f();
    } catch (const Error& e) {
      m.error = e;
    } catch (const std::exception& e) {
      m.error = internal_error(e.what());
    }
  }

  void open(Source& s, Caller& c, std::unique_ptr<Opener>& opener,
            std::unique_lock<std::mutex>& lock) {
    const bool over = ended_;
    lock.unlock();
    Made m;
    bool some = false;
    if (!over) attempt(m, [&] { some = input_->next(c, s.opened.from); });
    lock.lock();
    pulling_ = false;
    m.number = s.number = pulled_;
    if (some || m.error) ++pulled_;
    else ended_ = s.none = s.ended = true;
    wanted_.notify_one();
    if (some) {
      lock.unlock();
      attempt(m, [&] {
        if (!opener) opener = std::make_unique<Opener>(f_, c);
        opener->open(c, s.opened);
      });
      lock.lock();
    }
    if (m.error) {
      s.ended = true;
      keep(s, std::move(m));
    }
    s.is_open = true;
  }

  void make(Source& s, Caller& c, std::unique_lock<std::mutex>& lock) {
    // A few at a time, or handing over would cost more than making.
    for (bool more = true;
         more && !stopped_ && !paused_ && static_cast<int64_t>(s.made.size()) < turns_.buffer;) {
      lock.unlock();
      Made m;
      m.number = s.number;
      const auto begun = Clock::now();
      attempt(m, [&] { more = s.opened.iterator->next(c, m.element); });
      StageCounts::add(counts_.worked, nanoseconds_since(begun));
      lock.lock();
      if (more) keep(s, std::move(m));
      else s.ended = true;
      changed_.notify_one();
    }
  }

  // With the lock.
  void keep(Source& s, Made m) {
    s.made.push_back(std::move(m));
    StageCounts::add(counts_.buffered, 1);
  }

  void save(StateWriter& w, const Source* s) {
    const bool there = s && !s->none && (s->is_open || s->ended);
    w.put(int64_t{there});
    if (!there) return;
    w.put(s->number);
    w.put(int64_t{s->ended});
    w.put(static_cast<int64_t>(s->made.size()));
    for (const Made& m : s->made) {
      w.put(int64_t{m.error.has_value()});
      if (m.error) w.put(static_cast<int64_t>(m.error->code())), w.put(m.error->message());
      else w.put(m.element);
    }
    if (s->ended) return;
    w.put(s->opened.from);
    s->opened.iterator->save(w);
  }

  std::shared_ptr<Source> restored(Caller& c, StateReader& r, Opener& opener) {
    if (!r.number()) return nullptr;
    auto s = std::make_shared<Source>();
    s->number = r.number();
    s->ended = r.number() != 0;
    s->is_open = true;
    for (int64_t n = r.number(); n > 0; --n) {
      Made m;
      m.number = s->number;
      if (r.number()) {
        const auto code = static_cast<Code>(r.number());
        m.error = Error(code, r.text());
      } else {
        m.element = r.element();
      }
      keep(*s, std::move(m));
    }
    if (!s->ended) opener.restore(c, r, s->opened);
    return s;
  }

  const DatasetPtr self_;
  const std::unique_ptr<Iterator> input_;
  const Captured& f_;
  const ParallelTurns turns_;
  const bool ordered_;
  Pass& pass_;
  const uint64_t branch_;
  StageCounts none_;  // for one that was made within another stage
  StageCounts& counts_;
  StageScope scope_;
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_, wanted_, idle_;
  std::vector<std::shared_ptr<Source>> places_;
  std::deque<std::shared_ptr<Source>> ahead_, unopened_;
  size_t at_ = 0;
  int64_t in_block_ = 0, pulled_ = 0, busy_ = 0;
  bool pulling_ = false, ended_ = false, stopped_ = false, paused_ = false;
  std::vector<std::unique_ptr<StageThread>> threads_;
};

std::unique_ptr<Iterator> ParallelInterleaveDataset::make_iterator(Caller& c) const {
  return std::make_unique<Over>(shared_from_this(), input_->iterator(c), f_, turns_,
                                in_order(deterministic_, c.pass.options()), c);
}

int64_t or_default(int64_t n, int64_t otherwise, const char* name) {
  if (n < 0 && n != kAutotune) throw invalid_argument(fmt::format("`{}` must be >= 0", name));
  return n < 0 ? otherwise : n;
}

// Versions 2 and 3 say nothing about buffers; the first and the "legacy" one say it elsewhere.
struct MakeParallelInterleave {
  explicit MakeParallelInterleave(const KernelInit& init)
      : f(init, "f", "other_arguments"),
        calls(init.op->input_index("num_parallel_calls") < 0
                  ? -1
                  : init.input_index("num_parallel_calls")),
        buffer(init.op->input_index("buffer_output_elements") < 0
                   ? -1
                   : init.input_index("buffer_output_elements")),
        sloppy(init.op->input_index("sloppy") < 0 ? -1 : init.input_index("sloppy")) {
    if (const AttrValue* v = init.find("deterministic")) deterministic = v->as<std::string>();
    else if (init.op->find_attr("sloppy") && init.attr<bool>("sloppy")) deterministic = "false";
  }
  std::shared_ptr<Dataset> make(const Dataset::Spec& spec, KernelContext& c) const {
    ParallelTurns t;
    t.calls = calls < 0 ? kAutotune : int_input(c, calls, "num_parallel_calls");
    if (t.calls < 1 && t.calls != kAutotune)
      throw invalid_argument("`num_parallel_calls` must be > 0");
    t.turns = turns_in(c, f.last, t.calls);
    if (t.calls > t.turns.length)
      throw invalid_argument("`num_parallel_calls` must be less than or equal to `cycle_length`.");
    t.buffer = std::max<int64_t>(1, 2 * t.turns.block);
    if (buffer >= 0) {
      t.buffer = std::max<int64_t>(1, or_default(int_input(c, buffer, "buffer_output_elements"),
                                                 t.buffer, "buffer_output_elements"));
      t.ahead = or_default(int_input(c, buffer + 1, "prefetch_input_elements"),
                           t.calls == kAutotune ? 2 : t.calls, "prefetch_input_elements");
    }
    const std::string order =
        sloppy >= 0 && bool_input(c, sloppy, "sloppy") ? "false" : deterministic;
    return std::make_shared<ParallelInterleaveDataset>(spec, dataset_in(c.input(0)), f.captured(c),
                                                       t, order);
  }
  FunctionArg f;
  int calls, buffer, sloppy;
  std::string deterministic = "default";
};

}  // namespace

void add_parallel_interleave_kernels(KernelList& rows) {
  for (const char* op :
       {"ParallelInterleaveDataset", "ParallelInterleaveDatasetV2", "ParallelInterleaveDatasetV3",
        "ParallelInterleaveDatasetV4", "LegacyParallelInterleaveDatasetV2"})
    add_row(rows, op, dataset_kernel<MakeParallelInterleave>);
}

}  // namespace emplace::data
