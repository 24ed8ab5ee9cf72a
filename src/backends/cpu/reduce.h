#pragma once
#include <span>
#include <vector>

#include "backends/cpu/loops.h"
#include "kernel/kernel.h"

namespace emplace::cpu {

// The loops of one reduction on one dtype. An accumulator is what is kept while elements come in;
// it may be wider than the dtype.
struct ReduceLoops {
  size_t acc_size;
  bool acc_is_output;  // accumulators are laid out as results: they can be made in place
  void (*init)(void* accs, int64_t n);
  // Takes in n neighbouring elements for one accumulator.
  void (*row)(const void* x, int64_t n, void* acc);
  // accs[j] takes in x[j], x[step + j] …, of `rows` rows in their order.
  void (*column)(const void* x, int64_t rows, int64_t step, int64_t n, void* accs);
  // accs[j] takes in others[j].
  void (*merge)(const void* others, int64_t n, void* accs);
  // Results of n accumulators that took in `count` elements each.
  void (*finish)(const void* accs, int64_t n, int64_t count, void* out);
};

// How dimensions fall into kept and reduced ones, neighbours of a kind merged.
class ReducePlan {
 public:
  ReducePlan(const Shape& in, const Tensor& axes, bool keep_dims);

  const Shape& shape() const { return shape_; }  // of the result
  // Sizes seen as [outer, reduced, inner] or, after `perm`, as [outer, reduced].
  int64_t outer = 1, reduced = 1, inner = 1;
  bool needs_turn = false;
  std::vector<int> perm;  // kept dimensions, then reduced ones

 private:
  void see_blocks(const Shape& in, const std::vector<bool>& is_reduced);
  Shape shape_;
};

// Runs a reduction; the order in which elements meet depends on the shape only.
void reduce(KernelContext& c, const ReduceLoops& loops, const ReducePlan& plan, const Tensor& in,
            Tensor& out);

}  // namespace emplace::cpu
