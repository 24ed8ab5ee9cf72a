#pragma once
#include <functional>
#include <string>
#include <vector>

#include "emplace/cluster.h"

namespace emplace::cluster {

// The value of a variable of the environment; null where it is not set.
using Variables = std::function<const char*(const char*)>;

// As `find_task`, in an environment that is given.
std::optional<FoundTask> find_task(const Variables& variables, int port);

}  // namespace emplace::cluster
