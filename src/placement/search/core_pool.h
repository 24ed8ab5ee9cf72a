#pragma once
#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

namespace emplace::planning {

// Cores that several devices share. When the nodes in it want more cores than there are, all of them
// slow down alike: time of its own, in which every node runs as fast as when alone, passes slower.
class CorePool {
 public:
  explicit CorePool(double cores) : cores_(cores) {}

  void clear() {
    members_.clear();
    wanted_ = time_ = seen_ = 0;
    ++version_;
  }
  void join(int node, int rank, double seconds, double cores, double now) {
    advance(now);
    cores = std::min(cores, cores_);  // alone it is as fast as it can be
    members_.push_back({time_ + seconds, rank, node, cores});
    std::push_heap(members_.begin(), members_.end(), std::greater<>());
    wanted_ += cores;
    ++version_;
  }
  // The first one to end, which it does now.
  int leave(double now) {
    advance(now);
    std::pop_heap(members_.begin(), members_.end(), std::greater<>());
    const Member first = members_.back();
    members_.pop_back();
    time_ = std::max(time_, first.end);
    wanted_ = members_.empty() ? 0 : wanted_ - first.cores;
    ++version_;
    return first.node;
  }

  struct End {
    double at;
    int rank;
  };
  // Of the member that ends first if nobody joins before; `now`: when somebody last joined or left.
  std::optional<End> next(double now) const {
    if (members_.empty()) return std::nullopt;
    return End{now + std::max(0.0, members_.front().end - time_) / pace(), members_.front().rank};
  }
  int version() const { return version_; }  // grows as members come and go

 private:
  struct Member {
    double end;  // in the pool's own time
    int rank, node;
    double cores;
    bool operator>(const Member& o) const {
      return end != o.end ? end > o.end : rank > o.rank;
    }
  };
  double pace() const { return wanted_ > cores_ ? cores_ / wanted_ : 1; }
  void advance(double now) {
    time_ += (now - seen_) * pace();
    seen_ = now;
  }

  const double cores_;
  std::vector<Member> members_;
  double wanted_ = 0, time_ = 0, seen_ = 0;
  int version_ = 0;
};

}  // namespace emplace::planning
