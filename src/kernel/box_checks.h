#pragma once
#include "emplace/tensor.h"

namespace emplace {

// What choosing boxes refuses on every device, in TensorFlow's words.
// `overlaps`: in place of boxes, how much each shares with each.
void check_boxes(const Tensor& boxes, const Tensor& scores, bool overlaps = false);
int64_t most_boxes(const Tensor& max_output_size);  // a scalar int32 in host memory
void check_threshold(const Tensor& t);              // a scalar
void check_overlap(float iou_threshold);

}  // namespace emplace
