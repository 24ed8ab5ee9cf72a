#pragma once
#include <cxxabi.h>
#include <nanobind/nanobind.h>

#include <atomic>
#include <utility>

namespace emplace::python {

// How threads leave Python and come back to it. Once the interpreter ends nobody may come back:
// Python would end such a thread then and there, through frames that are not made for it. So it
// stops for good, and quietly, where it would have come back or calls the engine the next time.
// What it holds stays as it is: the process is about to be over.

inline std::atomic<bool> interpreter_ends{false};

// Stops the calling thread for good. It must not hold the GIL.
[[noreturn]] void stop_for_good();
// For a thread that holds the GIL and is about to call the engine.
void stop_at_the_end();
inline void gate() {
  if (interpreter_ends.load(std::memory_order_relaxed)) [[unlikely]] stop_at_the_end();
}

// Calls f, in which Python may end this thread: it stops here instead.
template <class F>
decltype(auto) outlive_python(F&& f) {
  try {
    return std::forward<F>(f)();
  } catch (abi::__forced_unwind&) {
    stop_for_good();
  }
}

// While it lives, the thread works without the GIL. On Python's main thread signals are heard
// meanwhile (interrupts.h).
class Away {
 public:
  Away();
  ~Away();
  Away(const Away&) = delete;
  Away& operator=(const Away&) = delete;

 private:
  PyThreadState* const thread_;
};

// While it lives, a thread of the engine's (or one that is Away) holds the GIL. What it calls of
// Python's is to be called by outlive_python.
class Back {
 public:
  Back();
  ~Back();
  Back(const Back&) = delete;
  Back& operator=(const Back&) = delete;

 private:
  PyGILState_STATE gil_;
  int before_;
};

// One reference less, from any thread.
void let_go(PyObject* o);

void bind_ending(nanobind::module_& m);
// In a child of fork, which has one thread.
void forget_other_threads();

}  // namespace emplace::python
