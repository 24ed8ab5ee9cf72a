// The short form of the fuzzers: each takes what was once found and its seeds, as they are and changed at random.
#include "short_run.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>

#include "changer.h"

namespace emplace::fuzz {
namespace {

char current[256] = "none";  // shown should the process die

void tell(int signal) {
  std::fprintf(stderr, "signal %d in %s\n", signal, current);
  std::_Exit(128 + signal);
}

class ShortRun : public ::testing::TestWithParam<Target> {};

TEST_P(ShortRun, EndsWell) {
  const Target& target = GetParam();
  std::signal(SIGSEGV, tell);
  std::signal(SIGABRT, tell);
  std::signal(SIGFPE, tell);
  std::signal(SIGILL, tell);
  std::vector<std::string> folders;
  for (const std::string& root : {std::string("tests/fuzz/regressions/"), std::string(EMPLACE_FUZZ_SEEDS "/")})
    if (std::filesystem::is_directory(root + target.name)) folders.push_back(root + target.name);
  const std::vector<std::string> seeds = read_seeds(folders);
  const auto run = [&](const std::string& input, const std::string& what) {
    std::snprintf(current, sizeof current, "%s, %s", target.name, what.c_str());
    target.run(reinterpret_cast<const uint8_t*>(input.data()), input.size());
  };
  for (size_t i = 0; i < seeds.size(); ++i) run(seeds[i], "seed " + std::to_string(i));
  const std::string_view name = target.name;  // some run what they read, or write files and wait for the disk
  const bool slow = name == "run_graph" || name == "records" || name == "checkpoint" || name == "saved_model" || name.starts_with("cluster");
  const int count = (std::getenv("EMPLACE_TEST_FULL") ? 50 : 1) * (slow ? 40 : 1000);
  Changer changer(seeds, 1);
  for (int i = 0; i < count; ++i) run(changer.next(), "input " + std::to_string(i));
}

INSTANTIATE_TEST_SUITE_P(Fuzz, ShortRun, ::testing::ValuesIn(targets()),
                         [](const auto& info) { return std::string(info.param.name); });

const bool limited = [] {  // a graph may ask for gigabytes, but not here
  setenv("EMPLACE_HOST_TENSOR_MB", "64", 1);
  return true;
}();

}  // namespace
}  // namespace emplace::fuzz
