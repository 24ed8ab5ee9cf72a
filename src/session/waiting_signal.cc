#include "session/waiting_signal.h"

#include <semaphore.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>

#include "base/log.h"
#include "exec/silence.h"
#include "session/live_work.h"

namespace emplace {
namespace {

sem_t asked;  // a handler may do little more than post it

void on_signal(int) {
  const int kept = errno;
  sem_post(&asked);
  errno = kept;
}

int signal_named(std::string_view name) {
  if (name.starts_with("SIG")) name.remove_prefix(3);
  return name == "USR1" ? SIGUSR1 : name == "USR2" ? SIGUSR2 : 0;
}

[[noreturn]] void answer() {
  for (;;) {
    while (sem_wait(&asked) != 0) {
    }
    const std::vector<WaitingCall> calls = LiveWork::waiting_everywhere();
    const std::string text = calls.empty() ? "In this process nobody waits.\n"
                                           : "In this process wait:" + waiting_text(calls) + "\n";
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
  }
}

bool heed() {
  const char* const name = std::getenv("EMPLACE_WAITING_SIGNAL");
  if (!name || !*name) return false;
  const int number = signal_named(name);
  if (number == 0) {
    log_warning("EMPLACE_WAITING_SIGNAL={}: USR1 and USR2 can be had", name);
    return false;
  }
  sem_init(&asked, 0, 0);
  std::thread(answer).detach();
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  return sigaction(number, &action, nullptr) == 0;
}

}  // namespace

void heed_waiting_signal() {
  static const bool done = heed();
  static_cast<void>(done);
}

}  // namespace emplace
