#pragma once
#include <cstdint>
#include <string_view>

#include "emplace/tensor.h"

namespace emplace {

// A number for what was added, in its order: the same for the same on any machine.
class Fingerprint {
 public:
  void add(uint64_t n);
  void add(std::string_view bytes);
  // dtype, shape and values; of handles and DT_VARIANT none.
  void add(const Tensor& t);
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0xcbf29ce484222325ULL;
};

}  // namespace emplace
