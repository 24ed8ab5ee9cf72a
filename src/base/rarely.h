#pragma once
#include <memory>

namespace emplace {

// A T that most objects of a kind do not have: a pointer, copied with its T. Reads as a T made by
// default where there is none.
template <class T>
class Rarely {
 public:
  Rarely() = default;
  Rarely(const Rarely& other) : value_(other.value_ ? std::make_unique<T>(*other.value_) : nullptr) {}
  Rarely(Rarely&&) noexcept = default;
  Rarely& operator=(const Rarely& other) { return *this = Rarely(other); }
  Rarely& operator=(Rarely&&) noexcept = default;

  const T* operator->() const { return value_ ? value_.get() : &none(); }
  T& set() {  // made when there is none
    if (!value_) value_ = std::make_unique<T>();
    return *value_;
  }

 private:
  static const T& none() {
    static const T none;
    return none;
  }
  std::unique_ptr<T> value_;
};

}  // namespace emplace
