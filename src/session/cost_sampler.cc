#include "session/cost_sampler.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "exec/island.h"

namespace emplace {
namespace {

constexpr uint32_t kWarmSteps = 4;   // the executor measures in the first, islands are made
constexpr uint32_t kEarlySteps = 32;
constexpr int64_t kShare = 100;      // steps run so many times as long as sampling takes
constexpr int64_t kClaimed = INT64_MIN / 2;
constexpr int64_t kLeastNs = 2000;

// The host waits for each call of a card that is timed by itself, which usual steps don't: so much
// shorter the calls really are.
double waiting_share(int64_t usual_ns, int64_t sampled_ns) {
  return usual_ns > 0 && sampled_ns > usual_ns
             ? static_cast<double>(usual_ns) / static_cast<double>(sampled_ns)
             : 1;
}

// What is seen of one step.
class Sample {
 public:
  Sample(const Graph& graph, const DeviceKinds& kinds, double on_queues)
      : graph_(graph), kinds_(kinds), on_queues_(on_queues) {}

  void see(const Label& label, const Stamp& stamp, const OperandShapes* shapes) {
    if (label.kind == StepKind::kLoop) return see_loop(label, stamp);
    if (label.kind != StepKind::kKernel && label.kind != StepKind::kRead) return;
    const Node& node = *label.node;
    const bool own = &node.graph() == &graph_;
    const bool plain = own && !label.joined && shapes && label.kind == StepKind::kKernel &&
                       shapes->inputs.size() == node.inputs().size();
    CostRow& row = of(own ? node.name() : caller(*label.name), label);
    const double seconds = seconds_of(stamp, label);
    row.cost.seconds += seconds;
    if (!plain) return;
    row.call = call_of(node, shapes->inputs);
    std::vector<DType> types;
    for (int i = 0; i < node.num_outputs(); ++i) types.push_back(node.output_type(i));
    row.outputs = shapes_text(types, shapes->outputs);
    calls_.push_back({{}, row.call, row.outputs, row.device, {seconds, 0, 1}});
  }

  // Made as a whole: its nodes' times are parts of its own, as they were call by call.
  void see_island(const Island& island, const Label& label, const Stamp& stamp,
                  const CostBook& book) {
    std::vector<CostRow> rows;
    const double seconds = seconds_of(stamp, label);
    double sum = 0;
    for (const Island::Member& m : island.members)
      if (auto row = book.last_seen(*m.label.name); row && row->device == kind(*m.label.device)) {
        sum += row->cost.seconds;
        rows.push_back(std::move(*row));
      }
    for (CostRow& row : rows) {
      row.cost = {sum > 0 ? seconds * row.cost.seconds / sum : 0, 0, 1};
      islands_.push_back(std::move(row));
    }
  }

  void add_to(CostBook& book) const {
    for (const CostRow& row : islands_) book.add(row);
    for (const CostRow& row : calls_) book.add(row);
    for (const auto& [node, row] : nodes_)
      if (!loops_.contains(node.first)) book.add(row);
    for (const auto& [node, row] : loops_) book.add(row);
  }

 private:
  // A loop's rounds lie within its own time.
  void see_loop(const Label& label, const Stamp& stamp) {
    if (label.node->type() != "While" && label.node->type() != "StatelessWhile") return;
    const std::string& name = &label.node->graph() == &graph_ ? label.node->name() : caller(*label.name);
    CostRow& row = loops_[name];
    row = {name,
           {label.node->type(), {}, {}},
           {},
           kind(*label.device),
           {row.cost.seconds + seconds_of(stamp, label), 0, 1}};
  }

  CostRow& of(const std::string& name, const Label& label) {
    CostRow& row = nodes_[{name, label.device}];
    if (row.node.empty())
      row = {name, {label.node->type(), {}, {}}, {}, kind(*label.device), {0, 0, 1}};
    return row;
  }

  // The graph's own node that an inlined one came with: the longest beginning that is its name.
  const std::string& caller(const std::string& name) {
    const auto [it, fresh] = callers_.try_emplace(name, name);
    if (!fresh) return it->second;
    for (size_t end = name.rfind('/'); end != std::string::npos && end > 0; end = name.rfind('/', end - 1))
      if (graph_.find(name.substr(0, end))) {
        it->second = name.substr(0, end);
        break;
      }
    return it->second;
  }

  const std::string& kind(const Device& device) const { return kinds_.at(device.name()); }
  double seconds_of(const Stamp& s, const Label& label) const {
    return static_cast<double>(s.end - s.start) * 1e-9 *
           (label.device->is_async() ? on_queues_ : 1);
  }

  const Graph& graph_;
  const DeviceKinds& kinds_;
  const double on_queues_;
  std::vector<CostRow> calls_, islands_;
  std::map<std::pair<std::string, const Device*>, CostRow> nodes_;
  std::map<std::string, CostRow> loops_;
  std::unordered_map<std::string, std::string> callers_;
};

void see_all(const Program& program, const StepTrace& trace, const CostBook& book, Sample& sample) {
  for (size_t i = 0; i < trace.stamps.size(); ++i) {
    if (!trace.stamps[i].start) continue;
    if (!program.labels[i].island)
      sample.see(program.labels[i], trace.stamps[i], &trace.shapes[i]);
    else if (trace.whole_islands)
      sample.see_island(*static_cast<const Island*>(program.calls[i].state), program.labels[i],
                        trace.stamps[i], book);
  }
  for (const auto& [label, stamp, shapes] : trace.inside)
    sample.see(*label, stamp, shapes.inputs.empty() ? nullptr : &shapes);
}

}  // namespace

bool CostSampler::wants(Program& program) {
  Program::Sampling& s = program.sampling;
  if (s.steps.fetch_add(1, std::memory_order_relaxed) < kWarmSteps) return false;
  int64_t credit = s.credit_ns.load(std::memory_order_relaxed);
  return credit >= 0 && s.credit_ns.compare_exchange_strong(credit, kClaimed);
}

void CostSampler::ran(Program& program, int64_t ns) {
  Program::Sampling& s = program.sampling;
  const int64_t usual = s.usual_ns.load(std::memory_order_relaxed);
  // The first steps plan, compile and grow memory: what is faster counts at once.
  const bool early = s.steps.load(std::memory_order_relaxed) <= kEarlySteps;
  const int64_t nearer = (std::min(ns, 2 * usual) - usual) / (early && ns < usual ? 1 : 8);
  s.usual_ns.store(usual ? usual + nearer : ns, std::memory_order_relaxed);
  if (s.credit_ns.load(std::memory_order_relaxed) < 0)
    s.credit_ns.fetch_add(ns, std::memory_order_relaxed);
}

void CostSampler::failed(Program& program) { program.sampling.credit_ns.store(0); }

void CostSampler::sampled(Program& program, const Graph& graph, const StepTrace& trace, int64_t ns,
                          const std::function<Absent()>& absent) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const int64_t usual = program.sampling.usual_ns.load(std::memory_order_relaxed);
  Sample sample(graph, kinds_, waiting_share(usual, ns));
  const bool first = !program.sampling.seen_by_call.exchange(true);
  const Absent nodes = first ? absent() : Absent{};
  {
    const std::lock_guard lock(mutex_);
    see_all(program, trace, book_, sample);
    sample.add_to(book_);
    for (const auto& [node, kind] : nodes) book_.add({node, {}, {}, kind, {0, 0, 1}});
    samples_.fetch_add(1, std::memory_order_release);
  }
  Program::Sampling& s = program.sampling;
  const int64_t noting = (Clock::now() - start) / std::chrono::nanoseconds(1);
  const int64_t longer = ns - s.usual_ns.load(std::memory_order_relaxed);
  s.credit_ns.store(-kShare * std::max(kLeastNs, noting + std::max<int64_t>(0, longer)));
}

CostBook CostSampler::book() const {
  const std::lock_guard lock(mutex_);
  return book_;
}

}  // namespace emplace
