#include "data/stage_error.h"

#include <fmt/format.h>

namespace emplace::data {

Error at_stage(Error e, const Dataset& stage, int64_t element) {
  if (e.code() == Code::kCancelled || e.code() == Code::kDeadlineExceeded) return e;
  return e.append(fmt::format("\n\t[[element {} of {}]]", element, stage.spec().op));
}

}  // namespace emplace::data
