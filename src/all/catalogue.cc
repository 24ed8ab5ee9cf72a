#include "op/op_def.h"

namespace emplace {

const OpRegistry& op_catalogue() {
  static const OpRegistry ops;
  return ops;
}

}  // namespace emplace
