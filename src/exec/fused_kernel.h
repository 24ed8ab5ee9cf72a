#pragma once
#include <span>
#include <vector>

#include "exec/step_graph.h"

namespace emplace {

// Several elementwise kernels as one. Tensors are cut into blocks; a block goes through all kernels
// before the next one, on any thread of the device's pool. Only the last kernel's result is written to
// memory of its own.
class FusedKernel {
 public:
  static constexpr size_t kMostCalls = 16, kMostInputs = 16;

  // An operand of a kernel: the result of an earlier one, or an input from outside.
  struct Operand {
    bool is_result;
    int index;
  };

  // Puts one together: kernels in the order of their work, then the inputs from outside.
  class Builder {
   public:
    explicit Builder(const Shape& shape);
    void add(const Step& step, std::span<const Operand> operands, const StepGraph& g);
    void take(const StepOutput& input);
    Prepared prepared() &&;

   private:
    std::shared_ptr<FusedKernel> kernel_;
  };

  void operator()(KernelContext& c) const;

 private:
  friend class Builder;
  class Run;

  struct Call {
    Prepared block, rest;  // for a whole block, and for what is left at the end
    std::vector<Operand> operands;
    std::vector<uint32_t> slots;  // of the operands, then of the result
    DType result;
    int scratch = -1;  // which scratch block holds the result; -1: the output
    const std::string* name;
  };

  void place_results();

  int64_t elements_ = 0, block_ = 0, rest_ = 0;
  Shape shape_;
  std::vector<Call> calls_;
  std::vector<bool> whole_;  // by input: as many elements as the output, not one
  int scratch_blocks_ = 0;
  int64_t scratch_bytes_ = 0;  // of one
};

}  // namespace emplace
