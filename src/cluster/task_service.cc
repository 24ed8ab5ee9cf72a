#include "cluster/task_service.h"

#include <fmt/format.h>

#include "cluster/wire.h"

namespace emplace::cluster {
namespace {

constexpr char kMark = '\x1e';  // between the parts of an error

Answer describe_task(Task& task, IncomingCall& call) {
  const auto request = parsed<proto::DescribeTaskRequest>(call.request());
  if (request.task() != task.name())
    throw Error(Code::kInternal, fmt::format("{} was expected here, but this is {}: the servers' "
                                             "cluster definitions differ.",
                                             request.task(), task.name()));
  proto::DescribeTaskResponse response;
  response.set_incarnation(task.info().incarnation);
  for (const DeviceAttributes& d : task.info().devices) to_proto(d, response.add_device());
  return {{}, to_bytes(response)};
}

Answer add_part(Task& task, IncomingCall& call) {
  auto request = parsed<proto::AddPartRequest>(call.request());
  PartSpec part;
  part.session = request.session();
  part.part = request.part();
  part.soft_placement = request.soft_placement();
  part.confined = request.confined() || is_confined(call.caller());
  part.graph = std::move(*request.mutable_graph());
  part.feeds.assign(request.feed().begin(), request.feed().end());
  part.fetches.assign(request.fetch().begin(), request.fetch().end());
  part.targets.assign(request.target().begin(), request.target().end());
  for (const auto& s : request.send()) part.sends.emplace_back(s.channel(), s.task());
  task.add_part(std::move(part));
  return {{}, to_bytes(proto::Nothing())};
}

Answer run_part(Task& task, IncomingCall& call) {
  BytesReader reader(call.request());
  proto::RunPartRequest request;
  parse_head(reader, request);
  PartRun run{request.session(), request.part(), request.step(), request.oldest(), {}};
  for (const auto& t : request.feed()) run.feeds.push_back(read_tensor(reader, t));
  call.on_cancel([&task, session = run.session, step = run.step] {
    failure_of([&] { task.end_step(session, step, {Code::kCancelled, "The step's master is gone."}); });
  });
  proto::RunPartResponse response;
  if (request.trace())
    run.on_stats = [&response](const std::vector<NodeStats>& nodes, int64_t took_ns) {
      to_proto(nodes, response.mutable_stat());
      response.set_took_ns(took_ns);
    };
  const std::vector<Tensor> fetched = task.run_part(run);
  for (const Tensor& t : fetched) describe(t, response.add_fetch());
  return {{}, to_bytes(response, fetched)};
}

// Nobody hears the answer: what goes wrong fails the step.
Answer push(Task& task, IncomingCall& call) {
  BytesReader reader(call.request());
  proto::PushRequest request;
  parse_head(reader, request);
  if (const Failure failure = failure_of([&] {
        task.push(request.session(), request.step(), request.channel(),
                  read_tensor(reader, request.value()));
      }))
    task.end_step(request.session(), request.step(), *failure);
  return {{}, to_bytes(proto::Nothing())};
}

Answer end_step(Task& task, IncomingCall& call) {
  const auto request = parsed<proto::EndStepRequest>(call.request());
  task.end_step(request.session(), request.step(), from_proto(request.error()));
  return {{}, to_bytes(proto::Nothing())};
}

Answer waiting(Task& task, IncomingCall& call) {
  proto::WaitingResponse response;
  to_proto(task.waiting(parsed<proto::WaitingRequest>(call.request()).session()), &response);
  return {{}, to_bytes(response)};
}

Answer close_session(Task& task, IncomingCall& call) {
  task.close_session(parsed<proto::CloseTaskSessionRequest>(call.request()).session());
  return {{}, to_bytes(proto::Nothing())};
}

Answer reset(Task& task, IncomingCall& call) {
  const auto request = parsed<proto::ResetTaskRequest>(call.request());
  task.reset({request.container().begin(), request.container().end()});
  return {{}, to_bytes(proto::Nothing())};
}

Answer status_of_task(Task& task, IncomingCall&) {
  proto::TaskStatus response;
  to_proto(task.status(), &response);
  return {{}, to_bytes(response)};
}

// Lost when nobody here belongs to the group: it has ended.
Answer push_part(Task& task, IncomingCall& call) {
  BytesReader reader(call.request());
  proto::PushPartRequest request;
  parse_head(reader, request);
  task.collectives()->arrived({request.group(), request.instance(), request.round(), request.from(), request.phase()},
                              read_tensor(reader, request.value()));
  return {{}, to_bytes(proto::Nothing())};
}

// ---- Answered when it is time.

void join_group(Task& task, const std::shared_ptr<IncomingCall>& call) {
  const auto request = parsed<proto::JoinGroupRequest>(call->request());
  task.collectives()->lead(request.group(), request.size(), request.member(),
                           [call](const Failure& failure, const CollectiveMembers& members) {
                             if (failure) return call->answer({packed(*failure), {}});
                             proto::JoinGroupResponse response;
                             response.mutable_member()->Assign(members.begin(), members.end());
                             call->answer({{}, to_bytes(response)});
                           });
}

void watch_collectives(Task& task, const std::shared_ptr<IncomingCall>& call) {
  task.collectives()->watched([call](const Failure& why) { call->answer({why ? Failure(packed(*why)) : why, {}}); });
}

struct Method {
  std::string_view name;
  Answer (*run)(Task&, IncomingCall&) = nullptr;
  bool waits = false;  // runs on a thread that may wait
  void (*begin)(Task&, const std::shared_ptr<IncomingCall>&) = nullptr;  // instead: answers later
};
constexpr Method kServed[] = {
    {"Describe", describe_task}, {"AddPart", add_part, true},           {"RunPart", run_part, true},
    {"Push", push},              {"EndStep", end_step},                 {"Reset", reset},
    {"CloseSession", close_session, true}, {"Status", status_of_task},   {"Waiting", waiting},
    {"JoinGroup", nullptr, false, join_group}, {"PushPart", push_part},
    {"WatchCollectives", nullptr, false, watch_collectives},
};

// None: it answers by itself.
std::optional<Answer> answer_of(const Method& method, Task& task, const std::shared_ptr<IncomingCall>& call) {
  try {
    if (method.run) return method.run(task, *call);
    method.begin(task, call);
    return {};
  } catch (const Error& e) {
    return Answer{packed(e), {}};
  } catch (const std::bad_alloc&) {
    return Answer{packed(resource_exhausted("out of memory")), {}};
  } catch (const std::exception& e) {
    return Answer{packed(internal_error(e.what())), {}};
  }
}

}  // namespace

bool serve_task(Task& task, const std::shared_ptr<IncomingCall>& call) {
  const std::string_view path = call->method();
  if (!path.starts_with(kTaskService)) return false;
  for (const Method& m : kServed) {
    if (m.name != path.substr(kTaskService.size())) continue;
    const auto serve = [&task, &m, call] {
      if (auto answer = answer_of(m, task, call)) call->answer(std::move(*answer));
    };
    if (m.waits && !call->may_wait()) task.threads().run(serve);
    else serve();
    return true;
  }
  return false;
}

Error packed(const Error& e) {
  return Error(e.code(), fmt::format("{}{}{}{}{}{}{}{}{}", e.message(), kMark, e.node(), kMark,
                                     e.op(), kMark, e.device(), kMark, e.source()));
}

Error unpacked(const Error& e, const std::string& task) {
  std::vector<std::string> parts;
  std::string_view rest = e.message();
  for (size_t at; (at = rest.find(kMark)) != std::string_view::npos; rest.remove_prefix(at + 1))
    parts.emplace_back(rest.substr(0, at));
  parts.emplace_back(rest);
  const std::string words = fmt::format("From {}:\n{}", task, parts[0]);
  if (parts.size() != 5) return Error(e.code(), words);
  Error whole(e.code(), parts[0].starts_with("From /job:") ? parts[0] : words);
  whole.at_node(parts[1], parts[2]).on_device(parts[3]).from_source(parts[4]);
  return whole;
}

}  // namespace emplace::cluster
