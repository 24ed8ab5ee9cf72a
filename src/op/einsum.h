#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "emplace/shape.h"

namespace emplace {

// An equation in Einstein's notation: "ij,jk->ik". Dimensions have labels: a letter's own code, or,
// for those that an ellipsis stands for, -1, -2 … from the last one on.
struct EinsumEquation {
  std::vector<std::string> inputs;  // one or two
  std::string output;
};

// Throws InvalidArgument for what is no such equation.
EinsumEquation parse_einsum(std::string_view equation);

struct EinsumLabels {
  std::vector<std::vector<int>> inputs;
  std::vector<int> output;       // labels that no input has are left out
  std::map<int, int64_t> sizes;  // of each label; unknown: -1
};

// The labels of these shapes, which must have ranks. Throws InvalidArgument where they do not fit.
EinsumLabels label_einsum(const EinsumEquation& equation, const std::vector<Shape>& shapes);

}  // namespace emplace
