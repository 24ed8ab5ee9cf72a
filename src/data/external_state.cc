#include "data/external_state.h"

#include <fmt/format.h>

#include "base/log.h"

namespace emplace::data {
namespace {

std::string stateful_op_in(const Dataset& d) {
  std::string op = d.stateful_op();
  for (const Dataset* input : d.inputs())
    if (op.empty()) op = stateful_op_in(*input);
  return op;
}

}  // namespace

void heed_external_state(const Dataset& d, ExternalState policy, std::string_view what) {
  if (policy == ExternalState::kIgnore) return;
  const std::string op = stateful_op_in(d);
  if (op.empty()) return;
  if (policy == ExternalState::kFail)
    throw failed_precondition(fmt::format("{}{} is stateful.", what, op));
  log_warning("{}{} is stateful: its state is not written.", what, op);
}

}  // namespace emplace::data
