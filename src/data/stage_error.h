#pragma once
#include "data/dataset.h"

namespace emplace::data {

// The error with the stage that it came from and the number of its element there; those that only
// say that somebody ended the work stay as they are.
Error at_stage(Error e, const Dataset& stage, int64_t element);

}  // namespace emplace::data
