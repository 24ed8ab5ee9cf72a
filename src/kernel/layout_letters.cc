#include "kernel/layout_letters.h"

#include <fmt/format.h>

#include <algorithm>

namespace emplace {

LayoutLetters::LayoutLetters(const KernelInit& init)
    : from(init.attr<std::string>("src_format")), to(init.attr<std::string>("dst_format")) {
  std::string a = from, b = to;
  std::sort(a.begin(), a.end()), std::sort(b.begin(), b.end());
  if (a != b || (from.size() != 4 && from.size() != 5) ||
      std::adjacent_find(a.begin(), a.end()) != a.end())
    throw invalid_argument(fmt::format(
        "Source and destination formats must be permutations of 4 or 5 letters, got {} and {}",
        from, to));
}

LayoutLetters LayoutLetters::for_vector(const Shape& shape) const {
  LayoutLetters f = *this;
  if (shape.rank() != 1 && shape.rank() != 2)
    throw invalid_argument(
        fmt::format("input must be a vector or 2D tensor, but got shape {}", shape.str()));
  const auto n = static_cast<size_t>(shape[0]);
  if (n + 2 == f.from.size())
    for (std::string* s : {&f.from, &f.to})
      std::erase_if(*s, [](char l) { return l == 'N' || l == 'C'; });
  if (n != f.from.size() || (shape.rank() == 2 && shape[1] != 2))
    throw invalid_argument(fmt::format("input must be of size {} or {}, but got shape {}",
                                       f.from.size() - 2, f.from.size(), shape.str()));
  return f;
}

}  // namespace emplace
