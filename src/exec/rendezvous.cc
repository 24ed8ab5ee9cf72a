#include "exec/rendezvous.h"

#include <utility>

#include "exec/instance.h"

namespace emplace {

void Inbox::put(int64_t channel, Tensor value) {
  std::shared_ptr<Pending> kernel;
  {
    const std::lock_guard lock(mutex_);
    if (error_) return;
    const auto it = waiting_.find(channel);
    if (it == waiting_.end()) {
      values_.insert_or_assign(channel, std::move(value));
      return;
    }
    kernel = std::move(it->second);
    waiting_.erase(it);
  }
  kernel->context().set_output(0, std::move(value));
  kernel->end({});
}

void Inbox::take(int64_t channel, std::shared_ptr<Pending> kernel) {
  Tensor value;
  std::optional<Error> error;
  {
    const std::lock_guard lock(mutex_);
    if (const auto it = values_.find(channel); it != values_.end()) {
      value = std::move(it->second);
      values_.erase(it);
    } else if (error_) {
      error = error_;
    } else {
      waiting_[channel] = kernel;
    }
  }
  if (value.has_value()) kernel->context().set_output(0, std::move(value));
  if (value.has_value() || error) return kernel->end(std::move(error));
  kernel->on_cancel([inbox = weak_from_this(), channel] {
    const auto held = inbox.lock();
    if (const auto waiting = held ? held->withdraw(channel) : nullptr) waiting->end({});
  });
}

std::shared_ptr<Pending> Inbox::withdraw(int64_t channel) {
  const std::lock_guard lock(mutex_);
  const auto it = waiting_.find(channel);
  if (it == waiting_.end()) return nullptr;
  const std::shared_ptr<Pending> kernel = std::move(it->second);
  waiting_.erase(it);
  return kernel;
}

void Inbox::fail(const Error& error) {
  decltype(waiting_) waiting;
  {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = error;
    waiting.swap(waiting_);
  }
  for (auto& [channel, kernel] : waiting) kernel->end(error);
}

namespace {

Rendezvous& rendezvous_of(const KernelContext& c) {
  const auto* const instance = dynamic_cast<Instance*>(c.host_);
  if (!instance || !instance->rendezvous())
    throw invalid_argument("This operation belongs to a step over several tasks.");
  return *instance->rendezvous();
}

ValueChannel channel_of(const KernelInit& init) {
  const AttrValue* const channel = find_attr(*init.attrs, "_channel");
  if (!channel) throw invalid_argument("This operation belongs to a graph that was cut by task.");
  return {static_cast<int>(channel->as<int64_t>()), find_attr(*init.attrs, "_every_round") != nullptr};
}

struct Send {
  ValueChannel channel;
  void operator()(KernelContext& c) const {
    Rendezvous& rendezvous = rendezvous_of(c);
    const Tensor value = c.input(0);
    rendezvous.send(channel, value, std::make_shared<Pending>(c));
  }
};

struct Receive {
  ValueChannel channel;
  void operator()(KernelContext& c) const {
    Rendezvous& rendezvous = rendezvous_of(c);
    rendezvous.receive(channel, std::make_shared<Pending>(c));
  }
};

Prepared make_send(const KernelInit& init) { return prepared(Send{channel_of(init)}); }
Prepared make_receive(const KernelInit& init) { return prepared(Receive{channel_of(init)}); }

}  // namespace

void register_rendezvous_kernels(KernelRegistry& registry) {
  registry.add({"_Send", "CPU", {}, {}, make_send, {.blocks = true}, 0, ""});
  registry.add({"_Recv", "CPU", {}, {}, make_receive, {.blocks = true}, 0, ""});
}

}  // namespace emplace
