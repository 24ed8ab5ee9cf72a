#include "kernel/tensor_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace emplace {

TensorQueue::TensorQueue(Options options)
    : options_(std::move(options)), random_(Philox(options_.seed, options_.seed2)) {}

std::string TensorQueue::debug_string() const {
  return fmt::format("{}[{}]", options_.type, options_.name);
}

Error TensorQueue::closed_error() const {
  return cancelled(fmt::format("{} '{}' is closed.", options_.type, options_.name));
}

Error TensorQueue::insufficient(int64_t requested) const {
  return out_of_range(fmt::format("{} '{}' is closed and has insufficient elements (requested {}, "
                                  "current size {})",
                                  options_.type, options_.name, requested, items_.size()));
}

uint64_t TensorQueue::enqueue(std::vector<Tuple> tuples, Done done) {
  Waiting w{};
  w.enqueues = true;
  w.tuples = std::move(tuples);
  w.put_done = std::move(done);
  return wait(std::move(w));
}

uint64_t TensorQueue::dequeue(int64_t n, bool up_to, DoneWith done) {
  Waiting w{};
  w.wanted = n;
  w.up_to = up_to;
  w.taken_done = std::move(done);
  return wait(std::move(w));
}

uint64_t TensorQueue::wait(Waiting w) {
  Calls calls;
  uint64_t number;
  {
    const std::lock_guard lock(mutex_);
    if (w.enqueues && closed_) {
      calls.push_back([done = std::move(w.put_done), e = closed_error()] { done(e); });
    }
    // What was waiting when the queue was closed still gets in.
    number = w.number = w.enqueues && closed_ ? 0 : next_number_++;
    auto& line = w.enqueues ? putting_ : taking_;
    if (number != 0) line.push_back(std::move(w));
    settle(calls);
    const bool waits = std::any_of(line.begin(), line.end(),
                                   [&](const Waiting& x) { return x.number == number; });
    if (!waits) number = 0;
  }
  for (auto& call : calls) call();
  return number;
}

void TensorQueue::cancel(uint64_t number) {
  Calls calls;
  {
    const std::lock_guard lock(mutex_);
    for (auto* line : {&putting_, &taking_})
      for (auto it = line->begin(); it != line->end(); ++it) {
        if (it->number != number) continue;
        if (it->enqueues) {
          calls.push_back([done = std::move(it->put_done)] {
            done(cancelled("Enqueue operation was cancelled"));
          });
        } else {
          // What it had taken goes back to where it was.
          for (auto t = it->tuples.rbegin(); t != it->tuples.rend(); ++t)
            items_.push_front(std::move(*t));
          calls.push_back([done = std::move(it->taken_done)] {
            done(cancelled("Dequeue operation was cancelled"), {});
          });
        }
        line->erase(it);
        break;
      }
    settle(calls);
  }
  for (auto& call : calls) call();
}

bool TensorQueue::close(bool cancel_pending_enqueues) {
  Calls calls;
  bool was_open;
  {
    const std::lock_guard lock(mutex_);
    was_open = !std::exchange(closed_, true);
    if (cancel_pending_enqueues) {
      for (Waiting& w : putting_)
        calls.push_back([done = std::move(w.put_done)] {
          done(cancelled("Enqueue operation was cancelled"));
        });
      putting_.clear();
    }
    settle(calls);
  }
  for (auto& call : calls) call();
  return was_open;
}

bool TensorQueue::closed() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

int64_t TensorQueue::size() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int64_t>(items_.size());
}

// In turn: the first in each line holds up those behind it.
void TensorQueue::settle(Calls& calls) {
  for (bool moved = true; moved;) {
    moved = false;
    while (!putting_.empty() && try_put(putting_.front(), calls)) {
      putting_.pop_front();
      moved = true;
    }
    const size_t before = items_.size();
    while (!taking_.empty() && try_take(taking_.front(), calls)) {
      taking_.pop_front();
      moved = true;
    }
    moved |= items_.size() != before;
  }
}

bool TensorQueue::try_put(Waiting& w, Calls& calls) {
  while (w.put < w.tuples.size() &&
         (options_.capacity < 0 || static_cast<int64_t>(items_.size()) < options_.capacity))
    insert(std::move(w.tuples[w.put++]));
  if (w.put < w.tuples.size()) return false;
  calls.push_back([done = std::move(w.put_done)] { done(std::nullopt); });
  return true;
}

int64_t TensorQueue::available() const {
  const auto n = static_cast<int64_t>(items_.size());
  return closed_ ? n : std::max<int64_t>(0, n - options_.min_after_dequeue);
}

bool TensorQueue::try_take(Waiting& w, Calls& calls) {
  const auto missing = [&] { return w.wanted - static_cast<int64_t>(w.tuples.size()); };
  const bool no_more = closed_ && putting_.empty();
  if (no_more && missing() > static_cast<int64_t>(items_.size())) {
    const int64_t all = static_cast<int64_t>(w.tuples.size() + items_.size());
    if (!w.up_to || all == 0) {
      for (auto t = w.tuples.rbegin(); t != w.tuples.rend(); ++t) items_.push_front(std::move(*t));
      calls.push_back([done = std::move(w.taken_done), e = insufficient(w.wanted)] { done(e, {}); });
      return true;
    }
    w.wanted = all;
  }
  while (missing() > 0 && available() > 0) w.tuples.push_back(take_one());
  if (missing() > 0) return false;
  calls.push_back([done = std::move(w.taken_done), tuples = std::move(w.tuples)]() mutable {
    done(std::nullopt, std::move(tuples));
  });
  return true;
}

TensorQueue::Tuple TensorQueue::take_one() {
  if (options_.order == Order::kRandom) {  // the last one takes its place: TensorFlow's order
    std::swap(items_[random_() % items_.size()], items_.back());
    Tuple t = std::move(items_.back());
    items_.pop_back();
    return t;
  }
  Tuple t = std::move(items_.front());
  items_.pop_front();
  return t;
}

// By priority: sorted, those of one key in the order in which they came.
void TensorQueue::insert(Tuple t) {
  if (options_.order != Order::kPriority) {
    items_.push_back(std::move(t));
    return;
  }
  const int64_t key = *t[0].data<int64_t>();
  const auto at = std::upper_bound(items_.begin(), items_.end(), key, [](int64_t k, const Tuple& x) {
    return k < *x[0].data<int64_t>();
  });
  items_.insert(at, std::move(t));
}

}  // namespace emplace
