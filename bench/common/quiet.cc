#include "bench/common/quiet.h"

#include <dirent.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <thread>

namespace emplace::bench {
namespace {

constexpr double kTolerance = 0.03;       // share of a round that others may have had
constexpr double kLoopTolerance = 1.06;   // a disturbed loop is longer than this
constexpr double kWakeNs = 30'000;        // a woken thread waits this long on an idle virtual core
constexpr int kLoopLength = 40'000;

double clock_ns(clockid_t id) {
  timespec t;
  clock_gettime(id, &t);
  return 1e9 * static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec);
}

double wall_ns() { return clock_ns(CLOCK_MONOTONIC); }

// Additions that no compiler shortens, no cache slows and that do not wait for each other: they use
// all of the core that there is, so whoever shares it shows. One piece of code for all who ask: two
// copies, laid out differently, may differ in speed by more than a neighbour makes.
[[gnu::noinline]] double time_known_loop() {
  const double start = wall_ns();
  uint64_t a = 0, b = 0, c = 0, d = 0;
  for (int i = 0; i < kLoopLength; ++i) {
    ++a, ++b, ++c, ++d;
    asm volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
  }
  return wall_ns() - start;
}

struct QueueTime {
  double waited_ns = 0;
  double slices = 0;
};

void add_thread(const char* id, QueueTime& sum) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/task/%.20s/schedstat", id);
  FILE* file = std::fopen(path, "r");
  if (file == nullptr) return;
  double ran = 0, waited = 0, slices = 0;
  if (std::fscanf(file, "%lf %lf %lf", &ran, &waited, &slices) == 3) {
    sum.waited_ns += waited;
    sum.slices += slices;
  }
  std::fclose(file);
}

// How long all our threads stood runnable without a core. Zero where the kernel does not say.
QueueTime queue_time() {
  QueueTime sum;
  DIR* tasks = opendir("/proc/self/task");
  if (tasks == nullptr) return sum;
  while (const dirent* entry = readdir(tasks)) {
    if (entry->d_name[0] != '.') add_thread(entry->d_name, sum);
  }
  closedir(tasks);
  return sum;
}

bool waited_for_core(const QueueTime& before, const QueueTime& after, double wall) {
  const double waited = after.waited_ns - before.waited_ns;
  const double wakes = after.slices - before.slices;
  return waited - wakes * kWakeNs > kTolerance * wall;
}

bool enough(const std::vector<std::vector<Round>>& rounds, int wanted) {
  return std::ranges::all_of(rounds, [&](const std::vector<Round>& of_one) {
    return std::ranges::count_if(of_one, &Round::quiet) >= wanted;
  });
}

}  // namespace

QuietClock::QuietClock() : loop_ns_(std::numeric_limits<double>::max()) {
  for (int i = 0; i < 200; ++i) loop_ns_ = std::min(loop_ns_, time_known_loop());
}

bool QuietClock::loop_undisturbed() {
  const double ns = time_known_loop();
  loop_ns_ = std::min(loop_ns_, ns);
  return ns <= kLoopTolerance * loop_ns_;
}

Round QuietClock::time(const std::function<void()>& body, int repetitions, int threads) {
  const bool quiet_before = loop_undisturbed();
  const QueueTime queued = queue_time();
  const double cpu_start = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  const double start = wall_ns();
  for (int i = 0; i < repetitions; ++i) body();
  const double wall = wall_ns() - start;
  const double cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_start;
  const bool waited = waited_for_core(queued, queue_time(), wall);
  const bool lost_core = threads == 1 && wall - cpu > kTolerance * wall;
  const bool quiet_after = loop_undisturbed();
  return {wall / repetitions, quiet_before && quiet_after && !waited && !lost_core};
}

double lower_quartile(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto quarter = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 4);
  std::nth_element(values.begin(), quarter, values.end());
  return *quarter;
}

Timing summarize(const std::vector<Round>& rounds) {
  Timing timing{0, 0, static_cast<int>(rounds.size())};
  std::vector<double> quiet;
  double best = std::numeric_limits<double>::max();
  for (const Round& round : rounds) {
    best = std::min(best, round.ns);
    if (round.quiet) quiet.push_back(round.ns);
  }
  timing.quiet = static_cast<int>(quiet.size());
  if (!rounds.empty()) timing.ns = quiet.empty() ? best : lower_quartile(std::move(quiet));
  return timing;
}

void measure(QuietClock& clock, std::vector<Subject>& subjects, const Patience& patience) {
  std::vector<std::vector<Round>> rounds(subjects.size());
  const double deadline = wall_ns() + patience.seconds * 1e9;
  do {
    for (size_t i = 0; i < subjects.size(); ++i) {
      const Subject& subject = subjects[i];
      // Pools of the subject before must have parked, or they would share our core.
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      subject.body();
      rounds[i].push_back(clock.time(subject.body, subject.repetitions, subject.threads));
    }
  } while (!enough(rounds, patience.wanted) && wall_ns() < deadline);
  for (size_t i = 0; i < subjects.size(); ++i) subjects[i].timing = summarize(rounds[i]);
}

int repetitions_for(const std::function<void()>& body, double target_ns) {
  body();
  double best = std::numeric_limits<double>::max();
  for (int i = 0; i < 5; ++i) {
    const double start = wall_ns();
    body();
    best = std::min(best, wall_ns() - start);
  }
  return std::clamp(static_cast<int>(target_ns / std::max(best, 20.0)), 1, 1'000'000);
}

}  // namespace emplace::bench
