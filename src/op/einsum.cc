#include "op/einsum.h"

#include <algorithm>

#include <fmt/format.h>

#include "emplace/error.h"

namespace emplace {
namespace {

constexpr std::string_view kEllipsis = "...";

size_t occurrences(std::string_view text, std::string_view what) {
  size_t n = 0;
  for (size_t at = 0; (at = text.find(what, at)) != std::string_view::npos; at += what.size()) ++n;
  return n;
}

void check_dots(std::string_view subscripts, std::string_view equation) {
  const size_t ellipses = occurrences(subscripts, kEllipsis), dots = occurrences(subscripts, ".");
  if (ellipses > 1 || dots != 3 * ellipses)
    throw invalid_argument(fmt::format("Subscripts '{}' of equation '{}' must hold at most one "
                                       "ellipsis (...)", subscripts, equation));
}

// The labels of one operand whose ellipsis, if any, stands for `broadcast` dimensions.
std::vector<int> labels_of(std::string_view subscripts, int broadcast) {
  std::vector<int> labels;
  for (size_t i = 0; i < subscripts.size(); ++i) {
    if (subscripts.substr(i, 3) == kEllipsis) {
      for (int k = broadcast; k > 0; --k) labels.push_back(-k);
      i += 2;
    } else {
      labels.push_back(static_cast<unsigned char>(subscripts[i]));
    }
  }
  return labels;
}

int broadcast_rank(std::string_view subscripts, int rank, size_t input) {
  const bool ellipsis = subscripts.find(kEllipsis) != std::string_view::npos;
  const int named = static_cast<int>(subscripts.size()) - (ellipsis ? 3 : 0);
  if (ellipsis ? rank < named : rank != named)
    throw invalid_argument(fmt::format("Expected input {} to have rank {}{} but got: {}", input,
                                       ellipsis ? "at least " : "", named, rank));
  return rank - named;
}

void merge_size(std::map<int, int64_t>& sizes, int label, const Shape& shape, int axis) {
  const auto [at, fresh] = sizes.try_emplace(label, shape[axis]);
  int64_t& size = at->second;
  const int64_t other = shape[axis];
  if (fresh || size == other) return;
  if (label < 0 && (other == 1 || size == 1)) return void(size = size == 1 ? other : size);
  if (size < 0 || other < 0) return void(size = std::max(size, other));
  throw invalid_argument(fmt::format("Expected dimension {} at axis {} of the input shaped {} but "
                                     "got dimension {}", size, axis, shape.str(), other));
}

}  // namespace

EinsumEquation parse_einsum(std::string_view equation) {
  const size_t arrow = equation.find("->");
  if (occurrences(equation, "->") != 1)
    throw invalid_argument(
        fmt::format("Expecting exactly one '->' in einsum equation: {}", equation));
  EinsumEquation e;
  e.output = equation.substr(arrow + 2);
  for (std::string_view rest = equation.substr(0, arrow);;) {
    const size_t comma = rest.find(',');
    e.inputs.emplace_back(rest.substr(0, comma));
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  if (e.inputs.size() > 2)
    throw invalid_argument(fmt::format("Expecting 1 or 2 input subscripts in equation '{}' but "
                                       "got: {}", equation, e.inputs.size()));
  for (const std::string& s : e.inputs) check_dots(s, equation);
  check_dots(e.output, equation);
  return e;
}

EinsumLabels label_einsum(const EinsumEquation& equation, const std::vector<Shape>& shapes) {
  if (equation.inputs.size() != shapes.size())
    throw invalid_argument(fmt::format("Expected {} inputs but got: {}", equation.inputs.size(),
                                       shapes.size()));
  EinsumLabels l;
  int most = 0;
  for (size_t i = 0; i < shapes.size(); ++i) {
    const int broadcast = broadcast_rank(equation.inputs[i], shapes[i].rank(), i);
    most = std::max(most, broadcast);
    l.inputs.push_back(labels_of(equation.inputs[i], broadcast));
    for (size_t k = 0; k < l.inputs[i].size(); ++k)
      merge_size(l.sizes, l.inputs[i][k], shapes[i], static_cast<int>(k));
  }
  if (most > 0 && equation.output.find(kEllipsis) == std::string::npos)
    throw invalid_argument(fmt::format("Output contains {} broadcasting dimension(s) but no "
                                       "ellipsis (...) was found in the output subscripts.", most));
  for (int label : labels_of(equation.output, most))
    if (l.sizes.contains(label)) l.output.push_back(label);
  return l;
}

}  // namespace emplace
