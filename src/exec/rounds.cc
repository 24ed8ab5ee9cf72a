// What an instance does as a loop's round.
#include "exec/instance.h"

#include <cstring>
#include <utility>

namespace emplace {
namespace {

constexpr size_t kSmall = 64;  // bytes that are copied sooner than handles are exchanged

}  // namespace

void Instance::enter_loop(const RoundPlan& plan, const KernelContext& c, Instance& caller,
                          bool in_order) {
  root_ = caller.root_;
  in_order_ = in_order;
  trace_ = caller.trace_;
  stamps_ = trace_ ? &round_stamps_ : nullptr;
  if (trace_) round_stamps_.assign(p_.size(), Stamp{});
  measure_ = false;
  next_.resize(plan.variables.size());
  for (size_t i = plan.num_received; i < plan.feeds.size(); ++i)
    slots_[plan.feeds[i]] = c.input(static_cast<int>(i));
  for (const RoundPlan::Variable& v : plan.variables)
    if (v.turns) slots_[v.next] = Tensor(p_.slots[v.next].dtype, v.shape);
}

void Instance::leave_loop() {
  if (trace_) hand_in_stamps();
  empty_slots();
  root_ = this;
}

void Instance::hand_in_stamps() {
  const std::lock_guard lock(trace_->mutex);
  for (size_t i = 0; i < round_stamps_.size(); ++i)
    if (Stamp& stamp = round_stamps_[i]; stamp.start && !hands_over(p_.labels[i].kind)) {
      if (!p_.labels[i].island) trace_->inside.push_back({&p_.labels[i], stamp});
      stamp = {};
    }
}

// What lies in memory that the next round, or the next lease, writes over is copied.
Tensor Instance::own_value(uint32_t slot) const {
  const Tensor& t = slots_[slot];
  const Space space = p_.slots[slot].space;
  if (!t.buffer() || t.buffer().get() != arenas_[space].get()) return t;
  if (space == kHostSpace) return t.copy();
  Device& device = *p_.devices[space - 1];
  Tensor copy(t.dtype(), t.shape(), device.allocate(t.bytes(), "loop"));
  device.copy(copy.raw(), t.raw(), t.bytes());
  return copy;
}

// All variables at once: what one takes from another is that of the round before.
void Instance::next_round(const RoundPlan& plan) {
  if (trace_) [[unlikely]] hand_in_stamps();
  const size_t n = plan.variables.size();
  for (size_t i = 0; i < n; ++i)
    if (!plan.variables[i].turns) next_[i] = own_value(plan.variables[i].next);
  for (size_t i = 0; i < n; ++i) {
    const RoundPlan::Variable& v = plan.variables[i];
    Tensor& now = slots_[plan.feeds[i]];
    if (!v.turns) {
      now = std::move(next_[i]);
      continue;
    }
    Tensor& next = slots_[v.next];
    if (now.bytes() <= kSmall && now.buffer()->unique() && now.raw() == now.buffer()->data()) {
      std::memcpy(now.raw(), next.raw(), now.bytes());
      continue;
    }
    std::swap(now, next);
    if (!next.buffer()->unique()) next = Tensor(p_.slots[v.next].dtype, v.shape);
  }
}

bool Instance::start_round(void (*idle)(void*), void* arg) {
  on_idle_ = idle;
  idle_arg_ = arg;
  ++step_;
  prepare_parallel({});
  if (p_.completions == 0) return true;
  holders_.store(2, std::memory_order_relaxed);  // we, and whoever completes the round
  start_roots();
  return holders_.fetch_sub(1, std::memory_order_acq_rel) == 1;
}

// ---- Rounds have no thread of their own for /cpu:0: the step's threads work for them.

void Instance::post(Instance& round) {
  while (visitors_lock_.test_and_set(std::memory_order_acquire)) {}
  visitors_.push_back(&round);
  num_visitors_.store(static_cast<uint32_t>(visitors_.size()), std::memory_order_seq_cst);
  visitors_lock_.clear(std::memory_order_release);
  wake(0);
}

bool Instance::serve_visitor() {
  if (num_visitors_.load(std::memory_order_acquire) == 0) return false;
  while (visitors_lock_.test_and_set(std::memory_order_acquire)) {}
  Instance* round = nullptr;
  if (!visitors_.empty()) {
    round = visitors_.back();
    visitors_.pop_back();
    num_visitors_.store(static_cast<uint32_t>(visitors_.size()), std::memory_order_relaxed);
  }
  visitors_lock_.clear(std::memory_order_release);
  if (!round) return false;
  for (uint32_t i = round->pop(0); i != kNone; i = round->pop(0))
    while (i != kNone) i = round->execute(i, 0, nullptr);
  round->leave();
  return true;
}

// ---- Branches.

namespace {

bool is_true(const Tensor& t) {
  if (t.dtype() == DType::kBool && t.rank() == 0) [[likely]] return *t.data<bool>();
  if (t.rank() > 0) return t.num_elements() > 0;
  if (t.dtype() == DType::kString) return !t.data<std::string>()->empty();
  switch (t.dtype()) {
    case DType::kFloat: return *t.data<float>() != 0;
    case DType::kDouble: return *t.data<double>() != 0;
    default: break;
  }
  const auto* bytes = static_cast<const unsigned char*>(t.raw());
  for (size_t i = 0; i < t.bytes(); ++i)
    if (bytes[i]) return true;
  return false;
}

// As TensorFlow: a number that is none of a branch means the last.
int32_t chosen(const Tensor& t, int32_t num_branches) {
  const int32_t i = t.item<int32_t>();
  return i < 0 || i >= num_branches ? num_branches - 1 : i;
}

}  // namespace

bool Instance::to_run(uint32_t i) {
  const Guard& guard = p_.guards[i];
  switch (guard.kind) {
    case Guard::Kind::kCall:
      return lives(guard.checks);
    case Guard::Kind::kGate: {
      bool open = lives(guard.checks);
      if (open) {
        const Tensor& asked = slots_[p_.sites[i].operands[0]];
        open = guard.num_branches == 0 ? is_true(asked) == (guard.branch == 1)
                                       : chosen(asked, guard.num_branches) == guard.branch;
      }
      dead_[i] = !open;
      return false;
    }
    case Guard::Kind::kMerge:
      merge(i, guard);
      return false;
  }
  return false;
}

void Instance::merge(uint32_t i, const Guard& guard) {
  const CallSite& site = p_.sites[i];
  dead_[i] = 1;
  for (uint32_t k = 0; k < site.num_inputs; ++k) {
    if (!lives(p_.arms[guard.arms + k])) continue;
    slots_[site.operands[site.num_inputs]] = slots_[site.operands[k]];
    if (guard.numbered)
      slots_[site.operands[site.num_inputs + 1]] = Tensor::scalar(static_cast<int32_t>(k));
    dead_[i] = 0;
    return;
  }
}

void Instance::check_alive() {
  if (p_.guards.empty() || failed()) return;
  for (size_t i = 0; i + 1 < p_.fetch_checks.size(); ++i)
    if (!lives(p_.fetch_checks[i]))
      cancel(step_, invalid_argument("Retval[" + std::to_string(i) + "] does not have value"));
}

}  // namespace emplace
