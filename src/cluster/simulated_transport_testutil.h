#pragma once
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "cluster/transport.h"

namespace emplace::testing {

// What goes wrong on the way, in thousandths of all messages.
struct Faults {
  int delayed = 0;   // comes behind what was sent after it
  int cut = 0;       // the connection breaks: the message and what is awaited over it are lost
  int most_delay = 8;  // in turns of the simulation
};

// A network without sockets: messages lie in one queue, in which a seed says who is next. Time is
// counted in turns, not in seconds. Processes are known by address; `kill` ends one as SIGKILL does.
class SimulatedNetwork {
 public:
  explicit SimulatedNetwork(uint64_t seed, Faults faults = {});
  ~SimulatedNetwork();

  // The transport of the process at `address`.
  std::unique_ptr<cluster::Transport> transport(const std::string& address);
  void set_faults(Faults faults);
  void reseed(uint64_t seed);
  void kill(const std::string& address);     // nothing more comes from it, until it listens again nothing goes to it
  void cut(const std::string& a, const std::string& b);  // breaks what is between them, once
  uint64_t messages() const;
  uint64_t bytes() const;

 private:
  friend class SimulatedChannel;
  friend class SimulatedCall;
  friend class SimulatedTransport;
  friend class SimulatedListener;
  struct Pending;  // a call or post until it is over

  void send(const std::string& from, const std::string& to, size_t bytes, std::function<void()> deliver);
  void begin(std::shared_ptr<Pending> pending);
  void finish(const std::shared_ptr<Pending>& pending, cluster::Answer answer);
  void lose(const std::function<bool(const Pending&)>& which);
  void run();

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::mt19937_64 random_;
  Faults faults_;
  uint64_t turn_ = 0, messages_ = 0, bytes_ = 0, next_ = 1;
  std::multimap<uint64_t, std::function<void()>> queue_;  // by turn
  std::map<std::string, cluster::Service*> services_;
  std::map<std::string, int> lives_;  // how often each was killed
  std::set<std::string> dead_;
  std::set<std::shared_ptr<Pending>> pending_;
  bool over_ = false, delivering_ = false;
  int breaking_ = 0;  // connections that a thread is about to break
  std::thread thread_;
};

}  // namespace emplace::testing
