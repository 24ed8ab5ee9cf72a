#include "backends/cpu/fourier_convolution.h"

#include <bit>

namespace emplace::cpu {

uint64_t power(uint64_t base, uint64_t exponent, uint64_t modulus) {
  uint64_t result = 1;
  for (; exponent > 0; exponent >>= 1) {
    if (exponent & 1) result = result * base % modulus;
    base = base * base % modulus;
  }
  return result;
}

namespace {

// The prime factors of n, each once.
std::vector<uint64_t> primes_of(uint64_t n) {
  std::vector<uint64_t> found;
  for (uint64_t p = 2; p * p <= n; ++p) {
    if (n % p != 0) continue;
    found.push_back(p);
    while (n % p == 0) n /= p;
  }
  if (n > 1) found.push_back(n);
  return found;
}

}  // namespace

uint64_t generator_of(uint64_t n) {
  const std::vector<uint64_t> primes = primes_of(n - 1);
  const auto generates = [&](uint64_t g) {
    return std::none_of(primes.begin(), primes.end(),
                        [&](uint64_t p) { return power(g, (n - 1) / p, n) == 1; });
  };
  uint64_t g = 2;
  while (!generates(g)) ++g;
  return g;
}

int64_t quick_length(int64_t n) {
  int64_t least = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(n)));
  for (int64_t fives = 1; fives < least; fives *= 5)
    for (int64_t threes = fives; threes < least; threes *= 3) {
      int64_t length = threes;
      while (length < n) length *= 2;
      least = std::min(least, length);
    }
  return least;
}

bool by_powers(int64_t n) {
  constexpr int64_t kLongest = int64_t{1} << 31;  // products of two of them fit
  return n < kLongest && primes_of(static_cast<uint64_t>(n)).front() == static_cast<uint64_t>(n) &&
         primes_of(static_cast<uint64_t>(n - 1)).back() <= 13;
}

}  // namespace emplace::cpu
