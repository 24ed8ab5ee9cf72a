// Cells of recurrent nets: products by cuBLASLt, what lies between them by device/recurrent.cuh. What x gives
// to the gates of all steps is one product, and so is what the weights get back.
#include "kernel/recurrent_checks.h"

#include <fmt/format.h>

#include "backends/cuda/kernels.h"
#include "backends/cuda/product.h"

namespace emplace::cuda {
namespace {

// Must look as device/recurrent.cuh's do.
struct Lstm {
  int32_t input, cell, forget, output;
  float forget_bias, clip;
  int32_t peephole;
};
struct Made {
  char* of[7];
};
struct Peepholes {
  const void* of[3];
};
struct Left {
  const char* of[9];
};

void multiply(Gpu& gpu, float* out, const float* a, const float* b, int64_t m, int64_t n, int64_t k,
              bool ta = false, bool tb = false) {
  batch_product(gpu, DType::kFloat, out, a, b, 1, m, n, k, ta, tb);
}

// What all kernels of a cell have.
struct Cell {
  Gpu* gpu;
  DType dtype;
  bool sequence;
  Lstm how;
  explicit Cell(const KernelInit& init)
      : gpu(&gpu_of(*init.device)), dtype(init.type("T")),
        sequence(init.op->name.starts_with("Block")) {
    const auto number = [&](const char* name) {
      const AttrValue* v = init.find(name);
      return v ? v->as<float>() : 0.0f;
    };
    const bool second = init.op->name.ends_with("V2");  // the order of the gates: icfo or ifco
    how = {0, second ? 2 : 1, second ? 1 : 2, 3, number("forget_bias"), number("cell_clip"),
           init.attr<bool>("use_peephole")};
  }
  CUfunction get(const char* name) const {
    return gpu->jit().get("recurrent", fmt::format("{}<{}>", name, device_type(dtype)));
  }
  LstmSizes sizes(KernelContext& c) const { return sequence ? sequence_sizes(c) : cell_sizes(c); }
  // Elements from `first` on as floats: themselves, or copies that `memory` owns.
  const float* floats(KernelContext& c, const Tensor& t, int64_t n, Tensor& memory) const {
    if (dtype == DType::kFloat) return t.data<float>();
    memory = c.temp(DType::kFloat, Shape{n});
    widen(memory.data<float>(), t.raw(), n);
    return memory.data<float>();
  }
  void widen(float* to, const void* from, int64_t n) const {
    if (n > 0) launch_kernel(*gpu, get("widened"), grid_for(*gpu, n), to, from, n);
  }
  void narrow(void* to, const float* from, int64_t n) const {
    if (n > 0) launch_kernel(*gpu, get("narrowed"), grid_for(*gpu, n), to, from, n);
  }
  Peepholes peepholes(KernelContext& c) const {
    const int first = sequence ? 5 : 4;
    return {{c.input(first).raw(), c.input(first + 1).raw(), c.input(first + 2).raw()}};
  }
  size_t size() const { return dtype_size(dtype); }
};

struct Forth : Cell {
  using Cell::Cell;
  void operator()(KernelContext& c) const {
    const auto [time, steps, batch, inputs, n] = sizes(c);
    const int first = sequence ? 1 : 0;
    const Shape shape = sequence ? Shape{time, batch, n} : Shape{batch, n};
    Tensor* out[7];
    const int64_t each = batch * n;
    for (int k = 0; k < 7; ++k) {
      out[k] = &c.output(k, shape);
      const size_t done = static_cast<size_t>(steps * each) * size();
      if (out[k]->bytes() > done) gpu->zero(out[k]->data<char>() + done, out[k]->bytes() - done);
    }
    if (each == 0 || steps == 0) return;
    Tensor wide_x, wide_w, from_x;
    const float* const w = floats(c, c.input(first + 3), (inputs + n) * 4 * n, wide_w);
    if (inputs > 0) {
      const float* const x = floats(c, c.input(first), steps * batch * inputs, wide_x);
      from_x = c.temp(DType::kFloat, Shape{steps * batch, 4 * n});
      multiply(*gpu, from_x.data<float>(), x, w, steps * batch, 4 * n, inputs);
    }
    const Tensor from_h = c.temp(DType::kFloat, Shape{batch, 4 * n}),
                 cs = c.temp(DType::kFloat, Shape{batch, n}), h = c.temp(DType::kFloat, Shape{batch, n});
    widen(cs.data<float>(), c.input(first + 1).raw(), each);
    widen(h.data<float>(), c.input(first + 2).raw(), each);
    const CUfunction step = get("lstm_step");
    for (int64_t t = 0; t < steps; ++t) {
      multiply(*gpu, from_h.data<float>(), h.data<float>(), w + inputs * 4 * n, batch, 4 * n, n);
      Made made;
      for (int k = 0; k < 7; ++k)
        made.of[k] = out[k]->data<char>() + static_cast<size_t>(t * each) * size();
      launch_kernel(*gpu, step, grid_for(*gpu, each), made, cs.raw(), h.raw(),
                    inputs > 0 ? from_x.data<float>() + t * each * 4 : nullptr, from_h.raw(),
                    c.input(first + 7).raw(), peepholes(c), each, n, how);
    }
  }
};

struct Back : Cell {
  using Cell::Cell;
  void operator()(KernelContext& c) const {
    const LstmSizes s = sizes(c);
    const auto [time, steps, batch, inputs, n] = s;
    const int first = sequence ? 1 : 0, left = first + 8;  // i, cs, f, o, ci, co[, h], gradients
    for (int k = left; k < c.num_inputs(); ++k)
      if (sequence) expect_sizes(c, k, "what the steps left", {time, batch, n});
      else expect_sizes(c, k, "what a step left", {batch, n});
    const int64_t each = batch * n, rows = steps * batch;
    Tensor made, wide_w;
    Tensor& to_cs = c.output(sequence ? 1 : 0, Shape{batch, n});
    Tensor* gates = &made;  // [rows, 4 * n] of floats
    const bool direct = !sequence && dtype == DType::kFloat;
    if (!sequence) gates = &c.output(1, Shape{batch, 4 * n});
    Tensor* const to_gates = gates;
    if (!direct) made = c.temp(DType::kFloat, Shape{rows, 4 * n}), gates = &made;
    const Tensor cs = c.temp(DType::kFloat, Shape{batch, n}), h = c.temp(DType::kFloat, Shape{batch, n});
    gpu->zero(cs.raw(), cs.bytes());
    gpu->zero(h.raw(), h.bytes());
    const float* const w =
        sequence ? floats(c, c.input(first + 3), (inputs + n) * 4 * n, wide_w) : nullptr;
    const CUfunction back = get("lstm_back");
    for (int64_t t = steps - 1; t >= 0 && each > 0; --t) {
      const auto at = [&](int k, int64_t when) -> const char* {
        return c.input(k).data<char>() + static_cast<size_t>(when * each) * size();
      };
      Left l;
      l.of[0] = t > 0 ? at(left + 1, t - 1) : c.input(first + 1).data<char>();
      for (int k = 0; k < 6; ++k) l.of[k + 1] = at(left + k, t);
      for (int k = 0; k < 2; ++k) l.of[7 + k] = at(c.num_inputs() - 2 + k, t);
      float* const mine = gates->data<float>() + t * each * 4;
      launch_kernel(*gpu, back, grid_for(*gpu, each), mine, cs.raw(), h.raw(), l,
                    peepholes(c), each, n, how);
      if (sequence)
        multiply(*gpu, h.data<float>(), mine, w + inputs * 4 * n, batch, n, 4 * n, false, true);
    }
    narrow(to_cs.raw(), cs.data<float>(), each);
    if (!sequence && !direct) narrow(to_gates->raw(), made.data<float>(), each * 4);
    const int weights = sequence ? 4 : 2;
    void* sums[4] = {};
    for (int k = 0; k < 3; ++k) sums[k] = c.output(weights + k, Shape{n}).raw();
    if (sequence) sums[3] = c.output(7, Shape{4 * n}).raw();
    Grid g;
    g.x = static_cast<unsigned>(n);
    if (n > 0)
      launch_kernel(*gpu, get("lstm_sums"), g, sums[0], sums[1], sums[2], sums[3],
                    static_cast<const void*>(gates->raw()), c.input(first + 1).raw(),
                    c.input(left + 1).raw(), rows, batch, n, how);
    if (sequence) rest(c, s, w, gates->data<float>(), h);
  }

 private:
  // x, h_prev and w.
  void rest(KernelContext& c, const LstmSizes& s, const float* w, const float* gates,
            const Tensor& h) const {
    const auto [time, steps, batch, inputs, n] = s;
    const int64_t rows = steps * batch, each = batch * n;
    Tensor &to_x = c.output(0, c.input(1).shape()), &to_h = c.output(2, Shape{batch, n}),
           &to_w = c.output(3, Shape{inputs + n, 4 * n});
    narrow(to_h.raw(), h.data<float>(), each);
    if (rows == 0 || n == 0) {
      gpu->zero(to_x.raw(), to_x.bytes());
      return gpu->zero(to_w.raw(), to_w.bytes());
    }
    const size_t done = static_cast<size_t>(rows * inputs) * size();
    if (to_x.bytes() > done) gpu->zero(to_x.data<char>() + done, to_x.bytes() - done);
    Tensor wide_x, all_h = c.temp(DType::kFloat, Shape{rows, n});
    const bool direct = dtype == DType::kFloat;
    const Tensor grad_w = direct ? to_w : c.temp(DType::kFloat, to_w.shape());
    if (inputs > 0) {
      const Tensor grad_x = direct ? to_x : c.temp(DType::kFloat, Shape{rows, inputs});
      multiply(*gpu, grad_x.data<float>(), gates, w, rows, inputs, 4 * n, false, true);
      if (!direct) narrow(to_x.raw(), grad_x.data<float>(), rows * inputs);
      multiply(*gpu, grad_w.data<float>(), floats(c, c.input(1), rows * inputs, wide_x), gates,
               inputs, 4 * n, rows, true);
    }
    widen(all_h.data<float>(), c.input(3).raw(), each);
    widen(all_h.data<float>() + each, c.input(15).raw(), (steps - 1) * each);
    multiply(*gpu, grad_w.data<float>() + inputs * 4 * n, all_h.data<float>(), gates, n, 4 * n, rows,
             true);
    if (!direct) narrow(to_w.raw(), grad_w.data<float>(), to_w.num_elements());
  }
};

template <class Kernel>
Prepared make_cell(const KernelInit& init) {
  return prepared(Kernel(init));
}

// ---- Gated units, of floats.

// x times the upper rows of a matrix of weights, which may have none.
Tensor of_inputs(KernelContext& c, const LstmSizes& s, int weights, int64_t columns) {
  if (s.inputs == 0) return {};
  Tensor t = c.temp(DType::kFloat, Shape{s.batch, columns});
  multiply(gpu_of(c.device()), t.data<float>(), c.input(0).data<float>(),
           c.input(weights).data<float>(), s.batch, columns, s.inputs);
  return t;
}

void gru(KernelContext& c) {
  Gpu& gpu = gpu_of(c.device());
  const LstmSizes s = gru_sizes(c);
  const int64_t n = s.cells, each = s.batch * n;
  const Tensor& h = c.input(1);
  float* out[4];
  for (int k = 0; k < 4; ++k) out[k] = c.output(k, h.shape()).data<float>();
  if (each == 0) return;
  const auto get = [&](const char* name) { return gpu.jit().get("recurrent", name); };
  const auto lower = [&](int k, int64_t columns) {
    return c.input(k).data<float>() + s.inputs * columns;
  };
  const Tensor gates_x = of_inputs(c, s, 2, 2 * n), cell_x = of_inputs(c, s, 3, n),
               gates_h = c.temp(DType::kFloat, Shape{s.batch, 2 * n}),
               cell_h = c.temp(DType::kFloat, Shape{s.batch, n}),
               hr = c.temp(DType::kFloat, Shape{s.batch, n});
  multiply(gpu, gates_h.data<float>(), h.data<float>(), lower(2, 2 * n), s.batch, 2 * n, n);
  launch_kernel(gpu, get("gru_gates"), grid_for(gpu, each), out[0], out[1], hr.raw(),
                s.inputs > 0 ? gates_x.raw() : nullptr, gates_h.raw(), c.input(4).raw(), h.raw(),
                each, n);
  multiply(gpu, cell_h.data<float>(), hr.data<float>(), lower(3, n), s.batch, n, n);
  launch_kernel(gpu, get("gru_step"), grid_for(gpu, each), out[2], out[3],
                s.inputs > 0 ? cell_x.raw() : nullptr, cell_h.raw(), c.input(5).raw(), out[1],
                h.raw(), each, n);
}

void gru_back(KernelContext& c) {
  Gpu& gpu = gpu_of(c.device());
  const LstmSizes s = gru_sizes(c);
  const int64_t batch = s.batch, n = s.cells, inputs = s.inputs, each = batch * n;
  for (int k = 6; k < 10; ++k) expect_sizes(c, k, "what the cell left", {batch, n});
  const Tensor &h = c.input(1), &r = c.input(6), &u = c.input(7), &d_h = c.input(9);
  Tensor &to_x = c.output(0, c.input(0).shape()), &to_h = c.output(1, Shape{batch, n}),
         &d_c = c.output(2, Shape{batch, n}), &d_ru = c.output(3, Shape{batch, 2 * n});
  if (each == 0) return gpu.zero(to_x.raw(), to_x.bytes());
  const auto get = [&](const char* name) { return gpu.jit().get("recurrent", name); };
  const Tensor d_hr = c.temp(DType::kFloat, Shape{batch, n}), first = c.temp(DType::kFloat, Shape{batch, n});
  const float *const w_ru = c.input(2).data<float>(), *const w_c = c.input(3).data<float>();
  launch_kernel(gpu, get("gru_back_first"), grid_for(gpu, each), d_c.raw(), d_ru.raw(), h.raw(),
                u.raw(), c.input(8).raw(), d_h.raw(), each, n);
  multiply(gpu, d_hr.data<float>(), d_c.data<float>(), w_c + inputs * n, batch, n, n, false, true);
  launch_kernel(gpu, get("gru_back_second"), grid_for(gpu, each), d_ru.raw(), d_hr.raw(), h.raw(),
                r.raw(), each, n);
  multiply(gpu, first.data<float>(), d_ru.data<float>(), w_ru + inputs * 2 * n, batch, n, 2 * n,
           false, true);
  launch_kernel(gpu, get("gru_back_last"), grid_for(gpu, each), to_h.raw(), first.raw(), d_hr.raw(),
                r.raw(), d_h.raw(), u.raw(), each);
  if (inputs == 0) return;
  const Tensor second = c.temp(DType::kFloat, to_x.shape());
  multiply(gpu, to_x.data<float>(), d_ru.data<float>(), w_ru, batch, inputs, 2 * n, false, true);
  multiply(gpu, second.data<float>(), d_c.data<float>(), w_c, batch, inputs, n, false, true);
  launch_kernel(gpu, get("plus"), grid_for(gpu, batch * inputs), to_x.raw(), second.raw(),
                batch * inputs);
}

}  // namespace

std::vector<KernelRow> recurrent_kernels() {
  const TypeConstraint types{"T", {DType::kFloat, DType::kHalf}};
  std::vector<KernelRow> rows = {
      cuda_row("LSTMBlockCell", make_cell<Forth>, {types}),
      cuda_row("LSTMBlockCellGrad", make_cell<Back>, {types}),
      cuda_row("BlockLSTM", make_cell<Forth>, {types}),
      cuda_row("BlockLSTMV2", make_cell<Forth>, {types}),
      cuda_row("BlockLSTMGrad", make_cell<Back>, {types}),
      cuda_row("BlockLSTMGradV2", make_cell<Back>, {types}),
      cuda_row("GRUBlockCell", stateless<gru>, {{"T", {DType::kFloat}}}),
      cuda_row("GRUBlockCellGrad", stateless<gru_back>, {{"T", {DType::kFloat}}})};
  for (KernelRow& row : rows) row.traits.replays = false;  // scratch memory is this call's own
  return rows;
}

}  // namespace emplace::cuda
