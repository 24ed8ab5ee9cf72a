#pragma once
#include <map>
#include <memory>

#include "data/dataset.h"

namespace emplace::data {

// Deals the elements of a pipeline's sources out to several processes. Thread-safe.
class SplitProvider {
 public:
  virtual ~SplitProvider() = default;
  // The number of the element that is this process's next in the `round`th time that source number
  // `source` is gone through: each number once, to one of them.
  virtual int64_t next(Caller& c, int source, int64_t round) = 0;
};

// The sources of one dataset whose elements are dealt out. Thread-safe.
class SplitSources {
 public:
  // Unimplemented where the dataset begins with something that can't be dealt out.
  SplitSources(const Dataset& root, std::shared_ptr<SplitProvider> provider);
  // `it`, with only those of its elements that are this process's; itself for what is no source.
  std::unique_ptr<Iterator> shared_out(const Dataset& d, std::unique_ptr<Iterator> it);

 private:
  struct Source {
    int number = 0;
    std::atomic<int64_t> rounds{0};  // how often it was begun
  };
  class Share;
  void find(const Dataset& d);

  const std::shared_ptr<SplitProvider> provider_;
  std::map<const Dataset*, Source> sources_;
};

}  // namespace emplace::data
