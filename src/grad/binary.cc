// Gradients of functions of several numbers, which broadcast.
#include "grad/rows.h"

namespace emplace::grad {
namespace {

// Both gradients, before they are summed back to the arguments' shapes.
struct Binary {
  const char* op;
  std::pair<Output, Output> (*gradient)(Output x, Output y, Output z, Output dz);
};

using Pair = std::pair<Output, Output>;

Pair quotient(const char* divide, Output x, Output y, Output dz) {
  const Output cx = conj(x), cy = conj(y);
  return {f(divide, dz, cy), dz * f(divide, f(divide, -cx, cy), cy)};
}

Pair extreme(const char* first_wins, Output x, Output y, Output dz) {
  const Output first = f(first_wins, x, y), zero = zeros_like(dz);
  return {when(first, dz, zero), when(first, zero, dz)};
}

// One where x is not zero: the slope by x of what is zero where x is.
Output where_not_zero(Output x) { return cast(f("NotEqual", x, zeros_like(x)), x.dtype()); }

Pair power(Output x, Output y, Output z, Output dz) {
  const Output cx = conj(x), cy = conj(y);
  // The logarithm is taken only where it exists, so that no NaN comes from the other branch.
  const Output usable = is_complex(x.dtype()) ? f("NotEqual", cx, zeros_like(cx))
                                              : f("Greater", cx, zeros_like(cx));
  const Output log = when(usable, f("Log", when(usable, cx, f("OnesLike", cx))), zeros_like(cx));
  return {dz * cy * f("Pow", cx, cy - number(1, cy)), dz * conj(z) * log};
}

const Binary kBinary[] = {
    {"Add", [](Output, Output, Output, Output dz) { return Pair(dz, dz); }},
    {"AddV2", [](Output, Output, Output, Output dz) { return Pair(dz, dz); }},
    {"Sub", [](Output, Output, Output, Output dz) { return Pair(dz, -dz); }},
    {"Mul", [](Output x, Output y, Output, Output dz) {
       return Pair(dz * conj(y), conj(x) * dz);
     }},
    {"MulNoNan", [](Output x, Output y, Output, Output dz) {
       return Pair(f("MulNoNan", dz, y), f("MulNoNan", x, dz));
     }},
    {"Div", [](Output x, Output y, Output, Output dz) { return quotient("Div", x, y, dz); }},
    {"RealDiv", [](Output x, Output y, Output, Output dz) {
       return quotient("RealDiv", x, y, dz);
     }},
    {"DivNoNan", [](Output x, Output y, Output, Output dz) {
       return quotient("DivNoNan", x, y, dz);
     }},
    {"FloorMod", [](Output x, Output y, Output, Output dz) {
       return Pair(dz, -(dz * f("FloorDiv", x, y)));
     }},
    {"Pow", power},
    {"Maximum", [](Output x, Output y, Output, Output dz) {
       return extreme("GreaterEqual", x, y, dz);
     }},
    {"Minimum", [](Output x, Output y, Output, Output dz) {
       return extreme("LessEqual", x, y, dz);
     }},
    {"SquaredDifference", [](Output x, Output y, Output, Output dz) {
       const Output g = number(2, dz) * dz * conj(x - y);
       return Pair(g, -g);
     }},
    {"Atan2", [](Output y, Output x, Output, Output dz) {
       const Output scaled = dz / (f("Square", y) + f("Square", x));
       return Pair(x * scaled, -y * scaled);
     }},
    {"Xlogy", [](Output x, Output y, Output, Output dz) {
       return Pair(dz * f("Xlogy", where_not_zero(x), y), dz * f("Xdivy", x, y));
     }},
    {"Xlog1py", [](Output x, Output y, Output, Output dz) {
       return Pair(dz * f("Xlog1py", where_not_zero(x), y), dz * f("Xdivy", x, y + number(1, y)));
     }},
    {"Xdivy", [](Output x, Output y, Output, Output dz) {
       return Pair(dz * f("Xdivy", where_not_zero(x), y), dz * f("Xdivy", -x, f("Square", y)));
     }},
    {"Complex", [](Output, Output, Output, Output dz) {
       return Pair(f("Real", dz), f("Imag", dz));
     }},
};

std::vector<Output> of_select(const Forward& n) {
  const Output zero = zeros_like(n.dy());
  return {{}, f("Select", n.x(0), n.dy(), zero), f("Select", n.x(0), zero, n.dy())};
}

std::vector<Output> of_select_v2(const Forward& n) {
  const Output zero = zeros_like(n.dy());
  return {{}, like(when(n.x(0), n.dy(), zero), n.x(1)), like(when(n.x(0), zero, n.dy()), n.x(2))};
}

std::vector<Output> of_clip(const Forward& n) {
  const Output zero = zeros_like(n.dy());
  const Output below = f("Less", n.x(0), n.x(1)), above = f("Greater", n.x(0), n.x(2));
  const Output outside = f("LogicalOr", below, above);
  return {like(when(outside, zero, n.dy()), n.x(0)), like(when(below, n.dy(), zero), n.x(1)),
          like(when(above, n.dy(), zero), n.x(2))};
}

}  // namespace

void add_binary(Rows& rows) {
  for (const Binary& b : kBinary)
    rows.add(b.op, [g = b.gradient](const Forward& n) -> std::vector<Output> {
      const auto [dx, dy] = g(n.x(0), n.x(1), n.y(), n.dy());
      return {like(dx, n.x(0)), like(dy, n.x(1))};
    });
  rows.add({"AddN", "AccumulateNV2"}, [](const Forward& n) {
    return std::vector<Output>(n.num_inputs(), n.dy());
  });
  rows.add("Select", of_select);
  rows.add("SelectV2", of_select_v2);
  rows.add("ClipByValue", of_clip);
  rows.stop({"FloorDiv", "TruncateDiv", "TruncateMod", "Equal", "NotEqual", "Less", "LessEqual",
             "Greater", "GreaterEqual", "LogicalAnd", "LogicalOr", "ApproximateEqual",
             "BitwiseAnd", "BitwiseOr", "BitwiseXor", "LeftShift", "RightShift"});
}

}  // namespace emplace::grad
