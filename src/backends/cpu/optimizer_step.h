#pragma once
#include <cmath>

#include <fmt/format.h>

#include "backends/cpu/loops.h"
#include "backends/cpu/move.h"
#include "backends/cpu/variables.h"

namespace emplace::cpu {

// Reads the scalars of a call by the names of their arguments.
template <class T>
class Scalars {
 public:
  using C = Compute<T>;
  Scalars(KernelContext& c, const OpDef& op) : c_(c), op_(op) {}
  C operator()(std::string_view name) const {
    const Tensor& t = c_.input(op_.input_index(name));
    if (t.num_elements() != 1)
      throw invalid_argument(fmt::format("{} is not a scalar: {}", name, t.shape().str()));
    if (t.dtype() == DType::kInt64) return static_cast<C>(*t.data<int64_t>());  // a global step
    return static_cast<C>(*t.data<T>());
  }

 private:
  KernelContext& c_;
  const OpDef& op_;
};

// What attributes choose.
struct Flags {
  bool nesterov = false, update_slots = true, linear_by_lr = false;
};

// A rule is a struct over the type it computes in, made from Scalars and Flags, with a number
// kVariables and operator()(C* v, C g): v[0] is the variable, v[1] … its slots, g one element's
// gradient.

// n elements of all variables from `at` on, against gradients from `from` on.
template <class T, class Rule>
void step(const Rule& rule, const std::vector<Tensor*>& v, int64_t at, const T* g, int64_t n) {
  using C = Compute<T>;
  C values[Rule::kVariables];
  for (int64_t i = 0; i < n; ++i) {
    for (int k = 0; k < Rule::kVariables; ++k)
      values[k] = static_cast<C>(v[static_cast<size_t>(k)]->data<T>()[at + i]);
    rule(values, static_cast<C>(g[i]));
    for (int k = 0; k < Rule::kVariables; ++k)
      v[static_cast<size_t>(k)]->data<T>()[at + i] = static_cast<T>(values[k]);
  }
}

inline void check_alike(const std::vector<Tensor*>& v, DType dtype) {
  for (const Tensor* t : v)
    if (t->dtype() != dtype || !(t->shape() == v[0]->shape()))
      throw invalid_argument(fmt::format("the variable and its slots do not have the same shape or "
                                         "dtype: {} {}", v[0]->shape().str(), t->shape().str()));
}

struct Setup {
  const OpDef* op;
  Flags flags;
  int gradient, indices;  // inputs; indices < 0: dense
  bool is_ref;
};

template <template <class> class Rule, class List>
struct OptimizerStep : Setup {
  explicit OptimizerStep(const Setup& s) : Setup(s) {}
  void operator()(KernelContext& c) const {
    visit_dtype(c.input(gradient).dtype(), List{}, [&](auto tag) {
      using T = typename decltype(tag)::type;
      using R = Rule<Compute<T>>;
      const R rule(Scalars<T>(c, *op), flags);
      update_variables(c, R::kVariables, [&](const std::vector<Tensor*>& v) {
        check_alike(v, c.input(gradient).dtype());
        indices < 0 ? dense<T>(c, rule, v) : sparse<T>(c, rule, v);
      });
    });
    if (is_ref) c.set_output(0, c.input(0));
  }
  template <class T, class R>
  void dense(KernelContext& c, const R& rule, const std::vector<Tensor*>& v) const {
    const Tensor& g = c.input(gradient);
    if (!(g.shape() == v[0]->shape()))
      throw invalid_argument(fmt::format("var and grad do not have the same shape {} {}",
                                         v[0]->shape().str(), g.shape().str()));
    c.parallel_for(g.num_elements(), 3, [&](int64_t b, int64_t e) {
      step(rule, v, b, g.data<T>() + b, e - b);
    });
  }
  template <class T, class R>
  void sparse(KernelContext& c, const R& rule, const std::vector<Tensor*>& v) const {
    const Tensor &g = c.input(gradient), &rows = c.input(indices);
    const auto wanted = int_values(rows);
    if (rows.rank() != 1) throw invalid_argument("indices must be one-dimensional");
    Shape expected = v[0]->shape();
    if (expected.rank() < 1) throw invalid_argument("var must be at least 1 dimensional");
    const int64_t limit = expected[0];
    expected.set_dim(0, rows.dim(0));
    if (!(g.shape() == expected))
      throw invalid_argument(fmt::format("grad must have shape {}, got {}", expected.str(),
                                         g.shape().str()));
    const int64_t inner = limit ? v[0]->num_elements() / limit : 0;
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (wanted[i] < 0 || wanted[i] >= limit)
        throw invalid_argument(fmt::format("Index {} at offset {} in indices is out of range",
                                           wanted[i], i));
      step(rule, v, wanted[i] * inner, g.data<T>() + static_cast<int64_t>(i) * inner, inner);
    }
  }
};

inline bool flag(const KernelInit& init, const char* name, bool otherwise) {
  const AttrValue* v = init.find(name);
  return v ? v->as<bool>() : otherwise;
}

template <template <class> class Rule, class List = Floats>
Prepared make_step(const KernelInit& init) {
  Setup s;
  s.op = init.op;
  s.flags = {flag(init, "use_nesterov", false), flag(init, "update_slots", true),
             flag(init, "multiply_linear_by_lr", false)};
  const int gradient = init.op->input_index("grad");
  s.gradient = gradient < 0 ? init.op->input_index("delta") : gradient;
  s.indices = init.op->input_index("indices");
  s.is_ref = init.op->inputs[0].is_ref;
  return prepared(OptimizerStep<Rule, List>(s));
}

using Prefixes = std::initializer_list<const char*>;
inline constexpr Prefixes kDense = {"Apply", "ResourceApply"};
inline constexpr Prefixes kAll = {"Apply", "ResourceApply", "SparseApply", "ResourceSparseApply"};
inline constexpr Prefixes kResources = {"ResourceApply", "ResourceSparseApply"};

inline void add_steps(std::vector<KernelRow>& rows, Prefixes prefixes, const char* name,
                      KernelFactory make) {
  for (const char* prefix : prefixes)
    rows.push_back({std::string(prefix) + name, "CPU", {{"T", Floats::dtypes()}}, {}, make, {}, 0,
                    ""});
}
// … whose dense steps take complex variables too.
template <template <class> class Rule>
void add_complex_steps(std::vector<KernelRow>& rows, Prefixes prefixes, const char* name) {
  const size_t first = rows.size();
  add_steps(rows, prefixes, name, make_step<Rule, FloatsAndComplexes>);
  for (size_t i = first; i < rows.size(); ++i)
    if (rows[i].op.find("Sparse") == std::string::npos)
      rows[i].types[0].allowed = FloatsAndComplexes::dtypes();
}

}  // namespace emplace::cpu
