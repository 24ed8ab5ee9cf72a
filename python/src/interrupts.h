#pragma once
#include "emplace/session.h"

namespace emplace::python {

// Ctrl-C during a run. While an object of this class lives on Python's main thread, with the GIL
// released, a watching thread looks after the run: once it has lasted 20 ms, SIGINT cancels the
// session's steps (Python's own handler still sees the signal). Short runs cost two stores.
class Interruptible {
 public:
  explicit Interruptible(Session* session);  // null: not watched
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

 private:
  bool watched_ = false;
};

// To be asked with the GIL held once a run has failed: raises KeyboardInterrupt if that was why.
void raise_interrupt();

// To be called while the module is imported: only that thread is watched.
void remember_main_thread();

// A child of fork has no watcher; it starts its own when needed.
void forget_watcher();

}  // namespace emplace::python
