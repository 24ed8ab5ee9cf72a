#include "kernel/host_function.h"

#include <fmt/format.h>

#include <atomic>
#include <mutex>
#include <optional>

#include "base/stop_scope.h"
#include "emplace/eager.h"
#include "kernel/host_threads.h"
#include "kernel/pending.h"

namespace emplace {
namespace {

struct Named {
  std::mutex mutex;
  std::shared_ptr<const HostFunction> function;
};

Named& named() {
  static Named* const n = new Named;  // outlives every thread that runs operations
  return *n;
}

std::shared_ptr<const HostFunction> current(const std::string& token) {
  const std::lock_guard lock(named().mutex);
  if (!named().function)  // no language binding has ever been given one
    throw invalid_argument(
        fmt::format("ValueError: Could not find callback with key={} in the registry.", token));
  return named().function;
}

// What tells sessions apart.
struct SessionNumber : Resource {
  const uint64_t number = next();
  static uint64_t next() {
    static std::atomic<uint64_t> last{0};
    return ++last;
  }
  std::string debug_string() const override { return "session number"; }
};

uint64_t session_of(const KernelInit& init) {
  if (!init.resources) return 0;
  const auto make = [] { return std::make_shared<SessionNumber>(); };
  return init.resources->find_or_create_as<SessionNumber>("_host_functions", "session", make)->number;
}

struct Call {
  std::string op, token;
  uint64_t session;

  void operator()(KernelContext& c) const {
    std::vector<Tensor> inputs;
    for (int i = 0; i < c.num_inputs(); ++i) inputs.push_back(c.input(i).copy());
    // Signals reach the function on the thread that looks after them.
    if (StopScope::looks()) give(c, answer(c.device().name(), inputs));
    else go_away(c, std::move(inputs));
  }

 private:
  struct Away;
  void go_away(KernelContext& c, std::vector<Tensor> inputs) const;

  std::vector<Tensor> answer(const std::string& device, const std::vector<Tensor>& inputs) const {
    return (*current(token))({op, token, device, inputs, session});
  }

  void give(KernelContext& c, std::vector<Tensor> outputs) const {
    check(c, outputs);
    for (int i = 0; i < c.num_outputs(); ++i)
      c.set_output(i, std::move(outputs[static_cast<size_t>(i)]));
  }

  void check(const KernelContext& c, const std::vector<Tensor>& outputs) const {
    if (static_cast<int>(outputs.size()) != c.num_outputs())
      throw invalid_argument(fmt::format("{} returns {} values, but expects to see {} values.",
                                         token, outputs.size(), c.num_outputs()));
    for (int i = 0; i < c.num_outputs(); ++i)
      if (const DType got = outputs[static_cast<size_t>(i)].dtype(); got != c.output_type(i))
        throw invalid_argument(fmt::format("{}-th value returned by {} is {}, but expects {}", i,
                                           token, dtype_proto_name(got),
                                           dtype_proto_name(c.output_type(i))));
  }
};

// A call on a thread of its own: the function may take as long as it likes, and its step ends without
// it once that is cancelled.
struct Call::Away {
  Away(Call f, KernelContext& c, std::vector<Tensor> in)
      : function(std::move(f)), device(c.device().name()), inputs(std::move(in)), pending(c) {}
  bool claim() { return !claimed.exchange(true); }
  void run();

  const Call function;
  const std::string device;
  const std::vector<Tensor> inputs;
  Pending pending;
  std::atomic<bool> claimed{false};  // by whoever ends it
};

void Call::go_away(KernelContext& c, std::vector<Tensor> inputs) const {
  const auto call = std::make_shared<Away>(*this, c, std::move(inputs));
  call->pending.on_cancel([call] {
    if (call->claim()) call->pending.end(cancelled("the step was cancelled"));
  });
  HostThreads::get().run([call] { call->run(); });
}

void Call::Away::run() {
  std::vector<Tensor> outputs;
  std::optional<Error> error;
  try {
    outputs = function.answer(device, inputs);
  } catch (const Error& e) {
    error = e;
  } catch (const std::exception& e) {
    error = internal_error(e.what());
  }
  if (!claim()) return;
  try {
    if (!error) function.give(pending.context(), std::move(outputs));
  } catch (const Error& e) {
    error = e;
  }
  pending.end(std::move(error));
}

Prepared make_call(const KernelInit& init) {
  return prepared(Call{init.op->name, init.attr<std::string>("token"), session_of(init)});
}

}  // namespace

void set_host_function(HostFunction function) {
  const std::lock_guard lock(named().mutex);
  named().function = std::make_shared<const HostFunction>(std::move(function));
}

std::vector<KernelRow> host_function_kernels(std::string_view device_type) {
  std::vector<KernelRow> rows;
  for (const char* op : {"PyFunc", "PyFuncStateless", "EagerPyFunc"})
    rows.push_back({op, std::string(device_type), {}, {}, make_call, {.blocks = true}, 0, {}});
  return rows;
}

}  // namespace emplace
