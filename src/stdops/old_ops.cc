// Ops that TensorFlow took out of use: graphs of older producers have them (see
// graph/removed_ops.h).
#include "op/dims.h"
#include "op/shape_context.h"
#include "stdops/more.h"

namespace emplace::stdops {
namespace {

using namespace shape_rules;
using namespace cost_rules;

// An older name, sometimes for fewer dtypes.
struct OldName {
  const char* signature;
  const char* now;
};
constexpr OldName kNames[] = {
    {"BatchCholesky(input: T) -> (output: T) | T: type in [double,float]", "Cholesky"},
    {"BatchCholeskyGrad(l: T, grad: T) -> (output: T) | T: type in [float,double]", "CholeskyGrad"},
    {"BatchFFT(input: complex64) -> (output: complex64)", "FFT"},
    {"BatchFFT2D(input: complex64) -> (output: complex64)", "FFT2D"},
    {"BatchFFT3D(input: complex64) -> (output: complex64)", "FFT3D"},
    {"BatchIFFT(input: complex64) -> (output: complex64)", "IFFT"},
    {"BatchIFFT2D(input: complex64) -> (output: complex64)", "IFFT2D"},
    {"BatchIFFT3D(input: complex64) -> (output: complex64)", "IFFT3D"},
    {"BatchMatrixBandPart(input: T, num_lower: int64, num_upper: int64) -> (band: T) | T: type",
     "MatrixBandPart"},
    {"BatchMatrixDeterminant(input: T) -> (output: T) | T: type in [float,double,complex64,"
     "complex128]",
     "MatrixDeterminant"},
    {"BatchMatrixDiag(diagonal: T) -> (output: T) | T: type", "MatrixDiag"},
    {"BatchMatrixDiagPart(input: T) -> (diagonal: T) | T: type", "MatrixDiagPart"},
    {"BatchMatrixInverse(input: T) -> (output: T) | adjoint: bool = false; T: type in [double,"
     "float]",
     "MatrixInverse"},
    {"BatchMatrixSetDiag(input: T, diagonal: T) -> (output: T) | T: type", "MatrixSetDiag"},
    {"BatchMatrixSolve(matrix: T, rhs: T) -> (output: T) | adjoint: bool = false; T: type in "
     "[double,float]",
     "MatrixSolve"},
    {"BatchMatrixSolveLs(matrix: T, rhs: T, l2_regularizer: double) -> (output: T) | T: type in "
     "[double,float]; fast: bool = true",
     "MatrixSolveLs"},
    {"BatchMatrixTriangularSolve(matrix: T, rhs: T) -> (output: T) | lower: bool = true; adjoint: "
     "bool = false; T: type in [double,float]",
     "MatrixTriangularSolve"},
    {"BatchSelfAdjointEigV2(input: T) -> (e: T, v: T) | compute_v: bool = true; T: type in "
     "[double,float]",
     "SelfAdjointEigV2"},
    {"BatchSvd(input: T) -> (s: T, u: T, v: T) | compute_uv: bool = true; full_matrices: bool = "
     "false; T: type in [double,float,complex64,complex128]",
     "Svd"},
};

// Eigenvalues stand in a row above the vectors.
void eigen_below(ShapeContext& c) {
  Shape shape = c.with_rank_at_least(0, 2);
  if (!shape.has_rank()) return c.set_output(0, Shape::unknown());
  const int last = shape.rank() - 1;
  const int64_t n = c.merge_dims(shape[last - 1], shape[last]);
  shape.set_dim(last - 1, add_dims(n, 1));
  shape.set_dim(last, n);
  c.set_output(0, shape);
}

constexpr OpRow kOldOpsRows[] = {
    {"SelfAdjointEig(input: T) -> (output: T) | T: type in [double,float,half]",
     eigen_below, elementwise,
     "Eigenvalues above vectors, of self-adjoint matrices."},
    {"BatchSelfAdjointEig(input: T) -> (output: T) | T: type in [double,float]",
     eigen_below, elementwise,
     "Eigenvalues above vectors, of self-adjoint matrices."},
    {"AdjustContrast(images: T, contrast_factor: float, min_value: float, max_value: float) -> "
     "(output: float) | T: type in [uint8,int8,int16,int32,int64,float,double]",
     unchanged, elementwise,
     "Distances from each channel's mean, scaled and kept in a range."},
    {"BatchNormWithGlobalNormalizationGrad(t: T, m: T, v: T, gamma: T, backprop: T) -> (dx: T, dm: "
     "T, dv: T, db: T, dg: T) | T: type in [float,double,int32,uint8,int16,int8,complex64,int64,"
     "qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,complex128,half,uint32,uint64]; "
     "variance_epsilon: float; scale_after_normalization: bool",
     unknown, elementwise,
     "Carries a gradient back through BatchNormWithGlobalNormalization."},
    {"RandomCrop(image: T, size: int64) -> (output: T) | T: type in [uint8,int8,int16,int32,int64,"
     "float,double]; seed: int = 0; seed2: int = 0 | stateful",
     unknown, elementwise,
     "A part of an image, anywhere in it."},
    {"MatrixExponential(input: T) -> (output: T) | T: type in [double,float,half,complex64,"
     "complex128]",
     unchanged, elementwise,
     "Exponentials of square matrices."},
};

}  // namespace

void register_old_ops(OpRegistry& registry) {
  registry.add(kOldOpsRows);
  for (const OldName& old : kNames) {
    const OpDef& now = registry.get(old.now);
    OpDef def = parse_signature(old.signature);
    def.shape_rule = now.shape_rule;
    def.cost_rule = now.cost_rule;
    def.doc = now.doc;
    registry.add(std::move(def));
  }
}

}  // namespace emplace::stdops
