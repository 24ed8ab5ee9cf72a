#include "base/loop_limit.h"

#include <utility>

namespace emplace {
namespace {

thread_local int64_t most = 0;

}  // namespace

LoopLimit::LoopLimit(int64_t threads) : outer_(std::exchange(most, threads)) {}
LoopLimit::~LoopLimit() { most = outer_; }
bool LoopLimit::allows(int64_t pool_threads) { return most == 0 || pool_threads < most; }

}  // namespace emplace
