// Datasets that begin a pipeline.
#include <fmt/format.h>

#include "data/kernels.h"
#include "data/state.h"
#include "kernel/keep.h"

namespace emplace::data {
namespace {

// ---- Ranges.

void put_number(Tensor& t, int64_t at, int64_t v) {
  switch (t.dtype()) {
    case DType::kInt64: t.data<int64_t>()[at] = v; break;
    case DType::kInt32: t.data<int32_t>()[at] = static_cast<int32_t>(v); break;
    case DType::kInt16: t.data<int16_t>()[at] = static_cast<int16_t>(v); break;
    case DType::kInt8: t.data<int8_t>()[at] = static_cast<int8_t>(v); break;
    case DType::kUint64: t.data<uint64_t>()[at] = static_cast<uint64_t>(v); break;
    case DType::kUint32: t.data<uint32_t>()[at] = static_cast<uint32_t>(v); break;
    case DType::kUint16: t.data<uint16_t>()[at] = static_cast<uint16_t>(v); break;
    case DType::kUint8: t.data<uint8_t>()[at] = static_cast<uint8_t>(v); break;
    case DType::kFloat: t.data<float>()[at] = static_cast<float>(v); break;
    case DType::kDouble: t.data<double>()[at] = static_cast<double>(v); break;
    default:
      throw invalid_argument(fmt::format("Unsupported data type: {}", dtype_name(t.dtype())));
  }
}

class RangeDataset final : public Dataset {
 public:
  RangeDataset(Spec spec, int64_t start, int64_t stop, int64_t step)
      : Dataset(std::move(spec)), start_(start), stop_(stop), step_(step) {
    const auto first = static_cast<__int128>(start), last = static_cast<__int128>(stop);
    const __int128 span = step > 0 ? last - first : first - last;
    const __int128 by = step > 0 ? step : -static_cast<__int128>(step);
    size_ = span <= 0 ? 0 : static_cast<int64_t>((span + by - 1) / by);
  }
  int64_t cardinality() const override { return size_; }
  Splits splits() const override { return Splits::kSource; }
  std::unique_ptr<Iterator> make_iterator(Caller& c) const override;

 private:
  class Over;
  const int64_t start_, stop_, step_;
  int64_t size_ = 0;
};

// Numbers are made many at a time, into one piece of memory that their tensors share.
class RangeDataset::Over final : public Iterator {
 public:
  explicit Over(std::shared_ptr<const RangeDataset> self) : self_(std::move(self)) {}

  bool next(Caller&, Element& out) override {
    if (at_ >= self_->size_) return false;
    const int64_t k = at_ % kMany;
    if (k == 0 || !many_.has_value()) fill();
    out.resize(1);
    out[0] = Tensor(many_.dtype(), Shape{}, many_.buffer(),
                    static_cast<size_t>(k) * dtype_size(many_.dtype()));
    ++at_;
    return true;
  }
  void save(StateWriter& w) override { w.put(at_); }
  void restore(Caller&, StateReader& r) override {
    at_ = r.number();
    many_ = Tensor();
  }

 private:
  static constexpr int64_t kMany = 64;

  void fill() {
    many_ = Tensor(self_->spec().types.at(0), Shape{kMany});
    const int64_t first = at_ / kMany * kMany;
    const int64_t n = std::min(kMany, self_->size_ - first);
    for (int64_t i = 0; i < n; ++i)
      put_number(many_, i, self_->start_ + (first + i) * self_->step_);
  }

  const std::shared_ptr<const RangeDataset> self_;
  int64_t at_ = 0;
  Tensor many_;
};

std::unique_ptr<Iterator> RangeDataset::make_iterator(Caller&) const {
  return std::make_unique<Over>(std::static_pointer_cast<const RangeDataset>(shared_from_this()));
}

struct MakeRange : NoState {
  using NoState::NoState;
  std::shared_ptr<Dataset> make(const Dataset::Spec& spec, KernelContext& c) const {
    const int64_t step = int_input(c, 2, "step");
    if (step == 0) throw invalid_argument("step must be a non-zero integer.");
    return std::make_shared<RangeDataset>(spec, int_input(c, 0, "start"), int_input(c, 1, "stop"),
                                          step);
  }
};

// ---- Tensors, whole and by rows.

std::vector<Tensor> all_inputs(KernelContext& c) {
  std::vector<Tensor> values;
  for (int i = 0; i < c.num_inputs(); ++i) values.push_back(kept_input(c, i));
  return values;
}

class TensorDataset final : public Dataset {
 public:
  TensorDataset(Spec spec, std::vector<Tensor> values)
      : Dataset(std::move(spec)), values_(std::move(values)) {}
  int64_t cardinality() const override { return 1; }
  Splits splits() const override { return Splits::kSource; }
  std::unique_ptr<Iterator> make_iterator(Caller&) const override {
    return std::make_unique<Over>(
        std::static_pointer_cast<const TensorDataset>(shared_from_this()));
  }

 private:
  class Over final : public Iterator {
   public:
    explicit Over(std::shared_ptr<const TensorDataset> self) : self_(std::move(self)) {}
    bool next(Caller&, Element& out) override {
      if (given_) return false;
      given_ = true;
      out = self_->values_;
      return true;
    }
    void save(StateWriter& w) override { w.put(int64_t{given_}); }
    void restore(Caller&, StateReader& r) override { given_ = r.number() != 0; }

   private:
    const std::shared_ptr<const TensorDataset> self_;
    bool given_ = false;
  };

  const std::vector<Tensor> values_;
};

struct MakeTensor : NoState {
  using NoState::NoState;
  std::shared_ptr<Dataset> make(const Dataset::Spec& spec, KernelContext& c) const {
    return std::make_shared<TensorDataset>(spec, all_inputs(c));
  }
};

class SliceDataset final : public Dataset {
 public:
  SliceDataset(Spec spec, std::vector<Tensor> values) : Dataset(std::move(spec)) {
    for (Tensor& t : values) add(std::move(t));
  }
  int64_t cardinality() const override { return rows_; }
  Splits splits() const override { return Splits::kSource; }
  std::unique_ptr<Iterator> make_iterator(Caller&) const override {
    return std::make_unique<Over>(std::static_pointer_cast<const SliceDataset>(shared_from_this()));
  }

 private:
  struct Component {
    Tensor whole;
    Shape row;
    size_t first = 0, step = 0;  // bytes
  };

  void add(Tensor t) {
    if (t.rank() < 1)
      throw invalid_argument(
          "All components must be at least 1-dimensional, but component 0 is a scalar.");
    if (rows_ >= 0 && t.dim(0) != rows_)
      throw invalid_argument(fmt::format(
          "All components must have the same size in the 0th dimension, but one has {} rows and "
          "another {}",
          rows_, t.dim(0)));
    rows_ = t.dim(0);
    Component k{t, without_first(t.shape()), 0, 0};
    if (t.num_elements() > 0)
      k.first =
          static_cast<size_t>(static_cast<char*>(t.raw()) - static_cast<char*>(t.buffer()->data()));
    k.step = static_cast<size_t>(k.row.num_elements()) * dtype_size(t.dtype());
    components_.push_back(std::move(k));
  }

  class Over final : public Iterator {
   public:
    explicit Over(std::shared_ptr<const SliceDataset> self) : self_(std::move(self)) {}
    bool next(Caller&, Element& out) override {
      if (at_ >= self_->rows_) return false;
      out.resize(self_->components_.size());
      for (size_t i = 0; i < out.size(); ++i) {
        const Component& k = self_->components_[i];
        out[i] = k.step == 0 ? k.whole.slice(at_, at_ + 1).reshaped(k.row)
                             : Tensor(k.whole.dtype(), k.row, k.whole.buffer(),
                                      k.first + static_cast<size_t>(at_) * k.step);
      }
      ++at_;
      return true;
    }
    void save(StateWriter& w) override { w.put(at_); }
    void restore(Caller&, StateReader& r) override { at_ = r.number(); }

   private:
    const std::shared_ptr<const SliceDataset> self_;
    int64_t at_ = 0;
  };

  std::vector<Component> components_;
  int64_t rows_ = -1;
};

struct MakeSlices : NoState {
  using NoState::NoState;
  std::shared_ptr<Dataset> make(const Dataset::Spec& spec, KernelContext& c) const {
    return std::make_shared<SliceDataset>(spec, all_inputs(c));
  }
};

}  // namespace

void add_source_kernels(KernelList& rows) {
  add_row(rows, "RangeDataset", dataset_kernel<MakeRange>);
  add_row(rows, "TensorDataset", dataset_kernel<MakeTensor>);
  add_row(rows, "TensorSliceDataset", dataset_kernel<MakeSlices>);
}

}  // namespace emplace::data
