#pragma once
#include <string_view>
#include <vector>

#include "kernel/kernel.h"

namespace emplace {

// Runs single kernels on host tensors, for tests: no graph, no executor. The device is a CPU with
// `threads` helpers.
class TestKernels {
 public:
  explicit TestKernels(const KernelRegistry& kernels, int threads = 0);
  ~TestKernels();

  // Runs op on the inputs. The kernel runs twice where that changes nothing: with shapes unknown,
  // then with everything known and outputs in places planned by the op's shape rule. Throws what
  // the kernel throws; Internal when the shape rule contradicts the kernel or the two runs differ.
  std::vector<Tensor> run(std::string_view op, std::vector<Tensor> inputs, AttrList attrs = {},
                          std::string_view node = "node");
  // … of an op with one output.
  Tensor run1(std::string_view op, std::vector<Tensor> inputs, AttrList attrs = {}) {
    return run(op, std::move(inputs), std::move(attrs)).at(0);
  }

  ResourceManager& resources() { return resources_; }
  Device& device() { return *device_; }

 private:
  struct Call;
  std::vector<Tensor> run_dynamic(Call& call);
  void check_static(Call& call, const std::vector<Tensor>& expected);

  const KernelRegistry& kernels_;
  std::unique_ptr<Device> device_;
  ResourceManager resources_;
};

}  // namespace emplace
