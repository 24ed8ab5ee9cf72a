#include "backends/cpu/cpu_kernels.h"

#include <fmt/format.h>

#include "backends/cpu/analysis_kernels.h"
#include "backends/cpu/imported_kernels.h"
#include "backends/cpu/matrix_kernels.h"
#include "backends/cpu/more_kernels.h"
#include "backends/cpu/nets_kernels.h"
#include "backends/cpu/sparse.h"
#include "backends/cpu/text_kernels.h"
#include "backends/cpu/training_kernels.h"
#include "kernel/host_function.h"
#include "kernel/list_kernels.h"
#include "kernel/optional_kernels.h"
#include "kernel/lookup_kernels.h"
#include "kernel/map_kernels.h"
#include "kernel/queue_kernels.h"
#include "kernel/staging_kernels.h"
#include "kernel/step_array_kernels.h"
#include "kernel/variable_kernels.h"

namespace emplace {
namespace {

// Older names of ops, which graphs of older producers have; as many as TensorFlow runs.
void register_old_names(KernelRegistry& registry) {
  static constexpr std::string_view kNames[] = {
      "Cholesky",   "CholeskyGrad", "MatrixBandPart",        "MatrixDeterminant", "MatrixDiag",
      "MatrixDiagPart", "MatrixInverse", "MatrixSetDiag",    "MatrixSolve",       "MatrixSolveLs",
      "MatrixTriangularSolve", "SelfAdjointEigV2", "Svd"};
  for (const std::string_view now : kNames) {
    const auto found = registry.rows(now);
    for (KernelRow row : std::vector<KernelRow>(found.begin(), found.end())) {
      row.op = fmt::format("Batch{}", now);
      std::erase_if(row.types, [](const TypeConstraint& t) { return t.attr == "Tindex"; });
      registry.add(std::move(row));
    }
  }
}

}  // namespace

void register_cpu_kernels(KernelRegistry& registry) {
  using namespace cpu;
  for (auto&& rows :
       {variable_kernels("CPU"), unary_kernels(), unary_math_kernels(), special_kernels(),
        activation_kernels(), complex_kernels(), cast_kernels(), binary_kernels(),
        integer_kernels(), compare_kernels(), select_kernels(), basic_kernels(),
        transpose_kernels(), reduction_kernels(), matmul_kernels(), update_kernels(),
        random_kernels(), shape_kernels(), join_kernels(), slice_kernels(), gather_kernels(),
        scatter_kernels(), arrange_kernels(), spread_kernels(), diag_kernels(), blocks_kernels(),
        scan_kernels(), segment_kernels(), order_kernels(), nets_kernels(),
        convolution_kernels(), pooling_kernels(), pooling_gradient_kernels(),
        normalization_kernels(), resize_kernels(), crop_kernels(), color_kernels(), patch_kernels(),
        box_kernels(),
        optimizer_kernels(), scatter_variable_kernels(), flow_kernels(),
        list_kernels("CPU"), optional_kernels("CPU"), step_array_kernels("CPU"),
        queue_kernels("CPU"),
        host_function_kernels("CPU"), staging_kernels("CPU"), mutex_kernels("CPU"),
        accumulator_kernels("CPU"), session_tensor_kernels("CPU"), lookup_kernels("CPU"),
        inverse_kernels(), triangular_kernels(), qr_kernels(), svd_kernels(),
        eigenvalue_kernels(), matrix_function_kernels(),
        tridiagonal_kernels(), string_kernels(), string_number_kernels(),
        string_join_kernels(), string_split_kernels(), string_hash_kernels(), regex_kernels(),
        encoding_kernels(), unicode_kernels(), string_format_kernels(), einsum_kernels(),
        distribution_kernels(), more_random_kernels(), normal_between_kernels(), sobol_kernels(),
        bessel_kernels(), misc_kernels(), more_optimizer_kernels(),
        candidate_kernels(),
        integral_kernels(), sparse_segment_kernels(), fft_kernels(), sparse_kernels(),
        sparse_arithmetic_kernels(), sparse_count_kernels(), ragged_kernels(), ragged_variant_kernels(),
        quantize_kernels(),
        scale_translate_kernels(), picture_kernels(), picture_file_kernels(), sound_kernels(),
        cross_kernels(), distorted_box_kernels(), layout_map_kernels(), sequence_kernels(), ctc_kernels(),
        ctc_beam_kernels(), quantized_kernels(), isotonic_kernels(), map_kernels("CPU"), glimpse_kernels(), fractional_pooling_kernels(), recurrent_kernels(),
        collective_kernels()})
    for (const KernelRow& row : rows) registry.add(row);
  register_old_names(registry);
}

}  // namespace emplace
