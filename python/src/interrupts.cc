#include "interrupts.h"

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "emplace/eager.h"
#include "gil.h"
#include "kept_exceptions.h"

namespace nb = nanobind;

namespace emplace::python {
namespace {

constexpr std::chrono::milliseconds kPatience{20};
constexpr int kIdleLooks = 50;  // after these the watcher parks

std::atomic<bool> parked{false}, started{false};
std::atomic<bool> signalled{false};
pthread_t main_thread;
void (*python_handler)(int) = nullptr;

bool on_main_thread() { return pthread_equal(pthread_self(), main_thread); }

// Python's handler notes the signal for its main thread; so do we.
void on_signal(int number) {
  signalled.store(true, std::memory_order_relaxed);
  if (on_main_thread()) ask_to_look_here();
  python_handler(number);
}

// Before Python's handler of every signal that has it. True where that is new: then a signal may
// have come unheard.
bool stand_before_python() {
  bool fresh = false;
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action;
    if (sigaction(number, nullptr, &action) != 0 || (action.sa_flags & SA_SIGINFO) ||
        action.sa_handler != python_handler)
      continue;
    action.sa_handler = &on_signal;
    sigaction(number, &action, nullptr);
    fresh = true;
  }
  return fresh;
}

void watch() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);  // signals belong to the main thread
  uint64_t seen = 0;
  for (int idle = 0;;) {
    const uint64_t work = work_of_looker();
    if (work != 0 && work == seen)
      if (stand_before_python() | signalled.exchange(false)) ask_to_look();
    idle = work == 0 ? idle + 1 : 0;
    seen = work;
    if (idle > kIdleLooks) {
      parked.store(true);
      parked.wait(true);
      idle = 0;
    }
    std::this_thread::sleep_for(kPatience);
  }
}

void wake_watcher() {
  if (!started.load(std::memory_order_relaxed) && !started.exchange(true)) {
    std::thread(watch).detach();
  } else if (parked.load(std::memory_order_relaxed)) {
    parked.store(false);
    parked.notify_one();
  }
}

// The main thread, in the midst of its work.
void look() {
  const Back back;
  if (outlive_python([] { return PyErr_CheckSignals(); }) != 0) throw keep_exception(true);
}

// Python has one handler for all signals that a program handles: we see it by handling one.
void find_python_handler() {
  const nb::object module = nb::module_::import_("signal"), handle = module.attr("signal");
  const nb::object before = module.attr("getsignal")(SIGURG);
  if (before.is_none()) return;  // not Python's to give back
  handle(SIGURG, module.attr("default_int_handler"));
  struct sigaction action;
  if (sigaction(SIGURG, nullptr, &action) == 0) python_handler = action.sa_handler;
  handle(SIGURG, before);
}

}  // namespace

void hear_signals() {
  if (!on_main_thread()) return;
  set_look(&look);
  wake_watcher();
}

void remember_main_thread() {
  const nb::object threading = nb::module_::import_("threading");
  main_thread = nb::cast<pthread_t>(threading.attr("main_thread")().attr("ident"));
  if (on_main_thread()) find_python_handler();
}

void forget_watcher() {
  main_thread = pthread_self();
  started.store(false);
  parked.store(false);
}

}  // namespace emplace::python
