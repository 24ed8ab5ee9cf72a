// Sparse tensors as elements.
#include <fmt/format.h>

#include <cstring>

#include "base/stop_scope.h"
#include "data/kernels.h"
#include "data/rows.h"
#include "data/state.h"
#include "format/sparse_kernels.h"
#include "kernel/keep.h"

namespace emplace::data {
namespace {

std::vector<int64_t> numbers(const Tensor& t) {
  return {t.data<int64_t>(), t.data<int64_t>() + t.num_elements()};
}

// ---- The rows of a sparse tensor: indices, values and shape of each.

class SparseSlices final : public Dataset {
 public:
  SparseSlices(Spec spec, Tensor indices, Tensor values, std::vector<int64_t> shape)
      : Dataset(std::move(spec)),
        indices_(std::move(indices)),
        values_(std::move(values)),
        shape_(std::move(shape)) {}
  int64_t cardinality() const override { return shape_.at(0); }
  std::unique_ptr<Iterator> make_iterator(Caller&) const override {
    return std::make_unique<Over>(std::static_pointer_cast<const SparseSlices>(shared_from_this()));
  }

 private:
  class Over final : public Iterator {
   public:
    explicit Over(std::shared_ptr<const SparseSlices> self) : self_(std::move(self)) {}
    bool next(Caller&, Element& out) override {
      if (row_ >= self_->shape_[0]) return false;
      int64_t end = at_;
      while (end < self_->values_.dim(0) && self_->row_at(end) == row_) ++end;
      out = self_->part(at_, end);
      at_ = end;
      ++row_;
      return true;
    }
    void save(StateWriter& w) override {
      w.put(row_);
      w.put(at_);
    }
    void restore(Caller&, StateReader& r) override {
      row_ = r.number();
      at_ = r.number();
    }

   private:
    const std::shared_ptr<const SparseSlices> self_;
    int64_t row_ = 0, at_ = 0;
  };

  int64_t row_at(int64_t k) const {
    return indices_.data<int64_t>()[k * static_cast<int64_t>(shape_.size())];
  }
  Element part(int64_t begin, int64_t end) const {
    const auto rank = static_cast<int64_t>(shape_.size());
    Tensor places(DType::kInt64, Shape{end - begin, rank - 1});
    for (int64_t k = begin; k < end; ++k)
      std::copy_n(indices_.data<int64_t>() + k * rank + 1, rank - 1,
                  places.data<int64_t>() + (k - begin) * (rank - 1));
    Tensor values(values_.dtype(), Shape{end - begin});
    copy_elements(values, values_.slice(begin, end));
    return {places, values, Tensor::vector<int64_t>(std::span(shape_).subspan(1))};
  }

  const Tensor indices_, values_;
  const std::vector<int64_t> shape_;
};

struct MakeSparseSlices : NoState {
  using NoState::NoState;
  std::shared_ptr<Dataset> make(const Dataset::Spec& given, KernelContext& c) const {
    const Tensor indices = kept_input(c, 0), values = kept_input(c, 1);
    const std::vector<int64_t> shape = numbers(c.input(2));
    const auto rank = static_cast<int64_t>(shape.size());
    if (indices.rank() != 2 || values.rank() != 1 || rank < 1 || indices.dim(1) != rank ||
        indices.dim(0) != values.dim(0))
      throw invalid_argument(
          "indices, values and dense_shape of a sparse tensor do not fit together");
    int64_t last = 0;
    for (int64_t k = 0; k < values.dim(0); ++k) {
      const int64_t row = indices.data<int64_t>()[k * rank];
      if (row < last)
        throw unimplemented(
            "The SparseTensor must be ordered in the batch dimension; handling "
            "arbitrarily ordered input is not currently supported.");
      if (row >= shape[0])
        throw invalid_argument("an index of a sparse tensor is out of its shape");
      last = row;
    }
    Dataset::Spec spec = given;
    spec.types = {DType::kInt64, values.dtype(), DType::kInt64};
    spec.shapes = {Shape{Shape::kUnknown, rank - 1}, Shape{Shape::kUnknown}, Shape{rank - 1}};
    return std::make_shared<SparseSlices>(std::move(spec), indices, values, shape);
  }
};

// ---- Dense elements as one sparse tensor a batch.

class SparseBatchDataset final : public OverInput {
 public:
  SparseBatchDataset(Spec spec, DatasetPtr input, int64_t size, std::vector<int64_t> row)
      : OverInput(std::move(spec), std::move(input)), size_(size), row_(std::move(row)) {}
  int64_t cardinality() const override {
    const int64_t n = input_->cardinality();
    return n < 0 ? n : (n + size_ - 1) / size_;
  }
  std::unique_ptr<Iterator> make_iterator(Caller& c) const override {
    return std::make_unique<Over>(shared_from_this(), input_->iterator(c), *this);
  }

 private:
  class Over final : public OverIterator {
   public:
    Over(DatasetPtr self, std::unique_ptr<Iterator> input, const SparseBatchDataset& of)
        : OverIterator(std::move(self), std::move(input)), of_(of) {}
    bool next(Caller& c, Element& out) override {
      std::vector<Tensor> rows;
      Element e;
      while (input_ && static_cast<int64_t>(rows.size()) < of_.size_) {
        StopScope::attend();
        if (input_->next(c, e)) rows.push_back(std::move(e.at(0)));
        else input_.reset();
      }
      if (rows.empty()) return false;
      out.assign(1, of_.batch(rows));
      return true;
    }

   private:
    const SparseBatchDataset& of_;
  };

  Tensor batch(const std::vector<Tensor>& rows) const {
    std::vector<int64_t> shape{static_cast<int64_t>(rows.size())};
    shape.insert(shape.end(), row_.begin(), row_.end());
    int64_t count = 0;
    for (const Tensor& t : rows) {
      if (t.rank() != static_cast<int>(row_.size()))
        throw invalid_argument(
            fmt::format("Input element had shape ({}) that is incompatible with the "
                        "row shape",
                        t.shape().str()));
      for (int d = 0; d < t.rank(); ++d) {
        int64_t& most = shape[static_cast<size_t>(d) + 1];
        const int64_t wanted = row_[static_cast<size_t>(d)];
        if (wanted >= 0 && t.dim(d) > wanted)
          throw Error(Code::kDataLoss,
                      fmt::format("Input element had shape ({}) that is larger than the row shape",
                                  t.shape().str()));
        most = std::max(most, t.dim(d));
      }
      count += t.num_elements();
    }
    const auto rank = static_cast<int64_t>(shape.size());
    Tensor indices(DType::kInt64, Shape{count, rank}), values(rows[0].dtype(), Shape{count});
    int64_t at = 0;
    for (size_t r = 0; r < rows.size(); ++r) {
      const Tensor& t = rows[r];
      if (t.num_elements() == 0) continue;
      Tensor part = values.slice(at, at + t.num_elements());
      copy_elements(part, t);
      for (int64_t k = 0; k < t.num_elements(); ++k, ++at) {
        int64_t* const place = indices.data<int64_t>() + at * rank;
        int64_t rest = k;
        for (int d = t.rank() - 1; d >= 0; --d) {
          place[d + 1] = rest % t.dim(d);
          rest /= t.dim(d);
        }
        place[0] = static_cast<int64_t>(r);
      }
    }
    return sparse_as_variants(indices, values, shape);
  }

  const int64_t size_;
  const std::vector<int64_t> row_;
};

struct MakeSparseBatch : NoState {
  using NoState::NoState;
  std::shared_ptr<Dataset> make(const Dataset::Spec& spec, KernelContext& c) const {
    const int64_t size = int_input(c, 1, "batch_size");
    if (size <= 0) throw invalid_argument("Batch size must be greater than zero.");
    return std::make_shared<SparseBatchDataset>(spec, dataset_in(c.input(0)), size,
                                                numbers(c.input(2)));
  }
};

}  // namespace

void add_sparse_kernels(KernelList& rows) {
  add_row(rows, "SparseTensorSliceDataset", dataset_kernel<MakeSparseSlices>);
  add_row(rows, "DenseToSparseBatchDataset", dataset_kernel<MakeSparseBatch>);
}

}  // namespace emplace::data
