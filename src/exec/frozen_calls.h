#pragma once
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include "exec/island.h"

namespace emplace {

// The calls of an island as they are recorded: with the addresses that their operands have now,
// whatever the instance's slots hold later. A card makes them once, while it records; a virtual GPU
// makes them in each replay. Holds no memory: a variable must not find a second holder here.
class FrozenCalls {
 public:
  FrozenCalls(const Island& island, const KernelContext& c);

  // For Queue::record_calls; valid as long as this is.
  std::vector<RecordedCall> calls();
  // The first error since it was last asked.
  void rethrow();

  // Makes a member's call; an error names its node.
  static void make(const Island::Member& m, KernelContext c);

 private:
  struct Counted {  // on where a variable lies
    const Variable* variable;
    const void* address;
  };

  uint32_t freeze(const Tensor& t);
  void check_variables(size_t i) const;
  static void call(void* frozen, uint64_t i);

  const Island& island_;
  KernelContext context_;
  std::vector<Tensor> slots_;
  std::vector<std::vector<uint32_t>> operands_;  // by member, into slots_
  std::vector<CallSite> sites_;
  std::vector<std::vector<Counted>> variables_;
  std::exception_ptr error_;
};

// The variable behind a handle; null: it is none, or means something else.
const Variable* variable_at(const Tensor& handle);

}  // namespace emplace
