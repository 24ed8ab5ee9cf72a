#include "kernel/tensor_list.h"

#include <fmt/format.h>

namespace emplace {

std::shared_ptr<TensorList> TensorList::pushed(Tensor t) const {
  {
    const std::lock_guard lock(storage_->mutex);
    if (static_cast<int64_t>(storage_->items.size()) == length_) {
      storage_->items.push_back(std::move(t));
      auto list = std::make_shared<TensorList>(*this);
      ++list->length_;
      return list;
    }
  }
  auto list = copied(length_);
  list->append(std::move(t));
  return list;
}

std::shared_ptr<TensorList> TensorList::shortened(int64_t length) const {
  auto list = std::make_shared<TensorList>(*this);
  list->length_ = length;
  return list;
}

std::shared_ptr<TensorList> TensorList::copied(int64_t length) const {
  auto list = std::make_shared<TensorList>(dtype, element_shape, max_length);
  const int64_t kept = std::min(length, length_);
  {
    const std::lock_guard lock(storage_->mutex);
    list->storage_->items.assign(storage_->items.begin(), storage_->items.begin() + kept);
  }
  list->storage_->items.resize(static_cast<size_t>(length));
  list->length_ = length;
  return list;
}

void TensorList::append(Tensor t) {
  storage_->items.push_back(std::move(t));
  ++length_;
}

const TensorList& list_in(const Tensor& t, int64_t i) {
  if (t.dtype() != DType::kVariant || t.num_elements() <= i)
    throw invalid_argument(fmt::format("Input handle must be a scalar. Saw: {}", t.shape().str()));
  const auto* list = dynamic_cast<const TensorList*>(t.data<Variant>()[i].value.get());
  if (!list) throw invalid_argument("Input handle is not a list. Saw: 'nothing'");
  return *list;
}

}  // namespace emplace
