#include "exec/frozen_calls.h"

#include <fmt/format.h>

#include <unordered_map>

namespace emplace {
namespace {

// The same memory, held by nobody.
Tensor without_owner(const Tensor& t) {
  if (!t.buffer() || !t.device() || !is_plain(t.dtype())) return t;
  auto* const memory = new Buffer(t.raw(), t.bytes(), t.device());
  return Tensor(t.dtype(), t.shape(), BufferPtr(memory));
}

// A replay launches what was launched, and the host does nothing.
bool has_host_output(const CallSite& site, const KernelContext& c) {
  for (int o = 0; o < site.num_outputs && o < 32; ++o)
    if ((site.host_outputs >> o & 1) &&
        c.slots_[site.operands[site.num_inputs + o]].dtype() != DType::kResource)
      return true;
  return false;
}

}  // namespace

const Variable* variable_at(const Tensor& handle) {
  if (handle.dtype() != DType::kResource || handle.num_elements() != 1) return nullptr;
  return dynamic_cast<const Variable*>(handle.data<ResourceHandle>()->resource.get());
}

FrozenCalls::FrozenCalls(const Island& island, const KernelContext& c)
    : island_(island), context_(c) {
  std::unordered_map<uint32_t, uint32_t> frozen;
  for (const Island::Member& m : island.members) {
    std::vector<uint32_t>& mine = operands_.emplace_back();
    std::vector<Counted>& counted = variables_.emplace_back();
    sites_.push_back(m.site);
    sites_.back().own_aliases = m.own_aliases;
    if (m.light) continue;
    if (m.site.host_outputs && has_host_output(m.site, c))
      throw internal_error(fmt::format("'{}' is recorded, but the host writes what it gives",
                                       *m.label.name));
    for (int k = 0; k < m.site.num_inputs + m.site.num_outputs; ++k) {
      const auto [at, is_new] = frozen.try_emplace(m.site.operands[k], slots_.size());
      if (is_new) slots_.push_back(without_owner(c.slots_[at->first]));
      mine.push_back(at->second);
      if (const Variable* v = variable_at(slots_[at->second]))
        counted.push_back({v, v->place().address});
    }
    sites_.back().operands = mine.data();
  }
  context_.slots_ = slots_.data();
}

std::vector<RecordedCall> FrozenCalls::calls() {
  std::vector<RecordedCall> calls;
  for (uint32_t i = 0; i < island_.members.size(); ++i)
    calls.push_back({&FrozenCalls::call, this, i, island_.members[i].lane, island_.members[i].after});
  return calls;
}

void FrozenCalls::rethrow() {
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void FrozenCalls::make(const Island::Member& m, KernelContext c) {
  try {
    m.call.run(m.call.state, c);
  } catch (Error& e) {
    e.at_node(*m.label.name, m.label.node->type()).from_source(*m.label.source);
    throw;
  }
}

// A card would read and write where the variable was.
void FrozenCalls::check_variables(size_t i) const {
  for (const Counted& c : variables_[i])
    if (c.variable->place().address != c.address)
      throw internal_error(fmt::format("a recording counts on memory that variable '{}' has left",
                                       c.variable->name()))
          .at_node(*island_.members[i].label.name, island_.members[i].label.node->type());
}

void FrozenCalls::call(void* frozen, uint64_t i) {
  FrozenCalls& self = *static_cast<FrozenCalls*>(frozen);
  const Island::Member& m = self.island_.members[i];
  if (self.error_ || m.light) return;
  try {
    self.check_variables(i);
    self.context_.site_ = &self.sites_[i];
    make(m, self.context_);
  } catch (...) {
    self.error_ = std::current_exception();
  }
}

}  // namespace emplace
