#include "data/stage_thread.h"

#include <pthread.h>

#include <csignal>
#include <system_error>

#include "emplace/error.h"

namespace emplace::data {

StageThread::StageThread(const char* name, std::function<void()> body) try
    : thread_([name, body = std::move(body)] {
        sigset_t all;  // signals are for the program's own threads
        sigfillset(&all);
        pthread_sigmask(SIG_BLOCK, &all, nullptr);
        pthread_setname_np(pthread_self(), name);
        body();
      }) {
} catch (const std::system_error& e) {
  throw resource_exhausted(std::string("no thread for an input pipeline: ") + e.what());
}

}  // namespace emplace::data
