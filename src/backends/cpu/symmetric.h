#pragma once
#include <cstdint>
#include <vector>

#include "kernel/kernel.h"

namespace emplace::cpu {

// Eigenvalues of a large symmetric matrix [n, n], ascending: by a matrix of three diagonals, whose
// rotations are kept and applied many at a time, to columns that stay near. With `vectors` the rows of
// `a` become the eigenvectors; else what it holds has no meaning any more. False where the search does
// not end, and for what is not finite.
bool symmetric_eigenvalues(KernelContext& c, std::vector<double>& a, int64_t n, bool vectors,
                           std::vector<double>& values);

}  // namespace emplace::cpu
