// Elements brought to a device: by the thread that asks, which is that of a buffer behind it.
#include "data/kernels.h"
#include "data/state.h"
#include "session/local_devices.h"

namespace emplace::data {
namespace {

class CopyToDeviceDataset final : public OverInput {
 public:
  CopyToDeviceDataset(Spec spec, DatasetPtr input, std::shared_ptr<Device> device)
      : OverInput(std::move(spec), std::move(input)), device_(std::move(device)) {}
  bool on_device() const override { return device_->is_async(); }
  std::unique_ptr<Iterator> make_iterator(Caller& c) const override {
    c.pass.read_by(*device_);
    return std::make_unique<Over>(shared_from_this(), input_->iterator(c), device_);
  }

 private:
  class Over final : public OverIterator {
   public:
    Over(DatasetPtr self, std::unique_ptr<Iterator> input, std::shared_ptr<Device> device)
        : OverIterator(std::move(self), std::move(input)), device_(std::move(device)) {}
    bool next(Caller& c, Element& out) override {
      if (!input_->next(c, out)) return false;
      for (Tensor& t : out) t = in_memory_of(t, device_.get());
      return true;
    }

   private:
    const std::shared_ptr<Device> device_;
  };

  const std::shared_ptr<Device> device_;
};

struct MakeCopyToDevice {
  explicit MakeCopyToDevice(const KernelInit& init)
      : device(LocalDevices::of(*init.resources)->named(init.attr<std::string>("device"))) {}
  std::shared_ptr<Dataset> make(const Dataset::Spec& spec, KernelContext& c) const {
    return std::make_shared<CopyToDeviceDataset>(spec, dataset_in(c.input(0)), device);
  }
  std::shared_ptr<Device> device;
};

}  // namespace

void add_device_copy_kernels(KernelList& rows) {
  add_row(rows, "_CopyToDeviceDataset", dataset_kernel<MakeCopyToDevice>);
}

}  // namespace emplace::data
