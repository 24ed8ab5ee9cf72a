#pragma once
#include <span>

#include "data/dataset.h"

namespace emplace::data {

// Copies `from` to row `row` of `to`: as many elements as a row has, of the same dtype.
void put_row(Tensor& to, int64_t row, const Tensor& from);
// Fresh memory for `rows` of such a shape, where `reader` (null: the host) copies from it fast.
Tensor rows_like(DType dtype, const Shape& row, int64_t rows, Device* reader);
// Row `row` of a tensor, sharing its memory.
Tensor row_of(const Tensor& t, int64_t row);
// Bytes that an element holds on to, about.
int64_t bytes_of_element(const Element& e);

// Elements as they are put together to one. The first one says how large the batch's rows are.
class BatchBuilder {
 public:
  BatchBuilder(int64_t most, const Pass& pass) : most_(most), reader_(pass.reader()) {}
  int64_t size() const { return size_; }
  bool full() const { return size_ == most_; }
  // InvalidArgument where its shapes are not those of the first one.
  void add(const Element& e);
  // The batch, of as many rows as were added; none is left.
  Element take();
  void clear();

 private:
  static constexpr int64_t kRoom = 4096;  // rows that are made at once
  void grow(int64_t room);

  const int64_t most_;
  Device* const reader_;
  int64_t size_ = 0, room_ = 0;
  Element batch_;
  std::vector<DType> types_;
  std::vector<Shape> shapes_;
};

}  // namespace emplace::data
