#include "kernel/switches.h"

#include <cstdlib>
#include <string_view>

namespace emplace {
namespace {

bool says(const char* variable, std::string_view value) {
  const char* text = std::getenv(variable);
  return text && text == value;
}

}  // namespace

bool tf32_allowed() { return !says("EMPLACE_TF32", "0") && !says("NVIDIA_TF32_OVERRIDE", "0"); }

bool deterministic() {
  return says("EMPLACE_DETERMINISM", "1") || says("TF_DETERMINISTIC_OPS", "1") ||
         says("TF_DETERMINISTIC_OPS", "true");
}

}  // namespace emplace
