#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/function_ref.h"
#include "device/device.h"
#include "kernel/kernel.h"

namespace emplace::cuda {

// What a card is, as the driver tells it.
struct Card {
  int ordinal = 0;
  std::string name, pci_bus_id;
  int major = 0, minor = 0;
  size_t total_memory = 0, free_memory = 0;
};

// How a GPU is to be made of a card.
struct GpuSpec {
  int card = 0;
  DeviceName task = DeviceName::of_task("localhost", 0, 0);  // whose it is
  size_t memory_limit = 0;  // bytes
  bool allow_growth = false;
  bool use_cuda_malloc_async = false;  // memory of CUDA's own pool
  std::string description;
  std::shared_ptr<ThreadPool> inter_op, intra_op;  // host work of the device
  // SpareMemory::find_room of whoever opened the shared object: the sessions are there.
  void* (*find_room)(FunctionRef<void*()> attempt) = nullptr;
};

// What the shared object hands to whoever opened it. Both sides are of one build: `build` says so.
struct Backend {
  const char* build;
  std::vector<Card> (*cards)();  // throws Error
  std::shared_ptr<Device> (*make_gpu)(int id, const GpuSpec& spec);
  // Rows of device type "CUDA"; host arguments come from the table of what a GPU runs.
  std::vector<KernelRow> (*kernels)();
};

inline constexpr const char* kEntry = "emplace_cuda_backend";
using Entry = const Backend* (*)();

}  // namespace emplace::cuda
