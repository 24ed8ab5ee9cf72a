// Ragged tensors: values, and where each row ends.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "backends/cpu/indices.h"
#include "backends/cpu/imported_kernels.h"
#include "backends/cpu/loops.h"
#include "backends/cpu/move.h"
#include "backends/cpu/rows.h"
#include "base/stop_scope.h"

namespace emplace::cpu {
namespace {

std::vector<int64_t> splits_of(const Tensor& t, int64_t last) {
  if (t.rank() != 1 || t.num_elements() < 1)
    throw invalid_argument("Ragged splits must be a vector of at least one element");
  std::vector<int64_t> splits = int_values(t);
  if (splits[0] != 0) throw invalid_argument("Ragged splits must start with 0");
  for (size_t i = 1; i < splits.size(); ++i)
    if (splits[i] < splits[i - 1]) throw invalid_argument("Ragged splits must be sorted");
  if (last >= 0 && splits.back() > last)
    throw invalid_argument("Ragged splits must not point past values");
  return splits;
}

// ---- To a dense tensor.

struct ToTensor {
  std::vector<std::string> types;

  // Where each row of a level ends, from whatever the caller has said about it.
  std::vector<int64_t> level(KernelContext& c, size_t at, int64_t& rows, int64_t below) const {
    const Tensor& t = c.input(3 + static_cast<int>(at));
    const std::string& type = types[at];
    if (type == "ROW_SPLITS") {
      std::vector<int64_t> splits = splits_of(t, below);
      rows = static_cast<int64_t>(splits.size()) - 1;
      return splits;
    }
    if (type != "VALUE_ROWIDS") throw invalid_argument("Unsupported row partition type: " + type);
    const std::vector<int64_t> ids = int_values(t);
    std::vector<int64_t> splits{0};
    for (const size_t i : paced(ids.size())) {
      if (ids[i] < (i > 0 ? ids[i - 1] : 0) || ids[i] >= rows)
        throw invalid_argument(fmt::format("value_rowids must be sorted and below {}", rows));
      while (static_cast<int64_t>(splits.size()) <= ids[i])
        splits.push_back(static_cast<int64_t>(i));
    }
    while (static_cast<int64_t>(splits.size()) <= rows)
      splits.push_back(static_cast<int64_t>(ids.size()));
    return splits;
  }

  void operator()(KernelContext& c) const {
    const Tensor &values = c.input(1), &rest = c.input(2);
    if (types.empty() || static_cast<int>(types.size()) != c.num_inputs() - 3)
      throw invalid_argument("Each row partition needs its type");
    if (values.rank() < 1) throw invalid_argument("values must have at least rank 1");
    int64_t rows = -1;
    size_t first = 0;
    if (types[0] == "FIRST_DIM_SIZE") {
      rows = int_scalar(c.input(3), "first_dim_size");
      first = 1;
    }
    std::vector<std::vector<int64_t>> levels;
    for (size_t i = first; i < types.size(); ++i) {
      levels.push_back(level(c, i, rows, -1));
      if (levels.size() > 1 &&
          static_cast<int64_t>(levels.back().size()) - 1 != levels[levels.size() - 2].back())
        throw invalid_argument("Row partitions do not fit each other");
      rows = levels.back().back();
    }
    if (levels.empty()) throw invalid_argument("A row partition is needed");
    if (levels.back().back() > values.dim(0))
      throw invalid_argument("Row partitions point past the values");
    fill(c, levels, values, rest);
  }

  void fill(KernelContext& c, const std::vector<std::vector<int64_t>>& levels, const Tensor& values,
            const Tensor& rest) const {
    std::vector<int64_t> dims{static_cast<int64_t>(levels[0].size()) - 1};
    for (const auto& splits : levels) {
      int64_t longest = 0;
      for (size_t i = 1; i < splits.size(); ++i)
        longest = std::max(longest, splits[i] - splits[i - 1]);
      dims.push_back(longest);
    }
    const size_t ragged = dims.size();
    for (int d = 1; d < values.rank(); ++d) dims.push_back(values.dim(d));
    limit(c.input(0), dims, ragged);
    Shape inner;
    for (size_t d = ragged; d < dims.size(); ++d) inner.push_back(dims[d]);
    Tensor& out = c.output(0, Shape(std::span<const int64_t>(dims)));
    const int64_t run = inner.num_elements();
    spread_default(c, out, rest, inner);
    const Mover mover(out.dtype());
    copy(mover, levels, 0, 0, std::min(dims[0], static_cast<int64_t>(levels[0].size()) - 1), 0,
         dims, values, out, run);
  }

  // The shape asked for cuts or widens what the rows need.
  static void limit(const Tensor& asked, std::vector<int64_t>& dims, size_t ragged) {
    if (asked.rank() == 0) return;
    const std::vector<int64_t> want = int_values(asked);
    if (want.size() != dims.size())
      throw invalid_argument(
          fmt::format("shape has rank {}, the ragged tensor {}", want.size(), dims.size()));
    for (size_t d = 0; d < want.size(); ++d) {
      if (want[d] < 0) continue;
      if (d >= ragged && want[d] != dims[d])
        throw invalid_argument("shape does not fit the values");
      dims[d] = want[d];
    }
  }

  // The default may lack leading dimensions, or have 1 in the place of any.
  static void spread_default(KernelContext&, Tensor& out, const Tensor& rest, const Shape& inner) {
    const Mover mover(out.dtype());
    if (rest.num_elements() == 1) return mover.fill(out, 0, out.num_elements(), rest.raw());
    if (rest.rank() > inner.rank()) throw invalid_argument("default_value has too many dimensions");
    const int lead = inner.rank() - rest.rank();
    for (int d = 0; d < rest.rank(); ++d)
      if (rest.dim(d) != 1 && rest.dim(d) != inner[d + lead])
        throw invalid_argument("default_value does not fit the values");
    const int64_t run = inner.num_elements();
    for (const int64_t i : paced(out.num_elements())) {
      int64_t left = i % run, at = 0, stride = 1;
      for (int d = inner.rank(); d-- > 0; left /= inner[d]) {
        if (d < lead) continue;
        if (rest.dim(d - lead) != 1) at += left % inner[d] * stride;
        stride *= rest.dim(d - lead);
      }
      mover.copy(out, i, rest, at, 1);
    }
  }

  // Rows [begin, begin + count) of a level to places from `to` on.
  void copy(const Mover& mover, const std::vector<std::vector<int64_t>>& levels, size_t level,
            int64_t begin, int64_t count, int64_t to, const std::vector<int64_t>& dims,
            const Tensor& values, Tensor& out, int64_t run) const {
    const std::vector<int64_t>& splits = levels[level];
    const int64_t width = dims[level + 1];
    for (const int64_t r : paced(count)) {
      const int64_t from = splits[static_cast<size_t>(begin + r)];
      const int64_t size = std::min(splits[static_cast<size_t>(begin + r) + 1] - from, width);
      if (level + 1 == levels.size()) {
        if (size > 0) mover.copy(out, ((to + r) * width) * run, values, from * run, size * run);
      } else {
        copy(mover, levels, level + 1, from, size, (to + r) * width, dims, values, out, run);
      }
    }
  }
};
Prepared make_to_tensor(const KernelInit& i) {
  return prepared(ToTensor{i.attr<std::vector<std::string>>("row_partition_types")});
}

// ---- Ranges.

template <class T>
int64_t range_size(T start, T limit, T delta) {
  if (delta == T{0}) throw invalid_argument("Requires delta != 0");
  if (((delta > 0) && (limit <= start)) || ((delta < 0) && (limit >= start))) return 0;
  const double n = std::ceil(std::abs((static_cast<double>(limit) - static_cast<double>(start)) /
                                      static_cast<double>(delta)));
  if (!(n < 1e15)) throw invalid_argument("Requires ((limit - start) / delta) to be a size");
  return static_cast<int64_t>(n);
}

template <class T>
void ranges(KernelContext& c) {
  int64_t rows = 1;
  bool given = false;
  for (int i = 0; i < 3; ++i) {
    if (c.input(i).rank() > 1)
      throw invalid_argument("starts, limits and deltas must be scalars or vectors");
    if (c.input(i).rank() != 1) continue;
    if (given && c.input(i).dim(0) != rows)
      throw invalid_argument("starts, limits, and deltas must have the same shape");
    rows = c.input(i).dim(0);
    given = true;
  }
  auto at = [&](int i, int64_t r) {
    return static_cast<Compute<T>>(c.input(i).data<T>()[c.input(i).rank() ? r : 0]);
  };
  std::vector<int64_t> ends{0};
  for (const int64_t r : paced(rows)) {
    int64_t next;
    if (__builtin_add_overflow(ends.back(), range_size(at(0, r), at(1, r), at(2, r)), &next))
      throw invalid_argument("the ranges have too many numbers");
    ends.push_back(next);
  }
  Tensor& splits = c.output(0, Shape{rows + 1});
  for (size_t i = 0; i < ends.size(); ++i) put_int(splits, static_cast<int64_t>(i), ends[i]);
  Tensor& out = c.output(1, Shape{ends.back()});
  for (const int64_t r : paced(rows)) {
    auto value = at(0, r);
    for (int64_t i = ends[static_cast<size_t>(r)]; i < ends[static_cast<size_t>(r) + 1]; ++i) {
      out.data<T>()[i] = static_cast<T>(value);
      value = static_cast<decltype(value)>(value + at(2, r));
    }
  }
}

void range(KernelContext& c) {
  visit_dtype(c.output_type(1), Types<Bfloat16, float, double, int32_t, int64_t>{},
              [&](auto tag) { ranges<typename decltype(tag)::type>(c); });
}

// ---- Rows picked out.

struct Gather {
  int levels_in, levels_out;

  void operator()(KernelContext& c) const {
    const Tensor &values = c.input(levels_in), &indices = c.input(levels_in + 1);
    if (values.rank() < 1) throw invalid_argument("values must have at least rank 1");
    std::vector<std::vector<int64_t>> splits;
    for (int i = 0; i < levels_in; ++i) splits.push_back(splits_of(c.input(i), -1));
    for (size_t i = 0; i < splits.size(); ++i) {
      const int64_t below =
          i + 1 < splits.size() ? static_cast<int64_t>(splits[i + 1].size()) - 1 : values.dim(0);
      if (splits[i].back() > below)
        throw invalid_argument("Ragged splits must not point past values");
    }
    if (levels_out != indices.rank() + levels_in - 1)
      throw invalid_argument("OUTPUT_RAGGED_RANK does not fit");
    std::vector<std::pair<int64_t, int64_t>> parts;  // [begin, end) of the level below
    const int64_t rows = static_cast<int64_t>(splits[0].size()) - 1;
    for (const int64_t i : paced(indices.num_elements())) {
      const int64_t r = index_at(indices, i);
      if (r < 0 || r >= rows)
        throw invalid_argument(fmt::format("indices[{}] = {} is not in [0, {})", i, r, rows));
      parts.push_back({r, r + 1});
    }
    put_leading(c, indices.shape());
    for (int level = 0; level < levels_in; ++level)
      put_level(c, indices.rank() - 1 + level, splits[static_cast<size_t>(level)], parts,
                level == 0);
    put_values(c, values, parts);
  }

  // The dimensions of the indices but the last are rows of one length each.
  void put_leading(KernelContext& c, const Shape& indices) const {
    int64_t rows = 1;
    for (int d = 0; d + 1 < indices.rank(); ++d) {
      rows *= indices[d];
      Tensor& out = c.output(d, Shape{rows + 1});
      for (int64_t i = 0; i <= rows; ++i) put_int(out, i, i * indices[d + 1]);
    }
  }

  // Splits of the rows in `parts`, which become the parts of the level below. A scalar index gives
  // its row without one.
  static void put_level(KernelContext& c, int output, const std::vector<int64_t>& splits,
                        std::vector<std::pair<int64_t, int64_t>>& parts, bool first) {
    std::vector<int64_t> ends{0};
    std::vector<std::pair<int64_t, int64_t>> below;
    for (const auto& [begin, end] : parts) {
      for (int64_t r = begin; r < end; ++r)
        ends.push_back(ends.back() + splits[static_cast<size_t>(r) + 1] -
                       splits[static_cast<size_t>(r)]);
      below.push_back({splits[static_cast<size_t>(begin)], splits[static_cast<size_t>(end)]});
    }
    parts = std::move(below);
    if (output < 0 && first) return;
    Tensor& out = c.output(output, Shape{static_cast<int64_t>(ends.size())});
    for (size_t i = 0; i < ends.size(); ++i) put_int(out, static_cast<int64_t>(i), ends[i]);
  }

  void put_values(KernelContext& c, const Tensor& values,
                  const std::vector<std::pair<int64_t, int64_t>>& parts) const {
    int64_t count = 0;
    for (const auto& [begin, end] : parts) count += end - begin;
    Shape shape = values.shape();
    const int64_t run = dims_product(shape, 1, shape.rank());
    shape.set_dim(0, count);
    Tensor& out = c.output(levels_out, shape);
    const Mover mover(values.dtype());
    int64_t at = 0;
    for (const auto& [begin, end] : parts) {
      if (end > begin && run > 0)
        mover.copy(out, at * run, values, begin * run, (end - begin) * run);
      at += end - begin;
    }
  }
};
Prepared make_gather(const KernelInit& i) {
  return prepared(Gather{static_cast<int>(i.attr<int64_t>("PARAMS_RAGGED_RANK")),
                         static_cast<int>(i.attr<int64_t>("OUTPUT_RAGGED_RANK"))});
}

// ---- To a sparse tensor.

struct ToSparse {
  int levels;

  void operator()(KernelContext& c) const {
    const Tensor& values = c.input(levels);
    if (values.rank() < 1) throw invalid_argument("rt_dense_values must have at least rank 1");
    std::vector<std::vector<int64_t>> splits;
    for (int i = 0; i < levels; ++i) splits.push_back(splits_of(c.input(i), -1));
    for (size_t i = 0; i < splits.size(); ++i) {
      const int64_t below =
          i + 1 < splits.size() ? static_cast<int64_t>(splits[i + 1].size()) - 1 : values.dim(0);
      if (splits[i].back() != below)
        throw invalid_argument(
            "Final value of ragged splits must match the length the corresponding "
            "ragged array.");
    }
    const int64_t rank = levels + values.rank(), count = values.num_elements();
    const int64_t run = dims_product(values.shape(), 1, values.rank());
    Tensor& indices = c.output(0, Shape{count, rank});
    int64_t* to = indices.data<int64_t>();
    std::vector<int64_t> place(static_cast<size_t>(rank), 0);
    walk(splits, 0, 0, static_cast<int64_t>(splits[0].size()) - 1, place, values.shape(), run, to);
    copy_elements(c.output(1, Shape{count}), values.reshaped(Shape{count}));
    Tensor& shape = c.output(2, Shape{rank});
    put_int(shape, 0, static_cast<int64_t>(splits[0].size()) - 1);
    for (size_t i = 0; i < splits.size(); ++i) {
      int64_t longest = 0;
      for (size_t k = 1; k < splits[i].size(); ++k)
        longest = std::max(longest, splits[i][k] - splits[i][k - 1]);
      put_int(shape, static_cast<int64_t>(i) + 1, longest);
    }
    for (int d = 1; d < values.rank(); ++d) put_int(shape, levels + d, values.dim(d));
  }

  static void walk(const std::vector<std::vector<int64_t>>& splits, size_t level, int64_t begin,
                   int64_t end, std::vector<int64_t>& place, const Shape& values, int64_t run,
                   int64_t*& to) {
    for (int64_t r = begin; r < end; ++r) {
      place[level] = r - begin;
      if (level < splits.size()) {
        walk(splits, level + 1, splits[level][static_cast<size_t>(r)],
             splits[level][static_cast<size_t>(r) + 1], place, values, run, to);
        continue;
      }
      for (int64_t k = 0; k < run; ++k) {
        int64_t rest = k;
        for (int d = values.rank(); d-- > 1; rest /= values[d])
          place[level + static_cast<size_t>(d)] = rest % values[d];
        to = std::copy(place.begin(), place.end(), to);
      }
    }
  }
};
Prepared make_to_sparse(const KernelInit& i) {
  return prepared(ToSparse{static_cast<int>(i.attr<int64_t>("RAGGED_RANK"))});
}

// ---- Rows without values get one.

void fill_empty_rows(KernelContext& c) {
  const Tensor &ids = c.input(0), &values = c.input(1), &rest = c.input(3);
  if (ids.rank() != 1 || values.rank() != 1 || ids.dim(0) != values.dim(0))
    throw invalid_argument("value_rowids and values must be vectors of one length");
  if (rest.num_elements() != 1) throw invalid_argument("default_value must be a scalar");
  const int64_t rows = int_scalar(c.input(2), "nrows");
  if (rows < 0 || rows > (int64_t{1} << 32))
    throw invalid_argument(fmt::format("nrows must not be negative, nor huge: {}", rows));
  std::vector<std::vector<int64_t>> of_row(static_cast<size_t>(rows));
  for (const int64_t i : paced(ids.dim(0))) {
    const int64_t r = ids.data<int64_t>()[i];
    if (r < 0 || r >= rows)
      throw invalid_argument(fmt::format("value_rowids({}) is {}, but must be in [0, {})", i, r, rows));
    of_row[static_cast<size_t>(r)].push_back(i);
  }
  Tensor &empty = c.output(2, Shape{rows}), &back = c.output(3, ids.shape());
  std::vector<int64_t> row_of, from;
  for (const int64_t r : paced(rows)) {
    const auto& mine = of_row[static_cast<size_t>(r)];
    empty.data<bool>()[r] = mine.empty();
    for (int64_t i : mine) {
      back.data<int64_t>()[i] = static_cast<int64_t>(from.size());
      row_of.push_back(r), from.push_back(i);
    }
    if (mine.empty()) row_of.push_back(r), from.push_back(-1);
  }
  const auto n = static_cast<int64_t>(from.size());
  std::copy(row_of.begin(), row_of.end(), c.output(0, Shape{n}).data<int64_t>());
  Tensor& out = c.output(1, Shape{n});
  const Mover mover(out.dtype());
  for (const int64_t i : paced(n)) {
    const int64_t at = from[static_cast<size_t>(i)];
    mover.copy(out, i, at < 0 ? rest : values, std::max<int64_t>(at, 0), 1);
  }
}

// What reached no value of its own reached the default.
void fill_empty_rows_gradient(KernelContext& c) {
  const Tensor &back = c.input(0), &gradient = c.input(1);
  if (back.rank() != 1 || gradient.rank() != 1)
    throw invalid_argument("reverse_index_map and grad_values must be vectors");
  Tensor &values = c.output(0, back.shape()), &rest = c.output(1, Shape{});
  std::vector<bool> taken(static_cast<size_t>(gradient.dim(0)));
  for (const int64_t i : paced(back.dim(0))) {
    const int64_t at = back.data<int64_t>()[i];
    if (at < 0 || at >= gradient.dim(0))
      throw invalid_argument(fmt::format("Elements in reverse index must be in [0, {}) but got {}",
                                         gradient.dim(0), at));
    taken[static_cast<size_t>(at)] = true;
  }
  visit_dtype(gradient.dtype(), Numbers{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = Compute<T>;
    for (int64_t i = 0; i < back.dim(0); ++i)
      values.data<T>()[i] = gradient.data<T>()[back.data<int64_t>()[i]];
    C sum{};
    for (int64_t i = 0; i < gradient.dim(0); ++i)
      if (!taken[static_cast<size_t>(i)])
        sum = static_cast<C>(sum + static_cast<C>(gradient.data<T>()[i]));
    *rest.data<T>() = static_cast<T>(sum);
  });
}

}  // namespace

std::vector<KernelRow> ragged_kernels() {
  return {row("RaggedTensorToTensor", make_to_tensor), row("RaggedRange", stateless<range>),
          row("RaggedGather", make_gather), row("RaggedTensorToSparse", make_to_sparse),
          row("RaggedFillEmptyRows", stateless<fill_empty_rows>),
          {"RaggedFillEmptyRowsGrad", "CPU", {{"T", Numbers::dtypes()}}, {},
           stateless<fill_empty_rows_gradient>, {}, 0, ""}};
}

}  // namespace emplace::cpu
