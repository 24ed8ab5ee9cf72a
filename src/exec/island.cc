#include "exec/island.h"

#include <algorithm>

#include "exec/frozen_calls.h"
#include "exec/instance.h"

namespace emplace {
namespace {

constexpr int kWarmSteps = 1;  // plain ones first: kernels compile, scratch memory grows
constexpr size_t kRecordings = 4;  // an instance keeps of an island, for addresses that take turns
constexpr int kPatience = 16;      // recordings that came to nothing, before steps stay plain

void make(const Island::Member& m, const KernelContext& outer) {
  KernelContext c = outer;
  c.site_ = &m.site;
  FrozenCalls::make(m, c);
}

}  // namespace

void Island::run(KernelContext& c) const {
  std::shared_ptr<void>& slot = c.host_->keepsake(c.instruction_);
  if (!slot) slot = std::make_shared<Kept>();
  Kept& kept = *static_cast<Kept*>(slot.get());
  const bool traced = static_cast<Instance&>(*c.host_).traced_inside();
  if (kept.steps++ < kWarmSteps || kept.forgotten > kPatience || traced) return run_plainly(c);
  take_handles(c);
  Made* const made = settled(c) ? find(kept, c) : nullptr;
  if (made) return made->replay();
  drop_handles(c);
  run_plainly(c);
}

// Where every write happens in place it does not matter that a read takes its handle before.
void Island::take_handles(KernelContext& c) const {
  for (const Reference& r : references) c.slots_[r.to] = c.slots_[r.from];
  for (const Member& m : members)
    if (m.light) make(m, c);
}

// A write that is made plainly would find its memory held, and leave it to the read behind it.
void Island::drop_handles(KernelContext& c) const {
  for (const Member& m : members)
    if (m.light) c.slots_[m.site.operands[m.site.num_inputs]] = Tensor();
}

void Island::Made::replay() {
  recording->replay();
  calls->rethrow();
}

Island::Made* Island::find(Kept& kept, KernelContext& c) const {
  for (size_t i = kept.made.size(); i-- > 0;)
    if (counts_on(kept.made[i], c)) {
      std::rotate(kept.made.begin() + static_cast<std::ptrdiff_t>(i),
                  kept.made.begin() + static_cast<std::ptrdiff_t>(i) + 1, kept.made.end());
      return &kept.made.back();
    }
  Made fresh;
  try {
    fresh = record(c);
  } catch (const Error& e) {
    if (e.code() != Code::kFailedPrecondition) throw;
    kept.forgotten = kPatience + 1;
    return nullptr;
  }
  if (kept.made.size() == kRecordings) {
    kept.made.erase(kept.made.begin());
    ++kept.forgotten;
  }
  kept.made.push_back(std::move(fresh));
  return &kept.made.back();
}

void Island::run_plainly(KernelContext& c) const {
  auto& instance = static_cast<Instance&>(*c.host_);
  for (const Member& m : members)
    if (instance.traced_inside())
      instance.trace_inside(m.label, m.site, [&] {
        make(m, c);
        if (instance.settles()) c.device().queue(queue).settle();
      });
    else make(m, c);
}

bool Island::settled(KernelContext& c) const {
  for (const Touched& t : touched) {
    const Variable* v = variable_at(c.slots_[t.slot]);
    if (!v) return false;
    const Variable::Place place = v->place();
    if (!place.address || (t.writes && place.holders > 1 + t.own_aliases)) return false;
  }
  return true;
}

const void* Island::address(size_t i, const KernelContext& c) const {
  if (i < loose.size()) return c.slots_[loose[i]].raw();
  return variable_at(c.slots_[touched[i - loose.size()].slot])->place().address;
}

bool Island::counts_on(const Made& made, const KernelContext& c) const {
  for (size_t i = 0; i < made.addresses.size(); ++i)
    if (made.addresses[i] != address(i, c)) return false;
  for (size_t i = 0; i < loose.size(); ++i)
    if (made.shapes[i] != c.slots_[loose[i]].shape()) return false;
  return true;
}

Island::Made Island::record(KernelContext& c) const {
  Made made;
  made.calls = std::make_unique<FrozenCalls>(*this, c);
  made.recording = c.device().queue(queue).record_calls(made.calls->calls());
  made.calls->rethrow();
  for (size_t i = 0; i < loose.size() + touched.size(); ++i)
    made.addresses.push_back(address(i, c));
  for (const uint32_t slot : loose) made.shapes.push_back(c.slots_[slot].shape());
  return made;
}

}  // namespace emplace
