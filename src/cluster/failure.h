#pragma once
#include <optional>

#include "emplace/error.h"

namespace emplace::cluster {

using Failure = std::optional<Error>;

// What `f` throws.
template <class F>
Failure failure_of(F f) {
  try {
    f();
    return {};
  } catch (const Error& e) {
    return e;
  } catch (const std::exception& e) {
    return internal_error(e.what());
  }
}

}  // namespace emplace::cluster
