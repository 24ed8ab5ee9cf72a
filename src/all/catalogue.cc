// The one place that names every op family; kernels.cc names every backend's kernels.
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

std::vector<const OpDef*> catalogue() { return op_catalogue().all(); }
const OpDef* find_op(std::string_view name) { return op_catalogue().find(name); }

}  // namespace emplace
