#pragma once
// Inputs without an eye on coverage: seeds, changed at random.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace emplace::fuzz {

inline constexpr size_t kMaxInput = 1 << 16;

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

inline std::vector<std::string> read_seeds(const std::vector<std::string>& folders) {
  std::vector<std::string> seeds;
  for (const std::string& folder : folders)
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      std::ifstream in(entry.path(), std::ios::binary);
      seeds.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    }
  if (seeds.empty()) seeds.emplace_back();
  return seeds;
}

}  // namespace emplace::fuzz
