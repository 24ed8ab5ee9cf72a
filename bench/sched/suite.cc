#include "bench/sched/suite.h"

#include <algorithm>
#include <stdexcept>

namespace emplace::bench {
namespace {

constexpr double kRoundNs = 3e6;
constexpr int kProofRuns = 12;

// The work stays where it is while the contender lives: each has its own.
struct Prepared {
  Contender* contender;
  std::unique_ptr<Workload> workload;
};

Prepared prepare(const Case& work, Contender& contender) {
  Prepared prepared{&contender, work.workload()};
  contender.prepare(*work.graph, prepared.workload->work(), work.workers);
  prepared.workload->reset();
  for (int i = 0; i < kProofRuns; ++i) contender.run();
  const std::optional<std::string> own = contender.own_proof();
  const std::string wrong = own ? *own : prepared.workload->check(kProofRuns);
  if (!wrong.empty()) {
    throw std::runtime_error(row_name(work.name, work.workers) + ", " + contender.name() + ": " +
                             wrong);
  }
  return prepared;
}

std::vector<Prepared> prepare_all(Case& work) {
  std::vector<Prepared> all;
  for (const auto& peer : work.peers) all.push_back(prepare(work, *peer));
  if (work.ours != nullptr) all.push_back(prepare(work, *work.ours));
  return all;
}

std::vector<Subject> subjects_of(const std::vector<Prepared>& all, int workers) {
  std::vector<Subject> subjects;
  for (const Prepared& prepared : all) {
    Contender* contender = prepared.contender;
    Subject subject{[contender] { contender->run(); }, 1, workers, {}};
    subject.repetitions = repetitions_for(subject.body, kRoundNs);
    subjects.push_back(std::move(subject));
  }
  return subjects;
}

}  // namespace

std::string row_name(const std::string& case_name, int workers) {
  return "sched/" + case_name + "/" + std::to_string(workers);
}

Row run_case(QuietClock& clock, Case& work) {
  const std::vector<Prepared> all = prepare_all(work);
  std::vector<Subject> subjects = subjects_of(all, work.workers);
  measure(clock, subjects, work.patience);
  const double scale = work.whole_runs ? 1e-3 : 1.0 / work.graph->nodes;
  Row row{row_name(work.name, work.workers), {}, work.whole_runs ? "us/run" : "ns/node", {}};
  row.quiet_rounds = subjects.front().timing.quiet;
  for (size_t i = 0; i < all.size(); ++i) {
    const double value = subjects[i].timing.ns * scale;
    row.quiet_rounds = std::min(row.quiet_rounds, subjects[i].timing.quiet);
    if (all[i].contender == work.ours.get()) {
      row.value = value;
    } else {
      row.peers.push_back({all[i].contender->name(), value, all[i].contender->schedules()});
    }
  }
  return row;
}

Row gain_row(const std::string& case_name, const Row& one, const Row& two) {
  Row row{"sched/" + case_name + "/gain", {}, "x", {}, std::min(one.quiet_rounds, two.quiet_rounds),
          true};
  if (one.value && two.value) row.value = *one.value / *two.value;
  for (const Peer& peer : two.peers) {
    const Peer* alone = one.peer(peer.name);
    if (alone != nullptr) row.peers.push_back({peer.name, alone->value / peer.value, peer.counts});
  }
  return row;
}

}  // namespace emplace::bench
