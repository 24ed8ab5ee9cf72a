#include "kernel/box_checks.h"

#include <fmt/format.h>

#include "emplace/error.h"

namespace emplace {

void check_boxes(const Tensor& boxes, const Tensor& scores, bool overlaps) {
  if (boxes.rank() != 2) throw invalid_argument("boxes must be 2-D" + boxes.shape().str());
  if (!overlaps && boxes.dim(1) != 4)
    throw invalid_argument(
        fmt::format("boxes must have 4 columns (Dimension must be 4 but is {})", boxes.dim(1)));
  if (overlaps && boxes.dim(0) != boxes.dim(1)) throw invalid_argument("overlaps must be square");
  if (scores.rank() != 1) throw invalid_argument("scores must be 1-D" + scores.shape().str());
  if (scores.dim(0) != boxes.dim(0))
    throw invalid_argument(
        fmt::format("scores has incompatible shape (Dimensions must be equal, but are {} and {})",
                    boxes.dim(0), scores.dim(0)));
}

int64_t most_boxes(const Tensor& max_output_size) {
  if (max_output_size.rank() != 0)
    throw invalid_argument("max_output_size must be 0-D, got shape " +
                           max_output_size.shape().str());
  const int64_t n = *max_output_size.data<int32_t>();
  if (n < 0) throw invalid_argument("output size must be non-negative");
  return n;
}

void check_threshold(const Tensor& t) {
  if (t.rank() != 0)
    throw invalid_argument("thresholds must be 0-D (scalar), got shape " + t.shape().str());
}

void check_overlap(float iou_threshold) {
  if (!(iou_threshold >= 0 && iou_threshold <= 1))
    throw invalid_argument("iou_threshold must be in [0, 1]");
}

}  // namespace emplace
