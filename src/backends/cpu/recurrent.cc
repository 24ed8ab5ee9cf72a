// Cells of recurrent nets, each step in one operation, and whole sequences of them.
#include <array>
#include <cmath>
#include <cstring>

#include "backends/cpu/eigen/core.h"
#include "backends/cpu/loops.h"
#include "backends/cpu/nets_kernels.h"
#include "backends/cpu/rows.h"
#include "base/stop_scope.h"
#include "kernel/recurrent_checks.h"

namespace emplace::cpu {
namespace {

using M = Eigen::Array<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Half32 = Types<float, Half>;

M product(const M& a, const M& b) { return (a.matrix() * b.matrix()).array(); }
M sigmoid(const M& x) { return 1.0f / (1.0f + (-x).exp()); }
M beside(const M& a, const M& b) {
  M both(a.rows(), a.cols() + b.cols());
  both << a, b;
  return both;
}

// An input as rows of floats: [rows, columns], or a vector as one row.
M read(KernelContext& c, int i, int rank, int64_t first = 0, int64_t rows = -1) {
  const Tensor& t = c.input(i);
  const int64_t columns = t.dim(t.rank() - 1);
  if (rows < 0) rows = rank == 1 ? 1 : t.dim(0);
  M m(rows, columns);
  visit_dtype(t.dtype(), Half32{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t k = 0; k < rows * columns; ++k)
      m.data()[k] = static_cast<float>(t.data<T>()[first * columns + k]);
  });
  return m;
}
void write(Tensor& t, const M& m, int64_t first = 0) {
  visit_dtype(t.dtype(), Half32{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t k = 0; k < m.size(); ++k)
      t.data<T>()[first * m.cols() + k] = static_cast<T>(m.data()[k]);
  });
}

// Which quarter of the weights each gate has.
struct Layout {
  int input, cell, forget, output;
};
constexpr Layout kIcfo{0, 1, 2, 3}, kIfco{0, 2, 1, 3};

struct Lstm {
  float forget_bias = 0, clip = 0;
  bool peephole = false;
  Layout layout = kIcfo;
};

struct Weights {
  M w, wci, wcf, wco, b;
};
// What a step leaves.
struct LstmStep {
  M i, cs, f, o, ci, co, h;
};

LstmStep step(const Lstm& how, const Weights& w, const M& x, const M& cs_prev, const M& h_prev) {
  const int64_t n = cs_prev.cols();
  M gates = product(beside(x, h_prev), w.w);
  gates.rowwise() += w.b.row(0);
  const auto gate = [&](int k) -> M { return gates.middleCols(k * n, n); };
  const auto seen = [&](const M& cell, const M& weight) -> M {
    return cell.rowwise() * weight.row(0);
  };
  LstmStep s;
  M in = gate(how.layout.input), forget = gate(how.layout.forget) + how.forget_bias;
  if (how.peephole) in += seen(cs_prev, w.wci), forget += seen(cs_prev, w.wcf);
  s.i = sigmoid(in);
  s.f = sigmoid(forget);
  s.ci = gate(how.layout.cell).tanh();
  s.cs = s.i * s.ci + s.f * cs_prev;
  if (how.clip > 0) s.cs = s.cs.min(how.clip).max(-how.clip);
  M out = gate(how.layout.output);
  if (how.peephole) out += seen(s.cs, w.wco);
  s.o = sigmoid(out);
  s.co = s.cs.tanh();
  s.h = s.o * s.co;
  return s;
}

// Inputs from `first` on: x, cs_prev, h_prev, w, wci, wcf, wco, b.
Weights weights(KernelContext& c, int first) {
  return {read(c, first + 3, 2), read(c, first + 4, 1), read(c, first + 5, 1),
          read(c, first + 6, 1), read(c, first + 7, 1)};
}

const M& part(const LstmStep& s, int k) {
  const M* parts[] = {&s.i, &s.cs, &s.f, &s.o, &s.ci, &s.co, &s.h};
  return *parts[k];
}

struct Cell : Lstm {
  void operator()(KernelContext& c) const {
    cell_sizes(c);
    const Weights w = weights(c, 0);
    const LstmStep s = step(*this, w, read(c, 0, 2), read(c, 1, 2), read(c, 2, 2));
    for (int k = 0; k < 7; ++k) write(c.output(k, c.input(1).shape()), part(s, k));
  }
};

struct Sequence : Lstm {
  void operator()(KernelContext& c) const {
    const auto [time, steps, batch, inputs, n] = sequence_sizes(c);
    const Weights w = weights(c, 1);
    const Shape shape{time, batch, n};
    M cs = read(c, 2, 2), h = read(c, 3, 2);
    std::array<Tensor*, 7> out{};
    for (int k = 0; k < 7; ++k) {
      out[static_cast<size_t>(k)] = &c.output(k, shape);
      std::memset(out[static_cast<size_t>(k)]->raw(), 0, out[static_cast<size_t>(k)]->bytes());
    }
    for (const int64_t t : paced(steps)) {
      const LstmStep s = step(*this, w, read(c, 1, 2, t * batch, batch), cs, h);
      for (int k = 0; k < 7; ++k) write(*out[static_cast<size_t>(k)], part(s, k), t * batch);
      cs = s.cs, h = s.h;
    }
  }
};

// ---- Back through a step.

struct LstmBack {
  M cs_prev, gates, wci, wcf, wco;
};
LstmBack back(const Lstm& how, const Weights& w, const LstmStep& s, const M& cs_prev,
              const M& cs_grad, const M& h_grad) {
  const M d_o = s.o * (1 - s.o) * h_grad * s.co;
  M d_cs = (1 - s.co * s.co) * h_grad * s.o + cs_grad;
  if (how.peephole) d_cs += M(d_o.rowwise() * w.wco.row(0));
  const M d_ci = (1 - s.ci * s.ci) * d_cs * s.i;
  const M d_f = s.f * (1 - s.f) * d_cs * cs_prev;
  const M d_i = s.i * (1 - s.i) * d_cs * s.ci;
  LstmBack b;
  b.cs_prev = d_cs * s.f;
  if (how.peephole) b.cs_prev += M(d_i.rowwise() * w.wci.row(0)) + M(d_f.rowwise() * w.wcf.row(0));
  const int64_t n = cs_prev.cols();
  b.gates.resize(cs_prev.rows(), 4 * n);
  b.gates.middleCols(how.layout.input * n, n) = d_i;
  b.gates.middleCols(how.layout.cell * n, n) = d_ci;
  b.gates.middleCols(how.layout.forget * n, n) = d_f;
  b.gates.middleCols(how.layout.output * n, n) = d_o;
  b.wci = M::Zero(1, n), b.wcf = M::Zero(1, n), b.wco = M::Zero(1, n);
  if (how.peephole) {
    b.wci.row(0) = (d_i * cs_prev).colwise().sum();
    b.wcf.row(0) = (d_f * cs_prev).colwise().sum();
    b.wco.row(0) = (d_o * s.cs).colwise().sum();
  }
  return b;
}

struct CellBack : Lstm {
  void operator()(KernelContext& c) const {
    const LstmSizes sizes = cell_sizes(c);
    const Weights w = weights(c, 0);
    const int64_t batch = sizes.batch, n = sizes.cells;
    for (int k = 8; k < 16; ++k) expect_sizes(c, k, "what a step left", {batch, n});
    const LstmStep s{read(c, 8, 2),  read(c, 9, 2),  read(c, 10, 2), read(c, 11, 2),
                     read(c, 12, 2), read(c, 13, 2), {}};
    const LstmBack b = back(*this, w, s, read(c, 1, 2), read(c, 14, 2), read(c, 15, 2));
    write(c.output(0, Shape{batch, n}), b.cs_prev);
    write(c.output(1, Shape{batch, 4 * n}), b.gates);
    write(c.output(2, Shape{n}), b.wci);
    write(c.output(3, Shape{n}), b.wcf);
    write(c.output(4, Shape{n}), b.wco);
  }
};

struct SequenceBack : Lstm {
  void operator()(KernelContext& c) const {
    const auto [time, steps, batch, inputs, n] = sequence_sizes(c);
    const Weights w = weights(c, 1);
    for (int k = 9; k < 18; ++k) expect_sizes(c, k, "what the steps left", {time, batch, n});
    M cs_grad = M::Zero(batch, n), h_grad = M::Zero(batch, n);
    M w_grad = M::Zero(inputs + n, 4 * n), b_grad = M::Zero(1, 4 * n);
    M wci = M::Zero(1, n), wcf = M::Zero(1, n), wco = M::Zero(1, n);
    Tensor& x_grad = c.output(0, c.input(1).shape());
    std::memset(x_grad.raw(), 0, x_grad.bytes());
    for (int64_t t = steps - 1; t >= 0; --t) {
      const auto at = [&](int k, int64_t when) { return read(c, k, 2, when * batch, batch); };
      const M cs_prev = t ? at(10, t - 1) : read(c, 2, 2),
              h_prev = t ? at(15, t - 1) : read(c, 3, 2);
      const LstmStep s{at(9, t), at(10, t), at(11, t), at(12, t), at(13, t), at(14, t), {}};
      const LstmBack b = back(*this, w, s, cs_prev, at(16, t) + cs_grad, at(17, t) + h_grad);
      const M both = product(b.gates, w.w.transpose());
      write(x_grad, both.leftCols(inputs), t * batch);
      h_grad = both.rightCols(n);
      cs_grad = b.cs_prev;
      w_grad += product(beside(at(1, t), h_prev).transpose(), b.gates);
      b_grad.row(0) += b.gates.colwise().sum();
      wci += b.wci, wcf += b.wcf, wco += b.wco;
    }
    write(c.output(1, Shape{batch, n}), cs_grad);
    write(c.output(2, Shape{batch, n}), h_grad);
    write(c.output(3, Shape{inputs + n, 4 * n}), w_grad);
    write(c.output(4, Shape{n}), wci);
    write(c.output(5, Shape{n}), wcf);
    write(c.output(6, Shape{n}), wco);
    write(c.output(7, Shape{4 * n}), b_grad);
  }
};

template <class Kernel, bool kSecond = false>
Prepared make_lstm(const KernelInit& init) {
  const auto number = [&](const char* name) {
    const AttrValue* v = init.find(name);
    return v ? v->as<float>() : 0.0f;
  };
  return prepared(Kernel{{number("forget_bias"), number("cell_clip"),
                          init.attr<bool>("use_peephole"), kSecond ? kIfco : kIcfo}});
}

// ---- Gated units.

struct Gru {
  M x, h, w_ru, w_c, b_ru, b_c;
  explicit Gru(KernelContext& c) {
    gru_sizes(c);
    x = read(c, 0, 2), h = read(c, 1, 2), w_ru = read(c, 2, 2), w_c = read(c, 3, 2);
    b_ru = read(c, 4, 1), b_c = read(c, 5, 1);
  }
};

void gru(KernelContext& c) {
  const Gru g(c);
  const int64_t n = g.h.cols();
  M gates = product(beside(g.x, g.h), g.w_ru);
  gates.rowwise() += g.b_ru.row(0);
  gates = sigmoid(gates);
  const M r = gates.leftCols(n), u = gates.rightCols(n);
  M candidate = product(beside(g.x, g.h * r), g.w_c);
  candidate.rowwise() += g.b_c.row(0);
  candidate = M(candidate.tanh());
  const M h = u * g.h + (1 - u) * candidate;
  const M* parts[] = {&r, &u, &candidate, &h};
  for (int k = 0; k < 4; ++k) write(c.output(k, c.input(1).shape()), *parts[k]);
}

void gru_back(KernelContext& c) {
  const Gru g(c);
  const int64_t batch = g.h.rows(), n = g.h.cols(), inputs = g.x.cols();
  for (int k = 6; k < 10; ++k) expect_sizes(c, k, "what the cell left", {batch, n});
  const M r = read(c, 6, 2), u = read(c, 7, 2), cand = read(c, 8, 2), d_h = read(c, 9, 2);
  const M d_c = d_h * (1 - u) * (1 - cand * cand), d_u = d_h * (g.h - cand) * u * (1 - u);
  const M second = product(d_c, g.w_c.transpose());
  const M d_hr = second.rightCols(n), d_r = d_hr * g.h * r * (1 - r);
  const M d_ru = beside(d_r, d_u), first = product(d_ru, g.w_ru.transpose());
  write(c.output(0, c.input(0).shape()), first.leftCols(inputs) + second.leftCols(inputs));
  write(c.output(1, Shape{batch, n}), first.rightCols(n) + d_hr * r + d_h * u);
  write(c.output(2, Shape{batch, n}), d_c);
  write(c.output(3, Shape{batch, 2 * n}), d_ru);
}

}  // namespace

std::vector<KernelRow> recurrent_kernels() {
  return {
      row("LSTMBlockCell", Half32::dtypes(), make_lstm<Cell>),
      row("LSTMBlockCellGrad", Half32::dtypes(), make_lstm<CellBack>),
      row("BlockLSTM", Half32::dtypes(), make_lstm<Sequence>),
      row("BlockLSTMV2", Half32::dtypes(), make_lstm<Sequence, true>),
      row("BlockLSTMGrad", Half32::dtypes(), make_lstm<SequenceBack>),
      row("BlockLSTMGradV2", Half32::dtypes(), make_lstm<SequenceBack, true>),
      {"GRUBlockCell", "CPU", {{"T", {DType::kFloat}}}, {}, stateless<gru>, {}, 0, ""},
      {"GRUBlockCellGrad", "CPU", {{"T", {DType::kFloat}}}, {}, stateless<gru_back>, {}, 0, ""}};
}

}  // namespace emplace::cpu
