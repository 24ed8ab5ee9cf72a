// Mutexes: whoever holds the lock's tensor holds the lock.
#include <atomic>

#include "emplace/error.h"
#include "kernel/shared_resource.h"
#include "kernel/staging_kernels.h"
#include "kernel/waiting_room.h"

namespace emplace {
namespace {

class Mutex : public Resource {
 public:
  std::string debug_string() const override { return "Mutex"; }
  const std::shared_ptr<WaitingRoom> room = std::make_shared<WaitingRoom>();
  bool locked = false;
};

// Held until it is consumed, or until the last tensor of it is gone.
class Lock : public VariantValue {
 public:
  explicit Lock(std::shared_ptr<Mutex> mutex) : mutex_(std::move(mutex)) {}
  ~Lock() override { release(); }
  std::string_view type_name() const override { return "tensorflow::SharedLockReleaser"; }
  void release() {
    if (released_.exchange(true)) return;
    mutex_->room->change([&] { mutex_->locked = false; });
  }

 private:
  std::shared_ptr<Mutex> mutex_;
  std::atomic<bool> released_{false};
};

Prepared make_mutex(const KernelInit& init) {
  const auto& container = init.attr<std::string>("container");
  const std::string name = shared_name(init);
  return prepared(GiveHandle{
      init.resources->find_or_create_as<Mutex>(container, name,
                                               [] { return std::make_shared<Mutex>(); }),
      container, name, "tensorflow::(anonymous namespace)::Mutex"});
}

void lock(KernelContext& c) {
  const auto mutex = c.resource<Mutex>(0);
  mutex->room->run(c, [mutex](KernelContext& c) {
    if (mutex->locked) return false;
    Tensor t(DType::kVariant, Shape{});
    t.data<Variant>()->value = std::make_shared<Lock>(mutex);
    mutex->locked = true;
    c.set_output(0, std::move(t));
    return true;
  });
}

void consume(KernelContext& c) {
  const Tensor& t = c.input(0);
  auto held = t.num_elements() == 1
                  ? std::dynamic_pointer_cast<Lock>(t.data<Variant>()->value)
                  : nullptr;
  if (!held) throw invalid_argument("Expected input to be a SharedLockReleaser object");
  held->release();
}

}  // namespace

std::vector<KernelRow> mutex_kernels(std::string_view device_type) {
  const std::string device(device_type);
  return {{"MutexV2", device, {}, {}, make_mutex, {}, 0, ""},
          {"MutexLock", device, {}, {}, stateless<lock>, {.blocks = true}, 0, ""},
          {"ConsumeMutexLock", device, {}, {}, stateless<consume>, {}, 0, ""}};
}

}  // namespace emplace
