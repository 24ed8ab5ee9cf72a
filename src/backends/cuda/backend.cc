#include "backends/cuda/backend.h"

#include <fmt/format.h>

#include "backends/cuda/gpu.h"
#include "backends/cuda/kernels.h"

namespace emplace::cuda {
namespace {

std::vector<Card> cards() {
  int count = 0;
  const cudaError_t result = cudaGetDeviceCount(&count);
  if (result == cudaErrorNoDevice) return {};
  check(result, "looking for cards");
  std::vector<Card> found;
  for (int i = 0; i < count; ++i) {
    cudaDeviceProp p{};
    check(cudaGetDeviceProperties(&p, i), "asking a card");
    Card c;
    c.ordinal = i;
    c.name = p.name;
    c.pci_bus_id = fmt::format("{:04x}:{:02x}:{:02x}.0", p.pciDomainID, p.pciBusID, p.pciDeviceID);
    c.major = p.major;
    c.minor = p.minor;
    use_card(i);
    check(cudaMemGetInfo(&c.free_memory, &c.total_memory), "asking a card for its memory");
    found.push_back(std::move(c));
  }
  return found;
}

std::shared_ptr<Device> make_gpu(int id, const GpuSpec& spec) { return Gpu::get(id, spec); }

std::vector<KernelRow> kernels() {
  std::vector<KernelRow> all;
  for (auto family :
       {elementwise_kernels, fused_kernels, reduce_kernels, matmul_kernels, arrange_kernels,
        index_kernels, rearrange_kernels, place_kernels, image_kernels, order_kernels,
        dynamic_kernels, random_kernels, training_kernels, conv_kernels, pool_kernels,
        batch_norm_kernels, special_kernels, matrix_kernels, volume_kernels, crop_kernels,
        conv3d_kernels, piece_kernels, einsum_kernels, draw_kernels,
        sparse_kernels, fft_kernels, box_kernels, join_kernels, quantize_kernels,
        layout_map_kernels, recurrent_kernels, sparse_place_kernels})
    for (KernelRow& row : family()) all.push_back(std::move(row));
  return all;
}

}  // namespace
}  // namespace emplace::cuda

extern "C" __attribute__((visibility("default"))) const emplace::cuda::Backend*
emplace_cuda_backend() {
  static const emplace::cuda::Backend backend{EMPLACE_BUILD_ID, emplace::cuda::cards,
                                              emplace::cuda::make_gpu, emplace::cuda::kernels};
  return &backend;
}
