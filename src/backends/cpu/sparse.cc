// Sparse tensors moved about: made dense, joined, cut, put in order.
#include "backends/cpu/rows.h"
#include "backends/cpu/sparse.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "backends/cpu/indices.h"
#include "base/stop_scope.h"

namespace emplace::cpu {

Sparse::Sparse(KernelContext& c, int indices_at, int values_at, int shape_at)
    : indices(c.input(indices_at)), values(c.input(values_at)) {
  const Tensor& shape = c.input(shape_at);
  check_sparse(indices, values, shape);
  dims = int_values(shape);
  for (int64_t d : dims)
    if (d < 0) throw invalid_argument("Shape must not have negative dimensions: " + shape.str());
  for (const int64_t i : paced(count()))
    for (size_t d = 0; d < rank(); ++d)
      if (at(i)[d] < 0 || at(i)[d] >= dims[d])
        throw invalid_argument(
            fmt::format("indices[{}] = {} is out of bounds: need 0 <= index < [{}]", i,
                        index_row(indices, i), fmt::join(dims, ",")));
}

int64_t Sparse::flat(int64_t i) const {
  int64_t at = 0;
  for (size_t d = 0; d < rank(); ++d) at = at * dims[d] + index(i, d);
  return at;
}

std::vector<int64_t> in_order(const int64_t* places, int64_t count, size_t rank, size_t width) {
  Pace pace;
  const auto before = [&](int64_t a, int64_t b) {
    pace.step();
    const int64_t *x = places + a * static_cast<int64_t>(rank),
                  *y = places + b * static_cast<int64_t>(rank);
    return std::lexicographical_compare(x, x + width, y, y + width);
  };
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  if (!std::is_sorted(order.begin(), order.end(), before))
    std::stable_sort(order.begin(), order.end(), before);
  return order;
}

void put_sparse(KernelContext& c, int first, const Places& places, const std::vector<int64_t>& dims,
                const Tensor& values) {
  const auto rank = static_cast<int64_t>(dims.size());
  Tensor& indices = c.output(first, Shape{places.count(), rank});
  std::copy_n(places[0], places.count() * rank, indices.data<int64_t>());
  copy_elements(c.output(first + 1, Shape{places.count()}), values);
  if (first + 2 < c.num_outputs())
    std::copy(dims.begin(), dims.end(), c.output(first + 2, Shape{rank}).data<int64_t>());
}

Tensor picked(const Tensor& from, std::span<const int64_t> order) {
  Tensor out(from.dtype(), Shape{static_cast<int64_t>(order.size())});
  const Mover mover(from.dtype());
  for (const size_t i : paced(order.size()))
    mover.copy(out, static_cast<int64_t>(i), from, order[i], 1);
  return out;
}

namespace {

struct ToDense {
  bool validate;
  void operator()(KernelContext& c) const {
    const Tensor &indices = c.input(0), &values = c.input(2), &rest = c.input(3);
    if (indices.rank() > 2)
      throw invalid_argument("sparse_indices should be a scalar, vector, or matrix, got shape " +
                             indices.shape().str());
    if (c.input(1).rank() != 1)
      throw invalid_argument("output_shape must be rank 1, got shape " + c.input(1).shape().str());
    const int64_t count = indices.rank() > 0 ? indices.dim(0) : 1;
    const int64_t rank = indices.rank() > 1 ? indices.dim(1) : 1;
    if (c.input(1).num_elements() != rank)
      throw invalid_argument(
          fmt::format("output_shape has incorrect number of elements: {} should "
                      "be: {}",
                      c.input(1).num_elements(), rank));
    if (values.rank() > 1 || (values.rank() == 1 && values.num_elements() != count))
      throw invalid_argument(
          fmt::format("sparse_values has incorrect shape {}, should be [] or [{}]",
                      values.shape().str(), count));
    if (rest.num_elements() != 1) throw invalid_argument("default_value should be a scalar.");
    Tensor& out = c.output(0, shape_from(c.input(1), "output_shape"));
    const Mover mover(out.dtype());
    mover.fill(out, 0, out.num_elements(), rest.raw());
    const int64_t step = values.rank() > 0 ? 1 : 0;
    visit_storage(out.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      T* to = out.data<T>();
      const T* from = values.data<T>();
      if (indices.dtype() == DType::kInt64 && rank == 2) {
        const int64_t* at = indices.data<int64_t>();
        const int64_t rows = out.dim(0), columns = out.dim(1);
        each(indices, count, [&](int64_t i) {
          const int64_t r = at[2 * i], k = at[2 * i + 1];
          const bool inside = r >= 0 && r < rows && k >= 0 && k < columns;
          return inside ? r * columns + k : place(indices, i, rank, out.shape());
        }, [&](int64_t i, int64_t where) { to[where] = from[i * step]; });
      } else {
        each(indices, count, [&](int64_t i) { return place(indices, i, rank, out.shape()); },
             [&](int64_t i, int64_t where) { to[where] = from[i * step]; });
      }
    });
  }
  static constexpr const char* kOutOfOrder =
      "out of order. Many sparse ops require sorted indices.\n    Use `tf.sparse.reorder` to create a "
      "correctly ordered copy.\n\n";
  static std::string text_of(const Tensor& indices, int64_t i) {
    const int64_t rank = indices.rank() > 1 ? indices.dim(1) : 1;
    std::string text;
    for (int64_t d = 0; d < rank; ++d)
      text += fmt::format("{}{}", d ? "," : "", index_at(indices, i * rank + d));
    return "[" + text + "]";
  }
  // Puts each value where it belongs.
  template <class Where, class Put>
  void each(const Tensor& indices, int64_t count, const Where& where, const Put& put) const {
    int64_t before = -1;
    for (const int64_t i : paced(count)) {
      const int64_t at = where(i);
      if (validate && at <= before)
        throw invalid_argument(fmt::format("indices[{}] = {} is {}", i, text_of(indices, i),
                                           at == before ? "repeated" : kOutOfOrder));
      before = at;
      put(i, at);
    }
  }
  int64_t place(const Tensor& indices, int64_t i, int64_t rank, const Shape& shape) const {
    int64_t at = 0;
    for (int64_t d = 0; d < rank; ++d) {
      const int64_t v = index_at(indices, i * rank + d), size = shape[static_cast<int>(d)];
      if ((v < 0 || v >= size) && !validate)
        throw invalid_argument("Indices are not valid (out of bounds).  Shape: " + shape.str());
      if (v < 0 || v >= size)
        throw invalid_argument(
            fmt::format("indices[{}] = {} is out of bounds: need 0 <= index < {}", i,
                        text_of(indices, i), shape.str()));
      at = at * size + v;
    }
    return at;
  }
};
Prepared make_to_dense(const KernelInit& i) {
  return prepared(ToDense{i.attr<bool>("validate_indices")});
}

struct Concat {
  int64_t axis;
  int count;
  void operator()(KernelContext& c) const {
    std::vector<Sparse> parts;
    for (int i = 0; i < count; ++i) parts.emplace_back(c, i, count + i, 2 * count + i);
    std::vector<std::vector<int64_t>> sizes;
    for (const Sparse& part : parts) sizes.push_back(part.dims);
    int64_t joined = axis, before = 0;
    const std::vector<int64_t> dims = joined_sizes(sizes, joined);
    const auto at = static_cast<size_t>(joined);
    int64_t total = 0;
    for (const Sparse& part : parts) total += part.count();
    Places all(dims.size());
    all.reserve(total);
    std::vector<std::pair<size_t, int64_t>> from;
    from.reserve(static_cast<size_t>(total));
    for (size_t p = 0; p < parts.size(); ++p) {
      for (const int64_t i : paced(parts[p].count())) {
        all.add(parts[p].at(i))[at] += before;
        from.emplace_back(p, i);
      }
      before += parts[p].dims[at];
    }
    Tensor values(parts[0].values.dtype(), Shape{all.count()});
    const Mover mover(values.dtype());
    Places places(dims.size());
    places.reserve(all.count());
    for (const int64_t i : in_order(all[0], all.count(), dims.size(), dims.size())) {
      const auto& [part, number] = from[static_cast<size_t>(i)];
      mover.copy(values, places.count(), parts[part].values, number, 1);
      places.add(all[i]);
    }
    put_sparse(c, 0, places, dims, values);
  }
};
Prepared make_concat(const KernelInit& i) {
  return prepared(Concat{i.attr<int64_t>("concat_dim"), static_cast<int>(i.attr<int64_t>("N"))});
}

void reorder(KernelContext& c) {
  const Sparse s(c, 0);
  const std::vector<int64_t> order = in_order(s.at(0), s.count(), s.rank(), s.rank());
  Places places(s.rank());
  places.reserve(s.count());
  for (const int64_t i : order) places.add(s.at(i));
  put_sparse(c, 0, places, s.dims, picked(s.values, order));
}

void reshape(KernelContext& c) {
  const Tensor& indices = c.input(0);
  if (indices.rank() != 2 || c.input(1).rank() != 1 || c.input(2).rank() != 1)
    throw invalid_argument("indices must be a matrix, shapes vectors");
  const std::vector<int64_t> from = int_values(c.input(1));
  if (indices.dim(1) != static_cast<int64_t>(from.size()))
    throw invalid_argument("Input tensor rank must match input shape length.");
  const std::vector<int64_t> to = reshaped_sizes(from, int_values(c.input(2)));
  const auto rank = static_cast<int64_t>(to.size());
  Tensor& out = c.output(0, Shape{indices.dim(0), rank});
  for (const int64_t i : paced(indices.dim(0))) {
    uint64_t at = 0;  // places outside wrap around, as they do in TensorFlow
    for (size_t d = 0; d < from.size(); ++d)
      at = at * static_cast<uint64_t>(from[d]) +
           static_cast<uint64_t>(index_at(indices, i * indices.dim(1) + static_cast<int64_t>(d)));
    auto rest = static_cast<int64_t>(at);
    for (int64_t d = rank; d-- > 0;) {
      const int64_t size = std::max<int64_t>(to[static_cast<size_t>(d)], 1);
      out.data<int64_t>()[i * rank + d] = rest % size;
      rest /= size;
    }
  }
  std::copy(to.begin(), to.end(), c.output(1, Shape{rank}).data<int64_t>());
}

// What lies in [start, start + size), counted from start.
struct Part {
  Places places;
  std::vector<int64_t> order, dims;
};
Part part_of(const Sparse& s, const std::vector<int64_t>& start, const std::vector<int64_t>& size) {
  Part part{Places(s.rank()), {}, sliced_sizes(s.dims, start, size)};
  for (const int64_t i : paced(s.count())) {
    bool in = true;
    for (size_t d = 0; in && d < s.rank(); ++d)
      in = s.at(i)[d] >= start[d] && s.at(i)[d] - start[d] < part.dims[d];
    if (!in) continue;
    int64_t* place = part.places.add(s.at(i));
    for (size_t d = 0; d < s.rank(); ++d) place[d] -= start[d];
    part.order.push_back(i);
  }
  return part;
}

void sparse_slice(KernelContext& c) {
  const Sparse s(c, 0);
  const std::vector<int64_t> start = int_values(c.input(3)), size = int_values(c.input(4));
  const Part part = part_of(s, start, size);
  put_sparse(c, 0, part.places, part.dims, picked(s.values, part.order));
}

void slice_gradient(KernelContext& c) {
  const Tensor &gradient = c.input(0), &in = c.input(1), &out = c.input(3);
  const std::vector<int64_t> start = int_values(c.input(2));
  if (in.rank() != 2 || out.rank() != 2 || gradient.rank() != 1 || in.dim(1) != out.dim(1) ||
      in.dim(1) != static_cast<int64_t>(start.size()) || gradient.dim(0) != out.dim(0))
    throw invalid_argument("gradient, indices and start do not belong together");
  Tensor& result = c.output(0, Shape{in.dim(0)});
  const Mover mover(result.dtype());
  mover.zero(result, 0, in.dim(0));
  const int64_t rank = in.dim(1);
  for (int64_t i = 0, j = 0; i < in.dim(0) && j < out.dim(0); ++i) {
    bool same = true;
    for (int64_t d = 0; d < rank; ++d)
      same = same && index_at(in, i * rank + d) ==
                         index_at(out, j * rank + d) + start[static_cast<size_t>(d)];
    if (same) mover.copy(result, i, gradient, j++, 1);
  }
}

struct Split {
  int parts;
  void operator()(KernelContext& c) const {
    const Sparse s(c, 1);
    const int64_t axis = int_scalar(c.input(0), "split_dim");
    const auto rank = static_cast<int64_t>(s.rank());
    if (axis < -rank || axis >= rank)
      throw invalid_argument(
          fmt::format("Input axis should be in range [{}, {}), got {}", -rank, rank, axis));
    const auto at = static_cast<size_t>(axis < 0 ? axis + rank : axis);
    const int64_t small = s.dims[at] / parts, more = s.dims[at] % parts;
    if (s.dims[at] < parts)
      throw invalid_argument(fmt::format(
          "Input num_split should be between 1 and the splitting dimension size ({}), got {}",
          s.dims[at], parts));
    std::vector<int64_t> start(s.rank(), 0), size = s.dims;
    for (int p = 0; p < parts; ++p) {
      size[at] = small + (p < more ? 1 : 0);
      const Part part = part_of(s, start, size);
      const int64_t count = part.places.count();
      std::copy_n(part.places[0], count * rank, c.output(p, Shape{count, rank}).data<int64_t>());
      copy_elements(c.output(parts + p, Shape{count}), picked(s.values, part.order));
      Tensor& shape = c.output(2 * parts + p, Shape{static_cast<int64_t>(s.rank())});
      std::copy(size.begin(), size.end(), shape.data<int64_t>());
      start[at] += size[at];
    }
  }
};
Prepared make_split(const KernelInit& i) {
  return prepared(Split{static_cast<int>(i.attr<int64_t>("num_split"))});
}

void fill_empty_rows(KernelContext& c) {
  const Sparse s(c, 0);
  if (s.rank() == 0) throw invalid_argument("Dense shape cannot be empty.");
  if (c.input(3).num_elements() != 1) throw invalid_argument("default_value must be a scalar");
  const int64_t rows = s.dims[0];
  if (rows > (int64_t{1} << 40))
    throw resource_exhausted(fmt::format("a sparse tensor of {} rows", rows));
  Tensor& empty = c.output(2, Shape{rows});
  std::fill_n(empty.data<bool>(), rows, true);
  for (const int64_t i : paced(s.count())) empty.data<bool>()[s.index(i, 0)] = false;
  Places places(s.rank());
  places.reserve(s.count());
  std::vector<int64_t> order;
  order.reserve(static_cast<size_t>(s.count()));
  Tensor& back = c.output(3, Shape{s.count()});
  int64_t row = 0;
  const auto fill_up_to = [&](int64_t end) {
    for (; row < end; ++row)
      if (empty.data<bool>()[row]) {
        *places.add() = row;
        order.push_back(-1);
      }
  };
  for (const int64_t i : in_order(s.at(0), s.count(), s.rank(), 1)) {
    fill_up_to(s.index(i, 0));
    back.data<int64_t>()[i] = places.count();
    places.add(s.at(i));
    order.push_back(i);
  }
  fill_up_to(rows);
  Tensor values(s.values.dtype(), Shape{static_cast<int64_t>(order.size())});
  const Mover mover(values.dtype());
  for (const size_t i : paced(order.size())) {
    const bool own = order[i] >= 0;
    mover.copy(values, static_cast<int64_t>(i), own ? s.values : c.input(3), own ? order[i] : 0, 1);
  }
  const auto rank = static_cast<int64_t>(s.rank());
  std::copy_n(places[0], places.count() * rank,
              c.output(0, Shape{places.count(), rank}).data<int64_t>());
  copy_elements(c.output(1, values.shape()), values);
}

}  // namespace

std::vector<KernelRow> sparse_kernels() {
  return {row("SparseToDense", make_to_dense),
          row("SparseConcat", make_concat),
          row("SparseReorder", stateless<reorder>),
          row("SparseReshape", stateless<reshape>),
          row("SparseSlice", stateless<sparse_slice>),
          row("SparseSliceGrad", stateless<slice_gradient>),
          row("SparseSplit", make_split),
          row("SparseFillEmptyRows", stateless<fill_empty_rows>)};
}

}  // namespace emplace::cpu
