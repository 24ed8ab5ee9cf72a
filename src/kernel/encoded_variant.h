#pragma once
#include <string>

#include "emplace/tensor.h"

namespace emplace {

// A value in the form in which files hold it.
class EncodedVariant final : public VariantValue {
 public:
  explicit EncodedVariant(std::string b) : bytes(std::move(b)) {}
  std::string_view type_name() const override { return "emplace::Encoded"; }
  const std::string bytes;
};

}  // namespace emplace
