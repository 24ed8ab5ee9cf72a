#pragma once
#include <deque>
#include <memory>
#include <mutex>
#include <string_view>

#include "kernel/kernel.h"

namespace emplace {

// A list of tensors, the value of a DT_VARIANT scalar. Elements may be unset (no value).
//
// Lists made from one another by pushing and popping share their elements: each is the first
// `length` of a common storage, to which only the list that has all of it adds.
class TensorList final : public VariantValue {
 public:
  TensorList(DType dtype, Shape element_shape, int64_t max_length = -1)
      : dtype(dtype), element_shape(std::move(element_shape)), max_length(max_length) {}
  std::string_view type_name() const override { return "tensorflow::TensorList"; }

  int64_t length() const { return length_; }
  const Tensor& at(int64_t i) const {
    const std::lock_guard lock(storage_->mutex);  // a longer list may be growing; elements stay
    return storage_->items[static_cast<size_t>(i)];
  }
  // Others made from this one; elements are shared.
  std::shared_ptr<TensorList> pushed(Tensor t) const;
  std::shared_ptr<TensorList> shortened(int64_t length) const;
  std::shared_ptr<TensorList> copied(int64_t length) const;  // own storage, longer ones unset
  void set(int64_t i, Tensor t) { storage_->items[static_cast<size_t>(i)] = std::move(t); }
  void append(Tensor t);  // while it is nobody else's

  DType dtype;
  Shape element_shape;  // what all elements have in common
  int64_t max_length;   // -1: none

 private:
  struct Storage {
    std::mutex mutex;  // guards growing
    std::deque<Tensor> items;
  };
  std::shared_ptr<Storage> storage_ = std::make_shared<Storage>();
  int64_t length_ = 0;
};

// The list that element `i` of a variant tensor holds. InvalidArgument if it holds none.
const TensorList& list_in(const Tensor& t, int64_t i = 0);

}  // namespace emplace
