#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "emplace/attr.h"
#include "emplace/tensor.h"
#include "kernel/called_function.h"

namespace emplace::data {

// What a dataset was made of: its operation with attributes, and what that was given.
struct Origin {
  struct Operation {
    std::string op;
    AttrList attrs;
    std::vector<std::shared_ptr<CalledFunction>> functions;
  };
  std::shared_ptr<const Operation> operation;
  std::vector<Tensor> inputs;

  // The same for pipelines of the same stages, values and functions, whatever these are called.
  uint64_t fingerprint() const;
};

}  // namespace emplace::data
