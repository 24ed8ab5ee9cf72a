#include "interrupts.h"

#include <nanobind/nanobind.h>
#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

namespace nb = nanobind;

namespace emplace::python {
namespace {

constexpr std::chrono::milliseconds kPatience{20};
constexpr std::chrono::milliseconds kLook{5};
constexpr int kIdleLooks = 50;  // after these the watcher parks

std::atomic<uint64_t> run_number{0};  // odd: a run is in progress
std::atomic<Session*> running{nullptr};
std::atomic<bool> parked{false}, started{false};
std::atomic<bool> interrupted{false};
std::mutex guard;  // held while the watcher uses `running`, and when a run ends
struct sigaction previous;

void on_sigint(int signal, siginfo_t* info, void* context) {
  interrupted.store(true, std::memory_order_relaxed);
  if (previous.sa_flags & SA_SIGINFO) {
    if (previous.sa_sigaction) previous.sa_sigaction(signal, info, context);
  } else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
    previous.sa_handler(signal);
  }
}

// Stays with one long run until it ends or SIGINT comes.
void accompany(uint64_t number) {
  struct sigaction own = {};
  own.sa_sigaction = &on_sigint;
  own.sa_flags = SA_SIGINFO;
  sigaction(SIGINT, nullptr, &previous);
  if (!(previous.sa_flags & SA_SIGINFO) &&
      (previous.sa_handler == SIG_DFL || previous.sa_handler == SIG_IGN))
    return;  // whoever chose that wants no KeyboardInterrupt
  sigaction(SIGINT, &own, nullptr);
  while (run_number.load() == number && !interrupted.load()) std::this_thread::sleep_for(kLook);
  {
    const std::lock_guard lock(guard);
    if (interrupted.load() && run_number.load() == number) running.load()->cancel();
  }
  sigaction(SIGINT, &previous, nullptr);
}

void watch() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);  // signals belong to the main thread
  uint64_t seen = 0;
  for (int idle = 0;;) {
    const uint64_t number = run_number.load();
    if (number % 2 && number == seen) accompany(number);
    idle = number == seen ? idle + 1 : 0;
    seen = number;
    if (idle > kIdleLooks) {
      parked.store(true);
      parked.wait(true);
      idle = 0;
    }
    std::this_thread::sleep_for(kPatience);
  }
}

pthread_t main_thread;

bool on_main_thread() { return pthread_equal(pthread_self(), main_thread); }

void wake_watcher() {
  if (!started.exchange(true)) {
    std::thread(watch).detach();
  } else if (parked.load(std::memory_order_relaxed)) {
    parked.store(false);
    parked.notify_one();
  }
}

}  // namespace

Interruptible::Interruptible(Session* session) {
  if (!session || !on_main_thread() || running.load(std::memory_order_relaxed)) return;
  watched_ = true;
  running.store(session, std::memory_order_relaxed);
  interrupted.store(false, std::memory_order_relaxed);
  run_number.fetch_add(1);
  wake_watcher();
}

Interruptible::~Interruptible() {
  if (!watched_) return;
  const std::lock_guard lock(guard);
  run_number.fetch_add(1);
  running.store(nullptr, std::memory_order_relaxed);
}

void raise_interrupt() {
  if (interrupted.exchange(false) && PyErr_CheckSignals() != 0) throw nb::python_error();
}

void remember_main_thread() { main_thread = pthread_self(); }

void forget_watcher() {
  started.store(false);
  parked.store(false);
}

}  // namespace emplace::python
