// Diagonals of matrices, blocks of space in the batch, sequences turned round: device/places.cuh.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "backends/cuda/kernels.h"
#include "backends/cuda/launch.h"

namespace emplace::cuda {
namespace {

// ---- Diagonals.

// Must look as device/places.cuh's does.
struct Band {
  int64_t lower = 0, upper = 0, rows = -1, columns = -1, longest = 0;
  int32_t left_above = 1, left_below = 1;

  int64_t count() const { return upper - lower + 1; }
  void measure() {
    longest = std::max<int64_t>(0, std::min(rows + std::min<int64_t>(upper, 0),
                                            columns - std::max<int64_t>(lower, 0)));
  }
  void read_k(const Tensor& k) {
    if (k.rank() > 1 || k.num_elements() < 1 || k.num_elements() > 2)
      throw invalid_argument("diag_index must be a scalar or a vector of one or two elements, got "
                             "shape " + k.shape().str());
    const auto v = host_ints(k);
    lower = v.front();
    upper = v.back();
    if (lower > upper)
      throw invalid_argument(fmt::format(
          "lower_diag_index must not be larger than upper_diag_index: {} > {}", lower, upper));
  }
  void check_inside() const {
    auto inside = [&](int64_t k) { return (-rows < k && k < columns) || k == 0; };
    if (!inside(lower) || !inside(upper))
      throw invalid_argument(fmt::format(
          "diag_index is out of bound: {} to {} of a {} x {} matrix", lower, upper, rows, columns));
  }
};

// The attribute "align", or the first versions' layout: everything to the left.
Band aligned_band(const KernelInit& init) {
  Band b;
  if (const AttrValue* v = init.find("align")) {
    b.left_above = v->as<std::string>().starts_with("LEFT");
    b.left_below = v->as<std::string>().ends_with("LEFT");
  }
  return b;
}

// An element of the output's dtype, from host memory, as launches take it.
struct Padding {
  alignas(16) char bytes[16] = {};
  Padding(const Tensor* from, DType dtype) {
    if (!from) return;
    if (from->num_elements() != 1) throw invalid_argument("padding_value must be a scalar");
    std::memcpy(bytes, from->raw(), dtype_size(dtype));
  }
};

std::string instance(const char* name, DType t) { return fmt::format("{}<{}>", name, device_bits(t)); }

void put_band(KernelContext& c, Tensor& out, const Tensor& diagonals, const Tensor* base,
              Padding pad, Band band) {
  Gpu& gpu = gpu_of(c.device());
  int64_t n = out.num_elements();
  if (n == 0) return;
  void *to = out.raw(), *from = diagonals.raw(), *rest = base ? base->raw() : nullptr;
  void* args[] = {&to, &from, &rest, pad.bytes, &n, &band};
  launch(gpu, gpu.jit().get("places", instance("with_band", out.dtype())), grid_for(gpu, n), args);
}
void take_band(KernelContext& c, Tensor& out, const Tensor& in, Padding pad, Band band) {
  Gpu& gpu = gpu_of(c.device());
  int64_t n = out.num_elements();
  if (n == 0) return;
  void *to = out.raw(), *from = in.raw();
  void* args[] = {&to, &from, pad.bytes, &n, &band};
  launch(gpu, gpu.jit().get("places", instance("band_of", out.dtype())), grid_for(gpu, n), args);
}

std::vector<int64_t> leading(const Tensor& t, int count) {
  return {t.shape().dims().begin(), t.shape().dims().begin() + count};
}

// MatrixDiag*: (diagonal[, k, rows, columns, padding])
struct MatrixDiag {
  Band start;
  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    Band band = start;
    if (c.num_inputs() > 1) band.read_k(c.input(1));
    const int lead = band.count() > 1 ? in.rank() - 2 : in.rank() - 1;
    if (lead < 0) throw invalid_argument("diagonal has too low a rank: " + in.shape().str());
    if (band.count() > 1 && in.dim(lead) != band.count())
      throw invalid_argument(fmt::format("The number of diagonals provided in the input does not "
                                         "match the lower and upper: {} against {}",
                                         in.dim(lead), band.count()));
    set_size(c, in.dim(in.rank() - 1), band);
    std::vector<int64_t> dims = leading(in, lead);
    dims.insert(dims.end(), {band.rows, band.columns});
    put_band(c, c.output(0, Shape(dims)), in, nullptr,
             Padding(c.num_inputs() > 4 ? &c.input(4) : nullptr, in.dtype()), band);
  }
  static void set_size(KernelContext& c, int64_t length, Band& b) {
    const int64_t rows = length - std::min<int64_t>(b.upper, 0);
    const int64_t columns = length + std::max<int64_t>(b.lower, 0);
    if (c.num_inputs() > 1) {
      b.rows = host_ints(c.input(2)).at(0);
      b.columns = host_ints(c.input(3)).at(0);
    }
    if (b.rows == -1 && b.columns == -1) b.rows = b.columns = std::max(rows, columns);
    if (b.rows == -1) b.rows = rows;
    if (b.columns == -1) b.columns = columns;
    if (b.rows < rows || b.columns < columns || (b.rows != rows && b.columns != columns))
      throw invalid_argument(fmt::format("The number of rows and columns ({}, {}) does not fit a "
                                         "diagonal of length {}", b.rows, b.columns, length));
    b.measure();
  }
};
Prepared make_diag(const KernelInit& init) { return prepared(MatrixDiag{aligned_band(init)}); }

Band band_on(const Tensor& in, Band band, const Tensor* k) {
  if (in.rank() < 2)
    throw invalid_argument("input must be at least 2-dim, received shape: " + in.shape().str());
  band.rows = in.dim(in.rank() - 2);
  band.columns = in.dim(in.rank() - 1);
  if (k) band.read_k(*k);
  band.check_inside();
  band.measure();
  return band;
}
std::vector<int64_t> band_dims(const Tensor& in, const Band& band) {
  std::vector<int64_t> dims = leading(in, in.rank() - 2);
  if (band.count() > 1) dims.push_back(band.count());
  dims.push_back(band.longest);
  return dims;
}

// MatrixDiagPart*: (input[, k, padding])
struct MatrixDiagPart {
  Band start;
  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    const Band band = band_on(in, start, c.num_inputs() > 1 ? &c.input(1) : nullptr);
    take_band(c, c.output(0, Shape(band_dims(in, band))), in,
              Padding(c.num_inputs() > 2 ? &c.input(2) : nullptr, in.dtype()), band);
  }
};
Prepared make_part(const KernelInit& init) { return prepared(MatrixDiagPart{aligned_band(init)}); }

// MatrixSetDiag*: (input, diagonal[, k])
struct MatrixSetDiag {
  Band start;
  void operator()(KernelContext& c) const {
    const Tensor &in = c.input(0), &diagonal = c.input(1);
    const Band band = band_on(in, start, c.num_inputs() > 2 ? &c.input(2) : nullptr);
    const Shape expected(band_dims(in, band));
    if (!(diagonal.shape() == expected))
      throw invalid_argument(fmt::format("diagonal must have shape {}, received {}", expected.str(),
                                         diagonal.shape().str()));
    put_band(c, c.output(0, in.shape()), diagonal, &in, Padding(nullptr, in.dtype()), band);
  }
};
Prepared make_set(const KernelInit& init) { return prepared(MatrixSetDiag{aligned_band(init)}); }

// Of tensors: as the one matrix [n, n] they are.
Band main_diagonal(int64_t n) {
  Band band;
  band.rows = band.columns = n;
  band.measure();
  return band;
}
void diag(KernelContext& c) {
  const Tensor& in = c.input(0);
  if (in.rank() < 1) throw invalid_argument("Input must be at least rank 1, got 0");
  std::vector<int64_t> dims = leading(in, in.rank());
  dims.insert(dims.end(), in.shape().dims().begin(), in.shape().dims().end());
  put_band(c, c.output(0, Shape(dims)), in, nullptr, Padding(nullptr, in.dtype()),
           main_diagonal(in.num_elements()));
}
void diag_part(KernelContext& c) {
  const Tensor& in = c.input(0);
  const int half = in.rank() / 2;
  bool fits = in.rank() > 0 && in.rank() % 2 == 0;
  for (int i = 0; i < half && fits; ++i) fits = in.dim(i) == in.dim(half + i);
  if (!fits)
    throw invalid_argument("the rank of the tensor should be even and its halves alike, got shape " +
                           in.shape().str());
  Tensor& out = c.output(0, Shape(leading(in, half)));
  take_band(c, out, in, Padding(nullptr, in.dtype()), main_diagonal(out.num_elements()));
}

// ---- Blocks of space.

// Must look as device/places.cuh's does.
struct SpaceBlocks {
  int32_t count = 0;
  int64_t batch = 0, inner = 1;
  int64_t block[6] = {}, small[6] = {}, large[6] = {}, before[6] = {};
};

struct SpaceAndBatch {
  bool to_batch;
  int64_t size;  // of all blocks; 0: the second input says
  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    const std::vector<int64_t> block = size ? std::vector<int64_t>{size, size} : host_ints(c.input(1));
    const Tensor& edges = c.input(size ? 1 : 2);
    const auto m = block.size();
    if (m > 6) throw unimplemented("blocks of more than 6 dimensions");
    if (in.rank() < static_cast<int>(m) + 1 || (size && in.rank() != 4))
      throw invalid_argument(fmt::format("input rank should be >= {} instead of {}", m + 1, in.rank()));
    if (edges.rank() != 2 || edges.dim(0) != static_cast<int64_t>(m) || edges.dim(1) != 2)
      throw invalid_argument(fmt::format("paddings and crops must have shape [{}, 2], got {}", m,
                                         edges.shape().str()));
    run(c, in, block, host_ints(edges));
  }
  void run(KernelContext& c, const Tensor& in, const std::vector<int64_t>& block,
           const std::vector<int64_t>& edges) const {
    SpaceBlocks s;
    s.count = static_cast<int32_t>(block.size());
    int64_t all = 1;
    for (int64_t b : block) {
      if (b < 1)
        throw invalid_argument(fmt::format("All values in block_shape must be positive, got {}", b));
      all *= b;
    }
    if (!to_batch && in.dim(0) % all)
      throw invalid_argument(fmt::format(
          "Input batch dimension ({}) is not divisible by product of block sizes ({})", in.dim(0), all));
    s.batch = to_batch ? in.dim(0) : in.dim(0) / all;
    std::vector<int64_t> dims = {to_batch ? in.dim(0) * all : s.batch};
    for (size_t d = 0; d < block.size(); ++d) {
      const int64_t extent = in.dim(static_cast<int>(d) + 1), before = edges[2 * d],
                    after = edges[2 * d + 1];
      if (before < 0 || after < 0) throw invalid_argument("paddings and crops must be non-negative");
      s.block[d] = block[d];
      s.before[d] = before;
      s.large[d] = to_batch ? extent : extent * block[d] - before - after;
      s.small[d] = to_batch ? (extent + before + after) / block[d] : extent;
      if (to_batch && (extent + before + after) % block[d])
        throw invalid_argument(fmt::format("padded_shape[{}]={} is not divisible by block_shape[{}]={}",
                                           d, extent + before + after, d, block[d]));
      if (s.large[d] < 0)
        throw invalid_argument(fmt::format("cropped_shape[{}]={} must be non-negative", d, s.large[d]));
      dims.push_back(to_batch ? s.small[d] : s.large[d]);
    }
    for (int d = s.count + 1; d < in.rank(); ++d) {
      dims.push_back(in.dim(d));
      s.inner *= in.dim(d);
    }
    Tensor& out = c.output(0, Shape(dims));
    Gpu& gpu = gpu_of(c.device());
    if (const int64_t n = out.num_elements())
      launch_kernel(gpu,
                    gpu.jit().get("places", fmt::format("space_blocks<{}, {}>",
                                                        device_bits(in.dtype()), to_batch)),
                    grid_for(gpu, n), out.raw(), in.raw(), n, s);
  }
};
Prepared make_space(const KernelInit& init) {
  const AttrValue* size = init.find("block_size");
  return prepared(SpaceAndBatch{init.op->name.starts_with("Space"), size ? size->as<int64_t>() : 0});
}

// ---- Sequences, vectors.

struct ReverseSequence {
  int64_t batch_dim, seq_dim;
  void operator()(KernelContext& c) const {
    const Tensor &in = c.input(0), &lengths = c.input(1);
    if (lengths.rank() != 1) throw invalid_argument("seq_lens input must be 1-dim, not " +
                                                    std::to_string(lengths.rank()));
    if (batch_dim == seq_dim || batch_dim >= in.rank() || seq_dim >= in.rank() || batch_dim < 0 ||
        seq_dim < 0)
      throw invalid_argument(fmt::format("batch_dim {} and seq_dim {} do not fit rank {}", batch_dim,
                                         seq_dim, in.rank()));
    auto step = [&](int64_t d) {
      int64_t n = 1;
      for (int e = static_cast<int>(d) + 1; e < in.rank(); ++e) n *= in.dim(e);
      return n;
    };
    const int64_t batch = in.dim(static_cast<int>(batch_dim));
    if (lengths.dim(0) != batch)
      throw invalid_argument(fmt::format("Length of seq_lens != input.dims({}), ({} vs. {})", batch_dim,
                                         lengths.dim(0), batch));
    Tensor& out = c.output(0, in.shape());
    Gpu& gpu = gpu_of(c.device());
    if (const int64_t n = out.num_elements())
      launch_kernel(gpu,
                    gpu.jit().get("places", fmt::format("reverse_sequence<{}, {}>",
                                                        device_bits(in.dtype()),
                                                        device_type(lengths.dtype()))),
                    grid_for(gpu, n), out.raw(), in.raw(), lengths.raw(), n, batch, step(batch_dim),
                    in.dim(static_cast<int>(seq_dim)), step(seq_dim));
  }
};
Prepared make_reverse_sequence(const KernelInit& init) {
  return prepared(ReverseSequence{init.attr<int64_t>("batch_dim"), init.attr<int64_t>("seq_dim")});
}

void cross(KernelContext& c) {
  const Tensor &a = c.input(0), &b = c.input(1);
  if (!(a.shape() == b.shape()))
    throw invalid_argument("Both inputs must be of same shape: " + a.shape().str() + " vs. " +
                           b.shape().str());
  if (a.rank() < 1 || a.dim(a.rank() - 1) != 3)
    throw invalid_argument("Cross-products are only defined for 3-element vectors.");
  Tensor& out = c.output(0, a.shape());
  Gpu& gpu = gpu_of(c.device());
  if (const int64_t rows = a.num_elements() / 3)
    launch_kernel(gpu, gpu.jit().get("places", fmt::format("cross<{}>", device_type(a.dtype()))),
                  grid_for(gpu, rows), out.raw(), a.raw(), b.raw(), rows);
}

}  // namespace

std::vector<KernelRow> place_kernels() {
  std::vector<KernelRow> rows = {cuda_row("Diag", stateless<diag>),
                                 cuda_row("DiagPart", stateless<diag_part>),
                                 cuda_row("ReverseSequence", make_reverse_sequence),
                                 cuda_row("Cross", stateless<cross>, {{"T", real_types()}})};
  for (const char* version : {"", "V2", "V3"}) {
    rows.push_back(cuda_row(std::string("MatrixDiag") + version, make_diag));
    rows.push_back(cuda_row(std::string("MatrixDiagPart") + version, make_part));
    rows.push_back(cuda_row(std::string("MatrixSetDiag") + version, make_set));
  }
  // Older names.
  rows.push_back(cuda_row("BatchMatrixDiag", make_diag));
  rows.push_back(cuda_row("BatchMatrixDiagPart", make_part));
  rows.push_back(cuda_row("BatchMatrixSetDiag", make_set));
  for (const char* op : {"SpaceToBatch", "SpaceToBatchND", "BatchToSpace", "BatchToSpaceND"})
    rows.push_back(cuda_row(op, make_space));
  return rows;
}

}  // namespace emplace::cuda
