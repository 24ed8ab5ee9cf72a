// Steps of the rarer optimizers.
#include "backends/cpu/optimizer_step.h"
#include "backends/cpu/training_kernels.h"

namespace emplace::cpu {
namespace {

template <class C>
C sign(C x) {
  return static_cast<C>((x > C(0)) - (x < C(0)));
}

// Towards 0 by l1, where that is positive; then scaled.
template <class C>
C shrunk(C x, C by) {
  return by > C(0) ? sign(x) * std::max(std::abs(x) - by, C(0)) : x;
}

template <class C>
struct AdaMax {  // variable, m, v
  static constexpr int kVariables = 3;
  C alpha, beta1, beta2, epsilon;
  template <class S>
  AdaMax(const S& s, const Flags&)
      : alpha(s("lr") / (C(1) - s("beta1_power"))), beta1(s("beta1")), beta2(s("beta2")),
        epsilon(s("epsilon")) {}
  void operator()(C* v, C g) const {
    v[1] += (g - v[1]) * (C(1) - beta1);
    v[2] = std::max(beta2 * v[2], std::abs(g));
    v[0] -= alpha * (v[1] / (v[2] + epsilon));
  }
};
template <class C>
struct AmsGrad {  // variable, m, v, vhat
  static constexpr int kVariables = 4;
  C alpha, beta1, beta2, epsilon;
  template <class S>
  AmsGrad(const S& s, const Flags&)
      : alpha(s("lr") * std::sqrt(C(1) - s("beta2_power")) / (C(1) - s("beta1_power"))),
        beta1(s("beta1")), beta2(s("beta2")), epsilon(s("epsilon")) {}
  void operator()(C* v, C g) const {
    v[1] += (g - v[1]) * (C(1) - beta1);
    v[2] += (g * g - v[2]) * (C(1) - beta2);
    v[3] = std::max(v[3], v[2]);
    v[0] -= v[1] * alpha / (std::sqrt(v[3]) + epsilon);
  }
};
template <class C>
struct AddSign {  // variable, m
  static constexpr int kVariables = 2;
  C lr, alpha, decay, beta;
  template <class S>
  AddSign(const S& s, const Flags&)
      : lr(s("lr")), alpha(s("alpha")), decay(s("sign_decay")), beta(s("beta")) {}
  void operator()(C* v, C g) const {
    v[1] = v[1] * beta + g * (C(1) - beta);
    v[0] -= lr * (alpha + decay * sign(g) * sign(v[1])) * g;
  }
};
template <class C>
struct PowerSign {  // variable, m
  static constexpr int kVariables = 2;
  C lr, logbase, decay, beta;
  template <class S>
  PowerSign(const S& s, const Flags&)
      : lr(s("lr")), logbase(s("logbase")), decay(s("sign_decay")), beta(s("beta")) {}
  void operator()(C* v, C g) const {
    v[1] = v[1] * beta + g * (C(1) - beta);
    v[0] -= lr * std::exp(logbase * decay * sign(g) * sign(v[1])) * g;
  }
};
template <class C>
struct ProximalDescent {
  static constexpr int kVariables = 1;
  C alpha, l1, l2;
  template <class S>
  ProximalDescent(const S& s, const Flags&) : alpha(s("alpha")), l1(s("l1")), l2(s("l2")) {}
  void operator()(C* v, C g) const {
    v[0] = shrunk(v[0] - alpha * g, alpha * l1) / (C(1) + l2 * alpha);
  }
};
template <class C>
struct ProximalAdagrad {  // variable, accum
  static constexpr int kVariables = 2;
  C lr, l1, l2;
  template <class S>
  ProximalAdagrad(const S& s, const Flags&) : lr(s("lr")), l1(s("l1")), l2(s("l2")) {}
  void operator()(C* v, C g) const {
    v[1] += g * g;
    const C rate = lr / std::sqrt(v[1]);
    v[0] = shrunk(v[0] - rate * g, rate * l1) / (C(1) + l2 * rate);
  }
};
template <class C>
struct AdagradDA {  // variable, sum of gradients, sum of their squares
  static constexpr int kVariables = 3;
  C lr, l1, l2, step;
  template <class S>
  AdagradDA(const S& s, const Flags&)
      : lr(s("lr")), l1(s("l1")), l2(s("l2")), step(s("global_step")) {}
  void operator()(C* v, C g) const {
    v[1] += g;
    v[2] += g * g;
    v[0] = -lr * shrunk(v[1], l1 * step) / (l2 * step * lr + std::sqrt(v[2]));
  }
};

}  // namespace

std::vector<KernelRow> more_optimizer_kernels() {
  std::vector<KernelRow> rows;
  add_steps(rows, kDense, "AdaMax", make_step<AdaMax>);
  add_steps(rows, kDense, "AddSign", make_step<AddSign>);
  add_steps(rows, kDense, "PowerSign", make_step<PowerSign>);
  add_steps(rows, kAll, "ProximalGradientDescent", make_step<ProximalDescent>);
  add_steps(rows, kAll, "ProximalAdagrad", make_step<ProximalAdagrad>);
  add_steps(rows, kAll, "AdagradDA", make_step<AdagradDA>);
  add_steps(rows, {"ResourceApply"}, "AdamWithAmsgrad", make_step<AmsGrad>);
  return rows;
}

}  // namespace emplace::cpu
