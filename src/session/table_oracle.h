#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "graph/function_op.h"
#include "kernel/kernel.h"
#include "placement/request.h"

namespace emplace {

// What the kernel table says, for the device types that this session has.
class TableOracle final : public KernelOracle {
 public:
  TableOracle(const KernelRegistry& table, const std::vector<DeviceInfo>& devices)
      : table_(table) {
    for (const DeviceInfo& d : devices)
      if (std::find(types_.begin(), types_.end(), d.type) == types_.end()) types_.push_back(d.type);
  }

  Kernels kernels(const Node& node) const override {
    Kernels k;
    if (node.type() == "PartitionedCall" || node.type() == "StatefulPartitionedCall" ||
        calls_by_name(node)) {
      k.any_type = true;  // its body decides
      return k;
    }
    for (const std::string& type : types_)
      if (const KernelRow* row = table_.find(node.type(), type, node.attrs()))
        k.types.push_back({type, row->priority, row->traits.replays});
    k.other_attrs = k.types.empty() && !table_.rows(node.type()).empty();
    return k;
  }
  std::string kernel_list(const Node& node) const override {
    return table_.list(node.type());
  }

 private:
  const KernelRegistry& table_;
  std::vector<std::string> types_;
};

}  // namespace emplace
