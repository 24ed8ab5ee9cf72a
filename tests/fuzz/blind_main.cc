// A driver for compilers without libFuzzer: changes seeds at random, without an eye on coverage.
//   fuzz_NAME [-seconds=N] [-seed=N] [-found=PREFIX] FOLDER...
// Inputs run in a child; when it dies or hangs, the input is kept under PREFIX and the next child
// goes on. The exit status says whether anything was found.
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "changer.h"

using emplace::fuzz::Changer;
using emplace::fuzz::kMaxInput;
using emplace::fuzz::read_seeds;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

constexpr unsigned kHangSeconds = 20;
constexpr rlim_t kMemory = rlim_t{6} << 30;

struct Shared {  // between the child and who watches it
  size_t size;
  uint64_t runs;
  char input[kMaxInput];
};

[[noreturn]] void work(Changer changer, Shared& shared, std::chrono::steady_clock::time_point end) {
  const rlimit limit{kMemory, kMemory};
  setrlimit(RLIMIT_AS, &limit);
  if (!std::freopen("/dev/null", "w", stdout) || !std::freopen("/dev/null", "w", stderr)) std::_Exit(3);
  while (std::chrono::steady_clock::now() < end) {
    const std::string s = changer.next();
    shared.size = s.size();
    std::memcpy(shared.input, s.data(), s.size());
    alarm(kHangSeconds);
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(s.data()), s.size());
    ++shared.runs;
  }
  std::_Exit(0);
}

void keep(const Shared& shared, const std::string& prefix, int status) {
  const std::string what = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? "hang" : "crash";
  const size_t name = std::hash<std::string_view>{}(std::string_view(shared.input, shared.size));
  const std::string path = prefix + what + "-" + std::to_string(name);
  std::ofstream(path, std::ios::binary).write(shared.input, static_cast<std::streamsize>(shared.size));
  std::printf("%s (status %d)\n", path.c_str(), status);
}

}  // namespace

int main(int argc, char** argv) {
  uint64_t seconds = 60, seed = 1;
  std::string prefix = "found-";
  std::vector<std::string> folders, inputs;
  for (int i = 1; i < argc; ++i) {
    const std::string a = argv[i];
    if (a.starts_with("-seconds=")) seconds = std::stoull(a.substr(9));
    else if (a.starts_with("-seed=")) seed = std::stoull(a.substr(6));
    else if (a.starts_with("-found=")) prefix = a.substr(7);
    else if (std::filesystem::is_directory(a)) folders.push_back(a);
    else inputs.push_back(a);
  }
  for (const std::string& file : inputs) {  // just these, here
    std::ifstream in(file, std::ios::binary);
    const std::string s{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(s.data()), s.size());
  }
  if (!inputs.empty()) return 0;
  void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 3;
  Shared& shared = *new (memory) Shared{};
  const std::vector<std::string> seeds = read_seeds(folders);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  int found = 0;
  for (; std::chrono::steady_clock::now() < end && found < 100; ++seed) {
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) work(Changer(seeds, seed), shared, end);
    int status = 0;
    waitpid(child, &status, 0);
    if (status == 0) break;
    keep(shared, prefix, status);
    ++found;
  }
  std::printf("%llu runs, %d found\n", static_cast<unsigned long long>(shared.runs), found);
  return found > 0;
}
