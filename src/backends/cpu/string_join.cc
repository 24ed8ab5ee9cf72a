// Strings put together: side by side, along dimensions, by segment.
#include <fmt/format.h>

#include "backends/cpu/move.h"
#include "backends/cpu/text_kernels.h"
#include "base/stop_scope.h"

namespace emplace::cpu {
namespace {

struct StringJoin {
  std::string separator;
  void operator()(KernelContext& c) const {
    Shape shape;
    for (int i = 0; i < c.num_inputs(); ++i) {
      const Shape& s = c.input(i).shape();
      if (s.rank() == 0) continue;
      if (shape.rank() > 0 && !(shape == s))
        throw invalid_argument(
            fmt::format("Input shapes do not match: {} vs. {}", shape.str(), s.str()));
      shape = s;
    }
    Tensor& out = c.output(0, shape);
    std::string* to = out.data<std::string>();
    Pace pace;
    for (int64_t k = 0; k < out.num_elements(); ++k) {
      pace.step();
      std::string text;
      for (int i = 0; i < c.num_inputs(); ++i) {
        if (i > 0) text += separator;
        text += c.input(i).data<std::string>()[c.input(i).rank() == 0 ? 0 : k];
      }
      to[k] = std::move(text);
    }
  }
};
Prepared make_join(const KernelInit& i) {
  return prepared(StringJoin{i.attr<std::string>("separator")});
}

// The axes to join along; the first one named moves fastest.
std::vector<int> checked_axes(const Tensor& given, int rank) {
  std::vector<int> axes;
  for (int64_t axis : int_values(given)) {
    if (axis < -rank || axis >= rank)
      throw out_of_range(fmt::format("Invalid reduction dimension {} for input with {} "
                                     "dimension(s)", axis, rank));
    const int at = static_cast<int>(axis < 0 ? axis + rank : axis);
    if (std::find(axes.begin(), axes.end(), at) != axes.end())
      throw invalid_argument(fmt::format("Duplicate reduction dimension {}", axis));
    axes.push_back(at);
  }
  return axes;
}

struct ReduceJoin {
  bool keep;
  std::string separator;
  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    const std::vector<int> axes = checked_axes(c.input(1), in.rank());
    std::vector<int> order;  // what stays, then what is joined, slowest first
    Shape shape, kept;
    for (int i = 0; i < in.rank(); ++i) {
      const bool joined = std::find(axes.begin(), axes.end(), i) != axes.end();
      if (!joined) order.push_back(i), kept.push_back(in.dim(i));
      if (!joined || keep) shape.push_back(joined ? 1 : in.dim(i));
    }
    order.insert(order.end(), axes.rbegin(), axes.rend());
    Tensor& out = c.output(0, shape);
    Shape moved;
    for (int i : order) moved.push_back(in.dim(i));
    Tensor rows(DType::kString, moved);
    transpose_elements(c, in, order, rows);
    const int64_t each = out.num_elements() ? in.num_elements() / out.num_elements() : 0;
    for (const int64_t k : paced(out.num_elements())) {
      std::string text;
      for (int64_t i = 0; i < each; ++i) {
        if (i > 0) text += separator;
        text += rows.data<std::string>()[k * each + i];
      }
      out.data<std::string>()[k] = std::move(text);
    }
  }
};
Prepared make_reduce(const KernelInit& i) {
  return prepared(ReduceJoin{i.attr<bool>("keep_dims"), i.attr<std::string>("separator")});
}

struct SegmentJoin {
  std::string separator;
  void operator()(KernelContext& c) const {
    const Tensor &in = c.input(0), &ids = c.input(1);
    const int64_t segments = int_scalar(c.input(2), "num_segments");
    if (segments < 0)
      throw invalid_argument(
          fmt::format("Number of segments must be non-negative but got {}", segments));
    if (ids.rank() > in.rank() || ids.rank() == 0)
      throw invalid_argument("segment_ids must begin the shape of inputs and must not be a scalar");
    Shape shape{segments};
    for (int i = 0; i < in.rank(); ++i) {
      if (i >= ids.rank()) shape.push_back(in.dim(i));
      else if (ids.dim(i) != in.dim(i))
        throw invalid_argument(fmt::format("Segment dimension is {} while input dimension is {} in "
                                           "rank {}", ids.dim(i), in.dim(i), i));
    }
    const auto segment = int_values(ids);
    for (int64_t s : segment)
      if (s < 0 || s >= segments)
        throw invalid_argument("segment_ids are not allowed to exceed num_segments or to have "
                               "negative values.");
    Tensor& out = c.output(0, shape);
    std::fill_n(out.data<std::string>(), out.num_elements(), std::string());
    join(in, segment, out);
  }
  void join(const Tensor& in, const std::vector<int64_t>& segment, Tensor& out) const {
    if (segment.empty()) return;
    const int64_t inner = in.num_elements() / static_cast<int64_t>(segment.size());
    std::vector<bool> begun(static_cast<size_t>(out.num_elements()));
    for (const size_t i : paced(segment.size()))
      for (int64_t k = 0; k < inner; ++k) {
        const auto at = static_cast<size_t>(segment[i] * inner + k);
        std::string& text = out.data<std::string>()[at];
        if (begun[at]) text += separator;
        begun[at] = true;
        text += in.data<std::string>()[static_cast<int64_t>(i) * inner + k];
      }
  }
};
Prepared make_segment(const KernelInit& i) {
  return prepared(SegmentJoin{i.attr<std::string>("separator")});
}

}  // namespace

std::vector<KernelRow> string_join_kernels() {
  return {text_row("StringJoin", make_join), text_row("ReduceJoin", make_reduce),
          text_row("UnsortedSegmentJoin", make_segment)};
}

}  // namespace emplace::cpu
