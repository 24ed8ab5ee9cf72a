// Blocks of space moved to the batch or the depth, and back.
#include "op/dims.h"
#include "op/shape_context.h"
#include <fmt/format.h>

#include "stdops/stdops.h"

namespace emplace::stdops {
namespace {

using namespace shape_rules;
using namespace cost_rules;

// sign 1: space to batch; -1: batch to space. `block`: one size for each of the dimensions 1, 2, …
void through_batch(ShapeContext& c, const Shape& in, const std::vector<int64_t>& block,
                   const std::optional<std::vector<int64_t>>& edges, int64_t sign) {
  if (!in.has_rank()) return c.set_output(0, Shape::unknown());
  if (in.rank() < static_cast<int>(block.size()) + 1)
    throw invalid_argument(fmt::format("input rank should be >= {} instead of {}",
                                       block.size() + 1, in.rank()));
  int64_t all = 1;
  for (int64_t b : block) {
    if (b < 1) throw invalid_argument("block_shape must be positive");
    all = multiply_dims(all, b);
  }
  Shape out = in;
  if (in[0] >= 0) {
    if (sign < 0 && in[0] % all != 0)
      throw invalid_argument(fmt::format("Dimension size must be evenly divisible by {} but is {}",
                                         all, in[0]));
    out.set_dim(0, sign > 0 ? multiply_dims(in[0], all) : in[0] / all);
  }
  for (size_t i = 0; i < block.size(); ++i) {
    const int d = static_cast<int>(i) + 1;
    out.set_dim(d, Shape::kUnknown);
    if (in[d] < 0 || !edges || edges->size() < 2 * i + 2) continue;
    const int64_t before = (*edges)[2 * i], after = (*edges)[2 * i + 1];
    if (before < 0 || after < 0) throw invalid_argument("paddings and crops must be non-negative");
    const int64_t edge = add_dims(before, after);
    const int64_t padded = sign > 0 ? add_dims(in[d], edge) : 0;
    if (padded % block[i] != 0)
      throw invalid_argument(fmt::format("Dimension size must be evenly divisible by {} but is {}",
                                         block[i], padded));
    const int64_t size = sign > 0 ? padded / block[i] : multiply_dims(in[d], block[i]) - edge;
    if (size < 0) throw invalid_argument("crops are larger than what is cropped");
    out.set_dim(d, size);
  }
  c.set_output(0, std::move(out));
}

void nd(ShapeContext& c, int64_t sign) {
  const auto block = c.input_as_vector(1);
  const Shape& in = c.input(0);
  if (!block)
    return c.set_output(0, in.has_rank() ? Shape::unknown_dims(in.rank()) : Shape::unknown());
  through_batch(c, in, *block, c.input_as_vector(2), sign);
}
void space_to_batch_nd(ShapeContext& c) { nd(c, 1); }
void batch_to_space_nd(ShapeContext& c) { nd(c, -1); }

void flat(ShapeContext& c, int64_t sign) {
  const int64_t b = c.attr<int64_t>("block_size");
  through_batch(c, c.with_rank(0, 4), {b, b}, c.input_as_vector(1), sign);
}
void space_to_batch(ShapeContext& c) { flat(c, 1); }
void batch_to_space(ShapeContext& c) { flat(c, -1); }

constexpr int64_t kMaxBlock = 46'340;  // its square is an int32

int64_t divided(int64_t size, int64_t by) {
  if (size < 0) return Shape::kUnknown;
  if (size % by != 0)
    throw invalid_argument(
        fmt::format("Dimension size must be evenly divisible by {} but is {}", by, size));
  return size / by;
}

void depth(ShapeContext& c, bool to_depth) {
  const std::string& format = c.attr<std::string>("data_format");
  if (format == "NCHW_VECT_C") return unknown(c);
  const Shape in = c.with_rank(0, 4);
  const int64_t b = c.attr<int64_t>("block_size");
  const int h = format == "NHWC" ? 1 : 2, channel = format == "NHWC" ? 3 : 1;
  if (b > kMaxBlock)
    throw invalid_argument(fmt::format("Attr block_size has value {} out of range", b));
  Shape out = in;
  for (int d : {h, h + 1}) out.set_dim(d, to_depth ? divided(in[d], b) : multiply_dims(in[d], b));
  out.set_dim(channel, to_depth ? multiply_dims(in[channel], b * b) : divided(in[channel], b * b));
  c.set_output(0, std::move(out));
}
void space_to_depth(ShapeContext& c) { depth(c, true); }
void depth_to_space(ShapeContext& c) { depth(c, false); }

constexpr OpRow kBlocksRows[] = {
    {"SpaceToBatchND(input: T, block_shape: Tblock_shape, paddings: Tpaddings) -> (output: T) | "
     "T: type; Tblock_shape: type in [int32,int64] = int32; Tpaddings: type in [int32,int64] = "
     "int32",
     space_to_batch_nd, elementwise,
     "Blocks of space moved into the batch."},
    {"SpaceToBatch(input: T, paddings: Tpaddings) -> (output: T) | T: type; Tpaddings: type in "
     "[int32,int64] = int32; block_size: int >= 2",
     space_to_batch, elementwise,
     "Blocks of images moved into the batch."},
    {"BatchToSpaceND(input: T, block_shape: Tblock_shape, crops: Tcrops) -> (output: T) | T: "
     "type; Tblock_shape: type in [int32,int64] = int32; Tcrops: type in [int32,int64] = int32",
     batch_to_space_nd, elementwise,
     "Blocks of space moved out of the batch."},
    {"BatchToSpace(input: T, crops: Tidx) -> (output: T) | T: type; block_size: int >= 2; Tidx: "
     "type in [int32,int64] = int32",
     batch_to_space, elementwise,
     "Blocks of images moved out of the batch."},
    {"SpaceToDepth(input: T) -> (output: T) | T: type; block_size: int >= 2; data_format: string "
     "in ['NHWC','NCHW','NCHW_VECT_C'] = 'NHWC'",
     space_to_depth, elementwise,
     "Blocks of images moved into the channels."},
    {"DepthToSpace(input: T) -> (output: T) | T: type; block_size: int >= 2; data_format: string "
     "in ['NHWC','NCHW','NCHW_VECT_C'] = 'NHWC'",
     depth_to_space, elementwise,
     "Blocks of images moved out of the channels."},
};

}  // namespace

std::span<const OpRow> blocks_ops() { return kBlocksRows; }

}  // namespace emplace::stdops
