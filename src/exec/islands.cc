#include "exec/islands.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace emplace {
namespace {

constexpr int kCardPatience = 20'000;  // most steps of a card are shorter than waking up
constexpr int kWarmSteps = 1;  // plain ones first: kernels compile, scratch memory grows

bool reads_variable(const Label& label) {
  if (label.kind == StepKind::kRead) return true;
  const std::string& type = label.node->type();
  return type == "ReadVariableOp" || type == "ResourceGather" || type == "ResourceGatherNd";
}

// What an island was made of, and how it is run.
class Island {
 public:
  // A call that was an instruction of its own.
  struct Member {
    Call call;
    CallSite site;
    Label label;
    int lane;
    bool light;  // launches nothing: made each step, so that its handle is fresh
    std::vector<uint32_t> after;  // earlier members of other lanes
  };
  std::vector<Member> members;
  int queue = 0;
  std::vector<uint32_t> loose;  // slots whose address may change from step to step
  struct Reference {            // a handle that a write hands on
    uint32_t from, to;
  };
  std::vector<Reference> references;
  struct Touched {  // a variable, by the slot of its handle
    uint32_t slot;
    int16_t own_aliases;
    bool writes;
  };
  std::vector<Touched> touched;

  static void run(const void* state, KernelContext& c) {
    static_cast<const Island*>(state)->run(c);
  }

 private:
  // An instance's recording and what it counts on.
  struct Kept {
    int steps = 0;
    std::unique_ptr<Recording> recording;
    std::vector<const void*> addresses;
  };
  struct Context {
    const Island* island;
    KernelContext* outer;
    std::exception_ptr error;
  };

  void run(KernelContext& c) const {
    std::shared_ptr<void>& slot = c.host_->keepsake(c.instruction_);
    if (!slot) slot = std::make_shared<Kept>();
    Kept& kept = *static_cast<Kept*>(slot.get());
    for (const Member& m : members)
      if (m.light) make(m, c);
    if (kept.steps++ < kWarmSteps || !settled(c)) return run_plainly(c);
    const std::vector<const void*> now = addresses(c);
    if (!kept.recording || now != kept.addresses) {
      kept.recording = record(c);
      kept.addresses = addresses(c);
    }
    for (const Reference& r : references) c.slots_[r.to] = c.slots_[r.from];
    kept.recording->replay();
  }

  void run_plainly(KernelContext& c) const {
    for (const Member& m : members)
      if (!m.light) make(m, c);
  }

  static void make(const Member& m, KernelContext& outer) {
    KernelContext c = outer;
    c.site_ = &m.site;
    try {
      m.call.run(m.call.state, c);
    } catch (Error& e) {
      e.at_node(*m.label.name, m.label.node->type()).from_source(*m.label.source);
      throw;
    }
  }

  static const Variable* variable_at(const Tensor& t) {
    if (t.dtype() != DType::kResource || t.num_elements() != 1) return nullptr;
    return dynamic_cast<const Variable*>(t.data<ResourceHandle>()->resource.get());
  }

  // Would every write of the island happen in place?
  bool settled(KernelContext& c) const {
    for (const Touched& t : touched) {
      const Variable* v = variable_at(c.slots_[t.slot]);
      if (!v) return false;
      const Variable::Place place = v->place();
      if (!place.address || (t.writes && place.holders > 1 + t.own_aliases)) return false;
    }
    return true;
  }

  std::vector<const void*> addresses(KernelContext& c) const {
    std::vector<const void*> all;
    all.reserve(loose.size() + touched.size());
    for (uint32_t s : loose) all.push_back(c.slots_[s].raw());
    for (const Touched& t : touched) all.push_back(variable_at(c.slots_[t.slot])->place().address);
    return all;
  }

  std::unique_ptr<Recording> record(KernelContext& c) const {
    Context context{this, &c, nullptr};
    std::vector<RecordedCall> calls;
    for (uint32_t i = 0; i < members.size(); ++i)
      calls.push_back({&Island::call_member, &context, i, members[i].lane, members[i].after});
    auto recording = c.device().queue(queue).record_calls(calls);
    if (context.error) std::rethrow_exception(context.error);
    return recording;
  }

  static void call_member(void* context, uint64_t i) {
    Context& x = *static_cast<Context*>(context);
    const Member& m = x.island->members[i];
    if (x.error || m.light) return;
    try {
      make(m, *x.outer);
    } catch (...) {
      x.error = std::current_exception();
    }
  }
};

// Which instructions go together, and the program rewritten so.
class Maker {
 public:
  explicit Maker(Program& p) : p_(p) {}

  void run() {
    if (!find()) return;
    order_groups();
    rewrite();
  }

 private:
  static constexpr uint32_t kNone = ~0u;
  struct Edge {
    uint32_t to;
    bool notified;
  };

  bool recordable(uint32_t i) const {
    const Wiring& w = p_.wiring[i];
    const Label& label = p_.labels[i];
    if (w.queue < 0 || w.queue >= label.device->num_queues() || !label.device->can_record())
      return false;
    if (!label.replays || w.blocks) return false;
    const CallSite& site = p_.sites[i];
    for (int k = 0; k < site.num_inputs; ++k) {
      const SlotPlan& slot = p_.slots[site.operands[k]];
      if (slot.space == kHostSpace && slot.dtype != DType::kResource && !slot.is_constant())
        return false;  // read when it is launched
    }
    for (int k = 0; k < site.num_outputs; ++k) {
      const SlotPlan& slot = p_.slots[site.operands[site.num_inputs + k]];
      const bool planned = slot.offset >= 0 || slot.is_constant();
      if (!planned && slot.dtype != DType::kResource && !light(i)) return false;
    }
    return true;
  }
  // A read that only hands on the variable's memory.
  bool light(uint32_t i) const {
    const CallSite& site = p_.sites[i];
    const Label& label = p_.labels[i];
    return (label.kind == StepKind::kRead || label.node->type() == "ReadVariableOp") &&
           site.num_outputs == 1 && p_.slots[site.operands[site.num_inputs]].offset < 0;
  }

  // An instruction's phase grows wherever work enters a device from outside: recordable calls of
  // one device and phase have nothing between them.
  bool find() {
    const auto n = static_cast<uint32_t>(p_.size());
    std::vector<uint32_t> phase(n, 0);
    std::vector<char> can(n);
    std::map<std::pair<Device*, uint32_t>, std::vector<uint32_t>> islands;
    for (uint32_t i = 0; i < n; ++i) can[i] = recordable(i);
    for (uint32_t i = 0; i < n; ++i) {
      const Wiring& w = p_.wiring[i];
      for (uint32_t k = w.successors; k < w.successors + w.num_released + w.num_notified; ++k) {
        const uint32_t s = p_.successors[k];
        const bool enters = can[s] && !(can[i] && p_.labels[i].device == p_.labels[s].device);
        phase[s] = std::max(phase[s], phase[i] + (enters ? 1 : 0));
      }
      if (can[i]) islands[{p_.labels[i].device, phase[i]}].push_back(i);
    }
    group_.assign(n, kNone);
    for (auto& [key, members] : islands) {
      if (members.size() < 2) continue;
      for (uint32_t i : members) group_[i] = static_cast<uint32_t>(groups_.size());
      groups_.push_back(std::move(members));
    }
    const bool any = !groups_.empty();
    for (uint32_t i = 0; i < n; ++i)
      if (group_[i] == kNone) {
        group_[i] = static_cast<uint32_t>(groups_.size());
        groups_.push_back({i});
      }
    return any;
  }

  void order_groups() {
    edges_.resize(groups_.size());
    std::vector<uint32_t> joins(groups_.size(), 0);
    for (uint32_t i = 0; i < p_.size(); ++i) {
      const Wiring& w = p_.wiring[i];
      for (uint32_t k = 0; k < w.num_released + w.num_notified; ++k) {
        const uint32_t to = group_[p_.successors[w.successors + k]];
        if (to == group_[i]) continue;
        auto& list = edges_[group_[i]];
        auto it = std::find_if(list.begin(), list.end(), [&](const Edge& e) { return e.to == to; });
        if (it == list.end()) list.push_back({to, k >= w.num_released}), ++joins[to];
        else it->notified |= k >= w.num_released;
      }
    }
    for (uint32_t g = 0; g < groups_.size(); ++g)
      if (joins[g] == 0) order_.push_back(g);
    for (size_t k = 0; k < order_.size(); ++k)
      for (const Edge& e : edges_[order_[k]])
        if (--joins[e.to] == 0) order_.push_back(e.to);
    if (order_.size() != groups_.size()) throw internal_error("islands make a cycle");
  }

  void rewrite() {
    std::vector<uint32_t> place(groups_.size());
    for (uint32_t k = 0; k < order_.size(); ++k) place[order_[k]] = k;
    std::vector<Call> calls;
    std::vector<CallSite> sites;
    std::vector<Label> labels;
    std::vector<Wiring> wiring;
    for (uint32_t g : order_) {
      const std::vector<uint32_t>& members = groups_[g];
      Wiring w = p_.wiring[members[0]];
      w.num_released = w.num_notified = w.join = w.num_waits = 0;
      w.notify = false;
      w.event = -1;
      wiring.push_back(w);
      if (members.size() == 1) {
        calls.push_back(p_.calls[members[0]]);
        sites.push_back(p_.sites[members[0]]);
        labels.push_back(p_.labels[members[0]]);
      } else {
        add_island(members, calls, sites, labels);
      }
    }
    connect(place, wiring, labels);
    p_.calls = std::move(calls);
    p_.sites = std::move(sites);
    p_.labels = std::move(labels);
    p_.wiring = std::move(wiring);
    p_.count_completions();
  }

  void add_island(const std::vector<uint32_t>& members, std::vector<Call>& calls,
                  std::vector<CallSite>& sites, std::vector<Label>& labels) {
    auto island = std::make_shared<Island>();
    island->queue = p_.wiring[members[0]].queue;
    std::map<uint32_t, uint32_t> index;
    for (uint32_t i : members) {
      index[i] = static_cast<uint32_t>(island->members.size());
      island->members.push_back({p_.calls[i], p_.sites[i], p_.labels[i],
                                 static_cast<int>(p_.wiring[i].queue), light(i), {}});
    }
    for (uint32_t i : members) {
      const Wiring& w = p_.wiring[i];
      for (uint32_t k = w.successors; k < w.successors + w.num_released; ++k)
        if (const auto it = index.find(p_.successors[k]);
            it != index.end() && p_.wiring[it->first].queue != w.queue)
          island->members[it->second].after.push_back(index[i]);
      look_at(i, *island);
    }
    calls.push_back({&Island::run, island.get()});
    CallSite site;
    site.device = p_.labels[members[0]].device;
    auto name = std::make_shared<std::string>(
        fmt::format("{} (and {} more, recorded)", *p_.labels[members[0]].name, members.size() - 1));
    site.node = name.get();
    site.operands = p_.operands.data();
    sites.push_back(site);
    labels.push_back(p_.labels[members[0]]);
    labels.back().name = name.get();
    p_.keep.push_back(std::move(island));
    p_.keep.push_back(std::move(name));
  }

  void look_at(uint32_t i, Island& island) const {
    const CallSite& site = p_.sites[i];
    const bool is_light = light(i);
    for (int k = 0; k < site.num_inputs; ++k) {
      const uint32_t slot = site.operands[k];
      const SlotPlan& plan = p_.slots[slot];
      if (plan.dtype == DType::kResource)
        island.touched.push_back({slot, site.own_aliases, !reads_variable(p_.labels[i])});
      else if (plan.offset < 0 && !plan.is_constant() && !is_light)
        island.loose.push_back(slot);
    }
    for (int k = 0; k < site.num_outputs && site.num_inputs > 0; ++k)
      if (const uint32_t slot = site.operands[site.num_inputs + k];
          p_.slots[slot].dtype == DType::kResource)
        island.references.push_back({site.operands[0], slot});
  }

  void connect(const std::vector<uint32_t>& place, std::vector<Wiring>& wiring,
               const std::vector<Label>& labels) {
    p_.successors.clear();
    p_.waits.clear();
    p_.event_devices.clear();
    std::vector<std::vector<int32_t>> waits(wiring.size());
    for (uint32_t g : order_) {
      Wiring& from = wiring[place[g]];
      from.successors = static_cast<uint32_t>(p_.successors.size());
      for (const bool notified : {false, true})
        for (const Edge& e : edges_[g]) {
          if (e.notified != notified) continue;
          const uint32_t to = place[e.to];
          p_.successors.push_back(to);
          ++(notified ? from.num_notified : from.num_released);
          ++wiring[to].join;
          from.notify |= notified;
          const bool same = labels[place[g]].device == labels[to].device &&
                            from.queue == wiring[to].queue;
          if (notified || from.queue < 0 || same) continue;
          if (from.event < 0) {
            from.event = static_cast<int32_t>(p_.event_devices.size());
            p_.event_devices.push_back(labels[place[g]].device);
          }
          waits[to].push_back(from.event);
        }
    }
    for (size_t k = 0; k < wiring.size(); ++k) {
      wiring[k].waits = static_cast<uint32_t>(p_.waits.size());
      wiring[k].num_waits = static_cast<uint16_t>(waits[k].size());
      p_.waits.insert(p_.waits.end(), waits[k].begin(), waits[k].end());
    }
  }

  Program& p_;
  std::vector<uint32_t> group_;                 // by instruction
  std::vector<std::vector<uint32_t>> groups_;   // instructions, in their order
  std::vector<std::vector<Edge>> edges_;        // by group
  std::vector<uint32_t> order_;                 // groups, in an order in which they may run
};

}  // namespace

void make_islands(Program& program) {
  for (const Label& label : program.labels)
    if (label.device->can_record()) {
      program.patience = kCardPatience;
      return Maker(program).run();
    }
}

}  // namespace emplace
