#include "emplace/shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "emplace/error.h"

namespace emplace {
namespace {

void check_size(int64_t size) {
  if (size < Shape::kUnknown)
    throw invalid_argument(fmt::format("Dimension {} must be >= 0", size));
}

void check_rank(size_t rank) {
  if (rank > Shape::kMaxRank)
    throw invalid_argument(fmt::format("Too many dimensions in shape: {}, at most {} are allowed",
                                       rank, int{Shape::kMaxRank}));
}

void check_place(int at, int last) {
  if (at < 0 || at > last)
    throw out_of_range(fmt::format("Dimension {} is not in [0, {}]", at, last));
}

std::string joined(const Shape& s, std::string_view separator, std::string_view unknown) {
  std::string out;
  for (int i = 0; i < s.rank(); ++i) {
    if (i > 0) out += separator;
    if (s[i] < 0) {
      out += unknown;
    } else {
      fmt::format_to(std::back_inserter(out), "{}", s[i]);
    }
  }
  return out;
}

[[noreturn]] void throw_unequal(int axis, const Shape& a, const Shape& b) {
  throw invalid_argument(
      fmt::format("Dimension {} in both shapes must be equal, but are {} and {}. "
                  "Shapes are {} and {}.",
                  axis, a[axis], b[axis], a.str(), b.str()));
}

}  // namespace

Shape::Shape(std::span<const int64_t> dims) {
  check_rank(dims.size());
  for (const int64_t d : dims) check_size(d);
  assign(dims);
}

Shape Shape::unknown() {
  Shape s;
  s.rank_ = -1;
  return s;
}

Shape Shape::unknown_dims(int rank) {
  if (rank < 0) return unknown();
  check_rank(static_cast<size_t>(rank));
  if (rank > kInline) return Shape(std::vector<int64_t>(static_cast<size_t>(rank), kUnknown));
  Shape s;  // kernels make these in every step: without allocating
  s.rank_ = static_cast<int16_t>(rank);
  std::fill_n(s.inline_, rank, kUnknown);
  return s;
}

Shape::Shape(const Shape& o) {
  assign(o.dims());
  rank_ = o.rank_;
}

Shape::Shape(Shape&& o) noexcept : rank_(o.rank_) {
  if (rank_ > kInline) {
    heap_ = o.heap_;
    o.rank_ = 0;
  } else {
    std::copy_n(o.inline_, kInline, inline_);
  }
}

Shape& Shape::operator=(const Shape& o) {
  if (this != &o) *this = Shape(o);
  return *this;
}

Shape& Shape::operator=(Shape&& o) noexcept {
  if (this == &o) return *this;
  if (rank_ > kInline) delete[] heap_;
  rank_ = o.rank_;
  if (rank_ > kInline) {
    heap_ = o.heap_;
    o.rank_ = 0;
  } else {
    std::copy_n(o.inline_, kInline, inline_);
  }
  return *this;
}

// Only for a shape that owns no heap memory.
void Shape::assign(std::span<const int64_t> dims) {
  if (dims.size() > kInline) heap_ = new int64_t[dims.size()];
  rank_ = static_cast<int16_t>(dims.size());
  std::copy(dims.begin(), dims.end(), data());
}

void Shape::push_back(int64_t size) { insert(rank_, size); }

void Shape::insert(int at, int64_t size) {
  if (rank_ < 0) return;  // nothing is known of it, and nothing still
  check_place(at, rank_);
  check_size(size);
  check_rank(static_cast<size_t>(rank_) + 1);
  if (rank_ < kInline) {
    std::copy_backward(inline_ + at, inline_ + rank_, inline_ + rank_ + 1);
    inline_[at] = size;
    ++rank_;
    return;
  }
  std::vector<int64_t> d(begin(), end());
  d.insert(d.begin() + at, size);
  *this = Shape(d);
}

void Shape::erase(int at) {
  if (rank_ < 0) return;
  check_place(at, rank_ - 1);
  if (rank_ <= kInline) {
    std::copy(inline_ + at + 1, inline_ + rank_, inline_ + at);
    --rank_;
    return;
  }
  std::vector<int64_t> d(begin(), end());
  d.erase(d.begin() + at);
  *this = Shape(d);
}

bool Shape::is_fully_known() const {
  return has_rank() && std::none_of(begin(), end(), [](int64_t d) { return d < 0; });
}

int64_t Shape::num_elements() const {
  if (rank_ < 0) return kUnknown;
  uint64_t n = 1;  // wraps where a signed product would be undefined
  bool known = true;
  for (const int64_t d : dims()) {
    known = known && d >= 0;
    n *= static_cast<uint64_t>(d);
  }
  return known ? static_cast<int64_t>(n) : kUnknown;
}

bool Shape::compatible_with(const Shape& o) const {
  if (!has_rank() || !o.has_rank()) return true;
  return rank_ == o.rank_ && std::equal(begin(), end(), o.begin(), [](int64_t a, int64_t b) {
           return a == b || a < 0 || b < 0;
         });
}

Shape Shape::merged_with(const Shape& o) const {
  if (!has_rank()) return o;
  if (!o.has_rank()) return *this;
  if (rank_ != o.rank_)
    throw invalid_argument(
        fmt::format("Shapes must be equal rank, but are {} and {}", rank_, o.rank_));
  Shape merged = *this;
  for (int i = 0; i < rank_; ++i) {
    if (merged[i] < 0) {
      merged.set_dim(i, o[i]);
    } else if (o[i] >= 0 && o[i] != merged[i]) {
      throw_unequal(i, *this, o);
    }
  }
  return merged;
}

std::string Shape::str() const {
  return has_rank() ? "[" + joined(*this, ",", "?") + "]" : "<unknown>";
}

std::string Shape::tuple_str() const {
  if (!has_rank()) return "<unknown>";
  return "(" + joined(*this, ", ", "None") + (rank_ == 1 ? ",)" : ")");
}

int64_t checked_elements(std::span<const int64_t> dims) {
  int64_t n = 1;
  bool overflow = false, empty = false;
  for (const int64_t d : dims) {
    if (d < 0) throw invalid_argument(fmt::format("Dimension {} must be >= 0", d));
    empty = empty || d == 0;
    overflow = __builtin_mul_overflow(n, d, &n) || overflow;
  }
  if (empty) return 0;
  if (overflow)
    throw invalid_argument(
        fmt::format("Shape [{}] would have more than 2**63 - 1 elements", fmt::join(dims, ",")));
  return n;
}

}  // namespace emplace
