// Calls of every method that a server answers, from a task of its cluster: some after each other, each a
// method's number, a length in two bytes, and the message.
#include <condition_variable>
#include <mutex>

#include "cluster/door.h"
#include "cluster/master.h"
#include "cluster/task.h"
#include "cluster/task_service.h"
#include "fuzz.h"

namespace {

using namespace emplace;
using namespace emplace::cluster;

class Call final : public IncomingCall {
 public:
  Call(std::string_view method, std::string body) : method_(method), request_(std::move(body)) {}
  const std::string& method() const override { return method_; }
  Bytes& request() override { return request_; }
  const Caller& caller() const override { return caller_; }
  void answer(Answer) override {
    const std::lock_guard lock(mutex_);
    answered_ = true;
    changed_.notify_all();
  }
  void on_cancel(std::function<void()>) override {}
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return answered_; });
  }

 private:
  const std::string method_;
  const Caller caller_{Caller::Kind::kTask, "/job:worker/replica:0/task:1"};
  Bytes request_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool answered_ = false;
};

class Served final : public Service {
 public:
  Served()
      : task_(DeviceName::of_task("worker", 0, 0), {}, [](const std::string& name) -> std::shared_ptr<Peer> { throw not_found(name); }),
        master_({local_peer(task_)}, 0, {}), door_({.longest_call_ms = 300}, *this) {}
  void call(std::shared_ptr<IncomingCall> call) override {
    if (master_.serve(call) || serve_task(task_, call)) return;
    call->answer({unimplemented("no such method"), {}});
  }
  void ask(std::string_view method, std::string body) {
    const auto call = std::make_shared<Call>(method, std::move(body));
    door_.call(call);
    call->wait();
  }
  // Every session ends, with what it holds.
  void clear() {
    ask("/tensorflow.MasterService/Reset", "");
    for (SessionId id = 0; id < 256; ++id) task_.close_session(id);
  }

 private:
  Task task_;
  Master master_;
  Door door_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static auto* const served = new Served;
  for (size_t at = 0, calls = 0; at + 3 <= size && calls < 8; ++calls) {
    const std::string_view method = kMethods[data[at] % std::size(kMethods)];
    const size_t length = std::min<size_t>(data[at + 1] | size_t{data[at + 2]} << 8, size - at - 3);
    served->ask(method, std::string(reinterpret_cast<const char*>(data) + at + 3, length));
    at += 3 + length;
  }
  served->clear();
  return 0;
}
