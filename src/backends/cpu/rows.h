#pragma once
#include <string>
#include <vector>

#include "kernel/kernel.h"

// Rows of the CPU's kernel table.
namespace emplace::cpu {

inline KernelRow row(const char* op, KernelFactory make, KernelTraits traits = {}) {
  return {op, "CPU", {}, {}, make, traits, 0, ""};
}
inline KernelRow row(const char* op, const char* attr, std::vector<DType> types, KernelFactory make) {
  return {op, "CPU", {{attr, std::move(types)}}, {}, make, {}, 0, ""};
}
// For these types of T.
inline KernelRow row(const char* op, std::vector<DType> types, KernelFactory make,
                     std::vector<std::string> host = {}) {
  return {op, "CPU", {{"T", std::move(types)}}, std::move(host), make, {}, 0, ""};
}

}  // namespace emplace::cpu
