#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emplace/attr.h"
#include "emplace/error.h"
#include "emplace/export.h"
#include "emplace/session.h"
#include "emplace/tensor.h"

namespace emplace {

class RemoteTask;
struct Pools;

// An operation made ready to be called again and again: a kernel chosen for its attributes, the
// dtypes of its inputs and a device. Immutable; used with the Eager that made it.
class EMPLACE_API EagerCall {
 public:
  virtual ~EagerCall() = default;
  int num_inputs() const { return num_inputs_; }
  int num_outputs() const { return num_outputs_; }
  // Is its output a list, however many are in it?
  bool gives_list() const { return gives_list_; }
  // May it serve other calls of the same op, dtypes, attributes and device (for handles: the
  // device of what they stand for)?
  bool reusable() const { return reusable_; }
  // Time in proportion to its inputs, and never a wait.
  bool light() const { return light_; }
  // Full name of the CPU it runs on where that is not the first; else null. Host memory is the same
  // for all of them, so its outputs do not tell.
  const std::string* other_cpu() const { return other_cpu_; }

 protected:
  int num_inputs_ = 0, num_outputs_ = 0;
  bool reusable_ = false, light_ = false, gives_list_ = false;
  const std::string* other_cpu_ = nullptr;
};

// A graph made ready to be called: a plan for each combination of shapes and memories of its
// inputs, run by the graph engine over an Eager's devices and variables. Thread-safe.
class EMPLACE_API EagerFunction {
 public:
  // The values of the outputs, in the memory they were made in.
  void run(std::span<const Tensor> inputs, std::vector<Tensor>& outputs);

  struct Impl;
  explicit EagerFunction(std::unique_ptr<Impl> impl);
  ~EagerFunction();

 private:
  std::unique_ptr<Impl> impl_;
};

// Runs operations one by one, with the kernels that graphs use. Tensors may lie on any of its
// devices; what an operation needs elsewhere is copied. Owns its variables. Thread-safe.
class EMPLACE_API Eager {
 public:
  // `task`: what its devices' names begin with, "/job:worker/task:1"; "": those of no cluster's
  // task.
  explicit Eager(SessionOptions options = {}, const std::string& task = {});
  ~Eager();
  Eager(const Eager&) = delete;
  Eager& operator=(const Eager&) = delete;

  // Runs `op`. `device`: a full or partial name, "" for the best device that has a kernel; a
  // resource input decides by itself. Dtypes and defaults are filled in as in a graph.
  std::vector<Tensor> execute(std::string_view op, std::span<const Tensor> inputs,
                              AttrList attrs = {}, std::string_view device = {});

  // The same in two steps. `values`: the inputs, then room for the outputs.
  std::shared_ptr<const EagerCall> prepare(std::string_view op, std::span<const Tensor> inputs,
                                           AttrList attrs = {}, std::string_view device = {});
  void run(const EagerCall& call, Tensor* values);
  // Without the deadline: for calls that are over soon, or inside of run_as_one.
  void run_quick(const EagerCall& call, Tensor* values);
  // The operations of `body` on this thread share one deadline.
  void run_as_one(const std::function<void()>& body);
  // For `body`: why the work of this thread was ended; nothing while it goes on.
  static std::optional<Error> why_ended();

  // A function of `inputs`: gives `outputs` and runs `effects` too. `device`: where operations run
  // that ask for none. `random_scope`: functions of one name, as long as one of them lives, draw
  // their random numbers from the same streams; "": this one has its own.
  std::shared_ptr<EagerFunction> prepare(std::shared_ptr<Graph> graph, std::vector<Output> inputs,
                                         std::vector<Output> outputs, std::vector<Node*> effects,
                                         std::string device = {}, std::string random_scope = {});

  // Operations may name it in attributes of type func from now on; the same again is fine. What was
  // made with it keeps it when it is removed.
  void add_function(std::shared_ptr<const Function> function);
  void remove_function(const std::string& name);

  // The tensor on the device of that name ("" or a CPU: in host memory).
  Tensor copy_to(const Tensor& tensor, std::string_view device);
  Tensor to_host(const Tensor& tensor) { return copy_to(tensor, ""); }
  // Full name of the device whose memory holds it; the first CPU's for host memory.
  std::string device_of(const Tensor& tensor) const;
  // Full name of the one device that `name` means; the error of an unknown one is RuntimeError's
  // (Code::kUnknown) in the words "… unknown device."
  std::string resolve(std::string_view name) const;

  std::vector<DeviceAttributes> list_devices() const;
  void limit_memory(const std::string& device, int64_t bytes);  // see Session::limit
  int64_t trim();                                               // see Session::trim
  void set_soft_placement(bool on);
  // The placer that `options` describe places functions that are prepared from now on.
  void set_placer(const SessionOptions& options);
  // Throws InvalidArgument when nobody can place as these options say.
  static void check_placer(const SessionOptions& options);
  // From now on operations, variables and functions may be on the devices of these tasks too (see
  // connect_tasks in <emplace/cluster.h>). `own`: what the cluster calls this process; "": nothing.
  void set_tasks(std::vector<std::shared_ptr<RemoteTask>> tasks, const std::string& own);
  // The collective operations prepared from now on are those of a task (Server::collectives); by
  // themselves they meet within this engine. Null: within it again.
  void set_collectives(std::shared_ptr<Resource> of_task);
  // Operations that draw random numbers begin anew from their seeds.
  void restart_random();
  // What the handle stands for is not found by its name any more; it lives as long as handles to it.
  void forget(const Tensor& handle);
  // Operations and functions that take longer end with DeadlineExceeded; 0: none does.
  void set_operation_timeout(int64_t ms);
  int64_t operation_timeout() const;
  // Told of every operation before it runs: (op, device). Empty: nobody.
  void set_log(std::function<void(const std::string& op, const std::string& device)> log);

 private:
  struct Impl;
  explicit Eager(std::unique_ptr<Impl> impl);
  friend std::unique_ptr<Eager> eager_over(const SessionOptions&, const Pools&,
                                           std::shared_ptr<std::vector<std::shared_ptr<Device>>>);
  std::unique_ptr<Impl> impl_;
};

// A call of a function of the program's own language, from PyFunc, PyFuncStateless or EagerPyFunc.
struct HostCall {
  std::string_view op, token, device;
  std::span<const Tensor> inputs;  // in host memory of their own
  uint64_t session = 0;            // another number for each session (or eager engine)
};
using HostFunction = std::function<std::vector<Tensor>(const HostCall&)>;
// Who answers such calls in this process, from any thread that runs operations. The results are the
// engine's from then on; what is thrown fails the operation.
EMPLACE_API void set_host_function(HostFunction function);

// ---- The engine as a guest in a process, for bindings to other languages: whose signals must be heard
// while a thread of theirs is at work, and whose end must not wait for threads.

// ---- Looking up. One thread of the process may have something to look after besides its work.

// The calling thread is the one. It calls `look` soon after it was asked: between two operations of a
// step, between two parts of a long one, while it waits. What `look` throws ends the step.
EMPLACE_API void set_look(void (*look)());
// Asks that thread, whatever it works on: from another thread …
EMPLACE_API void ask_to_look();
// … or from a signal's handler on that thread itself.
EMPLACE_API void ask_to_look_here();
// A number that changes when that thread begins or ends a piece of work; 0 while it has none.
EMPLACE_API uint64_t work_of_looker();

// ---- The end of a process whose threads are still at work.

// Ends every step and operation under way in the process with Cancelled.
EMPLACE_API void cancel_all_work();
// From now on sessions and eager engines are not taken apart: threads that nobody can stop may still
// be inside. The system takes all back.
EMPLACE_API void leave_work_behind();

// A call's node whose functions now take and give more: `more` come behind its inputs, `attrs`
// replace those it has; the outputs it had keep their places.
EMPLACE_API void extend_call(Graph& graph, Node* node, std::span<const Output> more,
                             AttrList attrs);

// The kernels of an op, one a line: "  device='CPU'; T in [DT_FLOAT, DT_DOUBLE]".
EMPLACE_API std::string op_kernels(std::string_view op);

// An operation or function that an eager engine of the process ran.
struct ProfiledCall {
  std::string name, device;
  int64_t start_ns = 0, end_ns = 0;  // since the epoch
  int64_t thread = 0;                // the caller's, as the system numbers them
  std::vector<NodeStats> nodes;      // of a function: since its start
};
// Notes them from now on, until stop_profile gives what was noted.
EMPLACE_API void start_profile();
EMPLACE_API std::vector<ProfiledCall> stop_profile();


}  // namespace emplace
