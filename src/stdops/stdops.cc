#include "stdops/stdops.h"

#include "stdops/datasets.h"
#include "stdops/more.h"
#include "stdops/training.h"

namespace emplace {

void register_all_ops(OpRegistry& registry) {
  using namespace stdops;
  for (auto rows : {basic_ops(), state_ops(), unary_ops(), binary_ops(), gradient_ops(),
                    reduction_ops(), scan_ops(), shape_ops(), fill_ops(), join_ops(), slice_ops(),
                    arrange_ops(), spread_ops(), blocks_ops(), linalg_ops(), random_ops(),
                    nets_ops(), convolution_ops(), pooling_ops(), normalization_ops(), image_ops(),
                    scatter_ops(), optimizer_ops(), flow_ops(), list_ops(), step_array_ops(),
                    queue_ops(), file_ops(), decompose_ops(), text_ops(), misc_ops(),
                    distribution_ops(), more_optimizer_ops(), lookup_ops(), spectral_ops(),
                    sparse_ops(), ragged_ops(), quantize_ops(), picture_ops(), picture_file_ops(), sound_ops(), parse_ops(),
                    sequence_ops(), candidate_ops(), staging_ops(), collective_ops(), dataset_source_ops(), dataset_ops(), iterator_ops(),
                    service_dataset_ops(), older_dataset_ops()})
    registry.add(rows);
  register_old_ops(registry);
}

}  // namespace emplace
