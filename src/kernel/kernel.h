#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "device/device.h"
#include "kernel/resources.h"
#include "op/op_def.h"

namespace emplace {

class KernelContext;

// A kernel ready to run: chosen and prepared once (when a plan is made, or on first eager use),
// then called many times, by several threads at once. `state` is immutable.
using KernelFn = void (*)(const void* state, KernelContext& context);
struct Prepared {
  KernelFn run = nullptr;
  std::shared_ptr<const void> state;
};

// What a kernel can look at while it is prepared. Shapes and values may be unknown (eager, or
// data-dependent): then they must be read again in `run`.
class KernelInit {
 public:
  const OpDef* op = nullptr;
  std::string_view node;                   // its name
  const AttrList* attrs = nullptr;
  std::span<const DType> input_types, output_types;
  std::span<const Shape> input_shapes, output_shapes;
  std::span<const Tensor* const> input_values;  // known constants in host memory, else null
  Device* device = nullptr;
  ResourceManager* resources = nullptr;    // the session's variables, queues, …
  uint64_t graph_seed = 0;

  template <class T>
  const T& attr(std::string_view name) const {
    const AttrValue* v = find_attr(*attrs, name);
    if (!v) missing_attr(name);
    return v->as<T>();
  }
  DType type(std::string_view name) const { return attr<DType>(name); }
  // Null unless the operation has such an attribute: a node that was imported may bring others.
  const AttrValue* find(std::string_view name) const;
  bool static_shapes() const;  // all input and output shapes fully known
  int input_index(std::string_view arg, int within = 0) const;  // flattened position
 private:
  [[noreturn]] void missing_attr(std::string_view name) const;
};

using KernelFactory = Prepared (*)(const KernelInit&);

// Makes the `Prepared` of a kernel written as a struct with `void operator()(KernelContext&) const`.
template <class State>
Prepared prepared(State state) {
  return {[](const void* s, KernelContext& c) { (*static_cast<const State*>(s))(c); },
          std::make_shared<const State>(std::move(state))};
}
// … as a plain function without state.
template <void (*F)(KernelContext&)>
Prepared prepared() {
  return {[](const void*, KernelContext& c) { F(c); }, nullptr};
}
// A factory for stateless kernels: `{"Neg", "CPU", …, stateless<neg>}`.
template <void (*F)(KernelContext&)>
Prepared stateless(const KernelInit&) {
  return prepared<F>();
}

struct TypeConstraint {
  std::string attr;
  std::vector<DType> allowed;
};

// How a kernel treats memory; the planner relies on it.
struct KernelTraits {
  // Output 0 is input 0's memory under another shape (Identity, Reshape …): no work is done.
  bool forwards = false;
  // Output 0 may be written over one of these inputs, when same dtype and shape and it dies here.
  bool in_place = false;
  // May wait for another operation: never run in line with others (see exec).
  bool blocks = false;
  // What it launches depends on shapes and addresses alone, so a recording serves every step.
  bool replays = false;
};

// One row of the kernel table.
struct KernelRow {
  std::string op;
  std::string device_type;
  std::vector<TypeConstraint> types;
  std::vector<std::string> host_args;  // names of arguments kept in host memory
  KernelFactory make = nullptr;
  KernelTraits traits;
  int priority = 0;
  std::string label;
};

// Kernels by op. Filled by explicit calls, then read-only.
class KernelRegistry {
 public:
  void add(KernelRow row);
  // The row for this device type whose constraints `attrs` meets; null if none. Several: highest
  // priority.
  const KernelRow* find(std::string_view op, std::string_view device_type,
                        const AttrList& attrs) const;
  std::span<const KernelRow> rows(std::string_view op) const;
  std::vector<std::string> ops() const;
  // "  device='CPU'; T in [DT_FLOAT]\n…" as placement errors list them.
  std::string list(std::string_view op) const;

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view s) const { return std::hash<std::string_view>{}(s); }
  };
  std::unordered_map<std::string, std::vector<KernelRow>, Hash, std::equal_to<>> rows_;
};

// Finishes a kernel that suspended itself: exactly one of done/fail, from any thread.
class Continuation {
 public:
  virtual ~Continuation() = default;
  virtual KernelContext& context() = 0;
  virtual void done() = 0;
  virtual void fail(Error error) = 0;
};

// Cancellation of one step. Kernels that wait register a callback.
class Cancellation {
 public:
  bool cancelled() const { return cancelled_.load(std::memory_order_acquire); }
  // Calls `callback` when cancelled (at once if it is already); `remove` returns false when the
  // callback has begun.
  uint64_t add(std::function<void()> callback);
  bool remove(uint64_t id);
  void cancel();
  void reset();  // for the next step

 private:
  std::atomic<bool> cancelled_{false};
  std::mutex mutex_;
  uint64_t next_ = 1;
  std::vector<std::pair<uint64_t, std::function<void()>>> callbacks_;
};

// Who runs kernels: the executor, or eager. Implements what a context can't do by itself.
class KernelHost {
 public:
  virtual ~KernelHost() = default;
  virtual Tensor allocate(KernelContext& c, int output, DType dtype, const Shape& shape,
                          bool host) = 0;
  virtual std::unique_ptr<Continuation> suspend(KernelContext& c) = 0;
  virtual Cancellation& cancellation() = 0;
  virtual uint64_t step_id() const = 0;
  // What an instruction keeps from step to step beside its slots.
  virtual std::shared_ptr<void>& keepsake(uint32_t instruction);
};

// Copies elements of any dtype between tensors of the same dtype and size, in host-visible memory.
void copy_elements(Tensor& to, const Tensor& from);

// The fixed part of one kernel call: which slots it reads and writes, and where. Made once with the
// plan (or the eager cache), so that a call only points at it.
struct CallSite {
  const uint32_t* operands = nullptr;  // slots of the inputs, then of the outputs
  const DType* output_types = nullptr;
  uint32_t planned = 0;       // bit i: output i has its place already (outputs 0..31)
  uint32_t host_outputs = 0;  // bit i: output i lives in host memory
  // One word for all three: a call site is read for every call.
  uint64_t num_inputs : 24 = 0, num_outputs : 24 = 0;
  int64_t own_aliases : 16 = 0;  // see KernelContext::own_aliases
  Device* device = nullptr;
  const std::string* node = nullptr;  // its name

  void count(size_t inputs, size_t outputs);  // throws where there are more than can be counted
};
static_assert(sizeof(CallSite) == 48);

// Given to a kernel's run: inputs, outputs, device, pool. Valid during the call only (a suspended
// kernel uses its continuation's context).
class KernelContext {
 public:
  int num_inputs() const { return site_->num_inputs; }
  int num_outputs() const { return site_->num_outputs; }
  const Tensor& input(int i) const { return slots_[site_->operands[i]]; }
  DType output_type(int i) const { return site_->output_types[i]; }

  // Memory for output i: the planned place where the plan knew the shape, else fresh memory. The
  // reference stays valid until the kernel ends.
  Tensor& output(int i, const Shape& shape) {
    if (i < 32 && (site_->planned >> i & 1)) [[likely]] {
      Tensor& t = output_slot(i);
      if (t.shape() == shape) [[likely]] return t;
      not_as_planned(i, shape);
    }
    return allocate(i, shape);
  }
  // Gives output i a ready tensor (shared memory, a handle, a constant). If the plan has a place
  // for it, the bytes are copied there.
  void set_output(int i, Tensor t);

  // The variable behind a ref or resource input. Throws FailedPrecondition/NotFound as TensorFlow.
  Variable& variable(int i) const;
  template <class R>
  std::shared_ptr<R> resource(int i) const {
    auto r = std::dynamic_pointer_cast<R>(handle(i).resource);
    if (!r) bad_resource(i);
    return r;
  }
  const ResourceHandle& handle(int i) const;
  // Handles to the variable's memory that this very plan holds and has finished with.
  int own_aliases() const { return site_->own_aliases; }

  Device& device() const { return *site_->device; }
  // Splits [0, n) over the device's intra-op pool; blocks depend on n and cost only.
  template <class F>
  void parallel_for(int64_t n, double cost_ns_per_item, F&& f) {
    site_->device->intra_op().parallel_for(n, cost_ns_per_item, std::forward<F>(f));
  }
  Tensor temp(DType dtype, const Shape& shape);  // scratch of this call, device memory

  std::string_view node() const { return *site_->node; }
  uint64_t step_id() const { return host_->step_id(); }
  Cancellation& cancellation() const { return host_->cancellation(); }
  std::unique_ptr<Continuation> suspend() {
    suspended_ = true;
    return host_->suspend(*this);
  }

  // ---- For whoever runs kernels.
  Tensor& output_slot(int i) const { return slots_[site_->operands[site_->num_inputs + i]]; }
  Tensor* slots_ = nullptr;
  const CallSite* site_ = nullptr;
  KernelHost* host_ = nullptr;
  uint32_t instruction_ = 0;
  bool suspended_ = false;

 private:
  Tensor& allocate(int i, const Shape& shape);
  [[noreturn]] void bad_resource(int i) const;
  [[noreturn]] void not_as_planned(int i, const Shape& shape) const;
};

}  // namespace emplace
