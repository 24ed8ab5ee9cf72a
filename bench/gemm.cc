// bench/run gemm [--json FILE]: products of float matrices through a session on all cores, beside
// oneDNN with operands that lie packed as it likes them. Best of interleaved rounds.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <random>

#include "bench/common/rows.h"
#include "emplace/emplace.h"
#if defined(EMPLACE_WITH_DNNL)
#include <oneapi/dnnl/dnnl.hpp>
#endif

namespace emplace::bench {
namespace {

struct Form {
  int64_t m, n, k;
  bool transpose_a, transpose_b;
};

constexpr Form kForms[] = {{1024, 1024, 1024, false, false}, {1024, 1024, 1024, true, false},
                           {1024, 1024, 1024, false, true},  {256, 256, 256, false, false},
                           {128, 512, 784, false, false},    {784, 512, 128, true, false},
                           {128, 784, 512, false, true}};
constexpr int kRounds = 15;

template <class F>
double seconds(F&& f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Tensor noise(int64_t rows, int64_t columns) {
  std::mt19937 bits(3);
  Tensor t(DType::kFloat, {rows, columns});
  for (int64_t i = 0; i < rows * columns; ++i)
    t.data<float>()[i] = static_cast<float>(bits() % 1000) / 500 - 1;
  return t;
}

// Ours: the product is run, not fetched.
class Ours {
 public:
  explicit Ours(const Form& f) : in_(graph_.as_default()) {
    const Tensor a = f.transpose_a ? noise(f.k, f.m) : noise(f.m, f.k);
    const Tensor b = f.transpose_b ? noise(f.n, f.k) : noise(f.k, f.n);
    product_ = op("MatMul", {constant(a), constant(b)},
                  {{"transpose_a", f.transpose_a}, {"transpose_b", f.transpose_b}});
    session_ = std::make_unique<Session>(graph_);
  }
  void run() { session_->run(product_.node); }

 private:
  Graph graph_;
  Scope in_;
  Output product_;
  std::unique_ptr<Session> session_;
};

#if defined(EMPLACE_WITH_DNNL)
class Packed {
 public:
  explicit Packed(const Form& f) : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {
    using dnnl::memory;
    const auto any = [](int64_t rows, int64_t columns) {
      return memory::desc({rows, columns}, memory::data_type::f32, memory::format_tag::any);
    };
    const dnnl::matmul::desc wanted(any(f.m, f.k), any(f.k, f.n), any(f.m, f.n));
    const dnnl::matmul::primitive_desc made(wanted, engine_);
    product_ = dnnl::matmul(made);
    memory_ = {{DNNL_ARG_SRC, memory(made.src_desc(), engine_)},
               {DNNL_ARG_WEIGHTS, memory(made.weights_desc(), engine_)},
               {DNNL_ARG_DST, memory(made.dst_desc(), engine_)}};
  }
  void run() {
    product_.execute(stream_, memory_);
    stream_.wait();
  }

 private:
  dnnl::engine engine_;
  dnnl::stream stream_;
  dnnl::matmul product_;
  std::unordered_map<int, dnnl::memory> memory_;
};
#endif

Row measure(const Form& f) {
  char name[80];
  std::snprintf(name, sizeof name, "%d x %d x %d %c%c", static_cast<int>(f.m),
                static_cast<int>(f.n), static_cast<int>(f.k), f.transpose_a ? 'T' : 'N',
                f.transpose_b ? 'T' : 'N');
  const double work = 2e-9 * static_cast<double>(f.m * f.n) * static_cast<double>(f.k);
  Ours ours(f);
  double mine = 1e9;
  Row row{.name = name, .value = {}, .unit = "Gflop/s", .peers = {}, .higher_is_better = true};
#if defined(EMPLACE_WITH_DNNL)
  Packed packed(f);
  double its = 1e9;
  // Several calls a turn: OpenMP's threads keep a core for a while after the other's turn.
  for (int i = 0; i < kRounds; ++i) {
    for (int k = 0; k < 4; ++k) mine = std::min(mine, seconds([&] { ours.run(); }));
    for (int k = 0; k < 4; ++k) its = std::min(its, seconds([&] { packed.run(); }));
  }
  row.peers.push_back({"oneDNN, packed", work / its});
#else
  for (int i = 0; i < kRounds; ++i) mine = std::min(mine, seconds([&] { ours.run(); }));
#endif
  row.value = work / mine;
  return row;
}

}  // namespace
}  // namespace emplace::bench

int main(int argc, char** argv) {
  using namespace emplace::bench;
  std::vector<Row> rows;
  for (const Form& f : kForms) rows.push_back(measure(f));
  print_table(std::cout, rows);
  if (const std::string path = json_path(argc, argv); !path.empty()) write_json(path, rows);
}
