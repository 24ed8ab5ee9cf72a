// Tensors that outlive their step: later steps of the session take them by a handle.
#include <fmt/format.h>

#include <map>
#include <mutex>

#include "emplace/error.h"
#include "kernel/keep.h"
#include "kernel/staging_kernels.h"

namespace emplace {
namespace {

// Those of a session, by handle. Thread-safe.
class SessionTensors : public Resource {
 public:
  std::string debug_string() const override { return "SessionTensors"; }

  // "NODE;NUMBER;DEVICE", as TensorFlow writes it.
  std::string add(std::string_view node, const Device& device, Tensor value) {
    const std::lock_guard lock(mutex_);
    std::string handle = fmt::format("{};{};{}", node, next_++, device.name());
    tensors_.emplace(handle, std::move(value));
    return handle;
  }

  Tensor find(const std::string& handle) const {
    const std::lock_guard lock(mutex_);
    const auto it = tensors_.find(handle);
    return it == tensors_.end() ? Tensor() : it->second;
  }

  bool erase(const std::string& handle) {
    const std::lock_guard lock(mutex_);
    return tensors_.erase(handle) > 0;
  }

 private:
  mutable std::mutex mutex_;
  int64_t next_ = 0;
  std::map<std::string, Tensor> tensors_;
};

using SessionTensorsPtr = std::shared_ptr<SessionTensors>;

const std::string& handle_in(KernelContext& c) {
  const Tensor& t = c.input(0);
  if (t.num_elements() != 1)
    throw invalid_argument("handle must be scalar, got shape " + t.shape().str());
  return *t.data<std::string>();
}

struct KeepInSession {
  SessionTensorsPtr tensors;
  void operator()(KernelContext& c) const {
    Tensor handle(DType::kString, Shape{});
    *handle.data<std::string>() = tensors->add(c.node(), c.device(), keep(c, c.input(0)));
    c.set_output(0, std::move(handle));
  }
};

struct TakeFromSession {
  SessionTensorsPtr tensors;
  void operator()(KernelContext& c) const {
    const std::string& handle = handle_in(c);
    const Tensor value = tensors->find(handle);
    if (!value.has_value())
      throw invalid_argument(
          fmt::format("The tensor with handle '{}' is not in the session store.", handle));
    check_output(c, 0, value.dtype());
    Tensor& out = c.output(0, value.shape());
    if (out.device() != value.device())
      throw invalid_argument(fmt::format(
          "The tensor with handle '{}' is asked for on {}, where it is not.", handle,
          c.device().name()));
    put(c, out, 0, value);
  }
};

struct DropFromSession {
  SessionTensorsPtr tensors;
  void operator()(KernelContext& c) const {
    const std::string& handle = handle_in(c);
    if (!tensors->erase(handle))
      throw invalid_argument(fmt::format(
          "Failed to delete a tensor with handle '{}' in the session store.", handle));
  }
};

template <class Kernel>
Prepared make_session_tensor_kernel(const KernelInit& init) {
  return prepared(Kernel{init.resources->find_or_create_as<SessionTensors>(
      "_session", "tensors", [] { return std::make_shared<SessionTensors>(); })});
}

}  // namespace

std::vector<KernelRow> session_tensor_kernels(std::string_view device_type) {
  const auto row = [&](const char* op, KernelFactory make) {
    return KernelRow{op, std::string(device_type), {}, {}, make, {}, 0, ""};
  };
  return {row("GetSessionHandle", make_session_tensor_kernel<KeepInSession>),
          row("GetSessionTensor", make_session_tensor_kernel<TakeFromSession>),
          row("DeleteSessionTensor", make_session_tensor_kernel<DropFromSession>)};
}

}  // namespace emplace
