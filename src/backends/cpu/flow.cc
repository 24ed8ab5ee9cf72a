// Branches and loops. A plan takes them apart (see exec), so that only their places count here.
#include <fmt/format.h>

#include "backends/cpu/cpu_kernels.h"
#include "backends/cpu/rows.h"

namespace emplace::cpu {
namespace {

void nothing(KernelContext&) {}

void planned_only(KernelContext& c) {
  throw internal_error(fmt::format("{} is not run by itself", c.node()));
}

struct Abort {
  std::string message;
  void operator()(KernelContext&) const { throw Error(Code::kAborted, message); }
};

// TensorFlow's ends the process. Here nothing that a graph says may do that.
Prepared make_abort(const KernelInit& init) {
  if (init.attr<bool>("exit_without_error")) return prepared<nothing>();
  return prepared(Abort{"Abort_op intentional failure; " + init.attr<std::string>("error_msg")});
}

void ref_select(KernelContext& c) {
  if (c.input(0).num_elements() != 1)
    throw invalid_argument("index must be a scalar, not shape " + c.input(0).shape().str());
  const int32_t which = c.input(0).item<int32_t>();
  if (which < 0 || which >= c.num_inputs() - 1)
    throw invalid_argument(fmt::format("Index must be in the range [0, {}) but got {}",
                                       c.num_inputs() - 1, which));
  c.set_output(0, c.input(1 + which));
}

}  // namespace

std::vector<KernelRow> flow_kernels() {
  std::vector<KernelRow> rows = {row("ControlTrigger", stateless<nothing>), row("Abort", make_abort),
                                 row("RefSelect", stateless<ref_select>)};
  for (const char* op :
       {"If", "StatelessIf", "Case", "StatelessCase", "While", "StatelessWhile", "Switch", "RefSwitch",
        "_SwitchN", "Merge", "RefMerge", "Enter", "RefEnter", "Exit", "RefExit", "NextIteration",
        "RefNextIteration", "LoopCond"})
    rows.push_back(row(op, stateless<planned_only>));
  return rows;
}

}  // namespace emplace::cpu
