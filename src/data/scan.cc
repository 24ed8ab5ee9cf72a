// Datasets that remember: a state from element to element, or what they have seen.
#include <fmt/format.h>

#include <string>
#include <unordered_set>

#include "base/stop_scope.h"
#include "data/kernels.h"
#include "data/stage_error.h"
#include "data/state.h"

namespace emplace::data {
namespace {

class ScanDataset final : public OverInput {
 public:
  ScanDataset(Spec spec, DatasetPtr input, Element initial, Captured f, bool keeps_number)
      : OverInput(std::move(spec), std::move(input)),
        initial_(std::move(initial)),
        f_(std::move(f)),
        keeps_number_(keeps_number) {}
  int64_t cardinality() const override { return keeps_number_ ? input_->cardinality() : kUnknown; }
  std::string stateful_op() const override { return f_.stateful_op(); }
  std::unique_ptr<Iterator> make_iterator(Caller& c) const override {
    return std::make_unique<Over>(shared_from_this(), input_->iterator(c), initial_, f_, c);
  }

 private:
  class Over final : public OverIterator {
   public:
    Over(DatasetPtr self, std::unique_ptr<Iterator> input, Element initial, const Captured& f,
         Caller& c)
        : OverIterator(std::move(self), std::move(input)), state_(std::move(initial)), f_(f, c) {}
    bool next(Caller& c, Element& out) override {
      if (!input_ || !input_->next(c, element_)) {
        input_.reset();
        return false;
      }
      const int64_t number = at_++;
      Element in = state_;
      std::move(element_.begin(), element_.end(), std::back_inserter(in));
      try {
        f_(c, in, out);
      } catch (Error& e) {
        // A function that says the end is reached ends the sequence.
        if (e.code() != Code::kOutOfRange) throw at_stage(std::move(e), *self_, number);
        input_.reset();
        return false;
      }
      const auto n = static_cast<int64_t>(state_.size());
      std::move(out.begin(), out.begin() + n, state_.begin());
      out.erase(out.begin(), out.begin() + n);
      return true;
    }
    void save(StateWriter& w) override {
      w.put(at_);
      w.put(state_);
      OverIterator::save(w);
    }
    void restore(Caller& c, StateReader& r) override {
      at_ = r.number();
      state_ = r.element();
      OverIterator::restore(c, r);
    }

   private:
    Element state_, element_;
    Captured::Call f_;
    int64_t at_ = 0;
  };

  const Element initial_;
  const Captured f_;
  const bool keeps_number_;
};

struct MakeScan {
  explicit MakeScan(const KernelInit& init)
      : states(static_cast<int>(init.attr<std::vector<DType>>("Tstate").size())),
        f(init, "f", "other_arguments"),
        keeps(init.attr<bool>("preserve_cardinality")) {}
  std::shared_ptr<Dataset> make(const Dataset::Spec& spec, KernelContext& c) const {
    Element initial;
    for (int i = 0; i < states; ++i) initial.push_back(kept_input(c, 1 + i));
    return std::make_shared<ScanDataset>(spec, dataset_in(c.input(0)), std::move(initial),
                                         f.captured(c), keeps);
  }
  int states;
  FunctionArg f;
  bool keeps;
};

// ---- Unique.

class UniqueDataset final : public OverInput {
 public:
  using OverInput::OverInput;
  int64_t cardinality() const override { return input_->cardinality() == 0 ? 0 : kUnknown; }
  std::unique_ptr<Iterator> make_iterator(Caller& c) const override {
    return std::make_unique<Over>(shared_from_this(), input_->iterator(c));
  }

 private:
  class Over final : public OverIterator {
   public:
    using OverIterator::OverIterator;
    bool next(Caller& c, Element& out) override {
      for (; input_; StopScope::attend()) {
        if (!input_->next(c, out)) break;
        if (seen_.insert(key_of(out.at(0))).second) return true;
      }
      input_.reset();
      seen_.clear();
      return false;
    }
    void save(StateWriter& w) override {
      OverIterator::save(w);
      w.put(static_cast<int64_t>(seen_.size()));
      for (const std::string& key : seen_) w.put(key);
    }
    void restore(Caller& c, StateReader& r) override {
      OverIterator::restore(c, r);
      for (int64_t n = r.number(); n > 0; --n) seen_.insert(r.text());
    }

   private:
    static std::string key_of(const Tensor& t) {
      std::string key = t.shape().str() + '\0';
      if (t.dtype() != DType::kString)
        return key.append(static_cast<const char*>(t.raw()), t.bytes());
      for (int64_t i = 0; i < t.num_elements(); ++i) {
        const std::string& text = t.data<std::string>()[i];
        key += std::to_string(text.size()) + ':' + text;
      }
      return key;
    }
    std::unordered_set<std::string> seen_;
  };
};

struct MakeUnique : NoState {
  using NoState::NoState;
  std::shared_ptr<Dataset> make(const Dataset::Spec& spec, KernelContext& c) const {
    DatasetPtr input = dataset_in(c.input(0));
    const auto& types = input->spec().types;
    if (types.size() != 1)
      throw invalid_argument("UniqueDataset only supports inputs with a single component.");
    if (types[0] != DType::kInt32 && types[0] != DType::kInt64 && types[0] != DType::kString)
      throw invalid_argument(fmt::format(
          "UniqueDataset only supports inputs with a single `tf.int32`, `tf.int64`, or `tf.string` "
          "component, not {}",
          dtype_name(types[0])));
    return std::make_shared<UniqueDataset>(spec, std::move(input));
  }
};

}  // namespace

void add_scan_kernels(KernelList& rows) {
  add_row(rows, "ScanDataset", dataset_kernel<MakeScan>);
  add_row(rows, "UniqueDataset", dataset_kernel<MakeUnique>);
}

}  // namespace emplace::data
