// Chains of simple float operations in one pass: a tile goes through all of them before the next,
// so short that the next one's loads are under way meanwhile. (exec joins what has other operations
// block by block.)
#include <algorithm>
#include <array>
#include <cstring>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "backends/cpu/cpu_kernels.h"
#include "backends/cpu/simd.h"

namespace emplace::cpu {
namespace {

typedef float Vector __attribute__((vector_size(32)));
typedef float Unaligned __attribute__((vector_size(32), aligned(4), may_alias));

constexpr int64_t kTile = 64;                     // elements
constexpr int64_t kShare = 4096;  // elements that one call of a thread does at least
constexpr size_t kMostCalls = 16, kMostInputs = 16;
constexpr size_t kStreamBytes = size_t{8} << 20;  // results larger than this go past the caches

enum class Code : uint8_t {
  kAdd, kSub, kMul, kDiv, kMax, kMin, kSquaredDifference, kNeg, kAbs, kSquare, kReciprocal, kRelu
};
struct Word {
  std::string_view op;
  Code code;
  int operands;
};
constexpr Word kWords[] = {
    {"Add", Code::kAdd, 2},       {"AddV2", Code::kAdd, 2},
    {"Sub", Code::kSub, 2},       {"Mul", Code::kMul, 2},
    {"RealDiv", Code::kDiv, 2},   {"Maximum", Code::kMax, 2},
    {"Minimum", Code::kMin, 2},   {"SquaredDifference", Code::kSquaredDifference, 2},
    {"Neg", Code::kNeg, 1},       {"Abs", Code::kAbs, 1},
    {"Square", Code::kSquare, 1}, {"Reciprocal", Code::kReciprocal, 1},
    {"Relu", Code::kRelu, 1}};

// One operation, ready to run: pointers to the first tile, and how far it is to the next.
struct Call {
  Code code;
  const float *a, *b;
  float* out;
  int64_t step_a, step_b, step_out;
};

// A NaN on the left wins, as in the kernels of single operations.
[[gnu::always_inline]] inline Vector larger(Vector a, Vector b) {
  return ((a != a) | (a > b)) ? a : b;
}
[[gnu::always_inline]] inline Vector smaller(Vector a, Vector b) {
  return ((a != a) | (a < b)) ? a : b;
}

template <class F>
[[gnu::always_inline]] inline void over_tile(const Call& c, int64_t tile, F f) {
  const float *a = c.a + tile * c.step_a, *b = c.b + tile * c.step_b;
  float* out = c.out + tile * c.step_out;
#pragma GCC unroll 8
  for (int i = 0; i < kTile; i += 8)
    *reinterpret_cast<Unaligned*>(out + i) =
        f(Vector(*reinterpret_cast<const Unaligned*>(a + i)),
          Vector(*reinterpret_cast<const Unaligned*>(b + i)));
}

[[gnu::always_inline]] inline void run_call(const Call& c, int64_t tile) {
  using V = Vector;
  constexpr int32_t kSign = INT32_MIN;
  typedef int32_t Bits __attribute__((vector_size(32)));
  switch (c.code) {
    case Code::kAdd: return over_tile(c, tile, [](V a, V b) { return a + b; });
    case Code::kSub: return over_tile(c, tile, [](V a, V b) { return a - b; });
    case Code::kMul: return over_tile(c, tile, [](V a, V b) { return a * b; });
    case Code::kDiv: return over_tile(c, tile, [](V a, V b) { return a / b; });
    case Code::kMax: return over_tile(c, tile, [](V a, V b) { return larger(a, b); });
    case Code::kMin: return over_tile(c, tile, [](V a, V b) { return smaller(a, b); });
    case Code::kSquaredDifference:
      return over_tile(c, tile, [](V a, V b) { return (a - b) * (a - b); });
    case Code::kNeg: return over_tile(c, tile, [](V a, V) { return -a; });
    case Code::kAbs:
      return over_tile(c, tile, [](V a, V) { return (V)((Bits)a & ~(Bits{} + kSign)); });
    case Code::kSquare: return over_tile(c, tile, [](V a, V) { return a * a; });
    case Code::kReciprocal: return over_tile(c, tile, [](V a, V) { return 1.0f / a; });
    case Code::kRelu: return over_tile(c, tile, [](V a, V) { return larger(a, V{}); });
  }
}

// Writes without reading the lines first; `to` is aligned to 16 bytes.
[[gnu::always_inline]] inline void stream(float* to, const float* from) {
#if defined(__SSE2__)
  for (int i = 0; i < kTile; i += 4) _mm_stream_ps(to + i, _mm_loadu_ps(from + i));
#else
  std::memcpy(to, from, kTile * sizeof(float));
#endif
}

// All calls, tile by tile. With `past`, the last call's results are streamed there.
void run_tiles(const Call* calls, size_t n, int64_t tiles, float* past) {
  for (int64_t t = 0; t < tiles; ++t) {
    for (size_t i = 0; i < n; ++i) run_call(calls[i], t);
    if (past) stream(past + t * kTile, calls[n - 1].out);
  }
}

class FusedFloats {
 public:
  explicit FusedFloats(const KernelInit& init);
  void operator()(KernelContext& c) const;

 private:
  struct Operation {
    Code code;
    std::array<int, 2> operands;  // inputs from 0; results from -1 down
  };
  // Where one thread's tiles lie, and room for what is between the operations.
  struct Tiles {
    alignas(64) float results[kMostCalls][kTile];
    alignas(64) float scalars[kMostInputs][kTile];
    std::array<Call, kMostCalls> calls;
  };
  bool whole(size_t input) const { return whole_ >> input & 1; }
  void part(KernelContext& c, Tensor& out, int64_t begin, int64_t end, bool streams) const;
  void point(Tiles& tiles, const std::array<const float*, kMostInputs>& inputs, float* out,
             int64_t step) const;

  Shape shape_;
  int64_t elements_;
  uint32_t whole_ = 0;  // bit i: input i has as many elements as the result, not one
  std::vector<Operation> operations_;
  size_t inputs_;
  void (*run_)(const Call*, size_t, int64_t, float*) = best<run_tiles>();
};

FusedFloats::FusedFloats(const KernelInit& init)
    : shape_(init.output_shapes[0]),
      elements_(shape_.num_elements()),
      inputs_(init.input_types.size()) {
  auto refuse = [] { throw unimplemented("not a chain of simple float operations"); };
  const auto& ops = init.attr<std::vector<std::string>>("ops");
  const auto& operands = init.attr<std::vector<int64_t>>("operands");
  const auto& counts = init.attr<std::vector<int64_t>>("counts");
  if (ops.size() > kMostCalls || inputs_ > kMostInputs) refuse();
  for (const DType t : init.attr<std::vector<DType>>("results"))
    if (t != DType::kFloat) refuse();
  for (size_t i = 0; i < inputs_; ++i) {
    if (init.input_types[i] != DType::kFloat) refuse();
    if (init.input_shapes[i].num_elements() == elements_) whole_ |= 1u << i;
  }
  size_t at = 0;
  for (size_t i = 0; i < ops.size(); ++i) {
    const auto word = std::ranges::find(kWords, ops[i], &Word::op);
    if (word == std::end(kWords) || word->operands != counts[i]) refuse();
    const int first = static_cast<int>(operands[at]);
    const int last = static_cast<int>(operands[at + static_cast<size_t>(counts[i]) - 1]);
    operations_.push_back({word->code, {first, last}});
    at += static_cast<size_t>(counts[i]);
  }
}

void FusedFloats::point(Tiles& tiles, const std::array<const float*, kMostInputs>& inputs,
                        float* out, int64_t step) const {
  for (size_t i = 0; i < operations_.size(); ++i) {
    Call& call = tiles.calls[i];
    call.code = operations_[i].code;
    auto operand = [&](int which, const float*& p, int64_t& by) {
      const auto input = static_cast<size_t>(std::max(which, 0));
      p = which < 0      ? tiles.results[-1 - which]
          : whole(input) ? inputs[input]
                         : tiles.scalars[input];
      by = which >= 0 && whole(input) ? step : 0;
    };
    operand(operations_[i].operands[0], call.a, call.step_a);
    operand(operations_[i].operands[1], call.b, call.step_b);
    const bool last = i + 1 == operations_.size() && out;
    call.out = last ? out : tiles.results[i];
    call.step_out = last ? step : 0;
  }
}

void FusedFloats::part(KernelContext& c, Tensor& out, int64_t begin, int64_t end,
                       bool streams) const {
  Tiles tiles;
  std::array<const float*, kMostInputs> inputs;
  for (size_t i = 0; i < inputs_; ++i) {
    const float* data = c.input(static_cast<int>(i)).data<float>();
    if (whole(i)) inputs[i] = data + begin;
    else std::fill_n(tiles.scalars[i], kTile, *data);
  }
  float* to = out.data<float>() + begin;
  const int64_t count = (end - begin) / kTile, rest = (end - begin) % kTile;
  point(tiles, inputs, streams ? nullptr : to, kTile);
  run_(tiles.calls.data(), operations_.size(), count, streams ? to : nullptr);
#if defined(__SSE2__)
  if (streams) _mm_sfence();
#endif
  if (rest == 0) return;
  float padded[kMostInputs][kTile] = {};
  for (size_t i = 0; i < inputs_; ++i)
    if (whole(i)) {
      std::copy_n(inputs[i] + count * kTile, rest, padded[i]);
      inputs[i] = padded[i];
    }
  point(tiles, inputs, nullptr, 0);
  run_(tiles.calls.data(), operations_.size(), 1, nullptr);
  std::copy_n(tiles.results[operations_.size() - 1], rest, to + count * kTile);
}

void FusedFloats::operator()(KernelContext& c) const {
  Tensor& out = c.output(0, shape_);
  bool over_input = false;  // its lines are in the cache by then
  for (int i = 0; i < c.num_inputs(); ++i) over_input |= c.input(i).raw() == out.raw();
  const bool streams = out.bytes() >= kStreamBytes && !over_input &&
                       reinterpret_cast<uintptr_t>(out.raw()) % 16 == 0;
  const int64_t shares = (elements_ + kShare - 1) / kShare;
  const double cost = 0.1 * static_cast<double>(kShare * static_cast<int64_t>(operations_.size()));
  c.parallel_for(shares, cost, [&](int64_t begin, int64_t end) {
    part(c, out, begin * kShare, std::min(end * kShare, elements_), streams);
  });
}

Prepared make_fused_floats(const KernelInit& init) { return prepared(FusedFloats(init)); }

}  // namespace
}  // namespace emplace::cpu

namespace emplace {

void register_cpu_fusion(KernelRegistry& registry) {
  registry.add({"_FusedElementwise", "CPU", {}, {}, cpu::make_fused_floats, {}, 0, ""});
}

}  // namespace emplace
