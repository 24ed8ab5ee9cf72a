#include "gil.h"

#include <stdlib.h>
#include <unistd.h>

#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

#include "emplace/eager.h"
#include "interrupts.h"

namespace nb = nanobind;

namespace emplace::python {
namespace {

using namespace std::chrono_literals;
constexpr auto kForWork = 2s;       // work that is cancelled ends by then, or never
constexpr auto kForPython = 100ms;  // a thread in Python comes by, or does something else

enum Place : int { kElsewhere, kInPython, kAway, kStopped };



// Where a thread is that has called the engine, or was called by it.
struct Whereabouts {
  Whereabouts();
  ~Whereabouts();
  std::atomic<int> place{kElsewhere};
};

struct Threads {
  std::mutex mutex;
  std::vector<const Whereabouts*> all;
  static Threads& get() {
    static Threads* const t = new Threads;  // threads outlive static objects
    return *t;
  }
  bool any(const Whereabouts& but, int place) {
    const std::lock_guard lock(mutex);
    for (const Whereabouts* w : all)
      if (w != &but && w->place.load() == place) return true;
    return false;
  }
};

Whereabouts::Whereabouts() {
  const std::lock_guard lock(Threads::get().mutex);
  Threads::get().all.push_back(this);
}

Whereabouts::~Whereabouts() {
  const std::lock_guard lock(Threads::get().mutex);
  std::erase(Threads::get().all, this);
}

Whereabouts& here() {
  static thread_local Whereabouts w;
  return w;
}

std::atomic<const Whereabouts*> ending_thread{nullptr};

template <class Ready>
void wait_at_most(std::chrono::milliseconds time, Ready ready) {
  const auto until = std::chrono::steady_clock::now() + time;
  while (!ready() && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(1ms);
}

bool other_python_threads() {
  PyThreadState* const first = PyInterpreterState_ThreadHead(PyInterpreterState_Get());
  return first && PyThreadState_Next(first);
}

// Whoever is still at work may use what the end of the process takes apart.
void skip_static_destructors() {
  on_exit([](int status, void*) {
    fflush(nullptr);
    _exit(status);
  }, nullptr);
}

// Called by Python when the program is over and its own threads may still run.
void end() {
  Whereabouts& mine = here();
  Threads& threads = Threads::get();
  ending_thread = &mine;
  interpreter_ends = true;
  if (!other_python_threads() && !threads.any(mine, kAway)) return;
  nb::set_leak_warnings(false);
  {
    const nb::gil_scoped_release release;
    wait_at_most(kForPython, [&] { return !threads.any(mine, kInPython); });
    wait_at_most(kForWork, [&] {
      cancel_all_work();
      return !threads.any(mine, kAway);
    });
  }
  leave_work_behind();
  skip_static_destructors();
}

PyObject* end_of_python(PyObject*, PyObject*) {
  end();
  Py_RETURN_NONE;
}

}  // namespace

void stop_for_good() {
  here().place = kStopped;
  for (;;) pause();
}

void stop_at_the_end() {
  if (ending_thread.load() == &here()) return;
  PyEval_SaveThread();
  stop_for_good();
}

Away::Away() : thread_((gate(), PyEval_SaveThread())) {
  here().place.store(kAway, std::memory_order_relaxed);
  hear_signals();
}

Away::~Away() {
  if (interpreter_ends.load(std::memory_order_acquire) && ending_thread.load() != &here())
    stop_for_good();
  outlive_python([&] { PyEval_RestoreThread(thread_); });
  here().place.store(kInPython, std::memory_order_relaxed);
}

Back::Back() {
  Whereabouts& w = here();
  if (interpreter_ends.load(std::memory_order_acquire) && ending_thread.load() != &w)
    stop_for_good();
  gil_ = outlive_python([] { return PyGILState_Ensure(); });
  before_ = w.place.exchange(kInPython, std::memory_order_relaxed);
}

Back::~Back() {
  here().place.store(before_, std::memory_order_relaxed);
  outlive_python([&] { PyGILState_Release(gil_); });
}

void let_go(PyObject* o) {
  if (interpreter_ends.load(std::memory_order_acquire) && ending_thread.load() != &here()) return;
  const Back back;
  outlive_python([&] { Py_DECREF(o); });
}

void bind_ending(nb::module_& m) {
  static PyMethodDef method = {"end", end_of_python, METH_NOARGS, nullptr};
  const nb::object f = nb::steal(PyCFunction_New(&method, nullptr));
  nb::module_::import_("atexit").attr("register")(f);
}

void forget_other_threads() {
  Threads& threads = Threads::get();
  new (&threads.mutex) std::mutex;  // another thread may have held it
  threads.all = {&here()};
}

}  // namespace emplace::python
