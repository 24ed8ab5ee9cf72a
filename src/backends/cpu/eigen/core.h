#pragma once
// Eigen, such that all objects agree how its memory is had: under the address sanitizer it aligns
// what malloc gives by hand, but the objects of cmake/once are the same in every build.
#include <cstdlib>
#if defined(__GLIBC__) && defined(__LP64__) && !defined(__AVX__)
#define EIGEN_MALLOC_ALREADY_ALIGNED 1
#endif
#include <Eigen/Core>
