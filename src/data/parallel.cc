#include "data/parallel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "data/rows.h"
#include "data/stage_error.h"

namespace emplace::data {
namespace {

// With as many calls as need be. Functions that wait rather than compute may
// need more than cores.
int64_t most_threads(const Budget& b) { return std::max<int64_t>(16, 4 * b.cpu); }

constexpr int64_t kWaitsForMore = 2;
// An element that takes less is made sooner than handed over to another thread.
constexpr double kWorthAThread = 20'000;

// What this thread computed so far, in nanoseconds.
double thread_cpu() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

}  // namespace

bool in_order(const std::string& deterministic, const PassOptions& options) {
  if (deterministic == "true") return true;
  if (deterministic == "false") return false;
  if (deterministic != "default")
    throw invalid_argument(fmt::format(
        "deterministic must be \"true\", \"false\" or \"default\", not \"{}\"", deterministic));
  return options.deterministic.value_or(true);
}

ParallelStage::ParallelStage(DatasetPtr self, std::unique_ptr<Iterator> input, const Caller& c,
                             Parallelism p)
    : self_(std::move(self)),
      input_(std::move(input)),
      pass_(c.pass),
      branch_(c.branch),
      counts_(c.pass.counts_of(*self_) ? *c.pass.counts_of(*self_) : none_),
      parallelism_(p),
      scope_(c.pass) {
  counts_.has_threads = true;
  counts_.adapts = p.calls == kAutotune && pass_.options().autotune.value_or(true);
}

ParallelStage::~ParallelStage() = default;

void ParallelStage::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  scope_.end();
  wanted_.notify_all();
  threads_.clear();
  pass_.budget().compute(-computing_);
  for (const auto& j : jobs_) pass_.budget().buffer(-j->bytes);
  jobs_.clear();
  StageCounts::set(counts_.buffered, 0);
}

bool ParallelStage::ready() const {
  const std::lock_guard lock(mutex_);
  if (over()) return true;
  if (jobs_.empty()) return false;
  const auto done = [](const auto& j) { return j->state != Job::kRunning; };
  return parallelism_.in_order ? done(jobs_.front()) : std::ranges::any_of(jobs_, done);
}

void ParallelStage::start_one() {
  threads_.push_back(std::make_unique<StageThread>("data_parallel", [this] { run(); }));
}

// With the lock, the first ones.
void ParallelStage::start_some() {
  const PassOptions& o = pass_.options();
  int64_t n = parallelism_.calls;
  if (n == kAutotune) {
    const bool all = o.all_cores_at_once || !counts_.adapts;
    const int64_t at_first = all ? pass_.budget().cpu : std::min<int64_t>(2, pass_.budget().cpu);
    n = std::max(o.initial_parallelism > 0 ? o.initial_parallelism : at_first, o.min_parallelism);
  }
  for (int64_t i = 0; i < n; ++i) start_one();
  StageCounts::set(counts_.threads, n);
}

// How many threads would give elements as fast as they are asked for, or as
// fast as the input gives its own: more than that would wait. Those that
// compute share the cores of the pass.
int64_t ParallelStage::useful_threads() const {
  const auto have = static_cast<int64_t>(threads_.size());
  if (!work_.known || work_.value < kWorthAThread) return have;
  if (bytes_.known && !pass_.budget().has_room_for(static_cast<int64_t>(2 * bytes_.value)))
    return have;
  const double limit = std::max({pull_.value, request_.value, 1.0});
  auto n = static_cast<int64_t>(std::ceil(std::min(work_.value / limit, 1e6)));
  n = std::min({n, 2 * have, most_threads(pass_.budget())});
  const double cores = std::min(1.0, cpu_.value / work_.value);
  while (n > have && !pass_.budget().has_cores_for(static_cast<double>(n) * cores - computing_))
    --n;
  return std::max(n, have);
}

// With the lock.
void ParallelStage::add_threads() {
  if (threads_.empty()) return start_some();
  const auto have = static_cast<int64_t>(threads_.size());
  if (!counts_.adapts || waits_in_a_row_ < kWaitsForMore || running_ < have) return;
  for (int64_t n = useful_threads() - have; n > 0; --n) {
    waits_in_a_row_ = 0;
    start_one();
  }
  StageCounts::set(counts_.threads, static_cast<int64_t>(threads_.size()));
}

void ParallelStage::start() {
  const std::lock_guard lock(mutex_);
  if (threads_.empty()) start_some();
}

// The job whose output is next; null: none is done yet.
std::shared_ptr<ParallelStage::Job> ParallelStage::take() {
  while (!jobs_.empty() && jobs_.front()->state == Job::kNone) jobs_.pop_front();
  for (auto it = jobs_.begin(); it != jobs_.end(); ++it) {
    if ((*it)->state == Job::kDone) {
      const std::shared_ptr<Job> job = *it;
      jobs_.erase(it);
      return job;
    }
    if (parallelism_.in_order) return nullptr;
  }
  return nullptr;
}

bool ParallelStage::next(Caller& c, Element& out) {
  std::unique_lock lock(mutex_);
  if (threads_.empty()) start_some();
  if (counts_.adapts && left_ != Clock::time_point())
    request_.add(static_cast<double>(nanoseconds_since(left_)));
  std::shared_ptr<Job> job = take();
  if (!job && !over()) {
    ++waits_in_a_row_;
    add_threads();
    wanted_.notify_all();
    const auto begun = Clock::now();
    c.wait(done_, lock, [&] { return (job = take()) || over(); });
    StageCounts::add(counts_.waited, nanoseconds_since(begun));
  } else {
    waits_in_a_row_ = 0;
  }
  if (job) {
    StageCounts::add(counts_.buffered, -1);
    StageCounts::add(counts_.buffered_bytes, -job->bytes);
    pass_.budget().buffer(-job->bytes);
  }
  if (counts_.adapts) left_ = Clock::now();
  lock.unlock();
  if (!job) return false;
  wanted_.notify_one();
  if (job->error) throw at_stage(*std::move(job->error), *self_, job->number);
  out = std::move(job->element);
  return true;
}

bool ParallelStage::has_room() const {
  return jobs_.size() < std::max<size_t>(2, 2 * threads_.size());
}

void ParallelStage::run() {
  std::unique_lock lock(mutex_);
  Caller c{pass_, scope_.calls, false, branch_};
  std::unique_ptr<Worker> mine;
  for (;;) {
    wanted_.wait(lock,
                 [&] { return stopped_ || (!ended_ && !pulling_ && !paused_ && has_room()); });
    if (stopped_) return;
    make(mine, c, lock);
  }
}

void ParallelStage::make(std::unique_ptr<Worker>& mine, Caller& c,
                         std::unique_lock<std::mutex>& lock) {
  const auto job = std::make_shared<Job>();
  job->number = pulled_++;
  jobs_.push_back(job);
  pulling_ = true;
  ++running_;
  lock.unlock();
  Element in;
  bool some = false, pulled = false;
  const auto attempt = [&](auto f) {
    try {
      f();
    } catch (const Error& e) {
      job->error = e;
    } catch (const std::bad_alloc&) {
      job->error = resource_exhausted("out of memory");
    } catch (const std::exception& e) {
      job->error = internal_error(e.what());
    }
  };
  const auto asked = Clock::now();
  attempt([&] { pulled = pull(c, in); });
  const auto pulling = static_cast<double>(nanoseconds_since(asked));
  lock.lock();
  pull_.add(pulling);
  pulling_ = false;
  const bool end = !pulled && !job->error;
  ended_ = ended_ || end;
  if (!end) wanted_.notify_one();
  lock.unlock();
  Element out;
  const auto begun = Clock::now();
  const double cpu = counts_.adapts ? thread_cpu() : 0;
  if (pulled)
    attempt([&] {
      if (!mine) mine = worker(c);
      some = mine->work(c, in, out);
    });
  in.clear();
  const double computed = counts_.adapts ? thread_cpu() - cpu : 0;
  lock.lock();
  --running_;
  if (pulled) made(begun, computed);
  job->element = std::move(out);
  job->state = some || job->error ? Job::kDone : Job::kNone;
  if (job->state == Job::kDone) done(*job);
  done_.notify_all();
  if (paused_) idle_.notify_all();
}

// With the lock: what an element took.
void ParallelStage::made(Clock::time_point begun, double cpu) {
  const int64_t took = nanoseconds_since(begun);
  StageCounts::add(counts_.worked, took);
  work_.add(static_cast<double>(took));
  cpu_.add(cpu);
  if (!counts_.adapts) return;
  const double cores = static_cast<double>(threads_.size()) *
                       std::min(1.0, cpu_.value / std::max(1.0, pull_.value + work_.value));
  pass_.budget().compute(cores - computing_);
  computing_ = cores;
}

// With the lock: an output waits to be taken.
void ParallelStage::done(Job& job) {
  job.bytes = bytes_of_element(job.element);
  bytes_.add(static_cast<double>(job.bytes));
  pass_.budget().buffer(job.bytes);
  StageCounts::add(counts_.buffered, 1);
  StageCounts::add(counts_.buffered_bytes, job.bytes);
  StageCounts::set(counts_.room, static_cast<int64_t>(2 * threads_.size()));
}

void ParallelStage::save(StateWriter& w) {
  std::unique_lock lock(mutex_);
  paused_ = true;
  idle_.wait(lock, [&] { return running_ == 0; });
  int64_t n = 0;
  for (const auto& j : jobs_) n += j->state == Job::kDone;
  w.put(n);
  for (const auto& j : jobs_) {
    if (j->state != Job::kDone) continue;
    w.put(int64_t{j->error.has_value()});
    w.put(j->number);
    if (j->error) w.put(static_cast<int64_t>(j->error->code())), w.put(j->error->message());
    else w.put(j->element);
  }
  w.put(pulled_);
  w.put(int64_t{ended_});
  input_->save(w);
  save_more(w);
  paused_ = false;
  wanted_.notify_all();
}

void ParallelStage::restore(Caller& c, StateReader& r) {
  for (int64_t n = r.number(); n > 0; --n) {
    auto j = std::make_shared<Job>();
    j->state = Job::kDone;
    const bool failed = r.number() != 0;
    j->number = r.number();
    if (failed) {
      const auto code = static_cast<Code>(r.number());
      j->error = Error(code, r.text());
    } else {
      j->element = r.element();
    }
    done(*j);
    jobs_.push_back(std::move(j));
  }
  pulled_ = r.number();
  ended_ = r.number() != 0;
  input_->restore(c, r);
  restore_more(r);
}

}  // namespace emplace::data
