#include "session/pools.h"

#include <gtest/gtest.h>

namespace emplace {
namespace {

TEST(Pools, TheFirstSessionMakesThemAndOthersShareThem) {
  SessionOptions o;
  o.inter_op_parallelism_threads = 3;
  const Pools first = make_pools(o);
  o.inter_op_parallelism_threads = 7;
  o.intra_op_parallelism_threads = 7;
  const Pools second = make_pools(o);
  EXPECT_EQ(first.inter_op[0].helpers, second.inter_op[0].helpers);
  EXPECT_EQ(first.intra_op, second.intra_op);
}

TEST(Pools, ASessionMayHaveItsOwn) {
  SessionOptions o;
  o.use_per_session_threads = true;
  o.inter_op_parallelism_threads = 3;
  o.intra_op_parallelism_threads = 2;
  const Pools a = make_pools(o), b = make_pools(o);
  EXPECT_NE(a.inter_op[0].helpers, b.inter_op[0].helpers);
  EXPECT_EQ(a.inter_op[0].workers, 3);
  EXPECT_EQ(a.inter_op[0].helpers->size(), 2);  // the caller is the third
  EXPECT_EQ(a.intra_op->size(), 1);
}

TEST(Pools, BelowZeroEverythingRunsInTheCaller) {
  SessionOptions o;
  o.inter_op_parallelism_threads = -1;
  EXPECT_EQ(make_pools(o).inter_op[0].workers, 1);
}

TEST(Pools, ANamedPoolIsSharedAndKeepsItsSize) {
  SessionOptions o;
  o.session_inter_op_thread_pool = {{2, "shared"}, {1, ""}};
  const Pools a = make_pools(o), b = make_pools(o);
  EXPECT_EQ(a.inter_op[0].helpers, b.inter_op[0].helpers);
  EXPECT_NE(a.inter_op[1].helpers, b.inter_op[1].helpers);
  o.session_inter_op_thread_pool = {{4, "shared"}};
  try {
    make_pools(o);
    ADD_FAILURE() << "another size";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kInvalidArgument);
    EXPECT_EQ(e.message(),
              "Pool shared configured previously with num_threads=2; cannot re-configure with "
              "num_threads=4");
  }
}

}  // namespace
}  // namespace emplace
