#pragma once
#include <cuda.h>

#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace emplace::cuda {

// Kernels compiled when they are first asked for: instances of the templates in device/*.cuh, of
// which this object carries the text. Compiled code is kept on disk by its hash, in
// $XDG_CACHE_HOME/emplace (or ~/.cache/emplace), so that the next process only loads it.
class Jit {
 public:
  explicit Jit(int card) : card_(card) {}
  ~Jit();
  Jit(const Jit&) = delete;

  // `instance` of a template in device/`file`.cuh: get("elementwise", "binary<Add, float, 4>"); or of
  // one in `more`, text that goes behind that file.
  CUfunction get(std::string_view file, const std::string& instance, std::string_view more = {});

 private:
  CUfunction load(const std::string& code, const std::string& name);

  const int card_;
  std::mutex mutex_;
  std::unordered_map<std::string, CUfunction> functions_;
  std::vector<CUmodule> modules_;
};

// The text of device/`file`.cuh; generated.
struct DeviceSource {
  std::string_view name, text;
};
std::vector<DeviceSource> device_sources();

}  // namespace emplace::cuda
