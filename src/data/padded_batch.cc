// Batches of elements padded to one shape.
#include <fmt/format.h>

#include <cstring>

#include "base/stop_scope.h"
#include "data/kernels.h"
#include "data/rows.h"
#include "data/state.h"
#include "kernel/keep.h"

namespace emplace::data {
namespace {

struct Padding {
  std::vector<Shape> shapes;   // by component; unknown dimensions: as large as the largest
  std::vector<Tensor> values;  // scalars
};

void fill(Tensor& t, const Tensor& value) {
  const int64_t n = t.num_elements();
  if (t.dtype() == DType::kString) {
    for (int64_t i = 0; i < n; ++i) t.data<std::string>()[i] = *value.data<std::string>();
    return;
  }
  if (!is_plain(t.dtype())) return;  // variants: empty
  const size_t size = dtype_size(t.dtype());
  for (int64_t i = 0; i < n; ++i)
    std::memcpy(static_cast<char*>(t.raw()) + static_cast<size_t>(i) * size, value.raw(), size);
}

// Copies `from` into the front corner of row `row`.
void put_corner(Tensor& batch, int64_t row, const Tensor& from) {
  if (batch.num_elements() / batch.dim(0) == from.num_elements()) return put_row(batch, row, from);
  const int rank = from.rank();
  const int64_t run = from.dim(rank - 1), runs = run > 0 ? from.num_elements() / run : 0;
  const Tensor flat = from.reshaped(Shape{runs, run});
  const Tensor to = batch.reshaped(Shape{batch.num_elements()});
  const int64_t size = batch.num_elements() / batch.dim(0);
  for (int64_t k = 0; k < runs; ++k) {
    int64_t rest = k, at = 0, stride = batch.dim(rank);
    for (int d = rank - 2; d >= 0; --d) {
      at += rest % from.dim(d) * stride;
      rest /= from.dim(d);
      stride *= batch.dim(d + 1);
    }
    Tensor part = to.slice(row * size + at, row * size + at + run);
    copy_elements(part, flat.slice(k, k + 1));
  }
}

class PaddedBatchDataset final : public OverInput {
 public:
  PaddedBatchDataset(Spec spec, DatasetPtr input, int64_t size, bool drop, Padding padding)
      : OverInput(std::move(spec), std::move(input)),
        size_(size),
        drop_(drop),
        padding_(std::move(padding)) {}
  int64_t cardinality() const override {
    const int64_t n = input_->cardinality();
    return n < 0 ? n : n / size_ + (n % size_ != 0 && !drop_);
  }
  std::unique_ptr<Iterator> make_iterator(Caller& c) const override {
    return std::make_unique<Over>(
        std::static_pointer_cast<const PaddedBatchDataset>(shared_from_this()),
        input_->iterator(c));
  }

 private:
  class Over final : public OverIterator {
   public:
    Over(std::shared_ptr<const PaddedBatchDataset> self, std::unique_ptr<Iterator> input)
        : OverIterator(self, std::move(input)), of_(*self) {}
    bool next(Caller& c, Element& out) override {
      if (!input_) return false;
      std::vector<Element> elements;
      while (static_cast<int64_t>(elements.size()) < of_.size_) {
        StopScope::attend();
        Element e;
        if (!input_->next(c, e)) {
          input_.reset();
          break;
        }
        elements.push_back(std::move(e));
      }
      const auto n = static_cast<int64_t>(elements.size());
      if (n == 0 || (of_.drop_ && n < of_.size_)) return false;
      out.clear();
      for (size_t i = 0; i < of_.padding_.shapes.size(); ++i)
        out.push_back(of_.batch(elements, i, c.pass));
      return true;
    }

   private:
    const PaddedBatchDataset& of_;
  };

  Tensor batch(const std::vector<Element>& elements, size_t component, const Pass& pass) const {
    const Shape& wanted = padding_.shapes[component];
    std::vector<int64_t> dims(wanted.dims().begin(), wanted.dims().end());
    for (const Element& e : elements) grow(dims, wanted, e.at(component).shape(), component);
    const auto n = static_cast<int64_t>(elements.size());
    Tensor out = rows_like(elements[0][component].dtype(), Shape(std::span<const int64_t>(dims)), n,
                           pass.reader());
    fill(out, padding_.values[component]);
    for (int64_t i = 0; i < n; ++i) put_corner(out, i, elements[static_cast<size_t>(i)][component]);
    return out;
  }

  static void grow(std::vector<int64_t>& dims, const Shape& wanted, const Shape& have, size_t i) {
    if (have.rank() != wanted.rank())
      throw invalid_argument(fmt::format(
          "All elements in a batch must have the same rank as the padded shape for component{}: "
          "expected rank {} but got element with rank {}",
          i, wanted.rank(), have.rank()));
    for (int d = 0; d < wanted.rank(); ++d) {
      int64_t& dim = dims[static_cast<size_t>(d)];
      if (wanted.dim(d) < 0) dim = std::max(dim, have.dim(d));
      else if (have.dim(d) > wanted.dim(d))
        throw Error(Code::kDataLoss, "Attempted to pad to a smaller size than the input element.");
    }
  }

  const int64_t size_;
  const bool drop_;
  const Padding padding_;
};

struct MakePaddedBatch {
  explicit MakePaddedBatch(const KernelInit& init)
      : n(static_cast<int>(init.attr<int64_t>("N"))),
        drops(init.op->name != "PaddedBatchDataset") {}
  std::shared_ptr<Dataset> make(const Dataset::Spec& spec, KernelContext& c) const {
    const int64_t size = int_input(c, 1, "batch_size");
    if (size <= 0) throw invalid_argument("Batch size must be greater than zero.");
    Padding p;
    for (int i = 0; i < n; ++i) {
      p.shapes.push_back(shape_from(c.input(2 + i)));
      p.values.push_back(kept_input(c, 2 + n + i));
      if (p.values.back().num_elements() != 1)
        throw invalid_argument("All padding values must be scalars");
    }
    const DatasetPtr input = dataset_in(c.input(0));
    if (p.shapes.size() != input->spec().types.size())
      throw invalid_argument(fmt::format(
          "Number of padded shapes ({}) must match the number of components in the input dataset's "
          "elements ({})",
          p.shapes.size(), input->spec().types.size()));
    const bool drop = drops && bool_input(c, 2 + 2 * n, "drop_remainder");
    return std::make_shared<PaddedBatchDataset>(spec, input, size, drop, std::move(p));
  }
  int n;
  bool drops;
};

}  // namespace

void add_padded_batch_kernels(KernelList& rows) {
  add_row(rows, "PaddedBatchDataset", dataset_kernel<MakePaddedBatch>);
  add_row(rows, "PaddedBatchDatasetV2", dataset_kernel<MakePaddedBatch>);
}

}  // namespace emplace::data
