// The servers of tf.data's service as programs start them.
#include <fmt/format.h>

#include <condition_variable>
#include <cstdlib>

#include "cluster/door.h"
#include "service/dispatcher.h"
#include "service/worker.h"

namespace emplace {
namespace {

bool for_everyone() {
  const char* const text = std::getenv("EMPLACE_INSECURE_FOR_EVERYONE");
  return text && std::string_view(text) == "1";
}

bool is_loopback(std::string_view address) {
  return address.starts_with("localhost:") || address.starts_with("127.");
}

// A service at a port, behind a door.
struct Open {
  Open(int port, cluster::Service& service)
      : door({0, 0, 0, for_everyone()}, service),
        listener(
            cluster::socket_transport().listen({.host = for_everyone() ? "0.0.0.0" : "127.0.0.1",
                                                .port = port,
                                                .same_user_only = !for_everyone()},
                                               door)) {}
  cluster::Door door;
  std::unique_ptr<cluster::Listener> listener;
};

// Until it is stopped.
class End {
 public:
  bool come() {
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
    return !std::exchange(over_, true);
  }
  bool wait_for(int64_t ms) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::milliseconds(ms), [&] { return over_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
};

}  // namespace

struct DataDispatcher::Impl {
  explicit Impl(const DataDispatcherOptions& o)
      : dispatcher(o), open(o.port, dispatcher), port(open.listener->port()) {}
  service::Dispatcher dispatcher;
  Open open;
  const int port;
  End end;
};

DataDispatcher::DataDispatcher(DataDispatcherOptions options)
    : impl_(std::make_unique<Impl>(options)) {}
DataDispatcher::~DataDispatcher() { stop(); }
int DataDispatcher::port() const { return impl_->port; }
int DataDispatcher::num_workers() const { return impl_->dispatcher.num_workers(); }
bool DataDispatcher::join_for(int64_t ms) { return impl_->end.wait_for(ms); }
void DataDispatcher::stop() {
  if (!impl_->end.come()) return;
  impl_->dispatcher.stop();
  impl_->open.listener.reset();
}

struct DataWorker::Impl {
  explicit Impl(const DataWorkerOptions& o)
      : worker(o, cluster::socket_transport()), open(o.port, worker), port(open.listener->port()) {
    constexpr std::string_view kAnyPort = "%port%";
    std::string address = o.address;
    if (const size_t at = address.find(kAnyPort); at != std::string::npos)
      address.replace(at, kAnyPort.size(), std::to_string(port));
    if (!is_loopback(address) && !for_everyone())
      throw failed_precondition(
          fmt::format("This worker does not start: at {} others than you could reach it, and read "
                      "and run programs as you. Give it "
                      "an address of this machine alone (localhost:%port%); or, in a network that "
                      "you trust wholly, set "
                      "EMPLACE_INSECURE_FOR_EVERYONE=1.",
                      address));
    worker.begin(address);
  }
  service::Worker worker;
  Open open;
  const int port;
  End end;
};

DataWorker::DataWorker(DataWorkerOptions options) : impl_(std::make_unique<Impl>(options)) {}
DataWorker::~DataWorker() { stop(); }
int DataWorker::port() const { return impl_->port; }
int DataWorker::num_tasks() const { return impl_->worker.num_tasks(); }
bool DataWorker::join_for(int64_t ms) { return impl_->end.wait_for(ms); }
void DataWorker::stop() {
  if (!impl_->end.come()) return;
  impl_->worker.stop();
  impl_->open.listener.reset();
}

std::string registered_element_spec(const std::string& dispatcher, const std::string& dataset) {
  return service::metadata_of(dispatcher, dataset).element_spec();
}

}  // namespace emplace
