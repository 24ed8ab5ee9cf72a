#include "exec/islands.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "exec/island.h"

namespace emplace {
namespace {

constexpr int kCardPatience = 20'000;  // most steps of a card are shorter than waking up

bool reads_variable(const Label& label) {
  if (label.kind == StepKind::kRead) return true;
  const std::string& type = label.node->type();
  return type == "ReadVariableOp" || type == "ResourceGather" || type == "ResourceGatherNd";
}

// Which instructions go together, and the program rewritten so.
class Maker {
 public:
  Maker(Program& p, const PlannerOptions& options) : p_(p), options_(options) {}

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
    if (!p_.guards.empty() && p_.guards[i].kind != Guard::Kind::kCall) return false;
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
      if (slot.space == kHostSpace && slot.dtype != DType::kResource)
        return false;  // written by the host, which a replay leaves out
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

  // The gates an instruction needs to be open: an island runs whole or not at all.
  std::vector<uint32_t> gates(uint32_t i) const {
    if (p_.guards.empty()) return {};
    const Checks c = p_.guards[i].checks;
    return {p_.check_list.begin() + c.first, p_.check_list.begin() + c.first + c.count};
  }

  // A variable's handle, which is there at once: who takes it waits for nobody.
  bool is_handle(uint32_t i) const {
    return p_.wiring[i].queue < 0 && p_.labels[i].node && p_.labels[i].node->type() == "VarHandleOp";
  }
  bool together(uint32_t a, uint32_t b) const {
    return p_.labels[a].device == p_.labels[b].device && gates(a) == gates(b);
  }
  // A read that only hands on memory goes with its takers: by itself it launches nothing.
  void move_light_reads(std::vector<uint32_t>& phase, const std::vector<char>& can) const {
    for (uint32_t i = static_cast<uint32_t>(p_.size()); i-- > 0;) {
      if (!can[i] || !light(i)) continue;
      const Wiring& w = p_.wiring[i];
      uint32_t next = kNone;
      for (uint32_t k = w.successors; k < w.successors + w.num_released + w.num_notified; ++k) {
        const uint32_t s = p_.successors[k];
        next = std::min(next, can[s] && together(i, s) ? phase[s] : phase[i]);
      }
      if (next != kNone) phase[i] = std::max(phase[i], next);
    }
  }

  // An instruction's phase grows wherever work enters a device from outside, or from behind other
  // gates: recordable calls of one device, phase and gates have nothing between them.
  bool find() {
    const auto n = static_cast<uint32_t>(p_.size());
    std::vector<uint32_t> phase(n, 0);
    std::vector<char> can(n);
    std::map<std::tuple<Device*, uint32_t, std::vector<uint32_t>>, std::vector<uint32_t>> islands;
    for (uint32_t i = 0; i < n; ++i) can[i] = recordable(i);
    for (uint32_t i = 0; i < n; ++i) {
      const Wiring& w = p_.wiring[i];
      for (uint32_t k = w.successors; k < w.successors + w.num_released + w.num_notified; ++k) {
        const uint32_t s = p_.successors[k];
        const bool enters = can[s] && !is_handle(i) && !(can[i] && together(i, s));
        phase[s] = std::max(phase[s], phase[i] + (enters ? 1 : 0));
      }
    }
    move_light_reads(phase, can);
    for (uint32_t i = 0; i < n; ++i)
      if (can[i]) islands[{p_.labels[i].device, phase[i], gates(i)}].push_back(i);
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
    HostVector<Call> calls;
    HostVector<CallSite> sites;
    HostVector<Label> labels;
    HostVector<Wiring> wiring;
    std::vector<Guard> guards;
    for (uint32_t g : order_) {
      const std::vector<uint32_t>& members = groups_[g];
      Wiring w = p_.wiring[members[0]];
      w.num_released = w.num_notified = w.join = w.num_waits = 0;
      w.notify = false;
      w.event = -1;
      wiring.push_back(w);
      if (!p_.guards.empty()) guards.push_back(p_.guards[members[0]]);
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
    p_.guards = std::move(guards);
    for (uint32_t& gate : p_.check_list) gate = place[group_[gate]];
    p_.count_completions();
  }

  void add_island(const std::vector<uint32_t>& members, HostVector<Call>& calls,
                  HostVector<CallSite>& sites, HostVector<Label>& labels) {
    auto island = std::make_shared<Island>();
    island->queue = p_.wiring[members[0]].queue;
    writes_.clear();
    std::map<uint32_t, uint32_t> index;
    for (uint32_t i : members) {
      index[i] = static_cast<uint32_t>(island->members.size());
      island->members.push_back({p_.calls[i], p_.sites[i], p_.labels[i],
                                 static_cast<int>(p_.wiring[i].queue), light(i),
                                 static_cast<int>(p_.sites[i].own_aliases), {}});
    }
    for (uint32_t i : members) {
      const Wiring& w = p_.wiring[i];
      for (uint32_t k = w.successors; k < w.successors + w.num_released; ++k)
        if (const auto it = index.find(p_.successors[k]);
            it != index.end() && p_.wiring[it->first].queue != w.queue && !dropped())
          island->members[it->second].after.push_back(index[i]);
      look_at(i, index[i], *island);
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
    labels.back().island = true;
    p_.keep.push_back(std::move(island));
    p_.keep.push_back(std::move(name));
  }

  void look_at(uint32_t i, uint32_t member, Island& island) {
    const CallSite& site = p_.sites[i];
    const bool is_light = light(i);
    for (int k = 0; k < site.num_inputs; ++k) {
      const uint32_t slot = site.operands[k];
      const SlotPlan& plan = p_.slots[slot];
      if (is_light)  // its handle is one more for the writes before it
        for (const Write& w : writes_[first_handle(slot)]) {
          const int now = ++island.touched[w.touched].own_aliases;
          int& most = island.members[w.member].own_aliases;
          most = std::max(most, now);
        }
      if (plan.dtype == DType::kResource) touch(slot, i, member, island);
      else if (plan.offset < 0 && !plan.is_constant() && !is_light)
        island.loose.push_back(slot);
    }
    for (int k = 0; k < site.num_outputs && site.num_inputs > 0; ++k)
      if (const uint32_t slot = site.operands[site.num_inputs + k];
          p_.slots[slot].dtype == DType::kResource)
        hand_on(site.operands[0], slot, island);
  }
  void touch(uint32_t slot, uint32_t i, uint32_t member, Island& island) {
    const bool writes = !reads_variable(p_.labels[i]);
    if (writes) writes_[first_handle(slot)].push_back({island.touched.size(), member});
    island.touched.push_back({slot, static_cast<int>(p_.sites[i].own_aliases), writes});
  }
  void hand_on(uint32_t from, uint32_t to, Island& island) {
    handed_on_[to] = first_handle(from);
    island.references.push_back({from, to});
  }

  // The handle that this one was handed on from.
  uint32_t first_handle(uint32_t slot) const {
    const auto it = handed_on_.find(slot);
    return it == handed_on_.end() ? slot : it->second;
  }

  void connect(const std::vector<uint32_t>& place, HostVector<Wiring>& wiring,
               const HostVector<Label>& labels) {
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
          if (notified || from.queue < 0 || same || dropped()) continue;
          if (from.event < 0) {
            from.event = static_cast<int32_t>(p_.event_devices.size());
            p_.event_devices.push_back(labels[place[g]].device);
          }
          waits[to].push_back(from.event);
        }
    }
    for (size_t k = 0; k < wiring.size(); ++k) {
      wiring[k].waits = static_cast<uint32_t>(p_.waits.size());
      wiring[k].num_waits = static_cast<uint32_t>(waits[k].size());
      p_.waits.insert(p_.waits.end(), waits[k].begin(), waits[k].end());
    }
  }

  // Tests leave one out.
  bool dropped() { return planned_waits_++ == options_.drop_wait; }

  Program& p_;
  const PlannerOptions& options_;
  int planned_waits_ = 0;
  std::map<uint32_t, uint32_t> handed_on_;           // by slot: the handle it comes from
  struct Write {
    size_t touched;
    uint32_t member;
  };
  std::map<uint32_t, std::vector<Write>> writes_;    // of the island, by handle
  std::vector<uint32_t> group_;                 // by instruction
  std::vector<std::vector<uint32_t>> groups_;   // instructions, in their order
  std::vector<std::vector<Edge>> edges_;        // by group
  std::vector<uint32_t> order_;                 // groups, in an order in which they may run
};

}  // namespace

void make_islands(Program& program, const PlannerOptions& options) {
  for (const Label& label : program.labels)
    if (label.device->can_record()) {
      program.patience = kCardPatience;
      program.on_card = true;
      return Maker(program, options).run();
    }
}

}  // namespace emplace
