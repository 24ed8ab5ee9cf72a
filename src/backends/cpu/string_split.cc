// Strings taken apart. The parts are a sparse tensor: indices, values, shape.
#include <fmt/format.h>

#include "backends/cpu/text_kernels.h"
#include "base/stop_scope.h"

namespace emplace::cpu {
namespace {

using Parts = std::vector<std::string_view>;

// At any of the delimiter's characters; without any, character by character.
Parts split_at_any(std::string_view s, std::string_view delimiters, bool skip_empty) {
  Parts parts;
  if (s.empty()) return parts;
  if (delimiters.empty()) {
    for (size_t i = 0; i < s.size(); ++i) parts.push_back(s.substr(i, 1));
    return parts;
  }
  for (size_t begin = 0; begin <= s.size();) {
    const size_t end = std::min(s.find_first_of(delimiters, begin), s.size());
    if (end > begin || !skip_empty) parts.push_back(s.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// After so many splits what is left is a part too, even if nothing is.
Parts split_at_space(std::string_view s, int64_t most) {
  Parts parts;
  size_t at = 0;
  auto skip = [&](bool space) {
    while (at < s.size() && is_space(s[at]) == space) ++at;
  };
  for (skip(true); at < s.size(); skip(true)) {
    const size_t begin = at;
    skip(false);
    parts.push_back(s.substr(begin, at - begin));
    if (static_cast<int64_t>(parts.size()) != most) continue;
    skip(true);
    parts.push_back(s.substr(at));
    break;
  }
  return parts;
}

Parts split_at(std::string_view s, std::string_view separator, int64_t most) {
  if (most == 0) return {s};
  if (separator.empty()) return split_at_space(s, most);
  Parts parts;
  size_t begin = 0;
  while (most < 0 || static_cast<int64_t>(parts.size()) < most) {
    const size_t end = s.find(separator, begin);
    if (end == std::string_view::npos) break;
    parts.push_back(s.substr(begin, end - begin));
    begin = end + separator.size();
  }
  parts.push_back(s.substr(begin));
  return parts;
}

template <class F>
void split(KernelContext& c, const char* what, F&& parts_of) {
  const Tensor &in = c.input(0), &separator = c.input(1);
  if (in.rank() != 1)
    throw invalid_argument("input must be a vector, got shape: " + in.shape().str());
  if (separator.rank() != 0)
    throw invalid_argument(
        fmt::format("{} must be a scalar, got shape: {}", what, separator.shape().str()));
  std::vector<Parts> rows;
  size_t count = 0, longest = 0;
  for (const int64_t i : paced(in.num_elements())) {
    rows.push_back(parts_of(in.data<std::string>()[i], *separator.data<std::string>()));
    count += rows.back().size();
    longest = std::max(longest, rows.back().size());
  }
  const auto n = static_cast<int64_t>(count);
  int64_t* index = c.output(0, Shape{n, 2}).data<int64_t>();
  std::string* value = c.output(1, Shape{n}).data<std::string>();
  int64_t* shape = c.output(2, Shape{2}).data<int64_t>();
  shape[0] = in.num_elements();
  shape[1] = static_cast<int64_t>(longest);
  for (const size_t row : paced(rows.size()))
    for (size_t k = 0; k < rows[row].size(); ++k) {
      *index++ = static_cast<int64_t>(row);
      *index++ = static_cast<int64_t>(k);
      *value++ = std::string(rows[row][k]);
    }
}

struct SplitV1 {
  bool skip_empty;
  void operator()(KernelContext& c) const {
    split(c, "delimiter", [&](std::string_view s, std::string_view delimiter) {
      return split_at_any(s, delimiter, skip_empty);
    });
  }
};
Prepared make_v1(const KernelInit& i) { return prepared(SplitV1{i.attr<bool>("skip_empty")}); }

struct SplitV2 {
  int64_t most;
  void operator()(KernelContext& c) const {
    split(c, "sep", [&](std::string_view s, std::string_view separator) {
      return split_at(s, separator, most);
    });
  }
};
Prepared make_v2(const KernelInit& i) { return prepared(SplitV2{i.attr<int64_t>("maxsplit")}); }

}  // namespace

std::vector<KernelRow> string_split_kernels() {
  return {text_row("StringSplit", make_v1), text_row("StringSplitV2", make_v2)};
}

}  // namespace emplace::cpu
