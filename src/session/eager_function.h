#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "emplace/eager.h"
#include "session/session_impl.h"
#include "session/spread_function.h"

namespace emplace {

// The session behind a function, and its plans by the memories that the inputs lie in. What is fed
// as a resource decides, the first time, where the operations on it run.
struct EagerFunction::Impl {
  Impl(std::shared_ptr<Graph> graph, SessionOptions options, const KernelRegistry& kernels,
       SharedParts shared, std::shared_ptr<const std::atomic<int64_t>> timeout_in_ms,
       std::string device, Signature signature);

  // Set at once, or never: of functions that may use other tasks.
  std::unique_ptr<SpreadFunction> spread;

  void run(std::span<const Tensor> inputs, std::vector<Tensor>& outputs);
  void run_noted(std::span<const Tensor> inputs, std::vector<Tensor>& outputs);  // in a profile
  void run_here(std::span<const Tensor> inputs, std::vector<Tensor>& outputs,
                RunMetadata* metadata);
  // What run would run, and how, for whoever runs it himself.
  std::shared_ptr<Program> program(std::span<const Tensor> inputs, StepRequest& request);

 private:
  struct Family {
    std::vector<Device*> devices;   // of plain inputs: memory; of handles: what they stand for
    std::shared_ptr<Session::Impl> session;
    std::shared_ptr<PlanFamily> plans;
  };
  Device* place_of(const Tensor& input) const;
  bool fits(const Family& f, std::span<const Tensor> inputs) const;
  Family& family(std::span<const Tensor> inputs);
  Family& checked_family(std::span<const Tensor> inputs);

  const std::shared_ptr<Graph> graph_;
  const SessionOptions options_;
  const KernelRegistry& kernels_;
  const SharedParts shared_;
  const std::shared_ptr<const std::atomic<int64_t>> timeout_in_ms_;
  const std::string device_;
  const Signature signature_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Family>> families_;
};

}  // namespace emplace
