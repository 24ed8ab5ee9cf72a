// Stacks of tensors, on which loops keep what their gradients need.
#include <fmt/format.h>

#include "device/host_swap.h"
#include "kernel/keep.h"
#include "kernel/step_array_kernels.h"
#include "kernel/step_resource.h"

namespace emplace {
namespace {

class TensorStack final : public Resource {
 public:
  TensorStack(DType dtype, std::string name, int64_t max_size)
      : dtype(dtype), name_(std::move(name)), max_size_(max_size) {}
  std::string debug_string() const override { return fmt::format("Stack[{}]", name_); }

  // Where the host can't reach the device's memory, what is not here may have been taken to the host's.
  struct Item {
    Tensor value;
    Shape shape;
    std::shared_ptr<HostSwap::Parked> away = nullptr;
  };

  void push(Item item) {
    const std::lock_guard lock(mutex_);
    check_open();
    if (max_size_ >= 0 && static_cast<int64_t>(items_.size()) >= max_size_)
      throw invalid_argument(
          fmt::format("Stack[{}] overflowed its max_size ({})", name_, max_size_));
    items_.push_back(std::move(item));
  }
  // The topmost, and what lies below it.
  Item pop(std::shared_ptr<HostSwap::Parked>& next) {
    const std::lock_guard lock(mutex_);
    check_open();
    if (items_.empty())
      throw invalid_argument(fmt::format("Stack[{}] is empty when calling Pop().", name_));
    Item item = std::move(items_.back());
    items_.pop_back();
    if (!items_.empty()) next = items_.back().away;
    return item;
  }
  void close() {
    const std::lock_guard lock(mutex_);
    items_.clear();
    closed_ = true;
  }

  const DType dtype;

 private:
  void check_open() const {
    if (closed_) throw invalid_argument(fmt::format("Stack[{}] has already been closed.", name_));
  }
  const std::string name_;
  const int64_t max_size_;
  std::mutex mutex_;
  std::vector<Item> items_;
  bool closed_ = false;
};

struct MakeStack {
  DType dtype;
  std::string name;
  void operator()(KernelContext& c) const {
    const int64_t max = c.num_inputs() > 0 ? int_in(c, 0) : -1;
    c.set_output(0, handle_to(std::make_shared<TensorStack>(dtype, name, max), name, "Stack"));
  }
};

Prepared make_stack(const KernelInit& init) {
  std::string name = init.attr<std::string>("stack_name");
  if (name.empty()) name = init.node;
  return prepared(MakeStack{init.type("elem_type"), std::move(name)});
}

// What a loop keeps for its gradient goes to the host's memory, when asked, once its device's memory is
// filling; as in TensorFlow, small values stay.
constexpr size_t kSmallBytes = 2048;
constexpr double kFilling = 0.7;

bool is_filling(Device& device) {
  const MemoryStats stats = device.memory_stats();
  return static_cast<double>(stats.in_use) > kFilling * static_cast<double>(stats.limit);
}
bool better_on_host(Device& device, const Tensor& t) {
  return t.device() && t.bytes() > kSmallBytes && is_filling(device);
}

struct StackPush {
  bool swap;
  void operator()(KernelContext& c) const {
    const auto stack = c.resource<TensorStack>(0);
    const Tensor& t = c.input(1);
    if (t.dtype() != stack->dtype)
      throw invalid_argument(fmt::format("Must have type {} but got {}",
                                         dtype_proto_name(stack->dtype),
                                         dtype_proto_name(t.dtype())));
    stack->push(swap && better_on_host(c.device(), t) ? on_host(c, t)
                                                      : TensorStack::Item{keep(c, t), t.shape()});
    c.set_output(0, t);
  }
  static TensorStack::Item on_host(KernelContext& c, const Tensor& t) {
    if (auto* const card = dynamic_cast<HostSwap*>(&c.device()))
      return {Tensor(), t.shape(), card->park(t)};
    Tensor own(t.dtype(), t.shape());
    c.device().copy(own.raw(), t.raw(), t.bytes());
    return {std::move(own), t.shape()};
  }
};

Prepared make_stack_push(const KernelInit& init) {
  return prepared(StackPush{init.attr<bool>("swap_memory")});
}

void stack_pop(KernelContext& c) {
  std::shared_ptr<HostSwap::Parked> next;
  const auto stack = c.resource<TensorStack>(0);
  check_output(c, 0, stack->dtype);
  const TensorStack::Item item = stack->pop(next);
  if (!is_plain(stack->dtype)) return c.set_output(0, item.value);
  Tensor& out = c.output(0, item.shape);
  auto* const card = dynamic_cast<HostSwap*>(&c.device());
  if (item.away) card->fetch(*item.away, out.raw());
  else put(c, out, 0, item.value);
  if (next && !is_filling(c.device())) card->approach(*next);
}

void stack_close(KernelContext& c) { c.resource<TensorStack>(0)->close(); }

}  // namespace

std::vector<KernelRow> stack_kernels(std::string_view device_type) {
  std::vector<KernelRow> rows;
  const auto add = [&](std::string op, KernelFactory make) {
    rows.push_back({std::move(op), std::string(device_type), {}, {}, make, {}, 0, ""});
  };
  for (const char* version : {"", "V2"}) {
    add(std::string("Stack") + version, make_stack);
    add(std::string("StackPush") + version, make_stack_push);
    add(std::string("StackPop") + version, stateless<stack_pop>);
    add(std::string("StackClose") + version, stateless<stack_close>);
  }
  return rows;
}

}  // namespace emplace
