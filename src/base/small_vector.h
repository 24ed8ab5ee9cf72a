#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

namespace emplace {

// A vector whose first N elements lie in the object itself, for lists that are short nearly always
// and exist in great number. Has what a std::vector has of the same name; moving it moves the
// elements unless they lie on the heap.
template <class T, size_t N>
class SmallVector {
 public:
  SmallVector() = default;
  SmallVector(std::initializer_list<T> items) { append(items.begin(), items.size()); }
  SmallVector(const SmallVector& other) { append(other.data(), other.size()); }
  SmallVector(SmallVector&& other) noexcept { take(other); }
  ~SmallVector() { release(); }

  SmallVector& operator=(const SmallVector& other) {
    if (this != &other) set(other.data(), other.size());
    return *this;
  }
  SmallVector& operator=(SmallVector&& other) noexcept {
    if (this == &other) return *this;
    release();
    take(other);
    return *this;
  }
  template <class Items>
    requires std::convertible_to<const Items&, std::span<const T>>
  SmallVector& operator=(const Items& items) {
    set(std::data(items), std::size(items));
    return *this;
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  T& back() { return data_[size_ - 1]; }
  const T& back() const { return data_[size_ - 1]; }

  void push_back(T item) {
    if (size_ == capacity_) reserve(size_t{capacity_} * 2);
    new (data_ + size_) T(std::move(item));
    ++size_;
  }
  void clear() {
    std::destroy_n(data_, size_);
    size_ = 0;
  }
  void resize(size_t size) {
    reserve(size);
    if (size < size_) std::destroy_n(data_ + size, size_ - size);
    else std::uninitialized_value_construct_n(data_ + size_, size - size_);
    size_ = static_cast<uint32_t>(size);
  }
  void assign(size_t count, const T& item) {
    clear();
    reserve(count);
    std::uninitialized_fill_n(data_, count, item);
    size_ = static_cast<uint32_t>(count);
  }
  void reserve(size_t capacity) {
    if (capacity <= capacity_) return;
    T* const larger = std::allocator<T>().allocate(capacity);
    std::uninitialized_move_n(data_, size_, larger);
    const uint32_t size = size_;
    release();
    data_ = larger;
    size_ = size;
    capacity_ = static_cast<uint32_t>(capacity);
  }

  friend bool operator==(const SmallVector& a, const SmallVector& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }
  friend bool operator==(const SmallVector& a, const std::vector<T>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  static_assert(N > 0);
  T* own() { return std::launder(reinterpret_cast<T*>(room_)); }

  void set(const T* items, size_t count) {
    clear();
    append(items, count);
  }
  void append(const T* items, size_t count) {
    reserve(size_ + count);
    std::uninitialized_copy_n(items, count, data_ + size_);
    size_ += static_cast<uint32_t>(count);
  }
  // Leaves it empty, in its own room.
  void release() {
    clear();
    if (data_ != own()) std::allocator<T>().deallocate(data_, capacity_);
    data_ = own();
    capacity_ = N;
  }
  // From an empty one.
  void take(SmallVector& other) {
    if (other.data_ == other.own()) {
      std::uninitialized_move_n(other.data_, other.size_, data_);
      size_ = other.size_;
      other.clear();
      return;
    }
    data_ = std::exchange(other.data_, other.own());
    size_ = std::exchange(other.size_, 0);
    capacity_ = std::exchange(other.capacity_, N);
  }

  T* data_ = own();
  uint32_t size_ = 0;
  uint32_t capacity_ = N;
  alignas(T) std::byte room_[N * sizeof(T)];
};

}  // namespace emplace
