// Steps of optimizers, dense and for some rows; on references and on resources.
#include <cmath>

#include <fmt/format.h>

#include "backends/cpu/training_kernels.h"
#include "backends/cpu/loops.h"
#include "backends/cpu/move.h"
#include "backends/cpu/variables.h"

namespace emplace::cpu {
namespace {

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

// Each rule: v[0] is the variable, v[1] … its slots, g the gradient of one element.
template <class C>
struct GradientDescent {
  static constexpr int kVariables = 1;
  C alpha;
  template <class S>
  GradientDescent(const S& s, const Flags&) : alpha(s("alpha")) {}
  void operator()(C* v, C g) const { v[0] -= alpha * g; }
};
template <class C>
struct Momentum {
  static constexpr int kVariables = 2;
  C lr, momentum;
  bool nesterov;
  template <class S>
  Momentum(const S& s, const Flags& f) : lr(s("lr")), momentum(s("momentum")), nesterov(f.nesterov) {}
  void operator()(C* v, C g) const {
    v[1] = v[1] * momentum + g;
    v[0] -= nesterov ? g * lr + v[1] * momentum * lr : v[1] * lr;
  }
};
template <class C>
struct KerasMomentum : Momentum<C> {
  using Momentum<C>::Momentum;
  void operator()(C* v, C g) const {
    v[1] = v[1] * this->momentum - g * this->lr;
    v[0] += this->nesterov ? v[1] * this->momentum - g * this->lr : v[1];
  }
};
template <class C>
struct Adam {
  static constexpr int kVariables = 3;
  C alpha, beta1, beta2, epsilon;
  bool nesterov;
  template <class S>
  Adam(const S& s, const Flags& f)
      : alpha(s("lr") * std::sqrt(C(1) - s("beta2_power")) / (C(1) - s("beta1_power"))),
        beta1(s("beta1")), beta2(s("beta2")), epsilon(s("epsilon")), nesterov(f.nesterov) {}
  void operator()(C* v, C g) const {
    v[1] += (g - v[1]) * (C(1) - beta1);
    v[2] += (g * g - v[2]) * (C(1) - beta2);
    const C m = nesterov ? g * (C(1) - beta1) + beta1 * v[1] : v[1];
    v[0] -= m * alpha / (std::sqrt(v[2]) + epsilon);
  }
};
template <class C>
struct Adagrad {
  static constexpr int kVariables = 2;
  C lr;
  bool update;
  template <class S>
  Adagrad(const S& s, const Flags& f) : lr(s("lr")), update(f.update_slots) {}
  void operator()(C* v, C g) const {
    if (update) v[1] += g * g;
    v[0] -= lr * g / std::sqrt(v[1]);
  }
};
template <class C>
struct AdagradV2 {
  static constexpr int kVariables = 2;
  C lr, epsilon;
  bool update;
  template <class S>
  AdagradV2(const S& s, const Flags& f)
      : lr(s("lr")), epsilon(s("epsilon")), update(f.update_slots) {}
  void operator()(C* v, C g) const {
    if (update) v[1] += g * g;
    v[0] -= lr * g / (std::sqrt(v[1]) + epsilon);
  }
};
template <class C>
struct RmsProp {  // variable, ms, mom
  static constexpr int kVariables = 3;
  C lr, rho, momentum, epsilon;
  template <class S>
  RmsProp(const S& s, const Flags&)
      : lr(s("lr")), rho(s("rho")), momentum(s("momentum")), epsilon(s("epsilon")) {}
  void operator()(C* v, C g) const {
    v[1] += (g * g - v[1]) * (C(1) - rho);
    v[2] = v[2] * momentum + g * lr / std::sqrt(v[1] + epsilon);
    v[0] -= v[2];
  }
};
template <class C>
struct CenteredRmsProp {  // variable, mg, ms, mom
  static constexpr int kVariables = 4;
  C lr, rho, momentum, epsilon;
  template <class S>
  CenteredRmsProp(const S& s, const Flags&)
      : lr(s("lr")), rho(s("rho")), momentum(s("momentum")), epsilon(s("epsilon")) {}
  void operator()(C* v, C g) const {
    v[2] += (g * g - v[2]) * (C(1) - rho);
    v[1] += (g - v[1]) * (C(1) - rho);
    v[3] = v[3] * momentum + g * lr / std::sqrt(v[2] - v[1] * v[1] + epsilon);
    v[0] -= v[3];
  }
};
template <class C>
struct Adadelta {  // variable, accum, accum_update
  static constexpr int kVariables = 3;
  C lr, rho, epsilon;
  template <class S>
  Adadelta(const S& s, const Flags&) : lr(s("lr")), rho(s("rho")), epsilon(s("epsilon")) {}
  void operator()(C* v, C g) const {
    v[1] = v[1] * rho + g * g * (C(1) - rho);
    const C update = std::sqrt(v[2] + epsilon) / std::sqrt(v[1] + epsilon) * g;
    v[0] -= update * lr;
    v[2] = v[2] * rho + update * update * (C(1) - rho);
  }
};
template <class C, bool kV2>
struct FtrlRule {  // variable, accum, linear
  static constexpr int kVariables = 3;
  C lr, l1, l2, shrinkage, power;
  bool by_lr;
  template <class S>
  FtrlRule(const S& s, const Flags& f)
      : lr(s("lr")), l1(s("l1")), l2(s("l2")), shrinkage(kV2 ? s("l2_shrinkage") : C(0)),
        power(s("lr_power")), by_lr(f.linear_by_lr) {}
  C root(C x) const { return power == C(-0.5) ? std::sqrt(x) : std::pow(x, -power); }
  void operator()(C* v, C g) const {
    const C accum = v[1] + g * g, shrunk = g + C(2) * shrinkage * v[0];
    const C sigma = root(accum) - root(v[1]), scale = by_lr ? C(1) : lr;
    v[2] += (by_lr ? shrunk * lr : shrunk) - sigma / scale * v[0];
    const C limit = by_lr ? l1 * lr : l1;
    const C quadratic = root(accum) / scale + C(2) * l2 * (by_lr ? lr : C(1));
    const C held = std::clamp(v[2], -limit, limit);
    v[0] = std::abs(v[2]) > limit ? (held - v[2]) / quadratic : C(0);
    v[1] = accum;
  }
};
template <class C>
using Ftrl = FtrlRule<C, false>;
template <class C>
using FtrlV2 = FtrlRule<C, true>;

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

void check_alike(const std::vector<Tensor*>& v, DType dtype) {
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

template <template <class> class Rule>
struct Apply : Setup {
  explicit Apply(const Setup& s) : Setup(s) {}
  void operator()(KernelContext& c) const {
    visit_dtype(c.input(gradient).dtype(), Floats{}, [&](auto tag) {
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

bool flag(const KernelInit& init, const char* name, bool otherwise) {
  const AttrValue* v = find_attr(*init.attrs, name);
  return v ? v->as<bool>() : otherwise;
}

template <template <class> class Rule>
Prepared make(const KernelInit& init) {
  Setup s;
  s.op = init.op;
  s.flags = {flag(init, "use_nesterov", false), flag(init, "update_slots", true),
             flag(init, "multiply_linear_by_lr", false)};
  const int gradient = init.op->input_index("grad");
  s.gradient = gradient < 0 ? init.op->input_index("delta") : gradient;
  s.indices = init.op->input_index("indices");
  s.is_ref = init.op->inputs[0].is_ref;
  return prepared(Apply<Rule>(s));
}

using Prefixes = std::initializer_list<const char*>;
constexpr Prefixes kDense = {"Apply", "ResourceApply"};
constexpr Prefixes kAll = {"Apply", "ResourceApply", "SparseApply", "ResourceSparseApply"};
constexpr Prefixes kResources = {"ResourceApply", "ResourceSparseApply"};

void add(std::vector<KernelRow>& rows, Prefixes prefixes, const char* name, KernelFactory make) {
  for (const char* prefix : prefixes)
    rows.push_back({std::string(prefix) + name, "CPU", {{"T", Floats::dtypes()}}, {}, make, {}, 0,
                    ""});
}

}  // namespace

std::vector<KernelRow> optimizer_kernels() {
  std::vector<KernelRow> rows;
  add(rows, kDense, "GradientDescent", make<GradientDescent>);
  add(rows, kAll, "Momentum", make<Momentum>);
  add(rows, kResources, "KerasMomentum", make<KerasMomentum>);
  add(rows, kDense, "Adam", make<Adam>);
  add(rows, kAll, "Adagrad", make<Adagrad>);
  add(rows, kAll, "AdagradV2", make<AdagradV2>);
  add(rows, kAll, "RMSProp", make<RmsProp>);
  add(rows, kAll, "CenteredRMSProp", make<CenteredRmsProp>);
  add(rows, kAll, "Adadelta", make<Adadelta>);
  add(rows, kAll, "Ftrl", make<Ftrl>);
  add(rows, kAll, "FtrlV2", make<FtrlV2>);
  return rows;
}

}  // namespace emplace::cpu
