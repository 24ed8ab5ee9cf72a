#pragma once
#include <map>
#include <vector>

#include "op/einsum.h"

namespace emplace::einsum {

// How the kernels of every device see an equation's operands.
using Labels = std::vector<int>;
using Sizes = std::map<int, int64_t>;
using Steps = std::map<int, int64_t>;  // in elements, by label

bool holds(const Labels& labels, int label);
Labels joined(Labels a, const Labels& b);
Labels once(const Labels& labels);  // each where it stands first
int64_t product(const Labels& labels, const Sizes& sizes);

// Of a tensor in memory: a label that stands twice walks the diagonal, one that is spread stays.
Steps steps_of(const Shape& shape, const Labels& labels, const Sizes& sizes);
// … that lies without gaps in this order.
Steps packed(const Labels& order, const Sizes& sizes);

// Labels of two operands by where they stand; in the output's order, as far as that goes: then nothing
// need be moved afterwards.
struct Roles {
  Labels batch, left, right, inner;
  explicit Roles(const EinsumLabels& l);
};

}  // namespace emplace::einsum
