#include "all/rounds_testutil.h"

#include <algorithm>
#include <cstring>
#include <thread>

#include "op/shape_context.h"

namespace emplace::testing {
namespace {

constexpr OpRow kRoundRows[] = {
    {"Ticket(x: float, mine: int32, other: int32) -> (y: float)", shape_rules::unchanged,
     cost_rules::cheap, "Says that `mine` is here and waits until `other` is; below 0: for nobody."},
    {"ComeIn(x: float, after: int32) -> (y: float)", shape_rules::unchanged, cost_rules::cheap,
     "One more is inside."},
    {"GoOut(x: float) -> (y: float)", shape_rules::unchanged, cost_rules::cheap,
     "One less is inside."},
    {"Doze(x: float, after: int32) -> (y: float)", shape_rules::unchanged, cost_rules::cheap,
     "Hands x on after two milliseconds."},
    {"FailAt(x: float, round: int32) -> (y: float) | when: int", shape_rules::unchanged,
     cost_rules::cheap, "Throws in one round."},
    {"NeverReady(x: float, round: int32) -> (y: float) | when: int", shape_rules::unchanged,
     cost_rules::cheap, "Suspends until its step is cancelled, in one round."},
};

void hand_on(KernelContext& c) {
  const Tensor& x = c.input(0);
  std::memcpy(c.output(0, x.shape()).raw(), x.raw(), x.bytes());
}

void ticket(KernelContext& c) {
  Hall& h = hall();
  const int32_t mine = c.input(1).item<int32_t>(), other = c.input(2).item<int32_t>();
  {
    std::unique_lock lock(h.mutex);
    h.tickets.insert(mine);
    h.changed.notify_all();
    const auto came = [&] { return other < 0 || h.tickets.contains(other); };
    if (!h.changed.wait_for(lock, h.patience, came))
      throw Error(Code::kDeadlineExceeded, "nobody came");
  }
  hand_on(c);
}

void come_in(KernelContext& c) {
  {
    const std::lock_guard lock(hall().mutex);
    hall().most = std::max(hall().most, ++hall().inside);
  }
  hand_on(c);
}

void go_out(KernelContext& c) {
  {
    const std::lock_guard lock(hall().mutex);
    --hall().inside;
  }
  hand_on(c);
}

void doze(KernelContext& c) {
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  hand_on(c);
}

struct FailAt {
  int64_t when;
  void operator()(KernelContext& c) const {
    if (c.input(1).item<int32_t>() == when) throw failed_precondition("asked to fail");
    hand_on(c);
  }
};
Prepared make_fail_at(const KernelInit& init) {
  return prepared(FailAt{init.attr<int64_t>("when")});
}

struct NeverReady {
  int64_t when;
  void operator()(KernelContext& c) const {
    if (c.input(1).item<int32_t>() != when) return hand_on(c);
    std::shared_ptr<Continuation> rest = c.suspend();
    c.cancellation().add([rest] { rest->fail(cancelled("it was cancelled")); });
  }
};
Prepared make_never_ready(const KernelInit& init) {
  return prepared(NeverReady{init.attr<int64_t>("when")});
}

}  // namespace

Hall& hall() {
  static Hall h;
  return h;
}

void open_hall(std::chrono::milliseconds patience) {
  Hall& h = hall();
  const std::lock_guard lock(h.mutex);
  h.tickets.clear();
  h.inside = h.most = 0;
  h.patience = patience;
}

void add_round_ops(OpRegistry& r) { r.add(kRoundRows); }

void add_round_kernels(KernelRegistry& r, const char* device) {
  KernelTraits waits;
  waits.blocks = true;
  r.add({"Ticket", device, {}, {"mine", "other"}, &stateless<ticket>, waits, 0, ""});
  r.add({"ComeIn", device, {}, {"after"}, &stateless<come_in>, {}, 0, ""});
  r.add({"GoOut", device, {}, {}, &stateless<go_out>, {}, 0, ""});
  r.add({"Doze", device, {}, {"after"}, &stateless<doze>, {}, 0, ""});
  r.add({"FailAt", device, {}, {"round"}, &make_fail_at, {}, 0, ""});
  r.add({"NeverReady", device, {}, {"round"}, &make_never_ready, waits, 0, ""});
}

}  // namespace emplace::testing
