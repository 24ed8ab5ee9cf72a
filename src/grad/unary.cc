// Gradients of functions of one number.
#include <cmath>
#include <numbers>

#include "grad/rows.h"

namespace emplace::grad {
namespace {

using Slope = Output (*)(Output x, Output y, Output dy);

// The whole gradient, of x, y = f(x) and what came back.
struct Unary {
  const char* op;
  Slope gradient;
};

Output one(Output x) { return number(1, x); }
Output inverse(Output x) { return f("Reciprocal", x); }
// What came back, times scale * exp(exponent).
Output bell(Output dy, double scale, Output exponent) {
  return dy * number(scale, dy) * f("Exp", exponent);
}

constexpr double kRootOfPi = 1.7724538509055160273;

const Unary kUnary[] = {
    {"Neg", [](Output, Output, Output dy) { return -dy; }},
    {"Abs", [](Output x, Output, Output dy) { return dy * f("Sign", x); }},
    {"Sign", [](Output x, Output, Output) { return zeros_like(x); }},
    {"Square", [](Output x, Output, Output dy) { return dy * (conj(x) * number(2, x)); }},
    {"Sqrt", [](Output, Output y, Output dy) { return f("SqrtGrad", y, dy); }},
    {"Rsqrt", [](Output, Output y, Output dy) { return f("RsqrtGrad", y, dy); }},
    {"Reciprocal", [](Output, Output y, Output dy) { return f("ReciprocalGrad", y, dy); }},
    {"Inv", [](Output, Output y, Output dy) { return f("ReciprocalGrad", y, dy); }},
    {"Exp", [](Output, Output y, Output dy) { return dy * conj(y); }},
    {"Expm1", [](Output x, Output, Output dy) { return dy * f("Exp", conj(x)); }},
    {"Log", [](Output x, Output, Output dy) { return dy * inverse(conj(x)); }},
    {"Log1p", [](Output x, Output, Output dy) { return dy * inverse(one(x) + conj(x)); }},
    {"Sin", [](Output x, Output, Output dy) { return dy * f("Cos", conj(x)); }},
    {"Cos", [](Output x, Output, Output dy) { return -dy * f("Sin", conj(x)); }},
    {"Tan", [](Output x, Output, Output dy) {
       return dy * f("Square", inverse(f("Cos", conj(x))));
     }},
    {"Asin", [](Output x, Output, Output dy) {
       return dy * inverse(f("Sqrt", one(x) - f("Square", conj(x))));
     }},
    {"Acos", [](Output x, Output, Output dy) {
       return -dy * inverse(f("Sqrt", one(x) - f("Square", conj(x))));
     }},
    {"Atan", [](Output x, Output, Output dy) {
       return dy * inverse(one(x) + f("Square", conj(x)));
     }},
    {"Sinh", [](Output x, Output, Output dy) { return dy * f("Cosh", conj(x)); }},
    {"Cosh", [](Output x, Output, Output dy) { return dy * f("Sinh", conj(x)); }},
    {"Tanh", [](Output, Output y, Output dy) { return f("TanhGrad", conj(y), dy); }},
    {"Asinh", [](Output, Output y, Output dy) { return dy / f("Cosh", conj(y)); }},
    {"Acosh", [](Output, Output y, Output dy) { return dy / f("Sinh", conj(y)); }},
    {"Atanh", [](Output x, Output, Output dy) {
       return dy * inverse(one(x) - f("Square", conj(x)));
     }},
    {"Sigmoid", [](Output, Output y, Output dy) { return f("SigmoidGrad", conj(y), dy); }},
    {"Erf", [](Output x, Output, Output dy) { return bell(dy, 2 / kRootOfPi, -f("Square", x)); }},
    {"Erfc", [](Output x, Output, Output dy) {
       return bell(dy, -2 / kRootOfPi, -f("Square", x));
     }},
    {"Erfinv", [](Output, Output y, Output dy) {
       return bell(dy, kRootOfPi / 2, f("Square", y));
     }},
    {"Ndtri", [](Output, Output y, Output dy) {
       return bell(dy, std::numbers::sqrt2 * kRootOfPi, f("Square", y) * number(0.5, y));
     }},
    {"Lgamma", [](Output x, Output, Output dy) { return dy * f("Digamma", x); }},
    {"Digamma", [](Output x, Output, Output dy) { return dy * f("Polygamma", one(x), x); }},
    {"Relu", [](Output, Output y, Output dy) { return f("ReluGrad", dy, y); }},
    {"Relu6", [](Output, Output y, Output dy) { return f("Relu6Grad", dy, y); }},
    {"Elu", [](Output, Output y, Output dy) { return f("EluGrad", dy, y); }},
    {"Selu", [](Output, Output y, Output dy) { return f("SeluGrad", dy, y); }},
    {"Softplus", [](Output x, Output, Output dy) { return dy * f("Sigmoid", x); }},
    {"Softsign", [](Output x, Output, Output dy) { return f("SoftsignGrad", dy, x); }},
    {"L2Loss", [](Output x, Output, Output dy) { return x * dy; }},
    {"Conj", [](Output, Output, Output dy) { return f("Conj", dy); }},
    {"Real", [](Output, Output, Output dy) { return f("Complex", dy, zeros_like(dy)); }},
    {"Imag", [](Output, Output, Output dy) { return f("Complex", zeros_like(dy), dy); }},
};

// The gradients of the first are in a and b: y = g(a) * b.
struct OfSlopes {
  const char* op;
  std::vector<Output> (*gradient)(Output a, Output b, Output dy);
};

const OfSlopes kOfSlopes[] = {
    {"SqrtGrad", [](Output a, Output b, Output dy) -> std::vector<Output> {
       const Output half = number(0.5, a);
       return {-(dy * half * b / f("Square", a)), dy * half / a};
     }},
    {"RsqrtGrad", [](Output a, Output b, Output dy) -> std::vector<Output> {
       return {dy * b * number(-1.5, a) * f("Square", a), f("RsqrtGrad", a, dy)};
     }},
    {"ReciprocalGrad", [](Output a, Output b, Output dy) -> std::vector<Output> {
       return {dy * b * number(-2, a) * a, f("ReciprocalGrad", a, dy)};
     }},
    {"TanhGrad", [](Output a, Output b, Output dy) -> std::vector<Output> {
       return {dy * b * number(-2, a) * a, f("TanhGrad", a, dy)};
     }},
    {"SigmoidGrad", [](Output a, Output b, Output dy) -> std::vector<Output> {
       return {dy * b * (number(1, a) - number(2, a) * a), f("SigmoidGrad", a, dy)};
     }},
};

}  // namespace

void add_unary(Rows& rows) {
  for (const Unary& u : kUnary)
    rows.add(u.op, [g = u.gradient](const Forward& n) -> std::vector<Output> {
      return {g(n.x(), n.y(), n.dy())};
    });
  for (const OfSlopes& s : kOfSlopes)
    rows.add(s.op, [g = s.gradient](const Forward& n) { return g(n.x(0), n.x(1), n.dy()); });
  for (const char* masked : {"ReluGrad", "Relu6Grad"})
    rows.add(masked, [masked](const Forward& n) -> std::vector<Output> {
      return {f(masked, n.dy(), n.x(1)), zeros_like(n.x(1))};
    });
  rows.add("LeakyRelu", [](const Forward& n) -> std::vector<Output> {
    return {op("LeakyReluGrad", {n.dy(), n.x()}, n.attrs({"alpha"}))};
  });
  rows.add("Cast", [](const Forward& n) -> std::vector<Output> {
    const DType from = n.x().dtype();
    if (!is_number(from)) return {};
    return {cast(n.dy(), from)};
  });
  rows.stop({"Floor", "Ceil", "Round", "Rint", "IsNan", "IsInf", "IsFinite", "Invert",
             "LogicalNot", "Bitcast"});
}

}  // namespace emplace::grad
