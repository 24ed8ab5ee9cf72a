#pragma once
#include <string>

#include "emplace/error.h"
#include "kernel/resources.h"

namespace emplace {

// A variable behind a handle, as VarHandleOp makes it: to TensorFlow one without a value does not
// exist. A ref variable (VariableV2) does, and is uninitialized.
class ResourceVariable final : public Variable {
 public:
  ResourceVariable(const std::string& container, std::string name, DType dtype, Shape shape,
                   Device* device)
      : Variable(std::move(name), dtype, std::move(shape), device), container_(container) {}

  // NotFound "Resource localhost/v/N10tensorflow3VarE does not exist."
  Error missing() const {
    return not_found("Resource " + container_ + "/" + name() + "/N10tensorflow3VarE does not exist.");
  }

 private:
  const std::string container_;
};

// Optimizers look at all their variables before they touch one.
inline void check_exists(const Variable& v) {
  if (!v.initialized() && dynamic_cast<const ResourceVariable*>(&v))
    throw internal_error("Invalid variable reference.");
}

}  // namespace emplace
