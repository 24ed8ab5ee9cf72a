#include "golden_calls_testutil.h"

#include <algorithm>
#include <map>

#include "op/op_def.h"

namespace emplace::testing {
namespace {

using Calls = std::map<std::string, std::vector<GoldenCall>>;

bool is_small(const std::vector<Tensor>& tensors) {
  return std::all_of(tensors.begin(), tensors.end(),
                     [](const Tensor& t) { return t.num_elements() <= kMaxElements; });
}

void add_to(Calls& calls, GoldenCall c) {
  if (!c.error.empty() || !is_small(c.inputs) || !is_small(c.outputs)) return;
  const std::string twin = c.op.starts_with("Resource") ? c.op.substr(8) : "";
  if (op_catalogue().find(twin)) {
    GoldenCall on_references = c;
    on_references.op = twin;
    calls[twin].push_back(std::move(on_references));
  }
  calls[c.op].push_back(std::move(c));
}

Calls read_all() {
  Calls calls;
  for (const char* file : {"cpu_kernels", "cpu_kernels_more", "net_kernels", "imported_kernels",
                           "file_kernels", "rare_kernels", "../property/calls"})
    for (GoldenCall& c : cpu::golden_cases(file)) add_to(calls, std::move(c));
  return calls;
}

}  // namespace

const std::vector<GoldenCall>* golden_calls(const std::string& op) {
  static const Calls calls = read_all();
  const auto it = calls.find(op);
  return it == calls.end() ? nullptr : &it->second;
}

}  // namespace emplace::testing
