// Diagonals and bands of matrices.
#include <fmt/format.h>

#include <algorithm>

#include "backends/cpu/cpu_kernels.h"
#include "backends/cpu/move.h"
#include "backends/cpu/rows.h"
#include "base/stop_scope.h"

namespace emplace::cpu {
namespace {

int64_t product(const Shape& s, int end) {
  int64_t n = 1;
  for (int i = 0; i < end; ++i) n *= s[i];
  return n;
}

void diag(KernelContext& c) {
  const Tensor& in = c.input(0);
  if (in.rank() < 1) throw invalid_argument("Input must be at least rank 1, got 0");
  Shape shape = in.shape();
  for (int64_t d : in.shape()) shape.push_back(d);
  checked_elements(shape.dims());
  Tensor& out = c.output(0, shape);
  const Mover mover(out.dtype());
  mover.zero(out, 0, out.num_elements());
  const int64_t n = in.num_elements();
  for (const int64_t i : paced(n)) mover.copy(out, i * (n + 1), in, i, 1);
}

void diag_part(KernelContext& c) {
  const Tensor& in = c.input(0);
  const int half = in.rank() / 2;
  bool fits = in.rank() > 0 && in.rank() % 2 == 0;
  for (int i = 0; i < half && fits; ++i) fits = in.dim(i) == in.dim(half + i);
  if (!fits)
    throw invalid_argument(
        "the rank of the tensor should be even and its halves alike, got shape " +
        in.shape().str());
  Tensor& out = c.output(0, Shape(in.shape().dims().first(static_cast<size_t>(half))));
  const Mover mover(out.dtype());
  const int64_t n = out.num_elements();
  for (const int64_t i : paced(n)) mover.copy(out, i, in, i * (n + 1), 1);
}

// A band of diagonals k = lower … upper (0: the main one, positive: above) of matrices, and how it
// is stored: as rows of equal length, highest diagonal first, shorter ones shifted to a side.
struct Band {
  int64_t lower, upper, rows, columns;
  bool left_above = false, left_below = true;  // RIGHT_LEFT, the default

  int64_t count() const { return upper - lower + 1; }
  int64_t length(int64_t k) const {
    return std::max<int64_t>(
        0, std::min(rows + std::min<int64_t>(k, 0), columns - std::max<int64_t>(k, 0)));
  }
  int64_t longest() const {
    return std::min(rows + std::min<int64_t>(upper, 0), columns - std::max<int64_t>(lower, 0));
  }
  // Where diagonal k begins within its row.
  int64_t shift(int64_t k) const {
    const bool left = k >= 0 ? left_above : left_below;
    return left ? 0 : longest() - length(k);
  }
  // Calls f(row, column, place in the stored rows) for every element.
  template <class F>
  void each(F&& f) const {
    for (int64_t k = upper; k >= lower; --k)
      for (int64_t i = 0; i < length(k); ++i)
        f(i - std::min<int64_t>(k, 0), i + std::max<int64_t>(k, 0),
          (upper - k) * longest() + shift(k) + i);
  }
};

void read_k(const Tensor& k, Band& band) {
  if (k.rank() > 1 || k.num_elements() < 1 || k.num_elements() > 2)
    throw invalid_argument(
        "diag_index must be a scalar or a vector of one or two elements, got "
        "shape " +
        k.shape().str());
  const auto v = int_values(k);
  band.lower = v.front();
  band.upper = v.back();
  if (band.lower > band.upper)
    throw invalid_argument(
        fmt::format("lower_diag_index must not be larger than upper_diag_index: "
                    "{} > {}",
                    band.lower, band.upper));
}

void check_band(const Band& b) {
  const bool inside = (-b.rows < b.lower && b.lower < b.columns) || b.lower == 0;
  const bool upper = (-b.rows < b.upper && b.upper < b.columns) || b.upper == 0;
  if (!inside || !upper)
    throw invalid_argument(fmt::format("diag_index is out of bound: {} to {} of a {} x {} matrix",
                                       b.lower, b.upper, b.rows, b.columns));
}

// The attribute "align", or the first versions' layout: everything to the left.
struct Align {
  bool above = true, below = true;
  explicit Align(const KernelInit& init) {
    const AttrValue* v = init.find("align");
    if (!v) return;
    const std::string& s = v->as<std::string>();
    above = s.starts_with("LEFT");
    below = s.ends_with("LEFT");
  }
  void put(Band& b) const { b.left_above = above, b.left_below = below; }
};

// MatrixDiag*: (diagonal[, k, rows, columns, padding])
struct MatrixDiag {
  Align align;
  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    Band band{0, 0, -1, -1};
    if (c.num_inputs() > 1) read_k(c.input(1), band);
    align.put(band);
    const int lead = band.count() > 1 ? in.rank() - 2 : in.rank() - 1;
    if (lead < 0) throw invalid_argument("diagonal has too low a rank: " + in.shape().str());
    if (band.count() > 1 && in.dim(lead) != band.count())
      throw invalid_argument(
          fmt::format("The number of diagonals provided in the input does not "
                      "match the lower and upper: {} against {}",
                      in.dim(lead), band.count()));
    set_size(c, in.dim(in.rank() - 1), band);
    Shape shape;
    for (int i = 0; i < lead; ++i) shape.push_back(in.dim(i));
    shape.push_back(band.rows);
    shape.push_back(band.columns);
    checked_elements(shape.dims());
    Tensor& out = c.output(0, shape);
    fill(c, in, band, product(in.shape(), lead), out);
  }
  static void set_size(KernelContext& c, int64_t length, Band& b) {
    const int64_t rows = length - std::min<int64_t>(b.upper, 0);
    const int64_t columns = length + std::max<int64_t>(b.lower, 0);
    if (c.num_inputs() > 1) {
      b.rows = int_scalar(c.input(2), "num_rows");
      b.columns = int_scalar(c.input(3), "num_cols");
      if (b.rows < -1 || b.columns < -1)
        throw invalid_argument("num_rows and num_cols must be -1 or more");
    }
    if (b.rows == -1 && b.columns == -1) b.rows = b.columns = std::max(rows, columns);
    if (b.rows == -1) b.rows = rows;
    if (b.columns == -1) b.columns = columns;
    if (b.rows < rows || b.columns < columns || (b.rows != rows && b.columns != columns))
      throw invalid_argument(
          fmt::format("The number of rows and columns ({}, {}) does not fit a "
                      "diagonal of length {}",
                      b.rows, b.columns, length));
  }
  static void fill(KernelContext& c, const Tensor& in, const Band& band, int64_t batches,
                   Tensor& out) {
    const Mover mover(out.dtype());
    if (c.num_inputs() > 4) {
      if (c.input(4).num_elements() != 1) throw invalid_argument("padding_value must be a scalar");
      mover.fill(out, 0, out.num_elements(), c.input(4).raw());
    } else {
      mover.zero(out, 0, out.num_elements());
    }
    for (int64_t b = 0; b < batches; ++b)
      band.each([&](int64_t row, int64_t column, int64_t at) {
        mover.copy(out, (b * band.rows + row) * band.columns + column, in,
                   b * band.count() * band.longest() + at, 1);
      });
  }
};
Prepared make_diag(const KernelInit& i) { return prepared(MatrixDiag{Align(i)}); }

// MatrixDiagPart*: (input[, k, padding])
struct MatrixDiagPart {
  Align align;
  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    if (in.rank() < 2)
      throw invalid_argument("input must be at least 2-dim, received shape: " + in.shape().str());
    Band band{0, 0, in.dim(in.rank() - 2), in.dim(in.rank() - 1)};
    if (c.num_inputs() > 1) read_k(c.input(1), band);
    align.put(band);
    check_band(band);
    Shape shape(in.shape().dims().first(static_cast<size_t>(in.rank() - 2)));
    if (band.count() > 1) shape.push_back(band.count());
    const int64_t length = std::max<int64_t>(0, band.longest());
    shape.push_back(length);
    Tensor& out = c.output(0, shape);
    const Mover mover(out.dtype());
    if (c.num_inputs() > 2) {
      if (c.input(2).num_elements() != 1)
        throw invalid_argument("padding_value must be a scalar, received shape: " +
                               c.input(2).shape().str());
      mover.fill(out, 0, out.num_elements(), c.input(2).raw());
    }
    const int64_t batches = product(in.shape(), in.rank() - 2);
    for (int64_t b = 0; b < batches; ++b)
      band.each([&](int64_t row, int64_t column, int64_t at) {
        mover.copy(out, b * band.count() * length + at, in,
                   (b * band.rows + row) * band.columns + column, 1);
      });
  }
};
Prepared make_part(const KernelInit& i) { return prepared(MatrixDiagPart{Align(i)}); }

// MatrixSetDiag*: (input, diagonal[, k])
struct MatrixSetDiag {
  Align align;
  void operator()(KernelContext& c) const {
    const Tensor &in = c.input(0), &diagonal = c.input(1);
    if (in.rank() < 2)
      throw invalid_argument("input must be at least 2-dim, received shape: " + in.shape().str());
    Band band{0, 0, in.dim(in.rank() - 2), in.dim(in.rank() - 1)};
    if (c.num_inputs() > 2) read_k(c.input(2), band);
    align.put(band);
    check_band(band);
    Shape expected(in.shape().dims().first(static_cast<size_t>(in.rank() - 2)));
    if (band.count() > 1) expected.push_back(band.count());
    expected.push_back(band.longest());
    if (!(diagonal.shape() == expected))
      throw invalid_argument(fmt::format("diagonal must have shape {}, received {}", expected.str(),
                                         diagonal.shape().str()));
    Tensor& out = c.output(0, in.shape());
    if (out.raw() != in.raw()) copy_elements(out, in);
    const Mover mover(out.dtype());
    const int64_t batches = product(in.shape(), in.rank() - 2);
    for (int64_t b = 0; b < batches; ++b)
      band.each([&](int64_t row, int64_t column, int64_t at) {
        mover.copy(out, (b * band.rows + row) * band.columns + column, diagonal,
                   b * band.count() * band.longest() + at, 1);
      });
  }
};
Prepared make_set(const KernelInit& i) { return prepared(MatrixSetDiag{Align(i)}); }

void band_part(KernelContext& c) {
  const Tensor& in = c.input(0);
  if (in.rank() < 2)
    throw invalid_argument("input must be at least 2-dim, received shape: " + in.shape().str());
  const int64_t lower = int_scalar(c.input(1), "num_lower"),
                upper = int_scalar(c.input(2), "num_upper");
  const int64_t rows = in.dim(in.rank() - 2), columns = in.dim(in.rank() - 1);
  if (lower > rows)
    throw invalid_argument(fmt::format(
        "num_lower must be negative or less or equal to number of rows ({}) got: {}", rows, lower));
  if (upper > columns)
    throw invalid_argument(
        fmt::format("num_upper must be negative or less or equal to number of columns ({}) got: {}",
                    columns, upper));
  Tensor& out = c.output(0, in.shape());
  const Mover mover(out.dtype());
  const int64_t all = product(in.shape(), in.rank() - 1);
  c.parallel_for(
      all, move_cost(in.dtype()) * static_cast<double>(columns) + 10, [&](int64_t b, int64_t e) {
        for (int64_t r = b; r < e; ++r) {
          const int64_t row = r % rows;
          const int64_t first = lower < 0 ? 0 : std::clamp<int64_t>(row - lower, 0, columns);
          const int64_t last =
              upper < 0 ? columns : std::clamp<int64_t>(row + upper + 1, first, columns);
          mover.zero(out, r * columns, first);
          if (out.raw() != in.raw())
            mover.copy(out, r * columns + first, in, r * columns + first, last - first);
          mover.zero(out, r * columns + last, columns - last);
        }
      });
}

}  // namespace

std::vector<KernelRow> diag_kernels() {
  return {row("Diag", stateless<diag>),       row("DiagPart", stateless<diag_part>),
          row("MatrixDiag", make_diag),       row("MatrixDiagV2", make_diag),
          row("MatrixDiagV3", make_diag),     row("MatrixDiagPart", make_part),
          row("MatrixDiagPartV2", make_part), row("MatrixDiagPartV3", make_part),
          row("MatrixSetDiag", make_set),     row("MatrixSetDiagV2", make_set),
          row("MatrixSetDiagV3", make_set),   row("MatrixBandPart", stateless<band_part>)};
}

}  // namespace emplace::cpu
