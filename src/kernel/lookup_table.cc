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
  if (is_plain(to.dtype())) {
    const size_t size = dtype_size(to.dtype());
    std::memcpy(static_cast<char*>(to.raw()) + static_cast<size_t>(to_at) * size,
                static_cast<const char*>(from.raw()) + static_cast<size_t>(from_at) * size,
                static_cast<size_t>(n) * size);
    return;
  }
  Tensor there = part(to, to_at, n);
  copy_elements(there, part(from, from_at, n));
}

// The bytes of n elements; in `room` where they don't stand together.
std::string_view bytes_of(const Tensor& t, int64_t at, int64_t n, std::string& room) {
  if (t.dtype() != DType::kString) {
    const size_t size = dtype_size(t.dtype());
    return {static_cast<const char*>(t.raw()) + static_cast<size_t>(at) * size,
            static_cast<size_t>(n) * size};
  }
  if (n == 1) return t.data<std::string>()[at];
  room.clear();
  for (int64_t i = at; i < at + n; ++i) {
    const std::string& s = t.data<std::string>()[i];
    room += fmt::format("{}:", s.size()) + s;
  }
  return room;
}

// A key of so few bytes as a number.
template <class Size>
uint64_t word_of(const char* key, Size size) {
  uint64_t word = 0;
  std::memcpy(&word, key, size);
  return word;
}

// Calls f with a size that the compiler knows, where it is a common one.
template <class F>
void with_size(size_t size, const F& f) {
  if (size == 8) f(std::integral_constant<size_t, 8>());
  else if (size == 4) f(std::integral_constant<size_t, 4>());
  else f(size);
}

Shape joined(Shape a, const Shape& b) {
  for (int64_t d : b.dims()) a.push_back(d);
  return a;
}

}  // namespace

LookupTable::LookupTable(Options options)
    : options_(std::move(options)),
      key_elements_(options_.key_shape.num_elements()),
      value_elements_(options_.value_shape.num_elements()),
      narrow_(is_plain(options_.key_dtype) &&
              static_cast<size_t>(key_elements_) * dtype_size(options_.key_dtype) <= 8) {
  std::string room;
  for (const auto& [name, key] : options_.reserved)
    reserved_.emplace_back(name, bytes_of(key, 0, key.num_elements(), room));
  grow();
}

int64_t LookupTable::size() const {
  const std::lock_guard lock(mutex_);
  return used_;
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

std::string_view LookupTable::key_of(const Tensor& keys, int64_t i, std::string& room) const {
  return bytes_of(keys, i * key_elements_, key_elements_, room);
}

uint64_t LookupTable::hash_of(std::string_view key) const {
  return narrow_ ? mixed_bits(word_of(key.data(), key.size())) : hash_of_bytes(key);
}

int64_t LookupTable::find_row(std::string_view key) const {
  std::string room;
  return index_.find(hash_of(key), [&](int64_t row) {
    return narrow_ || key_of(keys_, row, room) == key;
  });
}

void LookupTable::check_unreserved(const Tensor& keys) const {
  std::string room;
  const int64_t n = leading(keys).num_elements();
  for (const auto& [name, reserved] : reserved_)
    for (int64_t i = 0; i < n; ++i)
      if (key_of(keys, i, room) == reserved)
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

void LookupTable::put(std::string_view key, const Tensor& keys, const Tensor& values,
                      int64_t from) {
  std::string room;
  const int64_t row = index_.find_or_insert(hash_of(key), used_, [&](int64_t at) {
    return narrow_ || key_of(keys_, at, room) == key;
  });
  if (row == used_) {
    if (used_ == capacity_) grow();
    ++used_;
    copy_part(keys_, row * key_elements_, keys, from * key_elements_, key_elements_);
  }
  copy_part(values_, row * value_elements_, values, from * value_elements_, value_elements_);
}

void LookupTable::put_narrow(const Tensor& keys, const Tensor& values) {
  const auto bytes = [](const Tensor& t) { return static_cast<char*>(t.raw()); };
  const size_t row_size = static_cast<size_t>(value_elements_) * dtype_size(options_.value_dtype);
  with_size(static_cast<size_t>(key_elements_) * dtype_size(options_.key_dtype), [&](auto key) {
    with_size(row_size, [&](auto value) {
      for (const int64_t i : paced(leading(keys).num_elements())) {
        const char* asked = bytes(keys) + static_cast<size_t>(i) * key;
        const int64_t row = index_.find_or_insert(mixed_bits(word_of(asked, key)), used_,
                                                  [](int64_t) { return true; });
        if (row == used_) {
          if (used_ == capacity_) grow();
          ++used_;
          std::memcpy(bytes(keys_) + static_cast<size_t>(row) * key, asked, key);
        }
        std::memcpy(bytes(values_) + static_cast<size_t>(row) * value,
                    bytes(values) + static_cast<size_t>(i) * value, value);
      }
    });
  });
}

void LookupTable::put_all(const Tensor& keys, const Tensor& values) {
  if (narrow_ && is_plain(options_.value_dtype)) return put_narrow(keys, values);
  std::string room;
  const int64_t n = leading(keys).num_elements();
  for (const int64_t i : paced(n)) put(key_of(keys, i, room), keys, values, i);
}

void LookupTable::forget_all() {
  index_.clear();
  used_ = 0;
}

void LookupTable::initialize(const Tensor& keys, const Tensor& values) {
  const int64_t n = leading(keys).num_elements();
  const std::lock_guard lock(mutex_);
  if (initialized_) {
    if (used_ != n)
      throw failed_precondition("Table was already initialized with different data.");
    return;
  }
  std::string room, old_value, new_value;
  for (const int64_t i : paced(n)) {
    const std::string_view key = key_of(keys, i, room);
    const int64_t row = find_row(key);
    if (row < 0) {
      put(key, keys, values, i);
    } else if (bytes_of(values_, row, 1, old_value) != bytes_of(values, i, 1, new_value)) {
      const auto text = [](const Tensor& t, int64_t at) { return part(t, at, 1).summary(1); };
      std::string message = fmt::format(
          "HashTable has different value for same key. Key {} has {} and trying to add value {}",
          text(keys, i), text(values_, row), text(values, i));
      forget_all();
      throw failed_precondition(std::move(message));
    }
  }
  initialized_ = true;
}

void LookupTable::insert(const Tensor& keys, const Tensor& values) {
  check_shapes(keys, values);
  check_unreserved(keys);
  const std::lock_guard lock(mutex_);
  put_all(keys, values);
}

void LookupTable::replace(const Tensor& keys, const Tensor& values) {
  if (options_.fixed) return initialize(keys, values);
  check_shapes(keys, values);
  const std::lock_guard lock(mutex_);
  forget_all();
  put_all(keys, values);
}

// The last row takes the place of the one that goes.
void LookupTable::drop(std::string_view key) {
  const int64_t row = find_row(key);
  if (row < 0) return;
  index_.erase(hash_of(key), row);
  const int64_t last = --used_;
  if (row == last) return;
  std::string room;
  index_.renumber(hash_of(key_of(keys_, last, room)), last, row);
  copy_part(keys_, row * key_elements_, keys_, last * key_elements_, key_elements_);
  copy_part(values_, row * value_elements_, values_, last * value_elements_, value_elements_);
}

void LookupTable::remove(const Tensor& keys) {
  check_unreserved(keys);
  std::string room;
  const int64_t n = leading(keys).num_elements();
  const std::lock_guard lock(mutex_);
  for (const int64_t i : paced(n)) drop(key_of(keys, i, room));
}

void LookupTable::find(const Tensor& keys, const Tensor& missing, Tensor& out) const {
  check_unreserved(keys);
  const bool one = missing.shape() == options_.value_shape;
  if (!one && !(missing.shape() == out.shape()))
    throw invalid_argument(fmt::format("Expected shape {} or {} for default value, got {}",
                                       options_.value_shape.str(), out.shape().str(),
                                       missing.shape().str()));
  const int64_t n = leading(keys).num_elements();
  std::string room;
  const std::lock_guard lock(mutex_);
  if (options_.fixed && !initialized_) throw failed_precondition("Table not initialized.");
  const bool each_own = !one && !options_.fixed;  // a fixed table takes the first default for all
  if (narrow_ && is_plain(options_.value_dtype)) {
    const auto bytes = [](const Tensor& t) { return static_cast<char*>(t.raw()); };
    const size_t row_size = static_cast<size_t>(value_elements_) * dtype_size(options_.value_dtype);
    with_size(static_cast<size_t>(key_elements_) * dtype_size(options_.key_dtype), [&](auto key) {
      with_size(row_size, [&](auto value) {
        for (const int64_t i : paced(n)) {
          const uint64_t word = word_of(bytes(keys) + static_cast<size_t>(i) * key, key);
          const int64_t row = index_.find(mixed_bits(word), [](int64_t) { return true; });
          const char* from = row >= 0 ? bytes(values_) + static_cast<size_t>(row) * value
                                      : bytes(missing) + (each_own ? static_cast<size_t>(i) * value : 0);
          std::memcpy(bytes(out) + static_cast<size_t>(i) * value, from, value);
        }
      });
    });
    return;
  }
  if (options_.key_dtype == DType::kString && key_elements_ == 1 && is_plain(options_.value_dtype)) {
    const auto *asked = keys.data<std::string>(), *own = keys_.data<std::string>();
    const auto bytes = [](const Tensor& t) { return static_cast<char*>(t.raw()); };
    with_size(static_cast<size_t>(value_elements_) * dtype_size(options_.value_dtype), [&](auto value) {
      for (const int64_t i : paced(n)) {
        const std::string& key = asked[i];
        const int64_t row = index_.find(hash_of_bytes(key), [&](int64_t at) { return own[at] == key; });
        const char* from = row >= 0 ? bytes(values_) + static_cast<size_t>(row) * value
                                    : bytes(missing) + (each_own ? static_cast<size_t>(i) * value : 0);
        std::memcpy(bytes(out) + static_cast<size_t>(i) * value, from, value);
      }
    });
    return;
  }
  for (const int64_t i : paced(n)) {
    const int64_t row = find_row(key_of(keys, i, room)), at = i * value_elements_;
    if (row >= 0)
      copy_part(out, at, values_, row * value_elements_, value_elements_);
    else
      copy_part(out, at, missing, each_own ? at : 0, value_elements_);
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
