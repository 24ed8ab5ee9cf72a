#include "kernel/gpu_table.h"

#include <algorithm>
#include <optional>

namespace emplace {
namespace {

struct TypeSet {
  std::string_view name;
  std::vector<DType> members;
};

const std::vector<TypeSet>& type_sets() {
  using enum DType;
  static const std::vector<TypeSet> sets = {
      {"floats", {kBfloat16, kHalf, kFloat, kDouble}},
      {"complexes", {kComplex64, kComplex128}},
      {"signed", {kInt8, kInt16, kInt64}},
      {"unsigned", {kUint8, kUint16, kUint32, kUint64}},
      {"quantized", {kQint8, kQuint8, kQint16, kQuint16, kQint32}},
  };
  return sets;
}

// What a call passes on and the executor itself runs, which the published table leaves out.
constexpr std::string_view kInternalLines[] = {
    "_Arg | T: floats complexes signed unsigned bool variant | ",
    "_Arg | T: int32 resource string | output",
    "_Retval | T: floats complexes signed unsigned bool variant | ",
    "_Retval | T: int32 resource string | input",
};

std::string_view trim(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  return s;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    if (auto part = trim(text.substr(0, end)); !part.empty()) parts.push_back(part);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

void append_types(std::vector<DType>& types, std::string_view word) {
  for (const TypeSet& set : type_sets())
    if (set.name == word) {
      types.insert(types.end(), set.members.begin(), set.members.end());
      return;
    }
  const DType t = dtype_from_name(word);
  if (t == DType::kInvalid) throw internal_error("GPU table: no dtype " + std::string(word));
  types.push_back(t);
}

TypeConstraint parse_constraint(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos)
    throw internal_error("GPU table: no colon in " + std::string(text));
  TypeConstraint c{std::string(trim(text.substr(0, colon))), {}};
  for (auto word : split(text.substr(colon + 1), ' ')) append_types(c.allowed, word);
  return c;
}

// Both constraints at once; nothing when no dtype meets both.
std::optional<std::vector<TypeConstraint>> intersection(const std::vector<TypeConstraint>& a,
                                                        const std::vector<TypeConstraint>& b) {
  std::vector<TypeConstraint> both = a;
  for (const TypeConstraint& other : b) {
    auto same = std::find_if(both.begin(), both.end(),
                             [&](const TypeConstraint& c) { return c.attr == other.attr; });
    if (same == both.end()) {
      both.push_back(other);
      continue;
    }
    std::erase_if(same->allowed, [&](DType t) {
      return std::find(other.allowed.begin(), other.allowed.end(), t) == other.allowed.end();
    });
    if (same->allowed.empty()) return std::nullopt;
  }
  return both;
}

}  // namespace

GpuRow parse_gpu_row(std::string_view line) {
  const size_t first = line.find('|'), second = line.find('|', first + 1);
  if (second == std::string_view::npos)
    throw internal_error("GPU table: not three fields: " + std::string(line));
  GpuRow row{std::string(trim(line.substr(0, first))), {}, {}};
  for (auto part : split(line.substr(first + 1, second - first - 1), ';'))
    row.types.push_back(parse_constraint(part));
  for (auto arg : split(line.substr(second + 1), ' ')) row.host_args.emplace_back(arg);
  return row;
}

const std::vector<GpuRow>& gpu_table() {
  static const std::vector<GpuRow> table = [] {
    std::vector<GpuRow> rows;
    for (auto lines : {gpu_lines_a_to_d(), gpu_lines_e_to_o(), gpu_lines_p_to_r(),
                       gpu_lines_s_to_z(), std::span<const std::string_view>(kInternalLines)})
      for (std::string_view line : lines) rows.push_back(parse_gpu_row(line));
    return rows;
  }();
  return table;
}

std::vector<KernelRow> gpu_rows(const KernelRegistry& kernels, std::string_view type) {
  std::vector<KernelRow> rows;
  for (const GpuRow& gpu : gpu_table())
    for (const KernelRow& row : kernels.rows(gpu.op)) {
      if (row.device_type != type) continue;
      auto types = intersection(row.types, gpu.types);
      if (!types) continue;
      KernelRow copy = row;
      copy.device_type = "GPU";
      copy.types = std::move(*types);
      copy.host_args = gpu.host_args;
      // What prefers the CPU (2) has priority 1 on a GPU; no kernel there has a higher one.
      copy.priority = std::min(copy.priority, 1);
      rows.push_back(std::move(copy));
    }
  return rows;
}

}  // namespace emplace
