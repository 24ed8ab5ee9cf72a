#pragma once
#include <atomic>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <vector>

#include "base/device_name.h"
#include "device/device.h"
#include "emplace/attr.h"
#include "emplace/graph.h"
#include "op/op_def.h"
#include "session/called_function.h"
#include "session/remote_eager.h"

namespace emplace {

// A call of another task's, told once; the task forgets it with the last that holds it.
class PreparedRemoteCall {
 public:
  PreparedRemoteCall(std::shared_ptr<RemoteTask> task, RemoteCall call);
  ~PreparedRemoteCall();
  const RemoteTask& task() const { return *task_; }
  // Outputs stay in the task.
  std::vector<Tensor> run(std::span<const Tensor> inputs, int64_t timeout_ms) const;

 private:
  const std::shared_ptr<RemoteTask> task_;
  const RemoteCall call_;
  const uint64_t number_;
  mutable std::atomic<bool> told_{false};
};

// The tasks that an eager engine works with, beside its own. Any thread may call.
class EagerTasks {
 public:
  // Those that live go on as they are, with the values that they hold. `own`: what the cluster
  // calls this process; "": nothing.
  void set(std::vector<std::shared_ptr<RemoteTask>> tasks, const std::string& own);
  bool any() const { return any_; }
  std::vector<DeviceAttributes> devices() const;

  // The task that a name of a device means; null: this one. Throws InvalidArgument for one that is
  // not there, or has no such device (another may stand for it when `soft`).
  std::shared_ptr<RemoteTask> find(const DeviceName& spec, bool soft) const;
  // … and its one device that the name means.
  std::string resolve(const DeviceName& spec, bool soft) const;
  // The name without what only says that it is here.
  DeviceName local(DeviceName spec) const;

 private:
  bool is_own(const DeviceName& spec) const;

  mutable std::shared_mutex mutex_;
  std::atomic<bool> any_{false};
  std::vector<std::shared_ptr<RemoteTask>> tasks_;
  std::optional<DeviceName> own_;
};

// What lies in another task, brought here; others are returned as they are.
Tensor brought_here(const Tensor& tensor);
// The task that a value, or what a handle stands for, lies in; null: this one.
const RemoteTask* task_that_holds(const Tensor& tensor);

// One operation as a call; attributes are complete.
RemoteCall call_of(const OpDef& op, const AttrList& attrs, std::span<const DType> input_types,
                   std::string device, const FunctionLookup& find);
// What `signature` asks of a graph as a call.
RemoteCall call_of(const Graph& graph, const Signature& signature, std::string device,
                   std::string random_scope);

}  // namespace emplace
