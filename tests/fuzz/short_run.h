#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace emplace::fuzz {

struct Target {
  const char* name;
  int (*run)(const uint8_t* data, size_t size);
};

const std::vector<Target>& targets();

}  // namespace emplace::fuzz
