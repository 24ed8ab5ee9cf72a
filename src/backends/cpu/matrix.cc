#include "backends/cpu/matrix.h"

#include <fmt/format.h>

namespace emplace::cpu {

Matrices matrices(KernelContext& c, int input) {
  const Tensor& t = c.input(input);
  if (t.rank() < 2)
    throw invalid_argument(
        fmt::format("Input tensor {} must have rank >= 2, got {}", input, t.rank()));
  Matrices m{&t, Shape(t.shape().dims().first(static_cast<size_t>(t.rank() - 2))), 1,
             t.dim(t.rank() - 2), t.dim(t.rank() - 1)};
  m.count = m.lead.num_elements();
  return m;
}

Matrices square_matrices(KernelContext& c, int input) {
  Matrices m = matrices(c, input);
  if (m.rows != m.columns) throw invalid_argument("Input matrix must be square.");
  return m;
}

Shape joined(const Shape& lead, std::initializer_list<int64_t> dims) {
  Shape s = lead;
  for (int64_t d : dims) s.push_back(d);
  return s;
}

void check_same_lead(const Matrices& a, const Matrices& b) {
  if (!(a.lead == b.lead))
    throw invalid_argument("All input tensors must have the same outer dimensions.");
}

}  // namespace emplace::cpu
