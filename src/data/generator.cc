// Elements from functions with a state of their own: what from_generator makes.
#include "base/stop_scope.h"
#include "data/kernels.h"
#include "data/stage_error.h"
#include "data/state.h"
#include "kernel/host_threads.h"

namespace emplace::data {
namespace {

class GeneratorDataset final : public Dataset {
 public:
  struct Functions {
    Captured begin, next, end;
  };
  GeneratorDataset(Spec spec, Functions f) : Dataset(std::move(spec)), f_(std::move(f)) {}
  int64_t cardinality() const override { return kUnknown; }
  std::string stateful_op() const override {
    return first_stateful({&f_.begin, &f_.next, &f_.end});
  }
  std::unique_ptr<Iterator> make_iterator(Caller& c) const override {
    return std::make_unique<Over>(
        std::static_pointer_cast<const GeneratorDataset>(shared_from_this()), c);
  }

 private:
  // Its last function, for when the iterator is gone: functions of another language may need a
  // thread that waits for us.
  struct Ending {
    Ending(std::shared_ptr<const GeneratorDataset> self, Caller& c)
        : keep(std::move(self)), call(keep->f_.end, c) {}
    void run(Element state) {
      Pass pass;
      CallScope scope;
      Caller c{pass, scope};
      try {
        Element nothing;
        call(c, state, nothing);
      } catch (const std::exception&) {
        // Nobody is there any more to be told.
      }
    }
    const std::shared_ptr<const GeneratorDataset> keep;
    Captured::Call call;
  };

  class Over final : public Iterator {
   public:
    Over(std::shared_ptr<const GeneratorDataset> self, Caller& c)
        : self_(std::move(self)),
          begin_(self_->f_.begin, c),
          next_(self_->f_.next, c),
          ending_(std::make_shared<Ending>(self_, c)) {}

    ~Over() override {
      if (!begun_ || ended_) return;
      if (StopScope::looks()) ending_->run(std::move(state_));
      else
        HostThreads::get().run(
            [ending = std::move(ending_), state = std::move(state_)] { ending->run(state); });
    }

    bool ready() const override { return ended_; }

    bool next(Caller& c, Element& out) override {
      if (ended_) return false;
      if (!begun_) {
        begin_(c, {}, state_);
        begun_ = true;
      }
      const int64_t number = at_++;
      try {
        next_(c, state_, out);
        return true;
      } catch (Error& e) {
        if (e.code() != Code::kOutOfRange) throw at_stage(std::move(e), *self_, number);
      }
      ended_ = true;
      ending_->run(std::move(state_));
      return false;
    }

    void save(StateWriter&) override {
      throw failed_precondition(
          "GeneratorDataset depends on a Python generator, whose place can't be "
          "saved");
    }
    void restore(Caller&, StateReader&) override {
      throw failed_precondition("GeneratorDataset's place can't be restored");
    }

   private:
    const std::shared_ptr<const GeneratorDataset> self_;
    Captured::Call begin_, next_;
    std::shared_ptr<Ending> ending_;
    Element state_;
    bool begun_ = false, ended_ = false;
    int64_t at_ = 0;
  };

  const Functions f_;
};

struct MakeGenerator {
  explicit MakeGenerator(const KernelInit& init)
      : begin(init, "init_func", "init_func_other_args"),
        next(init, "next_func", "next_func_other_args"),
        end(init, "finalize_func", "finalize_func_other_args") {}
  std::shared_ptr<Dataset> make(const Dataset::Spec& spec, KernelContext& c) const {
    return std::make_shared<GeneratorDataset>(
        spec, GeneratorDataset::Functions{begin.captured(c), next.captured(c), end.captured(c)});
  }
  FunctionArg begin, next, end;
};

}  // namespace

void add_generator_kernels(KernelList& rows) {
  add_row(rows, "GeneratorDataset", dataset_kernel<MakeGenerator>);
}

}  // namespace emplace::data
