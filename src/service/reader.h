#pragma once
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "data/captured.h"
#include "data/dataset.h"
#include "data/stage_thread.h"
#include "service/dispatcher.h"
#include "service/remote.h"

namespace emplace::service {

// Which dataset of a service is read, and how.
struct ReadOptions {
  std::string dataset, address, job;
  proto::JobParameters parameters;
  bool anonymous = false;
  int64_t consumer = -1;     // below 0: whoever comes first
  int64_t most_waiting = 0;  // elements under way and not yet taken; 0: as many as seem good
};

// Elements of one going through a dataset, taken from all workers that have some: by a thread for
// each, in the order in which they come.
class Reader final : public data::Iterator {
 public:
  Reader(data::DatasetPtr self, const ReadOptions& options, int64_t repetition, data::Caller& c);
  ~Reader() override;
  bool next(data::Caller& c, data::Element& out) override;
  bool ready() const override;
  void save(data::StateWriter& w) override;
  void restore(data::Caller& c, data::StateReader& r) override;

 private:
  struct Made {
    data::Element element;
    std::optional<Error> error;
  };
  struct Source {
    uint64_t task = 0;
    std::string address;
    std::unique_ptr<data::StageThread> thread;
    bool over = false;
  };
  void begin();
  void watch();
  void learn(const proto::WatchIterationResponse& news);
  void read(Source& source);
  std::optional<Made> ask(CallScope& scope, Remote& worker, uint64_t task, int64_t round);
  bool has_room() const;
  bool is_over() const;
  bool next_of_round(data::Caller& c, data::Element& out);
  void fail(const Error& e);

  const data::DatasetPtr self_;
  const ReadOptions options_;
  const std::shared_ptr<Remote> dispatcher_;
  uint64_t iteration_ = 0, reader_ = 0;
  data::StageScope scope_;
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::deque<Made> made_;
  std::map<uint64_t, Source> sources_;  // by task
  std::set<uint64_t> listed_;           // those that the dispatcher knows to go on
  int64_t asked_ = 0;                   // elements under way
  bool told_ = false, finished_ = false, stopped_ = false;
  std::unique_ptr<data::StageThread> watcher_;
  // Of reading in rounds.
  int64_t round_ = 0;
  std::vector<std::pair<uint64_t, std::shared_ptr<Remote>>> turns_;
};

}  // namespace emplace::service
