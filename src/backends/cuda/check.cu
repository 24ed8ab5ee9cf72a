// Compiles the device sources with nvcc, so that a mistake in them shows where there is no card.
#include "backends/cuda/device/prelude.cuh"
#include "backends/cuda/device/elementwise.cuh"
#include "backends/cuda/device/reduce.cuh"
#include "backends/cuda/device/arrange.cuh"
#include "backends/cuda/device/random.cuh"
#include "backends/cuda/device/training.cuh"
#include "backends/cuda/device/nets.cuh"
#include "backends/cuda/device/matmul.cuh"
#include "backends/cuda/device/places.cuh"
#include "backends/cuda/device/images.cuh"
#include "backends/cuda/device/order.cuh"
#include "backends/cuda/device/dynamic.cuh"
#include "backends/cuda/device/special.cuh"
#include "backends/cuda/device/matrix.cuh"
#include "backends/cuda/device/volumes.cuh"
#include "backends/cuda/device/crops.cuh"
#include "backends/cuda/device/direct.cuh"
#include "backends/cuda/device/sparse.cuh"
#include "backends/cuda/device/quantize.cuh"
#include "backends/cuda/device/boxes.cuh"
#include "backends/cuda/device/recurrent.cuh"
#include "backends/cuda/device/sparse_places.cuh"
#include "backends/cuda/device/batch_norm.cuh"

template __global__ void unary<Exp, float, float, 4>(float*, const float*, i64);
template __global__ void binary<AddV2, bf16, bf16, 8>(bf16*, const bf16*, const bf16*, i64);
template __global__ void binary_broadcast<Pow, i32, i32>(i32*, const i32*, const i32*, i64, const Strides);
template __global__ void rows<MeanOp, f16, f16, true, true>(f16*, const f16*, i64, i64);
template __global__ void softmax<float, true>(float*, const float*, i64);
template __global__ void softmax_short<float, false, 4, 1>(float*, const float*, i64, i64);
template __global__ void softmax_short<f16, true, 8, 4>(f16*, const f16*, i64, i64);
template __global__ void short_rows<SumOp, c128, c128, true, true, 1>(c128*, const c128*, i64, i64, i64);
template __global__ void short_rows<AllOp, bool, bool, true, true, 16>(bool*, const bool*, i64, i64, i64);
template __global__ void framed<c128>(c128*, const c128*, i64, i32, i32, i32, i32, i32, i32);
template __global__ void copy_rows<u16>(u16*, const u16*, i32, i32, i32, i32, i64, i64);
template __global__ void transpose<u64>(u64*, const u64*, i64, i64);
template __global__ void scatter<AddTo, f16, i32>(f16*, const i32*, const f16*, i64, i64, i32, const Steps, i64);
template __global__ void draw<double, true>(double*, i64, u64, u64, u64);
template __global__ void dense_step<Adam, float, 3>(float*, float*, float*, float*, const float*, i64, const Scalars);
template __global__ void pool_grad<f16, true>(f16*, const f16*, const f16*, const f16*, i64, const PoolShape);
template __global__ void lrn_grad<float>(float*, const float*, const float*, const float*, i64, i64, i64, float, float, float);
template __global__ void lrn_grad_rows<float, 4>(float*, const float*, const float*, const float*, i64, i32, float, float, float);
template __global__ void pool_grad_wide<float, true, 4>(float*, const u8*, const float*, i64, const SmallPool);
template __global__ void dense_steps<Adam, f16, 3>(const ManySteps);
template __global__ void small_product<false, false, 2, 64>(float*, const float*, const float*, const float*, i32, i32);
template __global__ void with_band<c128>(c128*, const c128*, const c128*, const c128, i64, const Band);
template __global__ void space_blocks<u16, true>(u16*, const u16*, i64, const SpaceBlocks);
template __global__ void resize_bilinear_grad<f16>(f16*, const float*, i64, const Resize);
template __global__ void top_k<bf16, i32>(bf16*, i32*, const bf16*, i64, i64);
template __global__ void special_of_two<Igamma, float>(float*, const float*, const float*, i64, const Strides);
template __global__ void singular<c64, c128, true>(c64*, c64*, c64*, const c64*, c128*, Turn<c128>*, i64, i64, i64);
template __global__ void volume_pool_grad<f16, 1>(f16*, const f16*, const f16*, const f16*, i64, const Volume);
template __global__ void crop_to_boxes<f16>(float*, const float*, const f16*, const float*, const i32*, i64, const Crop);
template __global__ void direct_to_input<double>(double*, const double*, const double*, i64, const Direct);
template __global__ void sparse_product<c64, i64>(c64*, const i64*, const c64*, const c64*, i64, i64, i64, i64, bool, bool);
template __global__ void there_and_back<float>(float*, const float*, const float*, i64, i64, i64, double, i32);
template __global__ void project<u8>(u8*, const u8*, const float*, i64, const Projection);
template __global__ void normals_between<f16>(f16*, i32*, const f16*, const f16*, const f16*, const f16*, i32, i32, i32, i32, i64, i64, bool, u64, u64, u64);
template __global__ void contrast<double, float>(float*, const double*, const float*, const float*, const float*, i64, i64);
template __global__ void lstm_back<f16>(float*, float*, const float*, const Left<f16>, const Peepholes<f16>, i64, i64, const Lstm);
template __global__ void from_slice<u16>(u16*, const u16*, const i64*, const i64*, const i64*, i64, i64, i64);
template __global__ void norm_moments<float, 4>(Pair*, const float*, i64, i32, i32);
template __global__ void norm_apply<f16, 8, true, true, true>(f16*, const f16*, const f16*,
                                                              const float*, const float*,
                                                              const float*, const float*, i64, i32,
                                                              i32, float);
template __global__ void norm_grad_sums<bf16, 1, true>(Pair*, const bf16*, const bf16*,
                                                       const float*, const Behind, i64, i32, i32);
template __global__ void norm_grad_apply<float, 4, true>(float*, const float*, const float*,
                                                         const float*, const float*, const float*,
                                                         const float*, const float*, const Behind,
                                                         i64, i32, i32);
