// Datasets of datasets: one after another, or in turns.
#include <fmt/format.h>

#include <thread>

#include "base/stop_scope.h"
#include "data/kernels.h"
#include "data/opened.h"
#include "data/parallel.h"
#include "data/stage_error.h"
#include "data/state.h"

namespace emplace::data {
namespace {

// ---- In turns; one at a time is flat_map.

class InterleaveDataset final : public OverInput {
 public:
  InterleaveDataset(Spec spec, DatasetPtr input, Captured f, Turns turns)
      : OverInput(std::move(spec), std::move(input)), f_(std::move(f)), turns_(turns) {}
  int64_t cardinality() const override { return kUnknown; }
  std::string stateful_op() const override { return f_.stateful_op(); }
  std::unique_ptr<Iterator> make_iterator(Caller& c) const override {
    return std::make_unique<Over>(shared_from_this(), input_->iterator(c), f_, turns_, c);
  }

 private:
  class Over final : public OverIterator {
   public:
    Over(DatasetPtr self, std::unique_ptr<Iterator> input, const Captured& f, Turns turns,
         Caller& c)
        : OverIterator(std::move(self), std::move(input)),
          opener_(f, c),
          turns_(turns),
          open_(static_cast<size_t>(turns.length)) {}

    bool ready() const override {
      const Opened& o = open_[at_];
      return o.iterator ? o.iterator->ready() : OverIterator::ready();
    }

    bool next(Caller& c, Element& out) override {
      for (; input_ || num_open_ > 0; StopScope::attend()) {
        Opened& o = open_[at_];
        if (o.iterator) {
          if (o.iterator->next(c, out)) return advance();
          o = {};
          --num_open_;
          next_turn();
        } else if (input_) {
          open(c, o);
        } else {
          next_turn();
        }
      }
      return false;
    }

    void save(StateWriter& w) override {
      OverIterator::save(w);
      w.put(pulled_);
      w.put(static_cast<int64_t>(at_));
      w.put(in_block_);
      for (const Opened& o : open_) {
        w.put(int64_t{o.iterator != nullptr});
        if (o.iterator) opener_.save(w, o);
      }
    }
    void restore(Caller& c, StateReader& r) override {
      OverIterator::restore(c, r);
      pulled_ = r.number();
      at_ = static_cast<size_t>(r.number()) % open_.size();
      in_block_ = r.number();
      for (Opened& o : open_)
        if (r.number()) {
          opener_.restore(c, r, o);
          ++num_open_;
        }
    }

   private:
    void open(Caller& c, Opened& o) {
      if (!input_->next(c, o.from)) return input_.reset();
      const int64_t number = pulled_++;
      try {
        opener_.open(c, o);
      } catch (Error& e) {
        o = {};
        throw at_stage(std::move(e), *self_, number);
      }
      ++num_open_;
    }
    bool advance() {
      if (++in_block_ == turns_.block) next_turn();
      return true;
    }
    void next_turn() {
      in_block_ = 0;
      at_ = (at_ + 1) % open_.size();
    }

    Opener opener_;
    const Turns turns_;
    std::vector<Opened> open_;
    size_t at_ = 0;
    int64_t in_block_ = 0, num_open_ = 0, pulled_ = 0;
  };

  const Captured f_;
  const Turns turns_;
};

struct MakeFlatMap {
  explicit MakeFlatMap(const KernelInit& init) : f(init, "f", "other_arguments") {}
  std::shared_ptr<Dataset> make(const Dataset::Spec& spec, KernelContext& c) const {
    return std::make_shared<InterleaveDataset>(spec, dataset_in(c.input(0)), f.captured(c),
                                               Turns{});
  }
  FunctionArg f;
};

struct MakeInterleave {
  explicit MakeInterleave(const KernelInit& init) : f(init, "f", "other_arguments") {}
  std::shared_ptr<Dataset> make(const Dataset::Spec& spec, KernelContext& c) const {
    return std::make_shared<InterleaveDataset>(spec, dataset_in(c.input(0)), f.captured(c),
                                               turns_in(c, f.last, 0));
  }
  FunctionArg f;
};

}  // namespace

namespace {

int64_t cycle_length(KernelContext& c, int input, int64_t calls) {
  const int64_t n = int_input(c, input, "cycle_length");
  if (n != kAutotune) {
    if (n <= 0) throw invalid_argument("`cycle_length` must be > 0");
    return n;
  }
  const auto cores = static_cast<int64_t>(std::max(1u, std::thread::hardware_concurrency()));
  return calls > 0 ? std::min(calls, cores) : cores;
}

}  // namespace

Turns turns_in(KernelContext& c, int first, int64_t calls) {
  const Turns turns{cycle_length(c, first, calls), int_input(c, first + 1, "block_length")};
  if (turns.block <= 0) throw invalid_argument("`block_length` must be > 0");
  return turns;
}

void add_interleave_kernels(KernelList& rows) {
  add_row(rows, "FlatMapDataset", dataset_kernel<MakeFlatMap>);
  add_row(rows, "InterleaveDataset", dataset_kernel<MakeInterleave>);
}

}  // namespace emplace::data
