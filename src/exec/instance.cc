#include "exec/instance.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/insist.h"
#include "device/pinned_host.h"

namespace emplace {
namespace {

// TensorFlow's words, then what the allocator says of who holds what.
Error no_room(const Shape& shape, DType dtype, const Device& device, const Error& why) {
  return resource_exhausted(
      fmt::format("OOM when allocating tensor with shape{} and type {} on {} by allocator "
                  "GPU_{}_bfc\n{}",
                  shape.str(), dtype_proto_name(dtype), device.name(),
                  device.parsed_name().id.value_or(0), why.message()));
}

Error no_memory() {
  return insist([] { return resource_exhausted("out of memory"); });
}

Tensor copy_there(const Tensor& t) {
  Device& device = *t.device();
  Tensor copy(t.dtype(), t.shape(), device.allocate(t.bytes(), "fetch"));
  if (t.bytes() > 0) device.copy(copy.raw(), t.raw(), t.bytes());
  return copy;
}

}  // namespace

Instance::Instance(Program& program) : p_(program) {
  make_memory();
  if (!p_.guards.empty()) dead_.resize(p_.size());
  for (Device* d : p_.event_devices) events_.push_back(d->queue(0).make_event());
  for (size_t l = 0; l < p_.lanes.size(); ++l) {
    lanes_.push_back(std::make_unique<Lane>());
    lanes_.back()->items.resize(p_.lane_sizes[l]);
  }
}

// Nobody is inside, so no call is wanted: it is home, or lies in a queue whose pool then frees it.
Instance::~Instance() {
  for (const auto& lane : lanes_)
    for (Summons* call : lane->calls)
      if (!call->change(Summons::kTakenBack, Summons::kOrphan)) delete call;
}

BufferPtr Instance::host_arena(size_t bytes) const {
  if (p_.pin_host)
    for (Device* d : p_.devices)
      if (auto* const card = dynamic_cast<PinnedHost*>(d)) return card->allocate_pinned(bytes);
  return Tensor(DType::kUint8, Shape{static_cast<int64_t>(bytes)}).buffer();
}

void Instance::make_memory() {
  arenas_.resize(p_.arena_bytes.size());
  for (Space s = 0; s < p_.arena_bytes.size(); ++s) {
    const auto bytes = static_cast<size_t>(p_.arena_bytes[s]);
    if (bytes == 0) continue;
    if (s == kHostSpace) {
      arenas_[s] = host_arena(bytes);
      continue;
    }
    try {
      arenas_[s] = p_.devices[s - 1]->allocate(bytes, *p_.largest_makers[s].name);
    } catch (const Error& e) {
      out_of_memory(s, e);
    }
  }
  slots_.resize(p_.slots.size());
  for (size_t i = 0; i < slots_.size(); ++i) {
    const SlotPlan& plan = p_.slots[i];
    if (plan.is_constant())
      slots_[i] = p_.constants[static_cast<size_t>(plan.constant)];
    else if (plan.offset >= 0)
      slots_[i] = Tensor(plan.dtype, plan.shape, arenas_[plan.space],
                         static_cast<size_t>(plan.offset));
  }
}

void Instance::out_of_memory(Space space, const Error& e) const {
  if (e.code() != Code::kResourceExhausted) throw e;
  const SlotPlan& largest = p_.slots[p_.largest_slot[space]];
  const Device& device = *p_.devices[space - 1];
  const Label& maker = p_.largest_makers[space];
  throw no_room(largest.shape, largest.dtype, device, e)
      .at_node(*maker.name, maker.node->type())
      .on_device(device.name())
      .from_source(*maker.source);
}

void Instance::put_feeds(std::span<const Tensor> feeds) {
  for (size_t i = 0; i < feeds.size(); ++i)
    if (p_.feed_slots[i] >= 0) slots_[p_.feed_slots[i]] = feeds[i];
}

void Instance::empty_slots() {
  for (uint32_t s : p_.dynamic_slots) slots_[s] = Tensor();
}

// A kernel that forgot an output is found here.
void Instance::check_fetches() {
  if (failed_.stopped()) return;
  for (const uint32_t slot : p_.fetch_slots)
    if (!slots_[slot].has_value()) [[unlikely]] report_missing(slot);
}

void Instance::report_missing(uint32_t slot) {
  for (uint32_t i = 0; i < p_.size(); ++i) {
    const CallSite& site = p_.sites[i];
    for (int k = 0; k < site.num_outputs; ++k)
      if (site.operands[site.num_inputs + k] == slot)
        return fail(i, internal_error(fmt::format("Missing {}-th output from {{{{node {}}}}}", k,
                                                  *p_.labels[i].name)));
  }
}

// What the caller gets is its own: memory that somebody else can see is copied, unless it is what
// the caller has fed.
void Instance::take_fetches(std::span<const Tensor> feeds, std::vector<Tensor>& fetched) {
  fetched.resize(p_.fetch_slots.size());
  for (size_t i = 0; i < fetched.size(); ++i) fetched[i] = slots_[p_.fetch_slots[i]];
  empty_slots();
  const auto is_fed = [&](const Tensor& t) {
    return t.device() && std::ranges::any_of(feeds, [&](const Tensor& f) {
      return f.buffer() && f.buffer()->data() == t.buffer()->data();
    });
  };
  for (Tensor& t : fetched)
    if (t.has_value() && t.dtype() != DType::kResource && t.buffer() && !t.buffer()->unique() &&
        !is_fed(t))
      t = t.device() ? copy_there(t) : t.copy();
}

uint64_t Instance::begin(std::shared_ptr<Program> program) {
  running_ = std::move(program);
  holders_.store(2, std::memory_order_relaxed);  // the step, and whoever may cancel it
  open_.store(++step_, std::memory_order_release);
  return step_;
}

void Instance::run(std::unique_ptr<Instance> self, const StepRequest& request,
                   std::vector<Tensor>& fetched, StepTrace* trace) {
  Instance& in = *self.release();
  in.trace_ = trace;
  in.rendezvous_ = request.rendezvous;
  in.stamps_ = trace ? &trace->stamps : nullptr;
  const Program::Mode mode = in.p_.mode(request.workers);
  in.in_order_ = mode == Program::Mode::kInOrder;
  if (!in.in_order_ && in.p_.occupied) in.p_.occupied->fetch_add(1, std::memory_order_relaxed);
  if (in.prepare(request)) {
    const StopScope stoppable(in.failed_);
    if (in.in_order_) in.run_in_order();
    else in.run_parallel(mode == Program::Mode::kMeasure);
  }
  in.check_alive();
  in.check_fetches();
  std::optional<Error> error = in.end();
  try {
    if (!error) in.take_fetches(request.feeds, fetched);
  } catch (const Error& e) {
    error = e;
  } catch (const std::bad_alloc&) {
    error = no_memory();
  }
  if (error) [[unlikely]] in.empty_slots();
  if (!in.in_order_) in.p_.lingering.fetch_add(1, std::memory_order_relaxed);
  in.leave();
  if (error) [[unlikely]] throw *error;
}

// What a step needs before it begins; without the memory for it, it has failed.
bool Instance::prepare(const StepRequest& request) {
  try {
    if (trace_) trace_->stamps.assign(p_.size(), Stamp{});
    if (trace_ && trace_->with_shapes) trace_->shapes.assign(p_.size(), {});
    put_feeds(request.feeds);
    if (!in_order_) prepare_parallel(request);
    return true;
  } catch (const std::bad_alloc&) {
    cancel(step_, no_memory());
    return false;
  }
}

// Closes the step; its error, if it failed. Whoever cancels closes it too, under the lock, and
// says why before it lets the lock go.
std::optional<Error> Instance::end() {
  uint64_t step = step_;
  if (open_.compare_exchange_strong(step, 0, std::memory_order_acq_rel)) [[likely]] return {};
  const std::lock_guard lock(error_mutex_);
  return std::exchange(error_, std::nullopt);
}

void Instance::leave() {
  if (holders_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (root_ != this) return on_idle_(idle_arg_);
  if (!failed_.calm()) [[unlikely]] {
    failed_.reset();
    cancellation_.reset();
  }
  std::shared_ptr<Program> program = std::move(running_);
  std::atomic<int>* const occupied = in_order_ ? nullptr : p_.occupied;
  const bool lingered = !in_order_;
  program->give_back(std::unique_ptr<Instance>(this));
  if (lingered) program->lingering.fetch_sub(1, std::memory_order_release);
  program.reset();
  if (occupied) occupied->fetch_sub(1, std::memory_order_release);  // the last thing we touch
}

void Instance::cancel(uint64_t step, Error error) {
  {
    const std::lock_guard lock(error_mutex_);
    if (!open_.compare_exchange_strong(step, 0, std::memory_order_acq_rel)) return;
    error_ = std::move(error);
    failed_.stop();
    holders_.fetch_add(1, std::memory_order_relaxed);  // the next step must not be cancelled too
  }
  cancellation_.cancel();  // wakes kernels that wait
  leave();
}

void Instance::fail(uint32_t i, Error error) {
  const Label& label = p_.labels[i];
  insist([&] {
    error.at_node(*label.name, label.node->type())
        .on_device(label.device->name())
        .from_source(*label.source);
  });
  root_->cancel(root_->step_, std::move(error));
}

std::shared_ptr<void>& Instance::keepsake(uint32_t instruction) {
  const std::lock_guard lock(error_mutex_);
  if (keepsakes_.empty()) keepsakes_.resize(p_.size());
  return keepsakes_[instruction];
}

Tensor Instance::allocate(KernelContext& c, int, DType dtype, const Shape& shape, bool host) {
  Device& device = c.device();
  if (host || !device.is_async()) return Tensor(dtype, shape);
  const int64_t bytes = bytes_of(shape, dtype);
  try {
    return Tensor(dtype, shape, device.allocate(static_cast<size_t>(bytes), c.node()));
  } catch (const Error& e) {
    if (e.code() != Code::kResourceExhausted) throw;
    throw no_room(shape, dtype, device, e);
  }
}

#ifdef EMPLACE_DEBUG
// A kernel handed memory of another place reads it without complaint on virtual GPUs, and faults
// on real ones: so we look.
void Instance::check_addresses(uint32_t i) const {
  const CallSite& site = p_.sites[i];
  const StepKind kind = p_.labels[i].kind;
  if (kind == StepKind::kCopy) return;
  // A loop hands values on to its own program, merges and gates hand them on: they read nothing.
  const bool reads = kind != StepKind::kLoop && kind != StepKind::kMerge &&
                     kind != StepKind::kGate && !hands_over(kind);
  const bool on_queue = p_.wiring[i].queue >= 0 || !reads;
  for (int k = 0; k < site.num_inputs; ++k) {
    const uint32_t slot = site.operands[k];
    const Tensor& t = slots_[slot];
    if (!t.has_value() || t.bytes() == 0) continue;
    const Space space = p_.slots[slot].space;
    for (Space s = 1; s <= p_.devices.size(); ++s) {
      const bool here = p_.devices[s - 1]->owns(t.raw());
      if (here != (space == s) || (here && !on_queue))
        throw internal_error(fmt::format("input {} of '{}' is in the wrong memory: {}", k,
                                         *site.node, p_.devices[s - 1]->name()));
    }
  }
}
#else
void Instance::check_addresses(uint32_t) const {}
#endif

}  // namespace emplace
