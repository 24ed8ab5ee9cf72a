// Rows and slices of variables replaced, added to, …
#include <fmt/format.h>

#include "backends/cpu/training_kernels.h"
#include "backends/cpu/move.h"
#include "backends/cpu/scatter.h"
#include "backends/cpu/variables.h"

namespace emplace::cpu {
namespace {

// The loop for ScatterAdd, ResourceScatterNdMax, …: the end of the op's name says it.
ScatterOp op_of(std::string_view name) {
  using enum ScatterOp;
  if (name.ends_with("Add")) return kAdd;
  if (name.ends_with("Sub")) return kSub;
  if (name.ends_with("Mul")) return kMul;
  if (name.ends_with("Div")) return kDiv;
  if (name.ends_with("Max")) return kMax;
  if (name.ends_with("Min")) return kMin;
  return kSet;
}

void scatter_rows(const Tensor& indices, const Tensor& updates, ScatterLoop loop, Tensor& to) {
  if (to.rank() < 1) throw invalid_argument("params must be at least 1-D, got shape " + to.shape().str());
  Shape expected = indices.shape();
  for (int i = 1; i < to.rank(); ++i) expected.push_back(to.dim(i));
  const bool one = updates.rank() == 0;  // a scalar meets every element
  if (!one && !(updates.shape() == expected))
    throw invalid_argument(fmt::format("Must have updates.shape = indices.shape + params.shape[1:] "
                                       "or updates.shape = [], got updates.shape {}, indices.shape "
                                       "{}, params.shape {}", updates.shape().str(),
                                       indices.shape().str(), to.shape().str()));
  const auto rows = int_values(indices);
  const auto size = static_cast<int64_t>(dtype_size(to.dtype()));
  const int64_t inner = to.dim(0) ? to.num_elements() / to.dim(0) : 0;
  for (size_t i = 0; i < rows.size(); ++i)
    if (rows[i] < 0 || rows[i] >= to.dim(0))
      throw invalid_argument(fmt::format("indices[{}] = {} is not in [0, {})", i, rows[i], to.dim(0)));
  for (size_t i = 0; i < rows.size(); ++i) {
    char* row = static_cast<char*>(to.raw()) + rows[i] * inner * size;
    const char* from = static_cast<const char*>(updates.raw());
    if (one)
      for (int64_t k = 0; k < inner; ++k) loop(row + k * size, from, 1);
    else
      loop(row, from + static_cast<int64_t>(i) * inner * size, inner);
  }
}

struct Scatter {
  ScatterLoop loop;
  bool is_ref, nd, ignore;
  void operator()(KernelContext& c) const {
    const Tensor &indices = c.input(1), &updates = c.input(2);
    c.variable(0).update(c.own_aliases(), [&](Tensor& t) {
      if (t.dtype() != updates.dtype())
        throw invalid_argument("the variable and the updates have different dtypes");
      nd ? scatter_nd(indices, updates, loop, t, ignore) : scatter_rows(indices, updates, loop, t);
    });
    if (is_ref) c.set_output(0, c.input(0));
  }
};

Prepared make(const KernelInit& init) {
  const AttrValue* policy = init.find("bad_indices_policy");
  return prepared(Scatter{scatter_loop(op_of(init.op->name), init.input_types[2]),
                          init.op->inputs[0].is_ref,
                          init.op->name.find("ScatterNd") != std::string::npos,
                          policy && policy->as<std::string>() == "IGNORE"});
}

}  // namespace

std::vector<KernelRow> scatter_variable_kernels() {
  std::vector<KernelRow> rows;
  auto add = [&](std::string name, const char* attr, std::vector<DType> types) {
    rows.push_back({std::move(name), "CPU", {{attr, std::move(types)}}, {}, make, {}, 0, ""});
  };
  auto types_of = [](std::string_view end) {
    if (end == "Update") return Join<Plain, Types<std::string>>::dtypes();
    return end == "Max" || end == "Min" ? Reals::dtypes() : Numbers::dtypes();
  };
  for (const char* end : {"Update", "Add", "Sub", "Mul", "Div", "Max", "Min"}) {
    add(std::string("Scatter") + end, "T", types_of(end));
    add(std::string("ResourceScatter") + end, "dtype", types_of(end));
  }
  for (const char* end : {"Update", "Add", "Sub", "Max", "Min"}) {
    add(std::string("ScatterNd") + end, "T", types_of(end));
    add(std::string("ResourceScatterNd") + end, "T", types_of(end));
  }
  return rows;
}

}  // namespace emplace::cpu
