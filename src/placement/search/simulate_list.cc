#include "placement/search/simulate_list.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace emplace::planning {

ListSimulation::ListSimulation(const Problem& problem)
    : p_(problem), queue_(problem.devices), touched_(problem.devices) {
  for (double cores : p_.pool_cores) pools_.emplace_back(cores);
}

void ListSimulation::reset(std::span<const int> where) {
  where_ = where.data();
  waiting_.resize(p_.nodes);
  for (int i = 0; i < p_.nodes; ++i) waiting_[i] = int(p_.pred(i).size());
  busy_.assign(p_.devices, 0);
  ready_flag_.assign(p_.nodes, 0);
  for (auto& q : queue_) q.clear();
  std::fill(touched_.begin(), touched_.end(), 0);
  touched_list_.clear();
  start_.assign(p_.nodes, 0);
  finish_.assign(p_.nodes, 0);
  if (p_.graph.serial_links) channel_free_.assign(2 * size_t(p_.devices) * p_.devices, 0);
  events_.clear();
  arriving_.clear();
  transfers_.clear();
  for (CorePool& pool : pools_) pool.clear();
  ended_ = 0;
}

std::optional<double> ListSimulation::in_order(std::span<const int> where,
                                               std::span<const int> order) {
  reset(where);
  priority_ = nullptr;
  for (size_t k = order.size(); k-- > 0;) queue_[where[order[k]]].push_back(order[k]);
  return run();
}

double ListSimulation::by_priority(std::span<const int> where, std::span<const double> priority) {
  reset(where);
  priority_ = priority.data();
  return *run();
}

void ListSimulation::push(Event e) {
  events_.push_back(e);
  std::push_heap(events_.begin(), events_.end(), std::greater<>());
}

void ListSimulation::arrive(int node) {
  if (--waiting_[node] > 0) return;
  ready_flag_[node] = 1;
  const int d = where_[node];
  if (priority_) {
    queue_[d].push_back(node);
    std::push_heap(queue_[d].begin(), queue_[d].end(), [this](int a, int b) {
      if (priority_[a] != priority_[b]) return priority_[a] < priority_[b];
      return p_.rank[a] > p_.rank[b];
    });
  }
  if (!touched_[d]) touched_[d] = 1, touched_list_.push_back(d);
}

void ListSimulation::start(int node, int device, double now) {
  ++busy_[device];
  start_[node] = now;
  const int pool = p_.pool[device];
  if (pool < 0) return push({now + p_.time(node, device), p_.rank[node], node, -1});
  const double cores = std::min(p_.graph.nodes[node].cores, p_.most_cores[device]);
  pools_[pool].join(node, p_.rank[node], p_.time(node, device), cores, now);
  next_end_of(pool, now);
}

// What the pool's cores do next, as long as nobody joins or leaves.
void ListSimulation::next_end_of(int pool, double now) {
  if (const auto next = pools_[pool].next(now))
    push({next->at, next->rank, pool, -2, pools_[pool].version()});
}

bool ListSimulation::void_event(const Event& e) const {
  return e.count == -2 && e.version != pools_[e.from].version();
}

void ListSimulation::dispatch(double now) {
  for (int d : touched_list_) {
    touched_[d] = 0;
    auto& q = queue_[d];
    while (!q.empty() && (p_.slots[d] == 0 || busy_[d] < p_.slots[d])) {
      if (priority_)
        std::pop_heap(q.begin(), q.end(), [this](int a, int b) {
          if (priority_[a] != priority_[b]) return priority_[a] < priority_[b];
          return p_.rank[a] > p_.rank[b];
        });
      else if (!ready_flag_[q.back()])
        break;
      const int node = q.back();
      q.pop_back();
      start(node, d, now);
    }
  }
  touched_list_.clear();
}

void ListSimulation::send_freely(int node, double now) {
  for (const Arc& a : p_.succ(node)) {
    const double t = p_.transfer(a.edge, where_[node], where_[a.node]);
    if (t == 0) {
      arrive(a.node);
      continue;
    }
    arriving_.push_back(a.node);
    push({now + t, p_.rank[node], int(arriving_.size()) - 1, 1});
    if (keep_transfers_) note_free(node, a, now, now + t);
  }
}

// Whatever edges say the same of is one copy.
void ListSimulation::note_free(int node, const Arc& a, double now, double end) {
  const CostEdge& e = p_.graph.edges[a.edge];
  for (size_t k = transfers_.size(); k-- > 0 && transfers_[k].node == node;)
    if (Transfer& t = transfers_[k]; t.output == e.output && t.to == where_[a.node]) {
      t.bytes = std::max(t.bytes, e.bytes);
      t.end = std::max(t.end, end);
      return;
    }
  transfers_.push_back({node, e.output, where_[a.node], e.bytes, now, end});
}

// One transfer an output and device, of the largest edge; the pairs' channels take them as they are
// asked for.
void ListSimulation::send_serially(int node, double now) {
  const int d = where_[node];
  away_.clear();
  for (const Arc& a : p_.succ(node)) {
    if (where_[a.node] == d) arrive(a.node);
    else
      away_.push_back({where_[a.node], p_.graph.edges[a.edge].output,
                       int(&a - p_.succ(node).data())});
  }
  std::sort(away_.begin(), away_.end());
  for (size_t k = 0; k < away_.size();) {
    const auto [e, output, first] = away_[k];
    const int from = int(arriving_.size());
    double bytes = 0;
    for (; k < away_.size() && away_[k].device == e && away_[k].output == output; ++k) {
      const Arc& a = p_.succ(node)[away_[k].arc];
      bytes = std::max(bytes, p_.graph.edges[a.edge].bytes);
      arriving_.push_back(a.node);
    }
    const size_t pair = size_t(d) * p_.devices + e;
    const int c = p_.link_class[pair];
    double& free = channel_free_[p_.channel[pair]];
    const double begin = std::max(now, free);
    free = begin + (c < 0 ? 0 : p_.transfer_bytes(bytes, c));
    push({free, p_.rank[node], from, int(arriving_.size()) - from});
    if (keep_transfers_) transfers_.push_back({node, output, e, bytes, begin, free});
  }
}

void ListSimulation::end(int node, double now) {
  const int d = where_[node];
  finish_[node] = now;
  ++ended_;
  --busy_[d];
  if (!touched_[d]) touched_[d] = 1, touched_list_.push_back(d);
  if (p_.graph.serial_links) send_serially(node, now);
  else send_freely(node, now);
}

std::optional<double> ListSimulation::run() {
  for (int i = 0; i < p_.nodes; ++i)
    if (waiting_[i] == 0) waiting_[i] = 1, arrive(i);
  dispatch(0);
  double last = 0;
  while (!events_.empty()) {
    const double now = events_.front().time;
    while (!events_.empty() && events_.front().time == now) {
      std::pop_heap(events_.begin(), events_.end(), std::greater<>());
      const Event e = events_.back();
      events_.pop_back();
      if (void_event(e)) continue;
      if (e.count < 0) {
        end(e.count == -1 ? e.from : pools_[e.from].leave(now), now);
        if (e.count == -2) next_end_of(e.from, now);
        last = std::max(last, now);
      }
      for (int k = 0; k < e.count; ++k) arrive(arriving_[e.from + k]);
    }
    dispatch(now);
  }
  return ended_ == p_.nodes ? std::optional(last) : std::nullopt;
}

std::vector<int> ListSimulation::order_by_start() const {
  std::vector<int> order(p_.topo);
  std::stable_sort(order.begin(), order.end(), [this](int a, int b) {
    if (start_[a] != start_[b]) return start_[a] < start_[b];
    return finish_[a] < finish_[b];  // one that takes no time makes way
  });
  return order;
}

std::vector<double> bottom_levels(const Problem& p, std::span<const int> where) {
  std::vector<double> level(p.nodes);
  for (size_t k = p.topo.size(); k-- > 0;) {
    const int i = p.topo[k];
    double below = 0;
    for (const Arc& a : p.succ(i))
      below = std::max(below, level[a.node] + p.transfer(a.edge, where[i], where[a.node]));
    level[i] = below + p.time(i, where[i]);
  }
  return level;
}

}  // namespace emplace::planning
