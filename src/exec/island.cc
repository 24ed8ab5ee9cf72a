#include "exec/island.h"

#include <algorithm>

namespace emplace {
namespace {

constexpr int kWarmSteps = 1;  // plain ones first: kernels compile, scratch memory grows
constexpr size_t kRecordings = 4;  // an instance keeps of an island, for addresses that take turns
constexpr int kPatience = 16;      // recordings that came to nothing, before steps stay plain

const Variable* variable_at(const Tensor& t) {
  if (t.dtype() != DType::kResource || t.num_elements() != 1) return nullptr;
  return dynamic_cast<const Variable*>(t.data<ResourceHandle>()->resource.get());
}

}  // namespace

void Island::run(KernelContext& c) const {
  std::shared_ptr<void>& slot = c.host_->keepsake(c.instruction_);
  if (!slot) slot = std::make_shared<Kept>();
  Kept& kept = *static_cast<Kept*>(slot.get());
  for (const Member& m : members)
    if (m.light) make(m, c);
  if (kept.steps++ < kWarmSteps || kept.forgotten > kPatience || !settled(c))
    return run_plainly(c);
  Recording* const recording = find(kept, c);
  if (!recording) return run_plainly(c);
  for (const Reference& r : references) c.slots_[r.to] = c.slots_[r.from];
  recording->replay();
}

Recording* Island::find(Kept& kept, KernelContext& c) const {
  const std::vector<const void*> now = addresses(c);
  for (size_t i = kept.made.size(); i-- > 0;)
    if (kept.made[i].addresses == now) {
      std::rotate(kept.made.begin() + static_cast<std::ptrdiff_t>(i),
                  kept.made.begin() + static_cast<std::ptrdiff_t>(i) + 1, kept.made.end());
      return kept.made.back().recording.get();
    }
  std::unique_ptr<Recording> recording;
  try {
    recording = record(c);
  } catch (const Error& e) {
    if (e.code() != Code::kFailedPrecondition) throw;
    kept.forgotten = kPatience + 1;
    return nullptr;
  }
  if (kept.made.size() == kRecordings) {
    kept.made.erase(kept.made.begin());
    ++kept.forgotten;
  }
  kept.made.push_back({addresses(c), std::move(recording)});
  return kept.made.back().recording.get();
}

void Island::run_plainly(KernelContext& c) const {
  for (const Member& m : members)
    if (!m.light) make(m, c);
}

void Island::make(const Member& m, KernelContext& outer) {
  KernelContext c = outer;
  c.site_ = &m.site;
  try {
    m.call.run(m.call.state, c);
  } catch (Error& e) {
    e.at_node(*m.label.name, m.label.node->type()).from_source(*m.label.source);
    throw;
  }
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

std::vector<const void*> Island::addresses(KernelContext& c) const {
  std::vector<const void*> all;
  all.reserve(loose.size() + touched.size());
  for (uint32_t s : loose) all.push_back(c.slots_[s].raw());
  for (const Touched& t : touched) all.push_back(variable_at(c.slots_[t.slot])->place().address);
  return all;
}

std::unique_ptr<Recording> Island::record(KernelContext& c) const {
  Context context{this, &c, nullptr};
  std::vector<RecordedCall> calls;
  for (uint32_t i = 0; i < members.size(); ++i)
    calls.push_back({&Island::call_member, &context, i, members[i].lane, members[i].after});
  auto recording = c.device().queue(queue).record_calls(calls);
  if (context.error) std::rethrow_exception(context.error);
  return recording;
}

void Island::call_member(void* context, uint64_t i) {
  Context& x = *static_cast<Context*>(context);
  const Member& m = x.island->members[i];
  if (x.error || m.light) return;
  try {
    make(m, *x.outer);
  } catch (...) {
    x.error = std::current_exception();
  }
}

}  // namespace emplace
