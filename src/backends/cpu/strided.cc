#include "backends/cpu/strided.h"

namespace emplace::cpu {
namespace {

// A walk over two boxes, dimensions of size 1 dropped and neighbours that run on merged.
struct Walk {
  std::vector<int64_t> sizes, from, to;
  int64_t rows = 1;

  Walk(std::span<const int64_t> all, const Box& a, const Box& b) {
    for (size_t i = 0; i < all.size(); ++i) {
      if (all[i] == 1) continue;
      const bool runs_on = !sizes.empty() && from.back() == a.strides[i] * all[i] &&
                           to.back() == b.strides[i] * all[i];
      if (runs_on) {
        sizes.back() *= all[i];
        from.back() = a.strides[i];
        to.back() = b.strides[i];
      } else {
        sizes.push_back(all[i]);
        from.push_back(a.strides[i]);
        to.push_back(b.strides[i]);
      }
    }
    if (sizes.empty()) sizes = from = to = {1};
    for (size_t i = 0; i + 1 < sizes.size(); ++i) rows *= sizes[i];
  }

  struct Place {
    int64_t from, to;
  };
  Place place(int64_t row) const {
    Place p{0, 0};
    for (size_t i = sizes.size() - 1; i-- > 0;) {
      const int64_t k = row % sizes[i];
      row /= sizes[i];
      p.from += k * from[i];
      p.to += k * to[i];
    }
    return p;
  }
};

template <class T>
void copy_line(const T* from, int64_t from_step, T* to, int64_t to_step, int64_t n) {
  if (from_step == 0 && to_step == 1) {
    std::fill_n(to, n, *from);
    return;
  }
  for (int64_t i = 0; i < n; ++i) to[i * to_step] = from[i * from_step];
}

// Runs so short that copying one costs less than finding its place: the dimension before the last
// is walked here, too.
constexpr int64_t kShortRun = 32;

template <class T>
void copy_short_runs(const Walk& w, const Box& a, const Box& b, int64_t begin, int64_t end) {
  const size_t d = w.sizes.size() - 2;
  const int64_t n = w.sizes[d + 1], lines = w.sizes[d];
  const T* from = a.tensor->data<T>() + a.offset;
  T* to = b.tensor->data<T>() + b.offset;
  for (int64_t r = begin; r < end;) {
    const auto p = w.place(r);
    const int64_t count = std::min(end - r, lines - r % lines);
    const T* x = from + p.from;
    T* y = to + p.to;
    for (int64_t k = 0; k < count; ++k, x += w.from[d], y += w.to[d])
      for (int64_t i = 0; i < n; ++i) y[i] = x[i];
    r += count;
  }
}

template <class T>
void copy_rows(const Walk& w, const Box& a, const Box& b, int64_t begin, int64_t end) {
  const T* from = a.tensor->data<T>() + a.offset;
  T* to = b.tensor->data<T>() + b.offset;
  for (int64_t r = begin; r < end; ++r) {
    const auto p = w.place(r);
    copy_line(from + p.from, w.from.back(), to + p.to, w.to.back(), w.sizes.back());
  }
}

}  // namespace

std::vector<int64_t> row_major_strides(const Shape& s) {
  std::vector<int64_t> strides(static_cast<size_t>(s.rank()));
  int64_t step = 1;
  for (int i = s.rank() - 1; i >= 0; step *= s[i--]) strides[static_cast<size_t>(i)] = step;
  return strides;
}

Box Box::whole(const Tensor& t) { return {&t, 0, row_major_strides(t.shape())}; }

void copy_box(KernelContext& c, std::span<const int64_t> sizes, const Box& from, const Box& to) {
  for (int64_t s : sizes)
    if (s == 0) return;
  const Walk w(sizes, from, to);
  const DType dtype = from.tensor->dtype();
  const int64_t n = w.sizes.back();
  const bool runs = w.from.back() == 1 && w.to.back() == 1;
  const double cost = (runs ? move_cost(dtype) : 1.0) * static_cast<double>(n) + 8;
  const Mover mover(dtype);
  c.parallel_for(w.rows, cost, [&](int64_t begin, int64_t end) {
    if (runs && n <= kShortRun && w.sizes.size() > 1 && is_plain(dtype)) {
      visit_storage(dtype, [&](auto tag) {
        copy_short_runs<typename decltype(tag)::type>(w, from, to, begin, end);
      });
      return;
    }
    if (!runs) {
      visit_storage(dtype, [&](auto tag) {
        copy_rows<typename decltype(tag)::type>(w, from, to, begin, end);
      });
      return;
    }
    for (int64_t r = begin; r < end; ++r) {
      const auto p = w.place(r);
      mover.copy(*to.tensor, to.offset + p.to, *from.tensor, from.offset + p.from, n);
    }
  });
}

static bool is_identity(const std::vector<int64_t>& map, int64_t size) {
  if (static_cast<int64_t>(map.size()) != size) return false;
  for (int64_t i = 0; i < size; ++i)
    if (map[static_cast<size_t>(i)] != i) return false;
  return true;
}

void copy_mapped(KernelContext& c, const Tensor& in, std::span<const std::vector<int64_t>> maps,
                 const Tensor& out) {
  if (out.num_elements() == 0) return;
  const Mover mover(in.dtype());
  if (maps.empty()) return mover.copy(out, 0, in, 0, 1);
  const auto strides = row_major_strides(in.shape());
  // Whole dimensions at the end move as one element.
  int64_t each = 1;
  for (; maps.size() > 1 && is_identity(maps.back(), in.dim(static_cast<int>(maps.size()) - 1));
       maps = maps.first(maps.size() - 1))
    each *= static_cast<int64_t>(maps.back().size());
  const std::vector<int64_t>& last = maps.back();
  const auto n = static_cast<int64_t>(last.size());
  const double cost = move_cost(in.dtype()) * static_cast<double>(n * each) + 10;
  c.parallel_for(out.num_elements() / (n * each), cost, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      int64_t from = 0, rest = row;
      for (size_t d = maps.size() - 1; d-- > 0;) {
        const auto size = static_cast<int64_t>(maps[d].size());
        from += maps[d][static_cast<size_t>(rest % size)] * strides[d];
        rest /= size;
      }
      for (int64_t j = 0; j < n;) {  // as far as the map runs on
        int64_t end_of_run = j + 1;
        while (end_of_run < n && last[static_cast<size_t>(end_of_run)] ==
                                     last[static_cast<size_t>(j)] + end_of_run - j)
          ++end_of_run;
        mover.copy(out, (row * n + j) * each, in, from + last[static_cast<size_t>(j)] * each,
                   (end_of_run - j) * each);
        j = end_of_run;
      }
    }
  });
}

}  // namespace emplace::cpu
