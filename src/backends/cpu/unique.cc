// Each value once, in the order of appearance.
#include <algorithm>
#include <string_view>

#include "backends/cpu/cpu_kernels.h"
#include "backends/cpu/move.h"
#include "backends/cpu/order.h"
#include "backends/cpu/radix_sort.h"
#include "backends/cpu/rows.h"
#include "base/flat_index.h"
#include "base/stop_scope.h"

namespace emplace::cpu {
namespace {

using Keys = Join<Join<Reals, Types<bool>>, Types<std::string>>;

// Numbers with the bits of x, one for each value: both zeros have the same. NaN is no value.
template <class T>
uint64_t bits_of(T x) {
  if constexpr (std::is_same_v<T, bool>) return x;
  else if constexpr (std::is_integral_v<T>) return static_cast<uint64_t>(x);
  else return static_cast<Compute<T>>(x) == 0 ? 0 : std::bit_cast<UnsignedOf<sizeof(T)>>(x);
}

template <class T>
std::vector<int64_t> first_places(const T* x, int64_t n, std::vector<int64_t>& index) {
  std::vector<int64_t> places;
  FlatIndex seen;
  Pace pace;
  for (int64_t i = 0; i < n; ++i) {
    pace.step();
    const auto fresh = static_cast<int64_t>(places.size());
    int64_t number;
    if constexpr (std::is_same_v<T, std::string>) {
      number = seen.find_or_insert(hash_of_bytes(x[i]), fresh, [&](int64_t k) {
        return x[places[static_cast<size_t>(k)]] == x[i];
      });
    } else {
      const bool value = static_cast<Compute<T>>(x[i]) == static_cast<Compute<T>>(x[i]);
      // Different values have different hashes; NaN is none, and met for the first time each time.
      number = value ? seen.find_or_insert(mixed_bits(bits_of(x[i])), fresh,
                                           [](int64_t) { return true; })
                     : fresh;
    }
    if (number == fresh) places.push_back(i);
    index[static_cast<size_t>(i)] = number;
  }
  return places;
}

// Slices compared as wholes: by text of their bytes, which plain dtypes allow.
std::vector<int64_t> first_slices(const Tensor& rows, std::vector<int64_t>& index) {
  std::vector<int64_t> places;
  FlatIndex seen;
  const int64_t n = rows.dim(0), inner = n ? rows.num_elements() / n : 0;
  const auto size = inner * static_cast<int64_t>(dtype_size(rows.dtype()));
  Pace pace;
  const auto find = [&](std::string_view key, int64_t i, const auto& key_of) {
    const auto fresh = static_cast<int64_t>(places.size());
    const int64_t number = seen.find_or_insert(hash_of_bytes(key), fresh, [&](int64_t k) {
      return key_of(places[static_cast<size_t>(k)]) == key;
    });
    if (number == fresh) places.push_back(i);
    index[static_cast<size_t>(i)] = number;
  };
  const auto bytes = [&](int64_t i) {
    return std::string_view(static_cast<const char*>(rows.raw()) + i * size,
                            static_cast<size_t>(size));
  };
  const auto text = [&](int64_t i) {
    std::string key;
    for (int64_t k = 0; k < inner; ++k) {
      const std::string& s = rows.data<std::string>()[i * inner + k];
      key += std::to_string(s.size()) + ":" + s;
    }
    return key;
  };
  for (int64_t i = 0; i < n; ++i) {
    pace.step();
    if (is_plain(rows.dtype())) find(bytes(i), i, bytes);
    else find(text(i), i, text);
  }
  return places;
}

template <class Index>
void put_counts(KernelContext& c, const std::vector<int64_t>& index, size_t found) {
  Tensor& out = c.output(1, Shape{static_cast<int64_t>(index.size())});
  std::copy(index.begin(), index.end(), out.data<Index>());
  if (c.num_outputs() < 3) return;
  Index* count = c.output(2, Shape{static_cast<int64_t>(found)}).template data<Index>();
  std::fill(count, count + found, Index{0});
  for (int64_t k : index) ++count[k];
}

void put_unique(KernelContext& c, const std::vector<int64_t>& index, size_t found) {
  if (c.output_type(1) == DType::kInt64) put_counts<int64_t>(c, index, found);
  else put_counts<int32_t>(c, index, found);
}

void unique_values(KernelContext& c) {
  const Tensor& in = c.input(0);
  std::vector<int64_t> index(static_cast<size_t>(in.num_elements())), places;
  visit_dtype(in.dtype(), Keys{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    places = first_places(in.data<T>(), in.num_elements(), index);
  });
  Tensor& out = c.output(0, Shape{static_cast<int64_t>(places.size())});
  const Mover mover(in.dtype());
  for (const size_t i : paced(places.size()))
    mover.copy(out, static_cast<int64_t>(i), in, places[i], 1);
  put_unique(c, index, places.size());
}

void unique(KernelContext& c) {
  if (c.input(0).rank() != 1) throw invalid_argument("unique expects a 1D vector.");
  unique_values(c);
}

void unique_v2(KernelContext& c) {
  const Tensor &in = c.input(0), &axis = c.input(1);
  if (axis.rank() != 1 || axis.num_elements() > 1)
    throw invalid_argument("axis expects a 1D vector, with at most one element");
  if (axis.num_elements() == 0) return unique(c);
  const int at = checked_axis(int_values(axis)[0], in.rank(), "axis");
  if (in.rank() == 1) return unique_values(c);
  std::vector<int> perm = {at};
  for (int i = 0; i < in.rank(); ++i)
    if (i != at) perm.push_back(i);
  Shape turned_shape;
  for (int d : perm) turned_shape.push_back(in.dim(d));
  Tensor rows = c.temp(in.dtype(), turned_shape);
  transpose_elements(c, in, perm, rows);
  std::vector<int64_t> index(static_cast<size_t>(in.dim(at)));
  const auto places = first_slices(rows, index);
  Shape found = turned_shape, result = in.shape();
  found.set_dim(0, static_cast<int64_t>(places.size()));
  result.set_dim(at, static_cast<int64_t>(places.size()));
  Tensor kept = c.temp(in.dtype(), found);
  const int64_t inner = in.dim(at) ? rows.num_elements() / in.dim(at) : 0;
  const Mover mover(in.dtype());
  for (const size_t i : paced(places.size()))
    mover.copy(kept, static_cast<int64_t>(i) * inner, rows, places[i] * inner, inner);
  std::vector<int> back(perm.size());
  for (size_t i = 0; i < perm.size(); ++i) back[static_cast<size_t>(perm[i])] = static_cast<int>(i);
  Tensor& out = c.output(0, result);
  transpose_elements(c, kept, back, out);
  put_unique(c, index, places.size());
}

}  // namespace

std::vector<KernelRow> unique_kernels() {
  const auto keys = Keys::dtypes();
  return {row("Unique", keys, stateless<unique>),
          row("UniqueV2", keys, stateless<unique_v2>),
          row("UniqueWithCounts", keys, stateless<unique>),
          row("UniqueWithCountsV2", keys, stateless<unique_v2>)};
}

}  // namespace emplace::cpu
