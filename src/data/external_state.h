#pragma once
#include <string_view>

#include "data/dataset.h"

namespace emplace::data {

// What becomes of state that lies outside of a dataset (a variable, Python) where the dataset is
// written down: the values of the attribute external_state_policy.
enum class ExternalState : int64_t { kWarn, kIgnore, kFail };

// Throws FailedPrecondition, which begins with `what`, or warns, where a function of the dataset
// has such state.
void heed_external_state(const Dataset& d, ExternalState policy, std::string_view what);

}  // namespace emplace::data
