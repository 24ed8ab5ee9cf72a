#include "all/session_testutil.h"

#include <sched.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "all/cuda.h"
#include "all/rounds_testutil.h"
#include "backends/cpu/cpu_kernels.h"
#include "op/shape_context.h"
#include "stdops/stdops.h"

namespace emplace::testing {
namespace {

constexpr OpRow kSessionRows[] = {
    {"Meet(x: float) -> (y: float) | party: int = 2 | stateful", shape_rules::unchanged,
     cost_rules::elementwise, "Waits until a party of them runs at once."},
    {"WaitForCancel() -> () | stateful", shape_rules::none, cost_rules::cheap,
     "Suspends until its step is cancelled."},
    {"CountCalls(x: float) -> (y: float) | stateful", shape_rules::unchanged, cost_rules::cheap,
     "Counts its calls."},
    {"FailWith(x: float) -> (y: float) | code: int = 3 | stateful", shape_rules::unchanged,
     cost_rules::cheap, "Throws."},
    {"SetsNothing(x: float) -> (y: float) | stateful", shape_rules::unknown, cost_rules::cheap,
     "Leaves its output as it is."},
    {"Slow(x: float) -> (y: float) | us: int = 1000 | stateful", shape_rules::unchanged,
     cost_rules::cheap, "Hands x on after a while."},
    {"CoreMask(x: float) -> (mask: int64) | stateful", shape_rules::scalar, cost_rules::cheap,
     "The cores its thread may use, as bits."},
    {"ThreadOf(x: float) -> (thread: int64) | stateful", shape_rules::scalar, cost_rules::cheap,
     "The system's number of its thread."},
};

struct Party {
  std::mutex mutex;
  std::condition_variable arrived;
  int waiting = 0;
  uint64_t round = 0;
};

Party& party() {
  static Party p;
  return p;
}

void pass_on(KernelContext& c) {
  const Tensor& x = c.input(0);
  Tensor& y = c.output(0, x.shape());
  std::memcpy(y.raw(), x.raw(), x.bytes());
}

struct Meet {
  int64_t size;
  void operator()(KernelContext& c) const {
    Party& p = party();
    std::unique_lock lock(p.mutex);
    const uint64_t round = p.round;
    if (++p.waiting == size) {
      p.waiting = 0;
      ++p.round;
      p.arrived.notify_all();
    } else if (!p.arrived.wait_for(lock, std::chrono::seconds(20),
                                   [&] { return p.round != round; })) {
      p.waiting = 0;
      throw Error(Code::kDeadlineExceeded, "nobody came to meet");
    }
    lock.unlock();
    pass_on(c);
  }
};

void wait_for_cancel(KernelContext& c) {
  std::shared_ptr<Continuation> rest = c.suspend();
  c.cancellation().add([rest] { rest->fail(cancelled("it was cancelled")); });
}

void count_calls(KernelContext& c) {
  calls().fetch_add(1, std::memory_order_relaxed);
  pass_on(c);
}

void set_nothing(KernelContext&) {}

struct Slow {
  int64_t us;
  void operator()(KernelContext& c) const {
    std::this_thread::sleep_for(std::chrono::microseconds(us));
    pass_on(c);
  }
};

void core_mask(KernelContext& c) {
  cpu_set_t set;
  sched_getaffinity(0, sizeof set, &set);
  uint64_t bits = 0;
  for (int i = 0; i < 64; ++i)
    if (CPU_ISSET(i, &set)) bits |= uint64_t{1} << i;
  *c.output(0, Shape{}).data<int64_t>() = static_cast<int64_t>(bits);
}

void thread_of(KernelContext& c) { *c.output(0, Shape{}).data<int64_t>() = gettid(); }

struct Fail {
  Code code;
  void operator()(KernelContext&) const { throw Error(code, "asked to fail"); }
};

Prepared make_meet(const KernelInit& init) { return prepared(Meet{init.attr<int64_t>("party")}); }
Prepared make_slow(const KernelInit& init) { return prepared(Slow{init.attr<int64_t>("us")}); }
Prepared make_fail(const KernelInit& init) {
  return prepared(Fail{static_cast<Code>(init.attr<int64_t>("code"))});
}

void add_test_kernels(KernelRegistry& r, const char* device) {
  KernelTraits waits;
  waits.blocks = true;
  auto add = [&](const char* op, KernelFactory make, KernelTraits traits = {}) {
    r.add({op, device, {}, {}, make, traits, 0, ""});
  };
  add("Meet", &make_meet, waits);
  add("CountCalls", &stateless<count_calls>);
  add("FailWith", &make_fail);
  add("SetsNothing", &stateless<set_nothing>);
  add("Slow", &make_slow, {.replays = true});
}

}  // namespace

int number_waiting() {
  const std::lock_guard lock(party().mutex);
  return party().waiting;
}

std::atomic<int64_t>& calls() {
  static std::atomic<int64_t> n{0};
  return n;
}

const OpRegistry& session_ops() {
  static const OpRegistry* const ops = [] {
    auto* r = new OpRegistry;
    register_all_ops(*r);
    r->add(kSessionRows);
    add_round_ops(*r);
    return r;
  }();
  return *ops;
}

const KernelRegistry& session_kernels() {
  static const KernelRegistry* const kernels = [] {
    auto* r = new KernelRegistry;
    register_cpu_kernels(*r);
    register_cpu_fusion(*r);
    for (KernelRow& row : virtual_gpu_rows(*r)) r->add(std::move(row));
    add_test_kernels(*r, "CPU");
    add_test_kernels(*r, "GPU");
    add_round_kernels(*r, "CPU");
    add_round_kernels(*r, "GPU");
    KernelTraits waits;
    waits.blocks = true;
    r->add({"WaitForCancel", "CPU", {}, {}, &stateless<wait_for_cancel>, waits, 0, ""});
    r->add({"CoreMask", "CPU", {}, {}, &stateless<core_mask>, {}, 0, ""});
    r->add({"ThreadOf", "CPU", {}, {}, &stateless<thread_of>, {}, 0, ""});
    return r;
  }();
  return *kernels;
}

}  // namespace emplace::testing
