#include "op/strided_slice.h"

#include <algorithm>

#include <fmt/format.h>

#include "emplace/error.h"

namespace emplace {
namespace {

int64_t mask_of(const AttrList& attrs, std::string_view name) {
  const AttrValue* v = find_attr(attrs, name);
  return v ? v->as<int64_t>() : 0;
}

bool bit(int64_t mask, int i) { return i < 64 && (mask >> i & 1); }

// The entries, with the ellipsis (or the end) spread over the dimensions nobody names.
struct Entry {
  int index = -1;  // in the spec; -1: the whole dimension
  bool new_axis = false;
};

std::vector<Entry> spread(const SliceSpec& spec, int rank) {
  int ellipsis = -1, named = 0;
  for (int i = 0; i < spec.entries; ++i) {
    if (bit(spec.ellipsis_mask, i)) {
      if (ellipsis >= 0)
        throw invalid_argument("Multiple ellipses in slice spec not allowed");
      ellipsis = i;
    } else if (!bit(spec.new_axis_mask, i)) {
      ++named;
    }
  }
  if (named > 0 && rank == 0) throw invalid_argument("Attempting to slice scalar input.");
  if (named > rank)
    throw invalid_argument(fmt::format("Index out of range using input dim {}; input has only {} "
                                       "dims", rank, rank));
  std::vector<Entry> entries;
  auto whole = [&] { entries.insert(entries.end(), static_cast<size_t>(rank - named), Entry{}); };
  for (int i = 0; i < spec.entries; ++i) {
    if (i == ellipsis) whole();
    else entries.push_back({i, bit(spec.new_axis_mask, i)});
  }
  if (ellipsis < 0) whole();
  return entries;
}

// Where a bound lies in a dimension of `size`; `low`, `high`: what it is held between.
int64_t held(int64_t x, int64_t size, int64_t low, int64_t high) {
  return std::clamp(x < 0 ? x + size : x, low, high);
}

SlicePlan::Dim one_index(const SliceSpec& spec, int i, int64_t size, int64_t stride) {
  if (stride <= 0)
    throw invalid_argument("only stride 1 allowed on non-range indexing.");
  SlicePlan::Dim d;
  d.size = 1;
  if (!spec.begin || size == Shape::kUnknown) return d;
  const int64_t x = (*spec.begin)[static_cast<size_t>(i)];
  d.begin = x < 0 ? x + size : x;
  if (d.begin < 0 || d.begin >= size)
    throw invalid_argument(fmt::format("slice index {} of dimension {} out of bounds.", x, i));
  return d;
}

SlicePlan::Dim range(const SliceSpec& spec, int i, int64_t size, int64_t stride) {
  SlicePlan::Dim d;
  d.stride = stride;
  if (size == Shape::kUnknown) return d;
  const bool all_begin = bit(spec.begin_mask, i), all_end = bit(spec.end_mask, i);
  if ((!all_begin && !spec.begin) || (!all_end && !spec.end)) return d;
  const auto u = static_cast<size_t>(i);
  const int64_t low = stride > 0 ? 0 : -1, high = stride > 0 ? size : size - 1;
  d.begin = all_begin ? (stride > 0 ? low : high) : held((*spec.begin)[u], size, low, high);
  const int64_t end = all_end ? (stride > 0 ? high : low) : held((*spec.end)[u], size, low, high);
  const int64_t span = end - d.begin;
  const bool empty = span == 0 || (span < 0) != (stride < 0);
  d.size = empty ? 0 : span / stride + (span % stride != 0);
  if (d.size == 0) d.begin = 0;
  return d;
}

SlicePlan::Dim read_entry(const SliceSpec& spec, int i, int64_t size) {
  if (!spec.strides) {
    SlicePlan::Dim d;
    if (bit(spec.shrink_mask, i)) d.size = 1;
    return d;
  }
  const int64_t stride = (*spec.strides)[static_cast<size_t>(i)];
  if (stride == 0) throw invalid_argument(fmt::format("strides[{}] must be non-zero", i));
  return bit(spec.shrink_mask, i) ? one_index(spec, i, size, stride) : range(spec, i, size, stride);
}

}  // namespace

void SliceSpec::read_masks(const AttrList& attrs) {
  begin_mask = mask_of(attrs, "begin_mask");
  end_mask = mask_of(attrs, "end_mask");
  ellipsis_mask = mask_of(attrs, "ellipsis_mask");
  new_axis_mask = mask_of(attrs, "new_axis_mask") & ~ellipsis_mask;
  shrink_mask = mask_of(attrs, "shrink_axis_mask") & ~new_axis_mask & ~ellipsis_mask;
}

SlicePlan plan_slice(const Shape& in, const SliceSpec& spec) {
  SlicePlan plan;
  int dim = 0;
  for (const Entry& e : spread(spec, in.rank())) {
    if (e.new_axis) {
      plan.result.push_back(1);
      continue;
    }
    const int64_t size = in[dim++];
    SlicePlan::Dim d;
    d.size = size;
    if (e.index >= 0) d = read_entry(spec, e.index, size);
    if (e.index < 0 || !bit(spec.shrink_mask, e.index)) {
      d.result = plan.result.rank();
      plan.result.push_back(d.size);
    }
    plan.dims.push_back(d);
    plan.kept.push_back(d.size);
  }
  return plan;
}

}  // namespace emplace
