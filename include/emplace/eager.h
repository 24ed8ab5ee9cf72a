#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emplace/attr.h"
#include "emplace/export.h"
#include "emplace/session.h"
#include "emplace/tensor.h"

namespace emplace {

// Runs operations one by one, with the kernels that graphs use. Tensors may lie on any of its
// devices; what an operation needs elsewhere is copied. Owns its variables. Thread-safe.
class EMPLACE_API Eager {
 public:
  explicit Eager(SessionOptions options = {});
  ~Eager();
  Eager(const Eager&) = delete;
  Eager& operator=(const Eager&) = delete;

  // Runs `op`. `device`: a full or partial name, "" for the best device that has a kernel; a
  // resource input decides by itself. Dtypes and defaults are filled in as in a graph.
  std::vector<Tensor> execute(std::string_view op, std::span<const Tensor> inputs,
                              AttrList attrs = {}, std::string_view device = {});

  // The tensor on the device of that name ("" or a CPU: in host memory).
  Tensor copy_to(const Tensor& tensor, std::string_view device);
  Tensor to_host(const Tensor& tensor) { return copy_to(tensor, ""); }
  // Full name of the device whose memory holds it.
  std::string device_of(const Tensor& tensor) const;
  // Full name of the one device that `name` means; the error of an unknown one is RuntimeError's
  // (Code::kUnknown) in the words "… unknown device."
  std::string resolve(std::string_view name) const;

  std::vector<DeviceAttributes> list_devices() const;
  void set_soft_placement(bool on);
  // Operations that draw random numbers begin anew from their seeds.
  void restart_random();
  // Told of every operation before it runs: (op, device). Empty: nobody.
  void set_log(std::function<void(const std::string& op, const std::string& device)> log);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace emplace
