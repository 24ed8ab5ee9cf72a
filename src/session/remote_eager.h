#pragma once
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "emplace/proto/graph.pb.h"
#include "emplace/session.h"
#include "emplace/tensor.h"

namespace emplace {

// Work that another task does for an eager engine as often as it is asked: one operation, or a
// function. What it takes comes through Placeholders.
struct RemoteCall {
  proto::GraphDef graph;
  std::vector<std::string> feeds, fetches, targets;
  std::string device;        // where goes what asks for none
  std::string random_scope;  // see Eager::prepare
};

// A value that lies in the task, by the number that its maker gave it, or one that goes there with
// the call.
struct RemoteInput {
  uint64_t id = 0;  // 0: `value`
  Tensor value;
};

struct RemoteOutput {
  DType dtype = DType::kInvalid;
  Shape shape;
  std::string device;     // whose memory holds it
  ResourceHandle handle;  // of one resource: what it says of itself
};

// Another task as an eager engine uses it. Any thread may call; what fails throws, Unavailable and
// naming the task where it is the task that is gone.
class RemoteTask {
 public:
  virtual ~RemoteTask() = default;
  virtual const std::string& name() const = 0;  // "/job:worker/replica:0/task:1"
  virtual const std::vector<DeviceAttributes>& devices() const = 0;
  virtual const std::string& address() const = 0;
  // Does it know this engine still? False once it was gone, though another may be at its address.
  virtual bool lives() const = 0;
  // A number for the call, by which the task knows it until it is dropped.
  virtual uint64_t number() = 0;
  // The task keeps the outputs under `first` and the numbers that follow. `call`: null when it was
  // told before.
  virtual std::vector<RemoteOutput> run(uint64_t number, const RemoteCall* call,
                                        std::span<const RemoteInput> inputs, uint64_t first,
                                        int64_t timeout_ms) = 0;
  // As many numbers for values; the first.
  virtual uint64_t numbers_for(size_t count) = 0;
  virtual Tensor fetch(uint64_t value) = 0;
  // The task may forget it. Returns at once.
  virtual void drop_value(uint64_t value) = 0;
  virtual void drop_call(uint64_t call) = 0;

  // Its device of that name, made when first asked for.
  std::shared_ptr<Device> device(const std::string& name,
                                 const std::function<std::shared_ptr<Device>()>& make) {
    const std::lock_guard lock(devices_mutex_);
    auto& found = devices_made_[name];
    if (!found) found = make();
    return found;
  }

 private:
  std::mutex devices_mutex_;
  std::map<std::string, std::shared_ptr<Device>> devices_made_;
};

}  // namespace emplace
