#pragma once
#include <sstream>
#include <string>
#include <vector>

#include "emplace/attr.h"
#include "emplace/tensor.h"

namespace emplace::cpu {

// A call with what TensorFlow answers, from tests/golden/<file>.txt.
struct GoldenCase {
  int line = 0;
  std::string op, error;
  AttrList attrs;
  std::vector<Tensor> variables, inputs, outputs, after;  // variables are the first inputs
};
std::vector<GoldenCase> golden_cases(const std::string& file = "cpu_kernels");

// What those files are made of: "float32 2,3 1.5 …"; "%a%20b".
Tensor golden_tensor(std::istringstream& words);
std::string golden_text(std::string_view word);

// What is wrong with `got`, in words; empty when it is as near to `want` as its dtype can be.
// `slack` times further is near enough too.
std::string difference(const Tensor& got, const Tensor& want, double slack = 1);

}  // namespace emplace::cpu
