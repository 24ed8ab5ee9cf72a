#include "kernel/einsum_labels.h"

#include <algorithm>

namespace emplace::einsum {

bool holds(const Labels& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

Labels joined(Labels a, const Labels& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Labels once(const Labels& labels) {
  Labels unique;
  for (int l : labels)
    if (!holds(unique, l)) unique.push_back(l);
  return unique;
}

int64_t product(const Labels& labels, const Sizes& sizes) {
  int64_t n = 1;
  for (int l : labels) n *= sizes.at(l);
  return n;
}

Steps steps_of(const Shape& shape, const Labels& labels, const Sizes& sizes) {
  Steps steps;
  int64_t step = 1;
  for (int d = shape.rank() - 1; d >= 0; --d) {
    const int label = labels[static_cast<size_t>(d)];
    steps[label] += shape[d] == sizes.at(label) ? step : 0;
    step *= shape[d];
  }
  return steps;
}

Steps packed(const Labels& order, const Sizes& sizes) {
  Steps steps;
  int64_t step = 1;
  for (size_t d = order.size(); d-- > 0; step *= sizes.at(order[d])) steps[order[d]] = step;
  return steps;
}

Roles::Roles(const EinsumLabels& l) {
  for (const auto& [label, size] : l.sizes) {
    const bool a = holds(l.inputs[0], label), b = holds(l.inputs[1], label);
    const bool stays = holds(l.output, label);
    if (a && b) (stays ? batch : inner).push_back(label);
    else if (stays) (a ? left : right).push_back(label);
  }
  for (Labels* part : {&batch, &left, &right})
    std::sort(part->begin(), part->end(), [&](int x, int y) {
      return std::find(l.output.begin(), l.output.end(), x) <
             std::find(l.output.begin(), l.output.end(), y);
    });
}

}  // namespace emplace::einsum
