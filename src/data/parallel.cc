#include "data/parallel.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "data/stage_error.h"

namespace emplace::data {
namespace {

int64_t cores() { return std::max<int64_t>(1, std::thread::hardware_concurrency()); }

// With as many calls as need be. Functions that wait rather than compute may need more than cores.
int64_t most_threads() { return std::max<int64_t>(16, 4 * cores()); }

constexpr int64_t kWaitsForMore = 2;

}  // namespace

bool in_order(const std::string& deterministic, const PassOptions& options) {
  if (deterministic == "true") return true;
  if (deterministic == "false") return false;
  if (deterministic != "default")
    throw invalid_argument(fmt::format(
        "deterministic must be \"true\", \"false\" or \"default\", not \"{}\"", deterministic));
  return options.deterministic.value_or(true);
}

ParallelStage::ParallelStage(DatasetPtr self, std::unique_ptr<Iterator> input, Pass& pass,
                             Parallelism p)
    : self_(std::move(self)),
      input_(std::move(input)),
      pass_(pass),
      parallelism_(p),
      scope_(pass) {}

ParallelStage::~ParallelStage() = default;

void ParallelStage::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  scope_.end();
  wanted_.notify_all();
  threads_.clear();
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

// With the lock.
void ParallelStage::add_threads() {
  const int64_t limit = pass_.options().private_threads;
  const auto limited = [&](int64_t n) { return limit > 0 ? std::min(n, limit) : n; };
  const auto have = static_cast<int64_t>(threads_.size());
  if (parallelism_.calls != kAutotune) {
    if (have == 0)
      for (int64_t i = 0; i < limited(parallelism_.calls); ++i) start_one();
    return;
  }
  if (have == 0) {
    for (int64_t i = 0; i < limited(std::min<int64_t>(2, cores())); ++i) start_one();
  } else if (waits_in_a_row_ >= kWaitsForMore && running_ >= have &&
             have < limited(most_threads()) && pass_.options().autotune.value_or(true)) {
    waits_in_a_row_ = 0;
    start_one();
  }
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
  if (threads_.empty()) add_threads();
  std::shared_ptr<Job> job = take();
  if (!job && !over()) {
    ++waits_in_a_row_;
    add_threads();
    wanted_.notify_all();
    c.wait(done_, lock, [&] { return (job = take()) || over(); });
  } else {
    waits_in_a_row_ = 0;
  }
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
  Caller c{pass_, scope_.calls, false};
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
  attempt([&] { pulled = pull(c, in); });
  lock.lock();
  pulling_ = false;
  const bool end = !pulled && !job->error;
  ended_ = ended_ || end;
  if (!end) wanted_.notify_one();
  lock.unlock();
  Element out;
  if (pulled)
    attempt([&] {
      if (!mine) mine = worker(c);
      some = mine->work(c, in, out);
    });
  in.clear();
  lock.lock();
  --running_;
  job->element = std::move(out);
  job->state = some || job->error ? Job::kDone : Job::kNone;
  done_.notify_all();
  if (paused_) idle_.notify_all();
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
    jobs_.push_back(std::move(j));
  }
  pulled_ = r.number();
  ended_ = r.number() != 0;
  input_->restore(c, r);
  restore_more(r);
}

}  // namespace emplace::data
