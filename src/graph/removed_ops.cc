#include "graph/removed_ops.h"

#include <fmt/format.h>

#include <algorithm>

#include "emplace/error.h"

namespace emplace {
namespace {

struct Removed {
  std::string_view op;
  int version;
  std::string_view instead;
};

// Sorted by op.
constexpr Removed kRemoved[] = {
    {"Conv3DBackpropFilter", 10, "Use Conv3DBackpropFilterV2"},
    {"Conv3DBackpropInput", 10, "Use Conv3DBackpropInputV2"},
    {"PlaceholderV2", 23, "Placeholder now behaves the same as PlaceholderV2."},
    {"RandomPoisson", 25, "Replaced by RandomPoissonV2"},
    {"TensorArray", 16, "Use TensorArrayV3"},
    {"TensorArrayClose", 16, "Use TensorArrayCloseV3"},
    {"TensorArrayCloseV2", 26, "Use TensorArrayCloseV3"},
    {"TensorArrayConcat", 16, "Use TensorArrayGradV3"},
    {"TensorArrayGather", 16, "Use TensorArrayGatherV3"},
    {"TensorArrayGatherV2", 26, "Use TensorArrayGatherV3"},
    {"TensorArrayGrad", 16, "Use TensorArrayGradV3"},
    {"TensorArrayGradV2", 26, "Use TensorArrayGradV3"},
    {"TensorArrayPack", 16, "Use TensorArrayGatherV3 with RangeOp"},
    {"TensorArrayRead", 16, "Use TensorArrayReadV3"},
    {"TensorArrayReadV2", 26, "Use TensorArrayReadV3"},
    {"TensorArrayScatter", 19, "Use TensorArrayGradV3"},
    {"TensorArrayScatterV2", 26, "Use TensorArrayScatterV3"},
    {"TensorArraySize", 16, "Use TensorArraySizeV3"},
    {"TensorArraySizeV2", 26, "Use TensorArraySizeV3"},
    {"TensorArraySplit", 16, "Use TensorArraySplitV3"},
    {"TensorArraySplitV2", 26, "Use TensorArraySplitV3"},
    {"TensorArrayUnpack", 20, "Use TensorArrayScatterV3 with RangeOp"},
    {"TensorArrayV2", 26, "Use TensorArrayV3"},
    {"TensorArrayWrite", 16, "Use TensorArrayWriteV3"},
    {"TensorArrayWriteV2", 26, "Use TensorArrayWriteV3"},
    {"TileGrad", 3, "TileGrad has been replaced with reduce_sum"},
    {"TopK", 7, "Use TopKV2 instead"},
};

}  // namespace

void check_not_removed(std::string_view op, int producer) {
  const auto it = std::ranges::lower_bound(kRemoved, op, {}, &Removed::op);
  if (it == std::end(kRemoved) || it->op != op || producer < it->version) return;
  throw unimplemented(
      fmt::format("Op {} is not available in GraphDef version {}. It has been removed in "
                  "version {}. {}.",
                  op, producer, it->version, it->instead));
}

}  // namespace emplace
