// Steps of optimizers, dense and for some rows; on references and on resources.
#include "backends/cpu/optimizer_step.h"
#include "backends/cpu/training_kernels.h"

namespace emplace::cpu {
namespace {

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

}  // namespace

std::vector<KernelRow> optimizer_kernels() {
  std::vector<KernelRow> rows;
  add_complex_steps<GradientDescent>(rows, kDense, "GradientDescent");
  add_complex_steps<Momentum>(rows, kAll, "Momentum");
  add_complex_steps<KerasMomentum>(rows, kResources, "KerasMomentum");
  add_complex_steps<Adam>(rows, kDense, "Adam");
  add_complex_steps<Adagrad>(rows, kAll, "Adagrad");
  add_complex_steps<AdagradV2>(rows, kAll, "AdagradV2");
  add_complex_steps<RmsProp>(rows, kAll, "RMSProp");
  add_complex_steps<CenteredRmsProp>(rows, kAll, "CenteredRMSProp");
  add_complex_steps<Adadelta>(rows, kAll, "Adadelta");
  add_steps(rows, kAll, "Ftrl", make_step<Ftrl>);
  add_steps(rows, kAll, "FtrlV2", make_step<FtrlV2>);
  return rows;
}

}  // namespace emplace::cpu
