#include "kernel/lookup_table.h"

#include <fmt/format.h>

#include <cstring>

#include "base/stop_scope.h"
#include "kernel/kernel.h"

namespace emplace {
namespace {

// Elements [at, at + n) of a tensor as one vector that shares its memory.
Tensor part(const Tensor& t, int64_t at, int64_t n) {
  return t.reshaped(Shape{t.num_elements()}).slice(at, at + n);
}

void copy_part(Tensor& to, int64_t to_at, const Tensor& from, int64_t from_at, int64_t n) {
  if (n == 0) return;
  Tensor there = part(to, to_at, n);
  copy_elements(there, part(from, from_at, n));
}

std::string bytes_of(const Tensor& t, int64_t at, int64_t n) {
  if (t.dtype() != DType::kString) {
    const size_t size = dtype_size(t.dtype());
    return std::string(static_cast<const char*>(t.raw()) + static_cast<size_t>(at) * size,
                       static_cast<size_t>(n) * size);
  }
  if (n == 1) return t.data<std::string>()[at];
  std::string all;
  for (int64_t i = at; i < at + n; ++i) {
    const std::string& s = t.data<std::string>()[i];
    all += fmt::format("{}:", s.size()) + s;
  }
  return all;
}

Shape joined(Shape a, const Shape& b) {
  for (int64_t d : b.dims()) a.push_back(d);
  return a;
}

}  // namespace

LookupTable::LookupTable(Options options)
    : options_(std::move(options)),
      key_elements_(options_.key_shape.num_elements()),
      value_elements_(options_.value_shape.num_elements()) {
  for (const auto& [name, key] : options_.reserved)
    reserved_.emplace_back(name, bytes_of(key, 0, key.num_elements()));
  grow();
}

int64_t LookupTable::size() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int64_t>(rows_.size());
}

void LookupTable::check_keys(DType keys) const {
  if (keys != options_.key_dtype)
    throw invalid_argument(fmt::format("Key must be type {} but got {}",
                                       dtype_name(options_.key_dtype), dtype_name(keys)));
}

void LookupTable::check_values(DType keys, DType values) const {
  if (keys == options_.key_dtype && values == options_.value_dtype) return;
  throw invalid_argument(fmt::format(
      "Signature mismatch, have: resource, {0}, {1}->{1} expected: resource, {2}, {3}->{3}",
      dtype_name(keys), dtype_name(values), dtype_name(options_.key_dtype),
      dtype_name(options_.value_dtype)));
}

Shape LookupTable::leading(const Tensor& keys) const {
  const int own = options_.key_shape.rank(), rank = keys.rank();
  Shape front;
  bool fits = rank >= own;
  for (int i = 0; fits && i < rank; ++i) {
    if (i < rank - own) front.push_back(keys.dim(i));
    else fits = keys.dim(i) == options_.key_shape[i - (rank - own)];
  }
  if (!fits)
    throw invalid_argument(
        fmt::format("Expected key shape {} got {}", options_.key_shape.str(), keys.shape().str()));
  return front;
}

Shape LookupTable::found_shape(const Tensor& keys) const {
  return joined(leading(keys), options_.value_shape);
}

std::vector<std::string> LookupTable::key_bytes(const Tensor& keys) const {
  const int64_t n = leading(keys).num_elements();
  std::vector<std::string> all;
  all.reserve(static_cast<size_t>(n));
  for (const int64_t i : paced(n)) all.push_back(bytes_of(keys, i * key_elements_, key_elements_));
  return all;
}

void LookupTable::check_unreserved(const std::vector<std::string>& keys) const {
  for (const auto& [name, reserved] : reserved_)
    for (const std::string& key : keys)
      if (key == reserved)
        throw invalid_argument(fmt::format("Using the {} as a table key is not allowed", name));
}

void LookupTable::check_shapes(const Tensor& keys, const Tensor& values) const {
  const Shape expected = found_shape(keys);
  if (!(values.shape() == expected))
    throw invalid_argument(
        fmt::format("Expected shape {} for value, got {}", expected.str(), values.shape().str()));
}

void LookupTable::grow() {
  const int64_t capacity = std::max<int64_t>(16, capacity_ * 2);
  Tensor keys(options_.key_dtype, Shape{capacity * key_elements_});
  Tensor values(options_.value_dtype, Shape{capacity * value_elements_});
  if (used_ > 0) {
    copy_part(keys, 0, keys_, 0, used_ * key_elements_);
    copy_part(values, 0, values_, 0, used_ * value_elements_);
  }
  keys_ = std::move(keys);
  values_ = std::move(values);
  capacity_ = capacity;
}

int64_t LookupTable::row_of(const std::string& key) {
  const auto [it, fresh] = rows_.try_emplace(key, used_);
  if (fresh && ++used_ > capacity_) {
    --used_;
    grow();
    ++used_;
  }
  return it->second;
}

void LookupTable::put(const std::vector<std::string>& bytes, const Tensor& keys,
                      const Tensor& values) {
  for (const size_t i : paced(bytes.size())) {
    const int64_t row = row_of(bytes[i]), from = static_cast<int64_t>(i);
    copy_part(keys_, row * key_elements_, keys, from * key_elements_, key_elements_);
    copy_part(values_, row * value_elements_, values, from * value_elements_, value_elements_);
  }
}

void LookupTable::initialize(const Tensor& keys, const Tensor& values) {
  const std::vector<std::string> bytes = key_bytes(keys);
  const std::lock_guard lock(mutex_);
  if (initialized_) {
    if (rows_.size() != bytes.size())
      throw failed_precondition("Table was already initialized with different data.");
    return;
  }
  for (const size_t i : paced(bytes.size())) {
    const auto it = rows_.find(bytes[i]);
    const int64_t from = static_cast<int64_t>(i);
    if (it == rows_.end()) {
      put({bytes[i]}, part(keys, from, 1), part(values, from, 1));
    } else if (bytes_of(values_, it->second, 1) != bytes_of(values, from, 1)) {
      const auto text = [](const Tensor& t, int64_t at) { return part(t, at, 1).summary(1); };
      std::string message = fmt::format(
          "HashTable has different value for same key. Key {} has {} and trying to add value {}",
          text(keys, from), text(values_, it->second), text(values, from));
      rows_.clear();
      used_ = 0;
      throw failed_precondition(std::move(message));
    }
  }
  initialized_ = true;
}

void LookupTable::insert(const Tensor& keys, const Tensor& values) {
  check_shapes(keys, values);
  const std::vector<std::string> bytes = key_bytes(keys);
  check_unreserved(bytes);
  const std::lock_guard lock(mutex_);
  put(bytes, keys, values);
}

void LookupTable::replace(const Tensor& keys, const Tensor& values) {
  if (options_.fixed) return initialize(keys, values);
  check_shapes(keys, values);
  const std::vector<std::string> bytes = key_bytes(keys);
  const std::lock_guard lock(mutex_);
  rows_.clear();
  used_ = 0;
  put(bytes, keys, values);
}

// The last row takes the place of the one that goes.
void LookupTable::drop(const std::string& key) {
  const auto it = rows_.find(key);
  if (it == rows_.end()) return;
  const int64_t row = it->second, last = --used_;
  rows_.erase(it);
  if (row == last) return;
  rows_[bytes_of(keys_, last * key_elements_, key_elements_)] = row;
  copy_part(keys_, row * key_elements_, keys_, last * key_elements_, key_elements_);
  copy_part(values_, row * value_elements_, values_, last * value_elements_, value_elements_);
}

void LookupTable::remove(const Tensor& keys) {
  const std::vector<std::string> bytes = key_bytes(keys);
  check_unreserved(bytes);
  const std::lock_guard lock(mutex_);
  for (const std::string& key : bytes) drop(key);
}

void LookupTable::find(const Tensor& keys, const Tensor& missing, Tensor& out) const {
  const std::vector<std::string> bytes = key_bytes(keys);
  check_unreserved(bytes);
  const bool one = missing.shape() == options_.value_shape;
  if (!one && !(missing.shape() == out.shape()))
    throw invalid_argument(fmt::format("Expected shape {} or {} for default value, got {}",
                                       options_.value_shape.str(), out.shape().str(),
                                       missing.shape().str()));
  const std::lock_guard lock(mutex_);
  if (options_.fixed && !initialized_) throw failed_precondition("Table not initialized.");
  for (const size_t i : paced(bytes.size())) {
    const auto it = rows_.find(bytes[i]);
    const int64_t at = static_cast<int64_t>(i) * value_elements_;
    if (it != rows_.end())
      copy_part(out, at, values_, it->second * value_elements_, value_elements_);
    else  // a fixed table takes the first default for all
      copy_part(out, at, missing, one || options_.fixed ? 0 : at, value_elements_);
  }
}

std::pair<Tensor, Tensor> LookupTable::entries() const {
  const std::lock_guard lock(mutex_);
  const Shape count{used_};
  Tensor keys(options_.key_dtype, joined(count, options_.key_shape));
  Tensor values(options_.value_dtype, joined(count, options_.value_shape));
  copy_part(keys, 0, keys_, 0, used_ * key_elements_);
  copy_part(values, 0, values_, 0, used_ * value_elements_);
  return {std::move(keys), std::move(values)};
}

}  // namespace emplace
