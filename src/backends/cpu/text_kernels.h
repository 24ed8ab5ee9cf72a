#pragma once
#include <vector>

#include "kernel/kernel.h"

namespace emplace::cpu {

inline bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

std::vector<KernelRow> string_kernels();
std::vector<KernelRow> string_number_kernels();
std::vector<KernelRow> string_join_kernels();
std::vector<KernelRow> string_split_kernels();
std::vector<KernelRow> string_hash_kernels();
std::vector<KernelRow> regex_kernels();
std::vector<KernelRow> encoding_kernels();
std::vector<KernelRow> unicode_kernels();
std::vector<KernelRow> string_format_kernels();

// Output 0 has input 0's shape; each element comes from a string by f.
template <class R, class F>
void map_strings(KernelContext& c, F&& f) {
  const Tensor& in = c.input(0);
  Tensor& out = c.output(0, in.shape());
  const std::string* from = in.data<std::string>();
  R* to = out.data<R>();
  c.parallel_for(in.num_elements(), 60, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) to[i] = f(from[i]);
  });
}

inline KernelRow text_row(const char* op, KernelFactory make) {
  return {op, "CPU", {}, {}, make, {}, 0, ""};
}

}  // namespace emplace::cpu
