#include "cluster/remote_peer.h"

#include "cluster/task_service.h"
#include "cluster/wire.h"

namespace emplace::cluster {
namespace {

class RemotePeer final : public Peer {
 public:
  RemotePeer(std::string name, std::shared_ptr<Channel> channel)
      : name_(std::move(name)), channel_(std::move(channel)) {}
  const std::string& name() const override { return name_; }

  void describe(std::function<void(Failure, TaskInfo)> done) override {
    proto::DescribeTaskRequest request;
    request.set_task(name_);
    call("Describe", to_bytes(request), {.timeout_ms = 0, .wait_for_peer = true},
         [done = std::move(done)](Failure failure, const Bytes& body) {
           TaskInfo info;
           if (!failure) failure = failure_of([&] {
             proto::DescribeTaskResponse response;
             parse(body, response);
             info.incarnation = response.incarnation();
             for (const auto& d : response.device()) info.devices.push_back(from_proto(d));
             if (info.devices.empty()) throw internal_error("A task without devices.");
           });
           done(failure, std::move(info));
         });
  }

  void status(std::function<void(Failure, TaskStatus)> done) override {
    call("Status", to_bytes(proto::StatusRequest()), {.timeout_ms = 2'000, .wait_for_peer = false},
         [done = std::move(done)](Failure failure, const Bytes& body) {
           TaskStatus status;
           if (!failure) failure = failure_of([&] {
             proto::TaskStatus response;
             parse(body, response);
             status = from_proto(response);
           });
           done(failure, std::move(status));
         });
  }

  void add_part(PartSpec part, Done done) override {
    proto::AddPartRequest request;
    request.set_session(part.session);
    request.set_part(part.part);
    request.set_soft_placement(part.soft_placement);
    request.set_confined(part.confined);
    *request.mutable_graph() = std::move(part.graph);
    request.mutable_feed()->Assign(part.feeds.begin(), part.feeds.end());
    request.mutable_fetch()->Assign(part.fetches.begin(), part.fetches.end());
    request.mutable_target()->Assign(part.targets.begin(), part.targets.end());
    for (auto& [channel, task] : part.sends) {
      auto* const send = request.add_send();
      send->set_channel(channel);
      send->set_task(std::move(task));
    }
    simple("AddPart", to_bytes(request), std::move(done));
  }

  void run_part(PartRun run,
                std::function<void(Failure, std::vector<Tensor>)> done) override {
    proto::RunPartRequest request;
    request.set_session(run.session);
    request.set_part(run.part);
    request.set_step(run.step);
    request.set_oldest(run.oldest);
    request.set_trace(static_cast<bool>(run.on_stats));
    Bytes bytes;
    if (const Failure failure = failure_of([&] {
          for (const Tensor& t : run.feeds) cluster::describe(t, request.add_feed());
          bytes = to_bytes(request, run.feeds);
        }))
      return done(failure, {});
    call("RunPart", std::move(bytes), {},
         [done = std::move(done), on_stats = std::move(run.on_stats)](Failure failure, const Bytes& body) {
           std::vector<Tensor> fetched;
           if (!failure) failure = failure_of([&] {
             BytesReader reader(body);
             proto::RunPartResponse response;
             parse_head(reader, response);
             for (const auto& t : response.fetch()) fetched.push_back(read_tensor(reader, t));
             if (on_stats) on_stats(node_stats(response.stat()), response.took_ns());
           });
           done(failure, std::move(fetched));
         });
  }

  std::shared_ptr<OutgoingCall> push(SessionId session, StepId step, int64_t channel,
                                     const Tensor& value, Done done) override {
    proto::PushRequest request;
    request.set_session(session);
    request.set_step(step);
    request.set_channel(channel);
    return post("Push", request, value, std::move(done));
  }

  void join_group(int32_t group, int32_t size, const std::string& member,
                  std::function<void(Failure, CollectiveMembers)> done) override {
    proto::JoinGroupRequest request;
    request.set_group(group);
    request.set_size(size);
    request.set_member(member);
    call("JoinGroup", to_bytes(request), {.timeout_ms = 0, .wait_for_peer = true},
         [done = std::move(done)](Failure failure, const Bytes& body) {
           proto::JoinGroupResponse response;
           if (!failure) failure = failure_of([&] { parse(body, response); });
           done(failure, {response.member().begin(), response.member().end()});
         });
  }

  void push_part(const CollectivePart& part, const Tensor& value, Done sent) override {
    proto::PushPartRequest request;
    request.set_group(part.group);
    request.set_instance(part.instance);
    request.set_round(part.round);
    request.set_from(part.from);
    request.set_phase(part.phase);
    post("PushPart", request, value, std::move(sent));
  }

  void watch_collectives(Done done) override {
    simple("WatchCollectives", to_bytes(proto::Nothing()), std::move(done));
  }

  void end_step(SessionId session, StepId step, const Error& error) override {
    proto::EndStepRequest request;
    request.set_session(session);
    request.set_step(step);
    to_proto(error, request.mutable_error());
    simple("EndStep", to_bytes(request), [](const Failure&) {});
  }

  void waiting(SessionId session, std::function<void(Failure, std::vector<WaitingCall>)> done) override {
    proto::WaitingRequest request;
    request.set_session(session);
    call("Waiting", to_bytes(request), {.timeout_ms = 1'000, .wait_for_peer = false},
         [done = std::move(done)](Failure failure, const Bytes& body) {
           proto::WaitingResponse response;
           if (!failure) failure = failure_of([&] { parse(body, response); });
           done(failure, from_proto(response));
         });
  }

  void close_session(SessionId session, Done done) override {
    proto::CloseTaskSessionRequest request;
    request.set_session(session);
    simple("CloseSession", to_bytes(request), std::move(done));
  }

  void reset(std::vector<std::string> containers, Done done) override {
    proto::ResetTaskRequest request;
    request.mutable_container()->Assign(containers.begin(), containers.end());
    simple("Reset", to_bytes(request), std::move(done));
  }

 private:
  // Errors come with the node they are about, behind a mark: gRPC carries code and text alone.
  void call(const char* method, Bytes request, const CallOptions& options,
            std::function<void(Failure, const Bytes&)> done) {
    channel_->call(std::string(kTaskService) + method, std::move(request), options,
                   [done = std::move(done), name = name_](Answer answer) {
                     if (!answer.error) return done({}, answer.body);
                     done(unpacked(*answer.error, name), {});
                   });
  }
  // A message with a value behind it.
  template <class Request>
  std::shared_ptr<OutgoingCall> post(const char* method, Request& request, const Tensor& value, Done done) {
    Bytes bytes;
    if (const Failure failure = failure_of([&] {
          cluster::describe(value, request.mutable_value());
          bytes = to_bytes(request, {&value, 1});
        })) {
      done(failure);
      return nullptr;
    }
    return channel_->post(std::string(kTaskService) + method, std::move(bytes),
                          [done = std::move(done), name = name_](const Failure& failure) {
                            done(failure ? Failure(unpacked(*failure, name)) : failure);
                          });
  }
  void simple(const char* method, Bytes request, Done done) {
    call(method, std::move(request), {},
         [done = std::move(done)](const Failure& failure, const Bytes&) { done(failure); });
  }

  const std::string name_;
  const std::shared_ptr<Channel> channel_;
};

}  // namespace

std::shared_ptr<Peer> remote_peer(std::string name, std::shared_ptr<Channel> channel) {
  return std::make_shared<RemotePeer>(std::move(name), std::move(channel));
}

}  // namespace emplace::cluster
