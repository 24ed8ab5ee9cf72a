#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "emplace/emplace.h"

namespace emplace::fuzz {

// Runs `f` on bytes of anyone's: an Error is a fine answer, anything else is a finding.
template <class F>
int tried(const uint8_t* data, size_t size, F f) {
  try {
    f(std::string_view(reinterpret_cast<const char*>(data), size));
  } catch (const Error&) {
  }
  return 0;
}

}  // namespace emplace::fuzz
