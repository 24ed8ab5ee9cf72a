#include "op/op_def.h"
#include "stdops/stdops.h"

namespace emplace {

const OpRegistry& op_catalogue() {
  static const OpRegistry* const ops = [] {
    auto* r = new OpRegistry;
    register_all_ops(*r);
    return r;
  }();
  return *ops;
}

}  // namespace emplace
