#pragma once
#include <initializer_list>
#include <string_view>
#include <vector>

#include "emplace/ops.h"

// Short hands for writing gradients down.
namespace emplace::grad {

inline bool is_number(DType t) { return is_floating(t) || is_complex(t); }  // has gradients

template <class... X>
Output f(std::string_view type, X... x) {
  return op(type, {x...});
}

Output number(double value, Output like);  // of its dtype
Output ints(std::vector<int32_t> values);
Output shape_of(Output x, DType dtype = DType::kInt32);
Output conj(Output x);                     // itself unless complex
Output zeros_like(Output x);
Output zeros_of(Output shape, DType dtype);
Output cast(Output x, DType dtype);
Output reshaped(Output x, Output like);
Output when(Output chosen, Output x, Output y);  // SelectV2

// `g` summed over the axes along which `x` was broadcast.
Output like(Output g, Output x);

// Axes as a list, none of them negative.
Output from_the_front(Output axes, Output rank);

// The shape of a reduction of `x` along `axes` that keeps its axes.
Output kept_shape(Output x, Output axes);

}  // namespace emplace::grad
