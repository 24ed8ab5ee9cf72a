#include "base/stop_scope.h"

#include "base/eventcount.h"
#include "emplace/error.h"

namespace emplace {

// Who asks says so first and reads the word's address after; here it is the other way round. So
// nobody touches a word that its owner has put away.
void StopScope::show(StopWord* word) {
  StopWord* const before = shown_.load(std::memory_order_relaxed);
  if (!before || !word)  // parts of one piece of work are of its turn: it may have many short ones
    turns_.store(turns_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  shown_.store(word, std::memory_order_seq_cst);
  while (asking_.load(std::memory_order_seq_cst) > 0) spin_pause();
  // A question to a piece of work that is over soon is for the one around it.
  if (before && word && !before->calm() && before->take_question()) word->ask();
}

void StopScope::ask() {
  asking_.fetch_add(1, std::memory_order_seq_cst);
  if (StopWord* const word = shown_.load(std::memory_order_seq_cst)) word->ask();
  asking_.fetch_sub(1, std::memory_order_release);
}

uint64_t StopScope::work_of_looker() {
  const bool busy = shown_.load(std::memory_order_relaxed) != nullptr;
  return busy ? turns_.load(std::memory_order_relaxed) : 0;
}

void StopScope::attend(StopWord& word) {
  if (word.stopped()) throw cancelled("The work was stopped");
  if (look_ && word.take_question()) look_();
}

}  // namespace emplace
