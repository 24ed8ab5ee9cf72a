#include "graph/removed_ops.h"

#include <gtest/gtest.h>

#include "graph/graph_testutil.h"

namespace emplace {
namespace {

TEST(RemovedOps, AreForOlderGraphsOnly) {
  check_not_removed("PlaceholderV2", 22);
  EXPECT_EQ(testing::failure(Code::kUnimplemented, [] { check_not_removed("PlaceholderV2", 23); }),
            "Op PlaceholderV2 is not available in GraphDef version 23. It has been removed in "
            "version 23. "
            "Placeholder now behaves the same as PlaceholderV2..");
}

TEST(RemovedOps, LeaveAllOthersAlone) {
  for (const char* op : {"Placeholder", "TensorArrayV3", "MatMul", "AAA", "zzz", ""})
    check_not_removed(op, 1 << 20);
}

}  // namespace
}  // namespace emplace
