// Points of Sobol' sequences, in TensorFlow's order.
#include <array>
#include <bit>

#include <fmt/format.h>

#include "backends/cpu/loops.h"
#include "backends/cpu/more_kernels.h"
#include "backends/cpu/move.h"
#include "backends/cpu/visit.h"

namespace emplace::cpu {
namespace {

constexpr int kBits = 31, kMostDimensions = 21200;
// Joe and Kuo's numbers as a stream of bits, and how many dimensions have a polynomial of each degree.
constexpr uint64_t kPacked[] = {
#include "backends/cpu/sobol.inc"
};
constexpr int kOfDegree[] = {1, 1, 1, 2, 2, 6, 6, 18, 16, 48, 60, 176, 144, 630};

class BitReader {
 public:
  uint32_t next(int bits) {
    uint32_t value = 0;
    for (; bits > 0; --bits, ++at_)
      value = value << 1 | static_cast<uint32_t>(kPacked[at_ / 64] >> (63 - at_ % 64) & 1);
    return value;
  }

 private:
  size_t at_ = 0;
};

using Directions = std::array<uint32_t, kBits>;

// The first numbers are given, the polynomial makes the others.
Directions read_directions(BitReader& in, int degree) {
  Directions v{};
  const uint32_t inner = degree > 1 ? in.next(degree - 1) : 0;
  for (int k = 0; k < kBits; ++k) {
    const auto at = static_cast<size_t>(k);
    if (degree == 0) {
      v[at] = uint32_t{1} << (kBits - 1 - k);
    } else if (k < degree) {
      v[at] = ((in.next(k) << 1) | 1) << (kBits - 1 - k);
    } else {
      const uint32_t first = v[at - static_cast<size_t>(degree)];
      v[at] = first ^ (first >> degree);
      for (int j = 1; j < degree; ++j)
        if (inner >> (degree - 1 - j) & 1) v[at] ^= v[at - static_cast<size_t>(j)];
    }
  }
  return v;
}

const std::vector<Directions>& directions() {
  static const std::vector<Directions> all = [] {
    std::vector<Directions> made;
    BitReader in;
    for (int degree = 0; degree < static_cast<int>(std::size(kOfDegree)); ++degree)
      for (int i = 0; i < kOfDegree[degree]; ++i) made.push_back(read_directions(in, degree));
    return made;
  }();
  return all;
}

int64_t at_least(const Tensor& t, const char* name, int64_t least, const char* words) {
  const int64_t v = int_scalar(t, name);
  if (v < least) throw invalid_argument(fmt::format("{} must be {}", name, words));
  return v;
}

void sobol_sample(KernelContext& c) {
  const int64_t dim = at_least(c.input(0), "dim", 1, "at least one");
  const int64_t count = at_least(c.input(1), "num_results", 1, "at least one");
  const int64_t skip = at_least(c.input(2), "skip", 0, "non-negative");
  if (dim > kMostDimensions)
    throw invalid_argument(fmt::format("dim must be at most {}", kMostDimensions));
  constexpr int64_t kMostPoints = std::numeric_limits<int32_t>::max();
  if (count >= kMostPoints - skip)
    throw invalid_argument(fmt::format("num_results+skip must be less than {}", kMostPoints));
  const auto& all = directions();
  if (dim > static_cast<int64_t>(all.size()))
    throw unimplemented(fmt::format("Sobol' sequences of more than {} dimensions", all.size()));
  Tensor& out = c.output(0, Shape{count, dim});
  visit_dtype(out.dtype(), Types<float, double>{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    constexpr T kUnit = T(1) / static_cast<T>(uint32_t{1} << kBits);
    c.parallel_for(dim, 2.0 * static_cast<double>(count), [&](int64_t begin, int64_t end) {
      for (int64_t d = begin; d < end; ++d) {
        const Directions& v = all[static_cast<size_t>(d)];
        uint32_t at = 0;  // neighbours in Gray's code differ in one bit
        const auto first = static_cast<uint32_t>(skip), gray = first ^ (first >> 1);
        for (size_t k = 0; k < kBits; ++k)
          if (gray >> k & 1) at ^= v[k];
        for (int64_t i = 0; i < count; ++i) {
          at ^= v[static_cast<size_t>(std::countr_one(first + static_cast<uint32_t>(i)))];
          out.data<T>()[i * dim + d] = static_cast<T>(at) * kUnit;
        }
      }
    });
  });
}

}  // namespace

std::vector<KernelRow> sobol_kernels() {
  return {{"SobolSample", "CPU", {}, {}, stateless<sobol_sample>, {}, 0, ""}};
}

}  // namespace emplace::cpu
