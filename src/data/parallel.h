#pragma once
#include <condition_variable>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "data/captured.h"
#include "data/dataset.h"
#include "data/stage_thread.h"
#include "data/state.h"

namespace emplace::data {

inline constexpr int64_t kAutotune = -1;

// How a stage's threads share its work.
struct Parallelism {
  int64_t calls = kAutotune;  // at once
  bool in_order = true;       // or as they come
};
// What a node and the pass say: `deterministic` is "true", "false" or "default".
bool in_order(const std::string& deterministic, const PassOptions& options);

// Threads that turn inputs into outputs, several at once, ahead of who takes them. Inputs are
// pulled by one thread at a time. With as many calls as need be, threads are added while who takes
// outputs waits for them and all threads are at work.
class ParallelStage : public Iterator {
 public:
  ~ParallelStage() override = 0;
  bool ready() const override;
  bool next(Caller& c, Element& out) override;
  void start() override;
  void save(StateWriter& w) override;
  void restore(Caller& c, StateReader& r) override;

 protected:
  ParallelStage(DatasetPtr self, std::unique_ptr<Iterator> input, const Caller& c, Parallelism p);

  // What one thread works with.
  class Worker {
   public:
    virtual ~Worker() = default;
    // Turns what was pulled into an output; false: there is none.
    virtual bool work(Caller& c, Element& in, Element& out) = 0;
  };
  virtual std::unique_ptr<Worker> worker(Caller& c) = 0;
  // The next thing to work on; false at the end. One thread at a time.
  virtual bool pull(Caller& c, Element& in) { return input_->next(c, in); }
  virtual void save_more(StateWriter&) {}
  virtual void restore_more(StateReader&) {}
  // To be called by the destructor of the last class.
  void stop();

  const DatasetPtr self_;
  const std::unique_ptr<Iterator> input_;

 private:
  // A running mean, of recent elements above all.
  struct Mean {
    double value = 0;
    bool known = false;
    void add(double v) {
      value = known ? value + (v - value) / 4 : v;
      known = true;
    }
  };
  struct Job {
    enum State { kRunning, kDone, kNone };
    State state = kRunning;
    Element element;
    std::optional<Error> error;
    int64_t number = 0, bytes = 0;
  };

  void start_one();
  void start_some();
  void add_threads();
  int64_t useful_threads() const;
  void run();
  bool has_room() const;
  void make(std::unique_ptr<Worker>& mine, Caller& c, std::unique_lock<std::mutex>& lock);
  std::shared_ptr<Job> take();
  void done(Job& job);
  void made(Clock::time_point begun, double cpu);
  bool over() const { return ended_ && jobs_.empty(); }

  Pass& pass_;
  const uint64_t branch_;
  StageCounts none_;  // for one that was made within another stage
  StageCounts& counts_;
  const Parallelism parallelism_;
  StageScope scope_;
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable done_, wanted_, idle_;
  std::deque<std::shared_ptr<Job>> jobs_;  // in order of their inputs
  int64_t pulled_ = 0, running_ = 0, waits_in_a_row_ = 0;
  // Nanoseconds an element: of its input, of the work, of that on a core, and
  // between two requests.
  Mean pull_, work_, cpu_, request_;
  Clock::time_point left_;  // when who takes outputs went away with the last one
  double computing_ = 0;    // cores, as said to the budget
  Mean bytes_;
  bool pulling_ = false, ended_ = false, stopped_ = false, paused_ = false;
  std::vector<std::unique_ptr<StageThread>> threads_;
};

// Stages that others become where options ask for it.
std::unique_ptr<Iterator> parallel_map(DatasetPtr self, std::unique_ptr<Iterator> input, Caller& c,
                                       const Captured& f);
std::unique_ptr<Iterator> parallel_filter(DatasetPtr self, std::unique_ptr<Iterator> input,
                                          Caller& c, const Captured& f);
std::unique_ptr<Iterator> parallel_batch(DatasetPtr self, std::unique_ptr<Iterator> input,
                                         Caller& c, int64_t size, bool drop);
// With a buffer that grows by itself.
DatasetPtr prefetched(DatasetPtr input);

}  // namespace emplace::data
