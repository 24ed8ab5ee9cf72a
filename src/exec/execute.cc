// How an instance runs a step: in order, or in parallel with whoever can help.
#include <chrono>
#include <cstring>
#include <utility>

#include "base/eventcount.h"
#include "exec/instance.h"

namespace emplace {
namespace {

constexpr int kSpins = 2000;  // a few microseconds, then park
constexpr int kMostVisits = 8;  // threads that a round asks for at once

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
  if (const auto* error = dynamic_cast<const Error*>(&e)) return *error;
  if (dynamic_cast<const std::bad_alloc*>(&e)) return resource_exhausted("out of memory");
  return internal_error(e.what());
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
  const std::atomic<bool>& failed = root_->failed_;
  const bool guarded = !p_.guards.empty();
  try {
    if (stamps_) [[unlikely]] {
      for (; i < n && !failed.load(std::memory_order_relaxed); ++i)
        if (!guarded || to_run(static_cast<uint32_t>(i))) call_kernel(static_cast<uint32_t>(i));
      return;
    }
    if (guarded) {
      const Guard* const guards = p_.guards.data();
      for (; i < n && !failed.load(std::memory_order_relaxed); ++i) {
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
      if (failed.load(std::memory_order_relaxed)) [[unlikely]] return;
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
    for (const Wiring& w : p_.wiring) fresh_joins_.push_back(w.join);
    joins_.resize(fresh_joins_.size());
    links_.resize(fresh_joins_.size());
  }
  if (!joins_.empty())
    std::memcpy(joins_.data(), fresh_joins_.data(), joins_.size() * sizeof(uint32_t));
  completions_.store(p_.completions, std::memory_order_relaxed);
  done_.store(p_.completions == 0, std::memory_order_relaxed);
  parked_.store(false, std::memory_order_relaxed);
  for (size_t l = 0; l < ready_.size(); ++l) {
    Ready& r = *ready_[l];
    r.pool = l == 0 && request.pool ? request.pool : &p_.lanes[l]->inter_op();
    r.max_helpers = l == 0 ? std::min(request.workers - 1, r.pool->size())
                           : std::max(1, r.pool->size());
  }
}

void Instance::run_parallel(const StepRequest& request, bool measure) {
  measure_ = measure;
  prepare_parallel(request);
  if (p_.completions == 0) return;
  holders_.fetch_add(1, std::memory_order_relaxed);  // whoever completes the step
  for (uint32_t root : p_.roots) {
    if (p_.wiring[root].queue >= 0) dispatch(root);
    else push(p_.wiring[root].lane, root);
  }
  for (size_t l = 0; l < ready_.size(); ++l) wake(static_cast<int>(l));
  work_as_caller();
  if (measure) p_.learned();
}

void Instance::work_as_caller() {
  uint32_t next = kNone;
  int spins = 0;
  while (!done_.load(std::memory_order_acquire)) {
    if (next == kNone) next = pop(0);
    if (next != kNone) {
      next = execute(next, 0);
      spins = 0;
      continue;
    }
    if (serve_visitor()) {
      spins = 0;
      continue;
    }
    if (++spins < p_.patience) {
      spin_pause();
      continue;
    }
    const uint32_t seen = signal_.load(std::memory_order_acquire);
    parked_.store(true, std::memory_order_seq_cst);
    if (ready_[0]->count.load(std::memory_order_seq_cst) == 0 &&
        num_visitors_.load(std::memory_order_seq_cst) == 0 && !done_.load(std::memory_order_seq_cst))
      signal_.wait(seen, std::memory_order_acquire);
    parked_.store(false, std::memory_order_relaxed);
    spins = 0;
  }
}

void Instance::help_entry(void* instance, uint64_t lane) {
  static_cast<Instance*>(instance)->help(static_cast<int>(lane));
}

void Instance::help(int lane) {
  Ready& ready = *ready_[lane];
  for (;;) {
    uint32_t next = kNone;
    for (int spins = 0; spins < kSpins && !done_.load(std::memory_order_acquire); ++spins) {
      if (next == kNone) next = pop(lane);
      if (next == kNone) {
        if (lane == 0 && serve_visitor()) spins = 0;
        else spin_pause();
        continue;
      }
      next = execute(next, lane);
      spins = 0;
    }
    ready.helpers.fetch_sub(1, std::memory_order_seq_cst);
    // Somebody may have pushed after our last look and relied on us.
    const bool visitors = lane == 0 && num_visitors_.load(std::memory_order_seq_cst) > 0;
    if ((ready.count.load(std::memory_order_seq_cst) == 0 && !visitors) || done_.load()) break;
    if (ready.helpers.fetch_add(1) >= ready.max_helpers) {
      ready.helpers.fetch_sub(1);
      break;
    }
  }
  leave();
}

bool Instance::to_run_safely(uint32_t i) {
  try {
    return to_run(i);
  } catch (const std::exception& e) {
    fail(i, as_error(e));
    return false;
  }
}

uint32_t Instance::execute(uint32_t i, int lane) {
  if (!failed() && (p_.guards.empty() || to_run_safely(i))) {
    KernelContext c;
    c.slots_ = slots_.data();
    c.host_ = this;
    c.site_ = &p_.sites[i];
    c.instruction_ = i;
    const bool timed = measure_ || stamps_;
    const int64_t start = timed ? now_ns() : 0;
    if (stamps_) (*stamps_)[i] = {start, start, thread_number()};
    try {
      check_addresses(i);
      p_.calls[i].run(p_.calls[i].state, c);
    } catch (const std::exception& e) {
      fail(i, as_error(e));
    }
    if (timed) {
      const int64_t end = now_ns();
      if (stamps_ && !c.suspended_) (*stamps_)[i].end = end;
      const auto ns = static_cast<uint32_t>(std::min<int64_t>(end - start, 2'000'000'000));
      std::atomic<uint32_t>& cost = p_.cost_ns[i];
      const uint32_t known = cost.load(std::memory_order_relaxed);
      if (known == 0 || ns < known) cost.store(std::max(ns, 1u), std::memory_order_relaxed);
    }
    if (c.suspended_) return kNone;  // its continuation finishes it
  }
  return finish(i, lane);
}

void Instance::call_kernel(uint32_t i) {
  KernelContext c;
  c.slots_ = slots_.data();
  c.host_ = this;
  c.site_ = &p_.sites[i];
  c.instruction_ = i;
  const int64_t start = stamps_ ? now_ns() : 0;
  check_addresses(i);
  p_.calls[i].run(p_.calls[i].state, c);
  if (stamps_) (*stamps_)[i] = {start, now_ns(), thread_number()};
}

uint32_t Instance::finish(uint32_t i, int lane) {
  const Wiring& w = p_.wiring[i];
  const uint32_t next = release(w.successors, w.num_released + w.num_notified, lane);
  complete_one();
  return next;
}

void Instance::complete_one() {
  if (completions_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  done_.store(true, std::memory_order_seq_cst);
  signal_.fetch_add(1, std::memory_order_release);
  signal_.notify_all();
  leave();
}

// Counts down whoever waited. Returns one that the calling thread of `lane` should run itself.
uint32_t Instance::release(uint32_t first, uint32_t count, int lane) {
  uint32_t mine = kNone;
  uint64_t pushed = 0;  // lanes that got work
  for (uint32_t k = first; k < first + count; ++k) {
    const uint32_t s = p_.successors[k];
    const Wiring& w = p_.wiring[s];
    if (w.join > 1 && std::atomic_ref(joins_[s]).fetch_sub(1, std::memory_order_acq_rel) != 1)
      continue;
    if (w.queue >= 0) {
      dispatch(s);
    } else if (w.lane == lane && mine == kNone) {
      mine = s;
    } else {
      push(w.lane, s);
      pushed |= uint64_t{1} << std::min<int>(w.lane, 63);
    }
  }
  if (pushed)
    for (size_t l = 0; l < ready_.size(); ++l)
      if (pushed >> std::min<size_t>(l, 63) & 1) wake(static_cast<int>(l));
  return mine;
}

void Instance::push(int lane, uint32_t i) {
  Ready& r = *ready_[lane];
  while (r.lock.test_and_set(std::memory_order_acquire)) spin_pause();
  const uint32_t n = r.count.load(std::memory_order_relaxed);
  r.items[n] = i;
  r.count.store(n + 1, std::memory_order_seq_cst);
  r.lock.clear(std::memory_order_release);
}

uint32_t Instance::pop(int lane) {
  Ready& r = *ready_[lane];
  if (r.count.load(std::memory_order_relaxed) == 0) return kNone;
  while (r.lock.test_and_set(std::memory_order_acquire)) spin_pause();
  const uint32_t n = r.count.load(std::memory_order_relaxed);
  uint32_t i = kNone;
  if (n > 0) {
    i = r.items[n - 1];
    r.count.store(n - 1, std::memory_order_relaxed);
  }
  r.lock.clear(std::memory_order_release);
  return i;
}

// New work lies on `lane`: see that somebody looks.
void Instance::wake(int lane) {
  Ready& r = *ready_[lane];
  if (lane == 0 && root_ != this) {
    // The threads of the step come to help; each of them counts as being in here.
    const auto items = static_cast<int>(r.count.load(std::memory_order_seq_cst));
    for (int n = std::min(items, kMostVisits); n > 0; --n) {
      holders_.fetch_add(1, std::memory_order_relaxed);
      root_->post(*this);
    }
    return;
  }
  if (lane == 0 && parked_.load(std::memory_order_seq_cst)) {
    signal_.fetch_add(1, std::memory_order_release);
    signal_.notify_all();
  }
  auto waiting = static_cast<int>(r.count.load(std::memory_order_seq_cst));
  if (lane == 0) waiting += static_cast<int>(num_visitors_.load(std::memory_order_seq_cst));
  // The caller takes one of its own lane, when it comes to look.
  for (int wanted = lane == 0 ? std::max(waiting - 1, std::min(waiting, 1)) : waiting; wanted > 0;
       --wanted) {
    if (r.helpers.load(std::memory_order_seq_cst) >= r.max_helpers) return;
    if (r.helpers.fetch_add(1, std::memory_order_seq_cst) >= r.max_helpers) {
      r.helpers.fetch_sub(1, std::memory_order_seq_cst);
      return;
    }
    holders_.fetch_add(1, std::memory_order_relaxed);
    r.pool->submit({&help_entry, this, static_cast<uint64_t>(lane)});
  }
}

// ---- Queues.

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
    queue.submit(&on_queue, this, k);
    if (w.event >= 0) queue.record(*events_[w.event], step_);
    const uint32_t first = w.successors, released = w.num_released;
    if (w.notify) queue.notify(&on_notified, this, k);
    release(first, released, -1);
  }
  busy = outer;
  first_waiting = outer_waiting;
}

void Instance::on_queue(void* instance, uint64_t i) {
  Instance& in = *static_cast<Instance*>(instance);
  if (in.failed()) return;
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
  in.release(w.successors + w.num_released, w.num_notified, -1);
  in.complete_one();
}

// ---- Kernels that wait without holding a thread.

class Instance::Suspended final : public Continuation {
 public:
  Suspended(Instance& in, const KernelContext& c) : in_(in), context_(c) {}
  KernelContext& context() override { return context_; }
  void done() override {
    if (in_.stamps_) (*in_.stamps_)[context_.instruction_].end = now_ns();
    const uint32_t next = in_.finish(context_.instruction_, -1);
    (void)next;  // lane -1 never keeps one for itself
  }
  void fail(Error error) override {
    in_.fail(context_.instruction_, std::move(error));
    done();
  }

 private:
  Instance& in_;
  KernelContext context_;
};

std::unique_ptr<Continuation> Instance::suspend(KernelContext& c) {
  if (in_order_ || p_.wiring[c.instruction_].queue >= 0)
    throw internal_error("this kernel may not wait here");
  return std::make_unique<Suspended>(*this, c);
}

}  // namespace emplace
