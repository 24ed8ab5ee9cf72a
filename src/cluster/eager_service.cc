#include "cluster/eager_service.h"

#include <fmt/format.h>

#include <set>

#include "cluster/methods.h"
#include "cluster/task_service.h"
#include "cluster/wire.h"
#include "graph/graph_def.h"
#include "graph/tensor_proto.h"
#include "session/eager_host.h"

namespace emplace::cluster {
// What a program has told to do again and again. One operation is called as such, unless its files
// are to be looked at.
struct EagerService::Work {
  Work(Eager& eager, proto::EagerCallDef def, bool alone) : device(def.device()) {
    auto graph = std::make_shared<Graph>();
    ImportOptions import;
    import.allow_internal_names = true;
    import_graph_def(*graph, def.graph(), import);
    std::vector<Output> feeds, fetches;
    std::vector<Node*> targets;
    for (const std::string& name : def.feed()) feeds.push_back(graph->tensor(name));
    for (const std::string& name : def.fetch()) fetches.push_back(graph->tensor(name));
    for (const std::string& name : def.target()) {
      targets.push_back(graph->find(name));
      if (!targets.back()) throw not_found(fmt::format("FetchOutputs: node {} not found", name));
    }
    alone = alone && graph->functions().empty() && graph->num_nodes() == feeds.size() + 1;
    for (const Node* n : graph->nodes())
      if (alone && n->type() != "Placeholder") operation = n;
    if (operation)
      keep = graph;
    else
      function = eager.prepare(graph, feeds, fetches, targets, device, def.random_scope());
  }

  std::vector<Tensor> run(Eager& eager, std::span<const Tensor> inputs) {
    std::vector<Tensor> outputs;
    if (function) {
      function->run(inputs, outputs);
      return outputs;
    }
    std::shared_ptr<const EagerCall> ready;
    {
      const std::lock_guard lock(mutex);
      if (!call) call = eager.prepare(operation->type(), inputs, operation->attrs(), device);
      ready = call;
    }
    if (ready->num_inputs() != static_cast<int>(inputs.size()))
      throw invalid_argument(fmt::format("{} takes {} inputs but got {}", operation->type(),
                                         ready->num_inputs(), inputs.size()));
    std::vector<Tensor> values(inputs.begin(), inputs.end());
    values.resize(inputs.size() + static_cast<size_t>(ready->num_outputs()));
    eager.run(*ready, values.data());
    return {values.begin() + static_cast<int64_t>(inputs.size()), values.end()};
  }

  std::shared_ptr<Graph> keep;
  const Node* operation = nullptr;
  std::shared_ptr<EagerFunction> function;
  const std::string device;
  std::mutex mutex;
  std::shared_ptr<const EagerCall> call;
};

// A call under way, which the program may end, or its end.
class EagerService::Running {
 public:
  explicit Running(EagerHost& host) : host_(&host) {}
  void cancel(const Error& why) {
    const std::lock_guard lock(mutex_);
    if (host_) host_->cancel(why);
  }
  void over() {
    const std::lock_guard lock(mutex_);
    host_ = nullptr;
  }

 private:
  std::mutex mutex_;
  EagerHost* host_;
};

struct EagerService::Program {
  Program(const Caller& caller, std::unique_ptr<Eager> e) : whose(caller), eager(std::move(e)) {}
  const Caller whose;
  const std::unique_ptr<Eager> eager;
  std::shared_ptr<IncomingCall> held;  // the service's lock guards it
  std::mutex mutex;                    // guards what follows
  std::map<uint64_t, std::shared_ptr<Work>> work;
  std::map<uint64_t, Tensor> values;  // gone before the engine
  std::set<std::shared_ptr<Running>> running;
  Failure ended;

  // What begins later fails with it, too.
  void end(const Error& why) {
    std::set<std::shared_ptr<Running>> ends;
    {
      const std::lock_guard lock(mutex);
      ended = why;
      ends = running;
    }
    for (const auto& r : ends) r->cancel(why);
  }
  std::shared_ptr<Running> begin() {
    const std::lock_guard lock(mutex);
    if (ended) throw Error(*ended);
    return *running.insert(std::make_shared<Running>(EagerHost::of_thread())).first;
  }
  void finish(const std::shared_ptr<Running>& r) {
    r->over();
    const std::lock_guard lock(mutex);
    running.erase(r);
  }
};

bool EagerService::serve(const std::shared_ptr<IncomingCall>& call) {
  std::string_view method = call->method();
  if (!method.starts_with(kClientService)) return false;
  method.remove_prefix(kClientService.size());
  if (method == "HoldEager") {
    if (const Failure failure = failure_of([&] { hold(call); }))
      call->answer({packed(*failure), {}});
    return true;
  }
  if (method != "OpenEager" && method != "RunEager" && method != "FetchEager" &&
      method != "DropEager")
    return false;
  const auto serve = [this, method = std::string(method), call] {
    call->answer(answer_of(method, *call));
  };
  if (method == "DropEager" || call->may_wait())
    serve();
  else
    task_.threads().run(serve);
  return true;
}

Answer EagerService::answer_of(std::string_view method, IncomingCall& call) {
  try {
    if (method == "OpenEager") return open(call);
    if (method == "RunEager") return run(call);
    return method == "FetchEager" ? fetch(call) : drop(call);
  } catch (const Error& e) {
    return {packed(e), {}};
  } catch (const std::bad_alloc&) {
    return {packed(resource_exhausted("out of memory")), {}};
  } catch (const std::exception& e) {
    return {packed(internal_error(e.what())), {}};
  }
}

Answer EagerService::open(IncomingCall& call) {
  const auto request = parsed<proto::OpenEagerRequest>(call.request());
  if (request.task() != task_.name())
    throw internal_error(fmt::format(
        "{} was expected here, but this is {}: the servers' cluster definitions differ.",
        request.task(), task_.name()));
  auto program = std::make_shared<Program>(call.caller(), task_.eager());
  {
    const std::lock_guard lock(mutex_);
    if (!programs_.emplace(request.context(), std::move(program)).second)
      throw already_exists("There is such a program.");
  }
  proto::DescribeTaskResponse response;
  response.set_incarnation(task_.info().incarnation);
  for (const DeviceAttributes& d : task_.info().devices) to_proto(d, response.add_device());
  return {{}, to_bytes(response)};
}

void EagerService::hold(const std::shared_ptr<IncomingCall>& call) {
  const uint64_t context = parsed<proto::HoldEagerRequest>(call->request()).context();
  const auto program = find(context, call->caller());
  {
    const std::lock_guard lock(mutex_);
    program->held = call;
  }
  call->on_cancel([this, context] { close(context); });
}

void EagerService::close(uint64_t context) {
  std::shared_ptr<Program> gone;
  {
    const std::lock_guard lock(mutex_);
    if (const auto it = programs_.find(context); it != programs_.end())
      gone = std::move(programs_.extract(it).mapped());
  }
  // What it held goes on a thread that may wait.
  if (!gone) return;
  gone->end(cancelled("The program has gone."));
  task_.threads().run([gone = std::move(gone)] {});
}

void EagerService::stop() {
  std::map<uint64_t, std::shared_ptr<Program>> gone;
  {
    const std::lock_guard lock(mutex_);
    gone.swap(programs_);
  }
  const Error why(Code::kUnavailable, fmt::format("{} is stopping.", task_.name()));
  for (const auto& [context, program] : gone) {
    program->end(why);
    if (program->held) program->held->answer({packed(why), {}});
  }
}

std::shared_ptr<EagerService::Program> EagerService::find(uint64_t context, const Caller& caller) {
  const std::lock_guard lock(mutex_);
  const auto it = programs_.find(context);
  if (it != programs_.end() && it->second->whose == caller) return it->second;
  throw Error(
      Code::kAborted,
      fmt::format("Unable to find a context_id matching the specified one ({}). Perhaps the "
                  "worker was restarted, or the context was GC'd?",
                  context));
}

Answer EagerService::run(IncomingCall& call) {
  BytesReader reader(call.request());
  proto::RunEagerRequest request;
  parse_head(reader, request);
  const auto program = find(request.context(), call.caller());
  std::vector<Tensor> inputs;
  for (const auto& in : request.input()) {
    if (in.id() == 0) {
      inputs.push_back(read_tensor(reader, in.value()));
      continue;
    }
    const std::lock_guard lock(program->mutex);
    const auto it = program->values.find(in.id());
    if (it == program->values.end())
      throw invalid_argument(fmt::format("There is no value {} here.", in.id()));
    inputs.push_back(it->second);
  }
  std::shared_ptr<Work> work;
  if (request.has_def()) {
    const bool confined = is_confined(call.caller());
    auto& def = *request.mutable_def();
    if (confined) confine(*def.mutable_graph(), task_.rules(), task_.name() + "/device:CPU:0");
    work = std::make_shared<Work>(*program->eager, std::move(def), !confined);
    const std::lock_guard lock(program->mutex);
    program->work[request.call()] = work;
  } else {
    const std::lock_guard lock(program->mutex);
    const auto it = program->work.find(request.call());
    if (it == program->work.end())
      throw invalid_argument(fmt::format("There is no call {} here.", request.call()));
    work = it->second;
  }
  program->eager->set_operation_timeout(request.timeout_ms());
  std::vector<Tensor> outputs;
  std::shared_ptr<Running> running;
  const Failure failure = failure_of([&] {
    program->eager->run_as_one([&] {
      running = program->begin();
      call.on_cancel([running] { running->cancel(cancelled("The program no longer waits.")); });
      outputs = work->run(*program->eager, inputs);
    });
  });
  if (running) program->finish(running);
  if (failure) throw *failure;
  proto::RunEagerResponse response;
  const std::lock_guard lock(program->mutex);
  for (int i = 0; i < static_cast<int>(outputs.size()); ++i) {
    const Tensor& t = outputs[static_cast<size_t>(i)];
    auto* const out = response.add_output();
    out->set_dtype(static_cast<int>(emplace::to_proto(t.dtype())));
    for (int d = 0; d < t.rank(); ++d) out->add_dim(t.dim(d));
    out->set_device(program->eager->device_of(t));
    if (t.dtype() == DType::kResource && t.rank() == 0) {
      const auto& h = *t.data<ResourceHandle>();
      if (!h.device.empty()) out->set_device(h.device);
      out->set_container(h.container);
      out->set_name(h.name);
      out->set_type_name(h.type_name);
    }
    program->values[request.first() + static_cast<uint64_t>(i)] = t;
  }
  return {{}, to_bytes(response)};
}

Answer EagerService::fetch(IncomingCall& call) {
  const auto request = parsed<proto::FetchEagerRequest>(call.request());
  const auto program = find(request.context(), call.caller());
  Tensor value;
  {
    const std::lock_guard lock(program->mutex);
    const auto it = program->values.find(request.id());
    if (it == program->values.end())
      throw invalid_argument(fmt::format("There is no value {} here.", request.id()));
    value = it->second;
  }
  value = program->eager->to_host(value);
  proto::FetchEagerResponse response;
  cluster::describe(value, response.mutable_value());
  return {{}, to_bytes(response, {&value, 1})};
}

Answer EagerService::drop(IncomingCall& call) {
  const auto request = parsed<proto::DropEagerRequest>(call.request());
  const auto program = find(request.context(), call.caller());
  std::vector<Tensor> values;  // go without the lock
  std::vector<std::shared_ptr<Work>> works;
  {
    const std::lock_guard lock(program->mutex);
    for (const uint64_t id : request.value())
      if (const auto it = program->values.find(id); it != program->values.end())
        values.push_back(std::move(program->values.extract(it).mapped()));
    for (const uint64_t id : request.call())
      if (const auto it = program->work.find(id); it != program->work.end())
        works.push_back(std::move(program->work.extract(it).mapped()));
  }
  return {{}, to_bytes(proto::Nothing())};
}

}  // namespace emplace::cluster
