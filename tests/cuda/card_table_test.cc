// What TensorFlow runs on a GPU and a card of ours does not: written down in lacking.txt, so that it only
// shrinks. Needs the backend's file, and no card: where there is no driver, the toolkit's stub will do.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "all/cuda.h"
#include "backends/cpu/cpu_kernels.h"
#include "base/source_dir_testutil.h"
#include "emplace/emplace.h"
#include "kernel/gpu_table.h"

namespace emplace {
namespace {

using Combination = std::vector<std::pair<std::string, DType>>;

const cuda::Backend* open_without_card() {
  const char* const named = std::getenv("EMPLACE_CUDA_LIBRARY");
  const std::string beside =
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / "libemplace_cuda.so";
  if (!dlopen("libcuda.so.1", RTLD_NOW) &&
      !dlopen("/usr/local/cuda/lib64/stubs/libcuda.so", RTLD_NOW))
    return nullptr;
  void* const library = dlopen(named ? named : beside.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) return nullptr;
  return reinterpret_cast<cuda::Entry>(dlsym(library, cuda::kEntry))();
}

bool serves(const KernelRow& row, const Combination& combination) {
  for (const TypeConstraint& c : row.types)
    for (const auto& [attr, type] : combination)
      if (attr == c.attr && std::find(c.allowed.begin(), c.allowed.end(), type) == c.allowed.end())
        return false;
  return true;
}

std::vector<Combination> combinations(const std::vector<TypeConstraint>& types) {
  std::vector<Combination> all{{}};
  for (const TypeConstraint& c : types) {
    std::vector<Combination> longer;
    for (const Combination& start : all)
      for (DType t : c.allowed) {
        longer.push_back(start);
        longer.back().emplace_back(c.attr, t);
      }
    all = std::move(longer);
  }
  return all;
}

// "op | attr: dtypes; …", by op, what no row serves.
std::vector<std::string> lacking(const KernelRegistry& cpu, const KernelRegistry& cards) {
  std::map<std::string, std::map<std::string, std::set<std::string>>> missing;
  std::map<std::string, bool> whole;
  for (const GpuRow& gpu : gpu_table()) {
    if (!op_catalogue().find(gpu.op) || cpu.rows(gpu.op).empty()) continue;
    const auto rows = cards.rows(gpu.op);
    whole.try_emplace(gpu.op, true);
    for (const Combination& c : combinations(gpu.types)) {
      auto can = [&](std::span<const KernelRow> in) {
        return std::any_of(in.begin(), in.end(),
                           [&](const KernelRow& row) { return serves(row, c); });
      };
      if (can(rows)) {
        whole[gpu.op] = false;
      } else if (can(cpu.rows(gpu.op))) {
        missing[gpu.op];
        for (const auto& [attr, type] : c)
          missing[gpu.op][attr].insert(std::string(dtype_name(type)));
      }
    }
  }
  std::vector<std::string> lines;
  for (const auto& [op, attrs] : missing) {
    std::string line = op;
    if (!whole[op])
      for (const auto& [attr, types] : attrs) {
        line += (line == op ? " | " : "; ") + attr + ":";
        for (const std::string& t : types) line += " " + t;
      }
    lines.push_back(line);
  }
  return lines;
}

TEST(CardTable, WhatACardLacksIsWrittenDown) {
  const cuda::Backend* const backend = open_without_card();
  if (!backend) GTEST_SKIP() << "no CUDA here";
  KernelRegistry cpu, cards;
  register_cpu_kernels(cpu);
  for (KernelRow& row : card_rows(cpu, backend->kernels())) cards.add(std::move(row));
  std::ifstream in(source_dir() + "/tests/cuda/lacking.txt");
  std::set<std::string> known;
  for (std::string line; std::getline(in, line);) known.insert(line);
  for (const std::string& line : lacking(cpu, cards))
    EXPECT_EQ(known.erase(line), 1u)
        << "a card lacks, and tests/cuda/lacking.txt has not: " << line;
  for (const std::string& line : known)
    ADD_FAILURE() << "tests/cuda/lacking.txt has, and no card lacks: " << line;
}

}  // namespace
}  // namespace emplace
