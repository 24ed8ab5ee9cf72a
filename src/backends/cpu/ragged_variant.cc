// Ragged tensors as values of DT_VARIANT: one for the whole, or one for each row.
#include <fmt/format.h>

#include <algorithm>

#include "backends/cpu/imported_kernels.h"
#include "backends/cpu/move.h"
#include "backends/cpu/rows.h"
#include "kernel/composite_values.h"

namespace emplace::cpu {
namespace {

using Splits = std::vector<int64_t>;

using Ragged = RaggedValue;

Splits checked_splits(const Tensor& t, int64_t last) {
  if (t.rank() != 1 || t.num_elements() < 1)
    throw invalid_argument("Ragged splits must have rank 1 and at least one element");
  Splits s = int_values(t);
  if (s.front() != 0 || !std::is_sorted(s.begin(), s.end()))
    throw invalid_argument("Ragged splits must start with 0 and ascend");
  if (s.back() != last)
    throw invalid_argument("Last element of ragged splits must be the number of rows within");
  return s;
}

std::vector<Splits> nested_splits(KernelContext& c, int levels) {
  const Tensor& values = c.input(levels);
  if (levels > 0 && values.rank() < 1) throw invalid_argument("ragged values must have rank 1 or more");
  std::vector<Splits> nested(static_cast<size_t>(levels));
  int64_t within = levels > 0 ? values.dim(0) : 0;
  for (int i = levels - 1; i >= 0; --i) {
    nested[static_cast<size_t>(i)] = checked_splits(c.input(i), within);
    within = c.input(i).num_elements() - 1;
  }
  return nested;
}

// One row of a ragged tensor: a tensor that is ragged one level less.
std::shared_ptr<Ragged> row_of(const std::vector<Splits>& nested, const Tensor& values,
                               int64_t row) {
  int64_t begin = nested[0][static_cast<size_t>(row)], end = nested[0][static_cast<size_t>(row) + 1];
  std::vector<Splits> inner;
  for (size_t level = 1; level < nested.size(); ++level) {
    const Splits& all = nested[level];
    Splits part(all.begin() + begin, all.begin() + end + 1);
    begin = part.front(), end = part.back();
    for (int64_t& s : part) s -= begin;
    inner.push_back(std::move(part));
  }
  return std::make_shared<Ragged>(std::move(inner), values.slice(begin, end).copy());
}

struct ToVariant {
  int levels;
  bool batched;

  void operator()(KernelContext& c) const {
    const std::vector<Splits> nested = nested_splits(c, levels);
    const Tensor& values = c.input(levels);
    if (!batched) {
      c.output(0, Shape{}).data<Variant>()->value = std::make_shared<Ragged>(nested, values.copy());
      return;
    }
    if (levels > 0) {
      Tensor& out = c.output(0, Shape{static_cast<int64_t>(nested[0].size()) - 1});
      for (int64_t r = 0; r < out.num_elements(); ++r)
        out.data<Variant>()[r].value = row_of(nested, values, r);
      return;
    }
    if (values.rank() < 1) throw invalid_argument("a batch needs at least one dimension");
    Tensor& out = c.output(0, Shape{values.dim(0)});
    for (int64_t r = 0; r < out.num_elements(); ++r)
      out.data<Variant>()[r].value =
          std::make_shared<Ragged>(std::vector<Splits>{}, element(values, r));
  }

  static Tensor element(const Tensor& values, int64_t r) {
    Shape shape;
    for (int d = 1; d < values.rank(); ++d) shape.push_back(values.dim(d));
    Tensor out(values.dtype(), shape);
    const Tensor row = values.slice(r, r + 1);
    copy_elements(out, row);
    return out;
  }
};
Prepared make_to_variant(const KernelInit& i) {
  return prepared(ToVariant{static_cast<int>(i.attr<int64_t>("RAGGED_RANK")),
                            i.attr<bool>("batched_input")});
}

struct FromVariant {
  int input_levels, levels;
  DType values_type, splits_type;

  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    const int stacked = in.rank();
    const int inner = input_levels < 0 ? levels - stacked : input_levels;
    if (inner < 0)
      throw invalid_argument(fmt::format(
          "Inferred input_ragged_rank (output_ragged_rank - encoded_variant.dims()) must be >= 0, "
          "found output_ragged_rank: {}, encoded_variant.dims(): {}",
          levels, stacked));
    if (levels != inner + stacked)
      throw invalid_argument(fmt::format("output_ragged_rank must be equal to input_ragged_rank + "
                                         "encoded_ragged.dims(); output_ragged_rank: {}, "
                                         "input_ragged_rank: {}, encoded_ragged.dims(): {}",
                                         levels, inner, stacked));
    const std::vector<const Ragged*> parts = parts_of(in, inner);
    if (stacked == 0) {
      for (int i = 0; i < levels; ++i) put_splits(c, i, parts[0]->nested[static_cast<size_t>(i)]);
      return c.set_output(levels, parts[0]->values);
    }
    put_outer(c, in.shape(), parts);
    for (int level = 0; level < inner; ++level) {
      Splits all = {0};
      for (const Ragged* p : parts) {
        const Splits& s = p->nested[static_cast<size_t>(level)];
        const int64_t base = all.back();
        for (size_t k = 1; k < s.size(); ++k) all.push_back(base + s[k]);
      }
      put_splits(c, stacked + level, all);
    }
    c.set_output(levels, joined(parts));
  }

  std::vector<const Ragged*> parts_of(const Tensor& in, int inner) const {
    std::vector<const Ragged*> parts;
    for (const Variant& v : in.values<Variant>()) {
      const auto* const r = dynamic_cast<const Ragged*>(v.value.get());
      if (!r) throw invalid_argument("Input Variant element doesn't hold a RaggedTensorVariant");
      if (static_cast<int>(r->nested.size()) != inner)
        throw invalid_argument(fmt::format("Encoded input RaggedTensorVariant has ragged_rank={}. "
                                           "Expected ragged_rank={}.",
                                           r->nested.size(), inner));
      if (r->values.dtype() != values_type)
        throw invalid_argument(fmt::format("Expected values Tensor dtype: {}, found: {}",
                                           dtype_name(values_type), dtype_name(r->values.dtype())));
      if (in.rank() > 0 && r->values.rank() < 1)
        throw invalid_argument("Ragged values must have rank >= 1; encoded scalar element at index 0 "
                               "has values Tensor: scalar");
      parts.push_back(r);
    }
    return parts;
  }

  void put_splits(KernelContext& c, int output, const Splits& splits) const {
    Tensor& out = c.output(output, Shape{static_cast<int64_t>(splits.size())});
    for (size_t i = 0; i < splits.size(); ++i) {
      if (splits_type == DType::kInt32)
        out.data<int32_t>()[i] = static_cast<int32_t>(splits[i]);
      else
        out.data<int64_t>()[i] = splits[i];
    }
  }

  // The dimensions of the variants: all alike but the innermost, which has the rows of each.
  void put_outer(KernelContext& c, const Shape& shape, const std::vector<const Ragged*>& parts) const {
    int64_t rows = 1;
    for (int d = 0; d + 1 < shape.rank(); ++d) {
      rows *= shape[d];
      Splits even;
      for (int64_t r = 0; r <= rows; ++r) even.push_back(r * shape[d + 1]);
      put_splits(c, d, even);
    }
    Splits lengths = {0};
    for (const Ragged* p : parts) lengths.push_back(lengths.back() + p->rows());
    put_splits(c, shape.rank() - 1, lengths);
  }

  Tensor joined(const std::vector<const Ragged*>& parts) const {
    if (parts.empty()) return Tensor(values_type, Shape{0});
    Shape shape = parts[0]->values.shape();
    int64_t rows = 0;
    for (const Ragged* p : parts) {
      Shape other = p->values.shape();
      rows += other[0];
      other.set_dim(0, shape[0]);
      if (!(other == shape))
        throw invalid_argument(fmt::format("All flat_values must have compatible shapes. Shape at "
                                           "index 0: {}. Shape at a later index: {}.",
                                           shape.str(), p->values.shape().str()));
    }
    shape.set_dim(0, rows);
    Tensor out(values_type, shape);
    int64_t at = 0;
    for (const Ragged* p : parts) {
      const int64_t n = p->values.dim(0);
      if (n == 0) continue;
      Tensor place = out.slice(at, at + n);
      copy_elements(place, p->values);
      at += n;
    }
    return out;
  }
};
Prepared make_from_variant(const KernelInit& i) {
  return prepared(FromVariant{static_cast<int>(i.attr<int64_t>("input_ragged_rank")),
                              static_cast<int>(i.attr<int64_t>("output_ragged_rank")),
                              i.type("Tvalues"), i.type("Tsplits")});
}

}  // namespace

std::vector<KernelRow> ragged_variant_kernels() {
  return {row("RaggedTensorToVariant", make_to_variant),
          row("RaggedTensorFromVariant", make_from_variant)};
}

}  // namespace emplace::cpu
