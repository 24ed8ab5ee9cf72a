// bench/run gpu [--json FILE] [--peers FILE] [--only TEXT]: one card beside torch, whose figures
// bench/gpu/peers.py measures on the same machine and writes to FILE. TEXT: rows whose name holds it.
// EMPLACE_PROFILE=1: a profiler that waits for the program's word (ncu --profile-from-start off) sees
// one step of each row, and nothing is timed.
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <thread>

#include "bench/common/rows.h"
#include "bench/gpu/copies.h"
#include "bench/gpu/graphs.h"

namespace emplace::bench {
namespace {

using Clock = std::chrono::steady_clock;

// Tells the driver's profiler to begin or to end.
void profile(const char* what) {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (auto* f = driver ? reinterpret_cast<int (*)()>(dlsym(driver, what)) : nullptr) f();
}

// Microseconds of a step, the median of several rounds. `rest`: the card has some seconds to cool down
// before, since one that has multiplied for some 50 ms lowers its clock: a step is planned and recorded
// before that, and timed behind as little work as torch's are.
double step_us(const CardStep& s, int repetitions, bool rest = false) {
  for (int i = 0; i < 5; ++i) s.run();
  if (rest) {
    std::this_thread::sleep_for(std::chrono::seconds(5));
    s.run();
  }
  if (std::getenv("EMPLACE_PROFILE")) {
    profile("cuProfilerStart");
    s.run();
    profile("cuProfilerStop");
    return 0;
  }
  std::vector<double> rounds;
  for (int r = 0; r < 7; ++r) {
    const auto start = Clock::now();
    for (int i = 0; i < repetitions; ++i) s.run();
    rounds.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count() /
                     repetitions);
  }
  std::sort(rounds.begin(), rounds.end());
  const Tensor seen = s.session->run(s.watched);
  if (!seen.has_value()) throw internal_error("nothing came out");
  return rounds[rounds.size() / 2];
}

// "name value" a line.
std::map<std::string, std::vector<Peer>> read_peers(const char* path) {
  std::map<std::string, std::vector<Peer>> peers;
  std::ifstream in(path ? path : "");
  std::string row, peer;
  double value;
  while (in >> row >> peer >> value) peers[row].push_back({peer, value, true});
  return peers;
}

int main(int argc, char** argv) {
  const char *peer_file = nullptr, *only = "";
  for (int i = 1; i + 1 < argc; ++i) {
    if (!std::strcmp(argv[i], "--peers")) peer_file = argv[i + 1];
    if (!std::strcmp(argv[i], "--only")) only = argv[i + 1];
  }
  auto peers = read_peers(peer_file);
  std::vector<Row> rows;
  auto add = [&](const std::string& name, auto measure, const char* unit, bool more_is_better) {
    if (name.find(only) == std::string::npos) return;
    const double value = measure();
    rows.push_back({name, value, unit, peers[name], 1, more_is_better});
    std::fprintf(stderr, "%s: %.2f %s\n", name.c_str(), value, unit);
  };
  setenv("EMPLACE_FUSION", "0", 1);  // chains are of single kernels
  add("step-of-2-adds", [] { return step_us(add_chain(2, 64), 500); }, "us", false);
  add("add-chain-1000-64x64", [] { return step_us(add_chain(1000, 64), 50) / 1000; }, "us/op",
      false);
  add("matmul-chain-1000-64x64", [] { return step_us(matmul_chain(1000, 64), 20) / 1000; },
      "us/op", false);
  unsetenv("EMPLACE_FUSION");
  add("mlp-step", [] { return step_us(mlp(), 200); }, "us", false);
  add("cifar10-step", [] { return step_us(cifar(), 50); }, "us", false);
  const double flop = 2.0 * 8192 * 8192 * 8192 * 1e-6;
  // Five a step, since torch's are waited for five by five; as often as its are.
  add(
      "matmul-8192-bf16",
      [&] { return 5 * flop / step_us(products(DType::kBfloat16, 8192, 5), 1, true); }, "TFLOP/s",
      true);
  add(
      "matmul-8192-tf32",
      [&] { return 5 * flop / step_us(products(DType::kFloat, 8192, 5), 1, true); }, "TFLOP/s",
      true);
  const int64_t n = int64_t{1} << 28;
  setenv("EMPLACE_FUSION", "0", 1);
  add(
      "add-1GiB",
      [&] { return 5 * 3.0 * 4 * static_cast<double>(n) * 1e-3 / step_us(sums(n, 5), 4, true); },
      "GB/s", true);
  unsetenv("EMPLACE_FUSION");
  // A card that never rests: what is left of it after a second of products.
  add("matmul-8192-bf16-sustained",
      [&] {
        const CardStep s = products(DType::kBfloat16, 8192, 5);
        step_us(s, 10);
        return 5 * flop / step_us(s, 10);
      },
      "TFLOP/s", true);
  CopyRates rates;  // all three at once
  const int64_t copied = int64_t{1} << 26;
  add("copy-in-256MiB", [&] { return (rates = copy_rates(copied)).in; }, "GB/s", true);
  if (rates.in > 0) {
    add("copy-out-256MiB", [&] { return rates.out; }, "GB/s", true);
    add("copy-both-ways-256MiB", [&] { return rates.both; }, "GB/s", true);
  }
  print_table(std::cout, rows);
  if (const std::string path = json_path(argc, argv); !path.empty()) write_json(path, rows);
  return 0;
}

}  // namespace
}  // namespace emplace::bench

int main(int argc, char** argv) {
  try {
    return emplace::bench::main(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
