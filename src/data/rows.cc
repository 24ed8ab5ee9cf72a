#include "data/rows.h"

#include <fmt/format.h>

#include <cstring>

#include "device/pinned_host.h"
#include "kernel/keep.h"
#include "kernel/kernel.h"

namespace emplace::data {
namespace {

constexpr size_t kPinnedBytes = size_t{64} << 10;  // smaller ones are no hurry

}  // namespace

void put_row(Tensor& to, int64_t row, const Tensor& from) {
  if (is_plain(to.dtype()) && !from.device()) {
    const size_t n = from.bytes();
    char* const at = static_cast<char*>(to.raw()) + static_cast<size_t>(row) * n;
    if (n == 8) std::memcpy(at, from.raw(), 8);
    else if (n == 4) std::memcpy(at, from.raw(), 4);
    else if (n > 0) std::memcpy(at, from.raw(), n);
    return;
  }
  Tensor part = to.slice(row, row + 1);
  copy_elements(part, from);
}

Tensor rows_like(DType dtype, const Shape& row, int64_t rows, Device* reader) {
  const Shape shape = with_first(rows, row);
  auto* const card = is_plain(dtype) ? dynamic_cast<PinnedHost*>(reader) : nullptr;
  const size_t bytes = card ? static_cast<size_t>(shape.num_elements()) * dtype_size(dtype) : 0;
  if (!card || bytes < kPinnedBytes) return Tensor(dtype, shape);
  return Tensor(dtype, shape, card->allocate_pinned(bytes));
}

Tensor row_of(const Tensor& t, int64_t row) {
  return t.slice(row, row + 1).reshaped(without_first(t.shape()));
}

int64_t bytes_of_element(const Element& e) {
  int64_t n = 0;
  for (const Tensor& t : e) {
    n += static_cast<int64_t>(t.bytes());
    if (t.dtype() == DType::kString)
      for (int64_t i = 0; i < t.num_elements(); ++i)
        n += static_cast<int64_t>(t.data<std::string>()[i].size());
  }
  return n;
}

void BatchBuilder::add(const Element& e) {
  if (size_ == 0) {
    batch_.resize(e.size());
    shapes_.resize(e.size());
    types_.resize(e.size());
    for (size_t i = 0; i < e.size(); ++i) {
      shapes_[i] = e[i].shape();
      types_[i] = e[i].dtype();
    }
    grow(std::min(most_, kRoom));
  } else if (size_ == room_) {
    grow(std::min(most_, 2 * room_));
  }
  if (e.size() != batch_.size())
    throw invalid_argument(
        fmt::format("Cannot batch elements of {} and {} components.", batch_.size(), e.size()));
  for (size_t i = 0; i < e.size(); ++i) {
    if (e[i].dtype() != types_[i])
      throw invalid_argument(
          fmt::format("Cannot batch tensors of dtypes {} and {} in component {}.",
                      dtype_name(types_[i]), dtype_name(e[i].dtype()), i));
    if (!(e[i].shape() == shapes_[i]))
      throw invalid_argument(fmt::format(
          "Cannot batch tensors with different shapes in component {}. First element had shape {} "
          "and element {} had shape {}.",
          i, shapes_[i].str(), size_, e[i].shape().str()));
    put_row(batch_[i], size_, e[i]);
  }
  ++size_;
}

// Who asks for batches larger than all there is gets memory for what there is.
void BatchBuilder::grow(int64_t room) {
  for (size_t i = 0; i < batch_.size(); ++i) {
    Tensor larger = rows_like(types_[i], shapes_[i], room, reader_);
    if (size_ > 0) {
      Tensor part = larger.slice(0, size_);
      copy_elements(part, batch_[i].slice(0, size_));
    }
    batch_[i] = std::move(larger);
  }
  room_ = room;
}

Element BatchBuilder::take() {
  if (size_ < room_)
    for (Tensor& t : batch_) t = t.slice(0, size_).copy();
  size_ = 0;
  return std::move(batch_);
}

void BatchBuilder::clear() {
  size_ = 0;
  batch_.clear();
}

}  // namespace emplace::data
