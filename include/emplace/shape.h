#pragma once
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include "emplace/export.h"

namespace emplace {

// A tensor's shape; a dimension may be unknown (-1), and so may the rank. Up to six dimensions
// are held inline, so that copying the shapes met in practice allocates nothing.
class EMPLACE_API Shape {
 public:
  static constexpr int kInline = 6;
  static constexpr int kMaxRank = 254;
  static constexpr int64_t kUnknown = -1;

  Shape() = default;  // a scalar
  Shape(std::initializer_list<int64_t> dims) : Shape(std::span(dims.begin(), dims.size())) {}
  explicit Shape(std::span<const int64_t> dims);
  static Shape unknown();           // unknown rank
  static Shape unknown_dims(int rank);
  Shape(const Shape& o);
  Shape(Shape&& o) noexcept;
  Shape& operator=(const Shape& o);
  Shape& operator=(Shape&& o) noexcept;
  ~Shape() {
    if (rank_ > kInline) delete[] heap_;
  }

  bool has_rank() const { return rank_ >= 0; }
  int rank() const { return rank_; }  // -1 when unknown
  int64_t dim(int i) const { return data()[i]; }
  int64_t operator[](int i) const { return data()[i]; }
  void set_dim(int i, int64_t size) { data()[i] = size; }
  void push_back(int64_t size);
  void insert(int at, int64_t size);
  void erase(int at);
  std::span<const int64_t> dims() const {
    return {data(), rank_ < 0 ? 0 : static_cast<size_t>(rank_)};
  }
  const int64_t* begin() const { return data(); }
  const int64_t* end() const { return data() + (rank_ < 0 ? 0 : rank_); }

  bool is_fully_known() const;
  // Elements; -1 when not fully known. Callers that take sizes from users check with
  // `checked_elements` first: this one does not look for overflow.
  int64_t num_elements() const;
  bool is_scalar() const { return rank_ == 0; }

  bool operator==(const Shape& o) const {  // unknowns equal unknowns
    if (rank_ != o.rank_) return false;
    const int64_t *a = data(), *b = o.data();
    for (int i = 0; i < rank_; ++i)
      if (a[i] != b[i]) return false;
    return true;
  }
  // Could a tensor have both shapes?
  bool compatible_with(const Shape& o) const;
  // The shape that says what both say. Throws InvalidArgument when they contradict.
  Shape merged_with(const Shape& o) const;

  std::string str() const;  // "[2,3]", "[?,784]", "<unknown>"
  std::string tuple_str() const;  // "(2, 3)", "(3,)", "(None, 784)", "<unknown>"

 private:
  int64_t* data() { return rank_ > kInline ? heap_ : inline_; }
  const int64_t* data() const { return rank_ > kInline ? heap_ : inline_; }
  void assign(std::span<const int64_t> dims);

  int16_t rank_ = 0;
  union {
    int64_t inline_[kInline] = {};
    int64_t* heap_;
  };
};

// Product of sizes a user gave; throws InvalidArgument for a negative size or an overflow.
EMPLACE_API int64_t checked_elements(std::span<const int64_t> dims);

}  // namespace emplace
