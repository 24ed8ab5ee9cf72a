// How an instance runs a step: in order, or in parallel with whoever can help.
#include <chrono>
#include <cstring>
#include <utility>

#include "base/insist.h"
#include "base/stop_scope.h"
#include "exec/instance.h"
#include "exec/silence.h"

namespace emplace {
namespace {

constexpr uint32_t kMostApproached = 8;
constexpr size_t kAhead = 40;

int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

uint32_t thread_number() {
  static std::atomic<uint32_t> next{1};
  static thread_local const uint32_t mine = next.fetch_add(1, std::memory_order_relaxed);
  return mine;
}

Error as_error(const std::exception& e) {
  return insist([&]() -> Error {
    if (const auto* error = dynamic_cast<const Error*>(&e)) return *error;
    if (dynamic_cast<const std::bad_alloc*>(&e)) return resource_exhausted("out of memory");
    return internal_error(e.what());
  });
}

// Between two instructions: false when the step has failed. Throws what the thread saw that looked.
bool goes_on(StopWord& word) {
  if (word.calm()) [[likely]] return true;
  if (word.stopped()) return false;
  StopScope::attend(word);
  return true;
}

// Of those who arrive at an instruction that waits for several, the last: it has all that the others
// did before they arrived. Who finds itself the only one left need not write.
bool last_to_arrive(uint32_t& join) {
  const std::atomic_ref left(join);
  return left.load(std::memory_order_acquire) == 1 ||
         left.fetch_sub(1, std::memory_order_acq_rel) == 1;
}

}  // namespace

// ---- In order: the straight loop.

void Instance::run_in_order() {
  KernelContext c;
  c.slots_ = slots_.data();
  c.host_ = this;
  const Call* calls = p_.calls.data();
  const CallSite* sites = p_.sites.data();
  const size_t n = p_.size();
  size_t i = 0;
  StopWord& failed = root_->failed_;
  const bool guarded = !p_.guards.empty();
  try {
    if (stamps_) [[unlikely]] {
      for (; i < n && goes_on(failed); ++i)
        if (!guarded || to_run(static_cast<uint32_t>(i))) call_kernel(static_cast<uint32_t>(i));
      return;
    }
    if (guarded) {
      const Guard* const guards = p_.guards.data();
      for (; i < n && goes_on(failed); ++i) {
        const Guard& guard = guards[i];
        if (guard.kind == Guard::Kind::kCall ? !lives(guard.checks)
                                             : !to_run(static_cast<uint32_t>(i)))
          continue;
        c.site_ = sites + i;
        calls[i].run(calls[i].state, c);
      }
      return;
    }
    for (; i < n; ++i) {
      if (!goes_on(failed)) [[unlikely]] return;
      // States lie wherever malloc had room, so the core does not see them coming.
      if (i + kAhead < n) __builtin_prefetch(calls[i + kAhead].state);
      c.site_ = sites + i;
#ifdef EMPLACE_DEBUG
      check_addresses(static_cast<uint32_t>(i));
#endif
      calls[i].run(calls[i].state, c);
    }
  } catch (const std::exception& e) {
    fail(static_cast<uint32_t>(i), as_error(e));
  }
}

// ---- In parallel.

void Instance::prepare_parallel(const StepRequest& request) {
  if (fresh_joins_.empty() && p_.size() > 0) {
    joins_.resize(p_.wiring.size());
    links_.resize(p_.wiring.size());
    fresh_joins_.reserve(p_.wiring.size());
    for (const Wiring& w : p_.wiring) fresh_joins_.push_back(w.join);
  }
  if (!joins_.empty())
    std::memcpy(joins_.data(), fresh_joins_.data(), joins_.size() * sizeof(uint32_t));
  completions_.store(p_.completions, std::memory_order_relaxed);
  done_.store(p_.completions == 0, std::memory_order_relaxed);
  parked_.store(false, std::memory_order_relaxed);
  for (size_t l = 0; l < lanes_.size(); ++l) {
    Lane& lane = *lanes_[l];
    lane.pool = l == 0 && request.pool ? request.pool : &p_.lanes[l]->inter_op();
    lane.max_helpers = l == 0 ? std::min(request.workers - 1, lane.pool->size())
                              : std::max(1, lane.pool->size());
    while (static_cast<int>(lane.workers.size()) <= lane.max_helpers)
      lane.workers.push_back(std::make_unique<Worker>());
    make_calls(lane);
  }
}

void Instance::run_parallel(bool measure) {
  measure_ = measure;
  if (p_.completions == 0) return;
  holders_.fetch_add(1, std::memory_order_relaxed);  // whoever completes the step
  start_roots();
  work_as_caller();
  try {
    if (measure) p_.learned();
  } catch (const std::bad_alloc&) {  // the next step may learn it
  }
}

void Instance::start_roots() {
  for (uint32_t root : p_.roots) {
    if (p_.wiring[root].queue >= 0) dispatch(root);
    else push(p_.wiring[root].lane, root);
  }
  for (size_t l = 0; l < lanes_.size(); ++l) wake(static_cast<int>(l));
}

bool Instance::to_run_safely(uint32_t i) {
  try {
    return to_run(i);
  } catch (const std::exception& e) {
    fail(i, as_error(e));
    return false;
  }
}

bool Instance::goes_on_safely(uint32_t i) {
  try {
    return goes_on(root_->failed_);
  } catch (const std::exception& e) {
    fail(i, as_error(e));
    return false;
  }
}

// Returns one that the calling thread should run next. Without a seat what becomes ready is for
// everybody, and counts at once.
uint32_t Instance::execute(uint32_t i, int lane, Worker* self) {
  if (goes_on_safely(i) && (p_.guards.empty() || to_run_safely(i))) {
    approach(p_.wiring[i]);
    try {
      if (!call_kernel(i)) return kNone;  // its continuation finishes it
    } catch (const std::exception& e) {
      fail(i, as_error(e));
    }
  }
  const Wiring& w = p_.wiring[i];
  const uint32_t next = release(w.successors, w.num_released + w.num_notified, lane, self);
  if (self) ++self->completed;
  else complete(1);
  return next;
}

// While a kernel works, what its successors need comes nearer.
void Instance::approach(const Wiring& w) const {
  const uint32_t count = std::min(w.num_released, kMostApproached);
  for (uint32_t k = w.successors; k < w.successors + count; ++k) {
    __builtin_prefetch(&p_.wiring[p_.successors[k]]);
    __builtin_prefetch(&p_.calls[p_.successors[k]]);
  }
}

// False when the kernel suspended itself.
bool Instance::call_kernel(uint32_t i) {
  KernelContext c;
  c.slots_ = slots_.data();
  c.host_ = this;
  c.site_ = &p_.sites[i];
  c.instruction_ = i;
  const bool timed = measure_ || stamps_;
  const int64_t start = timed ? now_ns() : 0;
  if (stamps_) (*stamps_)[i] = {start, start, 0, thread_number()};
  check_addresses(i);
  p_.calls[i].run(p_.calls[i].state, c);
  if (settles() && p_.wiring[i].queue >= 0)
    queue_of(*p_.labels[i].device, p_.wiring[i].queue).settle();
  if (timed) note_times(i, start, c.suspended_);
  return !c.suspended_;
}

void Instance::note_end(uint32_t i, int64_t end) {
  Stamp& stamp = (*stamps_)[i];
  end_stamp(p_.sites[i], stamp);
  stamp.end = end;
  if (root_ == this && trace_->with_shapes) trace_->shapes[i] = shapes_of(p_.sites[i]);
}

OperandShapes Instance::shapes_of(const CallSite& site) const {
  OperandShapes s;
  const uint32_t inputs = site.num_inputs, all = inputs + site.num_outputs;
  for (uint32_t k = 0; k < all; ++k)
    (k < inputs ? s.inputs : s.outputs)
        .push_back(slots_[site.operands[k]].has_value() ? slots_[site.operands[k]].shape()
                                                        : Shape::unknown());
  return s;
}

Stamp Instance::begin_stamp() { return {now_ns(), 0, 0, thread_number()}; }

void Instance::end_stamp(const CallSite& site, Stamp& stamp) const {
  stamp.end = now_ns();
  for (uint32_t k = 0; k < site.num_outputs; ++k) {
    const Tensor& out = slots_[site.operands[site.num_inputs + k]];
    if (out.has_value()) stamp.bytes += static_cast<int64_t>(out.bytes());
  }
}

void Instance::note_times(uint32_t i, int64_t start, bool suspended) {
  const int64_t end = now_ns();
  if (stamps_ && !suspended) note_end(i, end);
  if (!measure_) return;
  const auto ns = static_cast<uint32_t>(std::min<int64_t>(end - start, 2'000'000'000));
  std::atomic<uint32_t>& cost = p_.cost_ns[i];
  const uint32_t known = cost.load(std::memory_order_relaxed);
  if (known == 0 || ns < known) cost.store(std::max(ns, 1u), std::memory_order_relaxed);
}

void Instance::finish(uint32_t i) {
  const Wiring& w = p_.wiring[i];
  release(w.successors, w.num_released + w.num_notified, -1, nullptr);
  complete(1);
}

void Instance::complete(uint32_t count) {
  if (completions_.fetch_sub(count, std::memory_order_acq_rel) != count) return;
  done_.store(true, std::memory_order_seq_cst);
  take_calls_back();
  sleep_.notify_all();
  leave();
}

// Counts down whoever waited. Returns one that the calling thread of `lane` should run itself.
uint32_t Instance::release(uint32_t first, uint32_t count, int lane, Worker* self) {
  uint32_t mine = kNone;
  uint64_t pushed = 0;  // lanes that got work
  if (count > 1)
    for (uint32_t k = first; k < first + count; ++k) prefetch_for_write(&joins_[p_.successors[k]]);
  for (uint32_t k = first; k < first + count; ++k) {
    const uint32_t s = p_.successors[k];
    const Wiring& w = p_.wiring[s];
    if (w.join > 1 && !last_to_arrive(joins_[s])) continue;
    __builtin_prefetch(p_.calls[s].state);
    if (w.queue >= 0) {
      dispatch(s);
    } else if (w.lane == lane && mine == kNone) {
      mine = s;
    } else {
      if (w.lane != lane || !self || !self->ready.push(s)) push(w.lane, s);
      pushed |= uint64_t{1} << std::min<int>(w.lane, 63);
    }
  }
  if (pushed)
    for (size_t l = 0; l < lanes_.size(); ++l)
      if (pushed >> std::min<size_t>(l, 63) & 1) wake(static_cast<int>(l));
  return mine;
}

// ---- Queues.

namespace {

// A call that this thread is handing to a queue. Where the queue makes it at once, it may suspend
// itself: what follows it on the queue then waits for its continuation.
struct HandingOver {
  const Instance* instance;
  uint32_t instruction;
  bool suspended = false;
};
thread_local HandingOver* handing_over = nullptr;

}  // namespace

// Enqueues a call, and whatever that makes ready on queues, without recursion.
void Instance::dispatch(uint32_t i) {
  static thread_local Instance* busy = nullptr;
  static thread_local uint32_t first_waiting = kNone;  // of `busy`; the rest hangs on links_
  links_[i] = busy == this ? first_waiting : kNone;
  if (busy == this) {
    first_waiting = i;
    return;
  }
  Instance* const outer = std::exchange(busy, this);
  const uint32_t outer_waiting = std::exchange(first_waiting, i);
  while (first_waiting != kNone) {
    const uint32_t k = std::exchange(first_waiting, links_[first_waiting]);
    const Wiring& w = p_.wiring[k];
    Queue& queue = queue_of(*p_.labels[k].device, w.queue);
    for (uint32_t e = w.waits; e < w.waits + w.num_waits; ++e)
      queue.wait(*events_[p_.waits[e]], step_);
    HandingOver now{this, k};
    HandingOver* const outer_call = std::exchange(handing_over, &now);
    queue.submit(&on_queue, this, k);
    handing_over = outer_call;
    if (!now.suspended) enqueued(k);
  }
  busy = outer;
  first_waiting = outer_waiting;
}

// What follows a call on its queue may be enqueued too.
void Instance::enqueued(uint32_t i) {
  const Wiring& w = p_.wiring[i];
  Queue& queue = queue_of(*p_.labels[i].device, w.queue);
  if (w.event >= 0) queue.record(*events_[w.event], step_);
  const uint32_t first = w.successors, released = w.num_released;
  if (w.notify) queue.notify(&on_notified, this, i);
  release(first, released, -1, nullptr);
}

void Instance::on_queue(void* instance, uint64_t i) {
  Instance& in = *static_cast<Instance*>(instance);
  if (in.failed()) return;
  const StopScope stoppable(in.root_->failed_);
  try {
    if (!in.p_.guards.empty() && !in.to_run(static_cast<uint32_t>(i))) return;
    in.call_kernel(static_cast<uint32_t>(i));
  } catch (const std::exception& e) {
    in.fail(static_cast<uint32_t>(i), as_error(e));
  }
}

void Instance::on_notified(void* instance, uint64_t i) {
  Instance& in = *static_cast<Instance*>(instance);
  const Wiring& w = in.p_.wiring[i];
  if (auto fault = queue_of(*in.p_.labels[i].device, w.queue).fault()) [[unlikely]]
    in.fail(static_cast<uint32_t>(i), std::move(*fault));
  in.release(w.successors + w.num_released, w.num_notified, -1, nullptr);
  in.complete(1);
}

// ---- Kernels that wait without holding a thread.

class Instance::Suspended final : public Continuation {
 public:
  Suspended(Instance& in, const KernelContext& c) : in_(in), context_(c), since_(now_ns()) {
    Instance& root = *in_.root_;
    const std::lock_guard lock(root.waiting_mutex_);
    next_ = std::exchange(root.waiting_calls_, this);
    if (next_) next_->before_ = this;
  }
  ~Suspended() override { unlist(); }
  KernelContext& context() override { return context_; }
  void done() override {
    const uint32_t i = context_.instruction_;
    unlist();  // afterwards the step may be over
    if (in_.stamps_) in_.note_end(i, now_ns());
    if (in_.p_.wiring[i].queue >= 0) in_.enqueued(i);
    else in_.finish(i);
  }
  void fail(Error error) override {
    in_.fail(context_.instruction_, std::move(error));
    done();
  }

  // Null: of a loop, which waits for its rounds, and of rounds for each other.
  const Label* label() const {
    const Label& l = in_.p_.labels[context_.instruction_];
    return l.kind == StepKind::kLoop || hands_over(l.kind) || !l.node ? nullptr : &l;
  }
  int64_t since() const { return since_; }
  const Suspended* next() const { return next_; }

 private:
  void unlist() {
    if (!listed_) return;
    listed_ = false;
    Instance& root = *in_.root_;
    const std::lock_guard lock(root.waiting_mutex_);
    (before_ ? before_->next_ : root.waiting_calls_) = next_;
    if (next_) next_->before_ = before_;
  }

  Instance& in_;
  KernelContext context_;
  const int64_t since_;
  Suspended *before_ = nullptr, *next_ = nullptr;
  bool listed_ = true;
};

std::vector<WaitingCall> Instance::waiting() {
  const auto text = [](const Node& n, std::string_view name) {
    const AttrValue* const value = n.type() == "_Recv" ? n.attr(name) : nullptr;
    return value ? value->as<std::string>() : std::string();
  };
  const auto awaited = [&](const Node& n) {
    std::string name = text(n, "tensor_name");
    return name.empty() ? awaited_by(n.type()) : name;
  };
  std::vector<WaitingCall> calls;
  const int64_t now = now_ns();
  const std::lock_guard lock(waiting_mutex_);
  for (const Suspended* s = waiting_calls_; s; s = s->next())
    if (const Label* const l = s->label())
      calls.push_back({l->name ? *l->name : l->node->name(), l->node->type(), l->device ? l->device->name() : "",
                       l->source ? *l->source : "", awaited(*l->node), text(*l->node, "send_device"),
                       static_cast<double>(now - s->since()) / 1e9});
  return calls;
}

std::unique_ptr<Continuation> Instance::suspend(KernelContext& c) {
  const bool on_queue = p_.wiring[c.instruction_].queue >= 0;
  const bool at_once = handing_over && handing_over->instance == this &&
                       handing_over->instruction == c.instruction_;
  if (in_order_ || (on_queue && !at_once)) throw internal_error("this kernel may not wait here");
  if (on_queue) handing_over->suspended = true;
  return std::make_unique<Suspended>(*this, c);
}

}  // namespace emplace
