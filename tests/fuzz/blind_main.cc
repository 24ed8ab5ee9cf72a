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
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

constexpr size_t kMaxInput = 1 << 16;
constexpr unsigned kHangSeconds = 20;
constexpr rlim_t kMemory = rlim_t{6} << 30;

struct Shared {  // between the child and who watches it
  size_t size;
  uint64_t runs;
  char input[kMaxInput];
};

class Changer {
 public:
  Changer(std::vector<std::string> seeds, uint64_t seed) : seeds_(std::move(seeds)), random_(seed) {}

  std::string next() {
    std::string s = any();
    for (size_t n = 1 + below(5); n > 0; --n) change(s);
    if (s.size() > kMaxInput) s.resize(kMaxInput);
    return s;
  }

 private:
  size_t below(size_t n) { return n == 0 ? 0 : random_() % n; }
  const std::string& any() { return seeds_[below(seeds_.size())]; }

  static bool digit(char c) { return c >= '0' && c <= '9'; }

  void change(std::string& s) {
    switch (below(9)) {
      case 0: if (!s.empty()) s[below(s.size())] ^= static_cast<char>(1 << below(8)); break;
      case 1: if (!s.empty()) s[below(s.size())] = static_cast<char>(random_()); break;
      case 2: s.insert(below(s.size() + 1), 1 + below(8), static_cast<char>(random_())); break;
      case 3: if (!s.empty()) s.erase(below(s.size()), 1 + below(16)); break;
      case 4: repeat(s); break;
      case 5: splice(s); break;
      case 6:
      case 7: number(s); break;
      default: quoted(s);
    }
  }

  void repeat(std::string& s) {
    const size_t at = below(s.size() + 1);
    const std::string part = s.substr(at, 1 + below(200));
    s.insert(below(s.size() + 1), part);
  }

  void splice(std::string& s) {
    const std::string& other = any();
    const size_t at = below(other.size() + 1);
    s.replace(below(s.size() + 1), below(100), other.substr(at, 1 + below(300)));
  }

  // A number written in digits, or eight bytes of one.
  void number(std::string& s) {
    static constexpr const char* kNumbers[] = {"0", "1", "-1", "2", "7", "1000000", "2147483647", "-2147483648",
                                               "4294967296", "9223372036854775807", "-9223372036854775808", "1e300",
                                               "nan", "inf", "65536", "127", "255", "3"};
    size_t at = below(s.size() + 1);
    while (at < s.size() && !digit(s[at])) ++at;
    if (at >= s.size()) return;
    size_t end = at;
    while (end < s.size() && digit(s[end])) ++end;
    s.replace(at, end - at, kNumbers[below(std::size(kNumbers))]);
  }

  // One quoted text in the place of another: names of ops, nodes, attributes.
  void quoted(std::string& s) {
    const std::string& other = below(3) ? s : any();
    const auto [a, n] = quotes(s);
    const auto [b, m] = quotes(other);
    if (n > 0 && m > 0) s.replace(a, n, std::string(other, b, m));
  }
  std::pair<size_t, size_t> quotes(const std::string& s) {
    const size_t begin = s.find('"', below(s.size() + 1));
    if (begin == std::string::npos) return {0, 0};
    const size_t end = s.find('"', begin + 1);
    return end == std::string::npos ? std::pair<size_t, size_t>{0, 0} : std::pair{begin, end - begin + 1};
  }

  std::vector<std::string> seeds_;
  std::mt19937_64 random_;
};

std::vector<std::string> read_seeds(const std::vector<std::string>& folders) {
  std::vector<std::string> seeds;
  for (const std::string& folder : folders)
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      std::ifstream in(entry.path(), std::ios::binary);
      seeds.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    }
  if (seeds.empty()) seeds.emplace_back();
  return seeds;
}

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
