#pragma once
// Eigen, such that all objects agree how its memory is had: under the address sanitizer it aligns
// what malloc gives by hand, but the objects of cmake/once are the same in every build. And such
// that its work can be stopped: where it asserts something at the start of a part of it, it attends
// instead to what its thread works under.
#include <cstdlib>
#include <string_view>

#include "base/stop_scope.h"
#if defined(__GLIBC__) && defined(__LP64__) && !defined(__AVX__)
#define EIGEN_MALLOC_ALREADY_ALIGNED 1
#endif

namespace emplace::cpu {
// A panel of a product, a block, a rotation; not an element.
constexpr bool begins_a_part(std::string_view condition) {
  for (const std::string_view part : {"PanelMode", "blockRows >= 0", "xpr_x.size()"})
    if (condition.find(part) != condition.npos) return true;
  return false;
}
}  // namespace emplace::cpu

#define eigen_assert(condition)                                                                 \
  do {                                                                                          \
    if constexpr (::emplace::cpu::begins_a_part(#condition)) ::emplace::StopScope::attend();    \
  } while (false)
#include <Eigen/Core>
