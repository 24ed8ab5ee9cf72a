#pragma once
#include <string_view>

#include "graph/known_value.h"

namespace emplace {

// What a folding rule sees: the node, and the outputs to fill (those left alone stay unknown).
struct FoldContext {
  const Node& node;
  std::vector<KnownValue>& out;

  int num_inputs() const { return static_cast<int>(node.inputs().size()); }
  const Shape& shape(int i) const {
    const Output& in = node.inputs()[static_cast<size_t>(i)];
    return in.node->output_shape(in.index);
  }
  // Input i; entries are unknown where only its shape is; nothing if not even that is small.
  std::optional<KnownValue> input(int i) const;
  std::optional<int64_t> scalar(int i) const;                // a known number
  std::optional<std::vector<int64_t>> numbers(int i) const;  // all entries known
  int64_t int_attr(std::string_view name) const;             // 0 if there is none
  void set(int i, bool is_scalar, std::vector<int64_t> values) const;
};

using FoldRule = void (*)(const FoldContext&);
FoldRule find_fold_rule(std::string_view op);  // null if the op is not folded

}  // namespace emplace
