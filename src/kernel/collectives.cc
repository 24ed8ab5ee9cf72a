#include "kernel/collectives.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/device_name.h"
#include "kernel/collective_exchange.h"
#include "kernel/host_threads.h"

namespace emplace {
namespace {

// What a task that has ended well still had to say may be on its way.
constexpr std::chrono::milliseconds kLastWords{500};

Error aborted_by(const Error& why) {
  return {why.code(), fmt::format("Collective ops is aborted by: {}\nThe error "
                                  "could be from a previous operation. "
                                  "Restart your program to reset.",
                                  why.message())};
}

}  // namespace

struct Collectives::Instance {
  struct Came {
    CollectiveCall call;
    std::shared_ptr<Pending> kernel;
  };
  std::map<std::string, Came> came;  // by member
  int32_t group = 0, size = 0;
  std::optional<Clock::time_point> deadline;
  std::vector<std::string> tasks;  // once they are known
  int unsent = 0;
};

// An instance's values between the tasks of its group.
struct Collectives::Exchange final : PartWay {
  Exchange(Collectives& owner, const Key& key, std::shared_ptr<Instance> instance,
           const CollectiveGroup& group)
      : owner(owner), key(key), instance(std::move(instance)), group(group) {}

  void send(size_t task, int32_t from, int32_t phase, const Tensor& value) override {
    {
      const std::lock_guard lock(owner.mutex_);
      ++instance->unsent;
    }
    const std::string& to = group.tasks[task].task;
    owner.tasks_->send(
        to, {key.group, key.instance, key.round, from, phase}, value,
        [self = owner.shared_from_this(), to, instance = instance](std::optional<Error> error) {
          const std::lock_guard lock(self->mutex_);
          --instance->unsent;
          if (error) self->lost_.try_emplace(to, *error, Clock::now());
          self->changed_.notify_all();
        });
  }
  Tensor receive(int32_t from, int32_t phase) override {
    const CollectivePart part{key.group, key.instance, key.round, from, phase};
    std::unique_lock lock(owner.mutex_);
    owner.wait(lock, *instance, [&] { return owner.inbox_.contains(part); });
    return std::move(owner.inbox_.extract(part).mapped());
  }
  void settle() override {
    std::unique_lock lock(owner.mutex_);
    owner.wait(lock, *instance, [&] { return instance->unsent == 0; });
  }

  Collectives& owner;
  const Key key;
  const std::shared_ptr<Instance> instance;
  const CollectiveGroup& group;
};

void Collectives::run(CollectiveCall call, const std::string& device,
                      std::shared_ptr<Pending> kernel) {
  DeviceName name = DeviceName::parse(device);
  if (tasks_) {
    const DeviceName own = DeviceName::parse(tasks_->own());
    name.job = own.job, name.replica = own.replica, name.task = own.task;
  }
  const std::string member = name.to_string();
  const int32_t group = call.group, size = call.size;
  Key key{group, call.instance, 0};
  std::shared_ptr<Instance> made;
  bool ask = false;
  std::optional<Error> error;
  {
    const std::lock_guard lock(mutex_);
    if (ended_) {
      error = ended_;
    } else {
      key.round = rounds_[{key, member}]++;
      auto& found = instances_[key];
      if (!found) {
        found = made = std::make_shared<Instance>();
        found->group = group;
        found->size = size;
        if (call.timeout_s > 0)
          found->deadline =
              Clock::now() + std::chrono::microseconds(static_cast<int64_t>(call.timeout_s * 1e6));
      }
      found->came.insert_or_assign(member, Instance::Came{std::move(call), kernel});
      ask = asked_.emplace(std::pair(group, member), true).second;
    }
  }
  if (error) return kernel->end(std::move(error));
  kernel->on_cancel([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->abort(cancelled("op cancelled"));
  });
  if (made)
    HostThreads::get().run([self = shared_from_this(), key, made] { self->make(key, made); });
  changed_.notify_all();
  if (!ask) return;
  const auto done = [self = shared_from_this(), group](std::optional<Error> failed,
                                                       CollectiveMembers members) {
    self->joined(group, std::move(failed), std::move(members));
  };
  if (tasks_)
    tasks_->join(group, size, member, done);
  else
    lead(group, size, member, done);
}

void Collectives::make(Key key, std::shared_ptr<Instance> instance) {
  std::optional<Error> error;
  Tensor whole;
  try {
    const CollectiveGroup group(members(*instance));
    auto own = group.tasks.begin();
    std::vector<const CollectiveCall*> calls;
    {
      std::unique_lock lock(mutex_);
      own = std::ranges::find(group.tasks, CollectiveGroup::task_of(instance->came.begin()->first),
                              &CollectiveGroup::OfTask::task);
      for (const auto& t : group.tasks) instance->tasks.push_back(t.task);
      wait(lock, *instance, [&] { return instance->came.size() >= own->members.size(); });
      // Of one task the names' order is the members': the devices' numbers have
      // no leading zeros.
      std::vector<std::pair<DeviceName, const CollectiveCall*>> ordered;
      for (const auto& [member, came] : instance->came)
        ordered.emplace_back(DeviceName::parse(member), &came.call);
      std::ranges::sort(ordered, {}, [](const auto& o) { return o.first; });
      for (const auto& [member, call] : ordered) calls.push_back(call);
    }
    Exchange exchange(*this, key, instance, group);
    whole = exchanged(group, static_cast<size_t>(own - group.tasks.begin()), calls, exchange);
  } catch (const Error& e) {
    error = e;
  } catch (const std::exception& e) {
    error = internal_error(e.what());
  }
  if (error) abort(*error);
  {
    const std::lock_guard lock(mutex_);
    instances_.erase(key);
    changed_.notify_all();
  }
  for (auto& [member, came] : instance->came) {
    if (!error) came.kernel->context().set_output(0, whole);
    came.kernel->end(error);
  }
}

CollectiveMembers Collectives::members(Instance& instance) {
  std::unique_lock lock(mutex_);
  wait(lock, instance, [&] { return groups_.contains(instance.group); });
  const CollectiveMembers& members = groups_.at(instance.group);
  if (members.size() != static_cast<size_t>(instance.size))
    throw invalid_argument(fmt::format("Group {} has {} members, not {}.", instance.group,
                                       members.size(), instance.size));
  return members;
}

void Collectives::wait(std::unique_lock<std::mutex>& lock, const Instance& instance,
                       const std::function<bool()>& over) {
  while (!over()) {
    if (ended_) throw Error(*ended_);
    std::optional<Clock::time_point> until = instance.deadline;
    if (until && Clock::now() >= *until)
      throw Error(Code::kDeadlineExceeded,
                  instance.tasks.empty() ? "Collective has timed out waiting for other workers."
                                         : "Collective has timed out during execution.");
    for (const std::string& task : instance.tasks) {
      const auto it = lost_.find(task);
      if (it == lost_.end()) continue;
      const Clock::time_point end = it->second.second + kLastWords;
      if (Clock::now() >= end) throw aborted_by(it->second.first);
      until = until ? std::min(*until, end) : end;
    }
    if (until)
      changed_.wait_until(lock, *until);
    else
      changed_.wait(lock);
  }
}

void Collectives::joined(int32_t group, std::optional<Error> error, CollectiveMembers members) {
  if (error) return abort(*error);
  watch_others(members);
  const std::lock_guard lock(mutex_);
  groups_[group] = std::move(members);
  changed_.notify_all();
}

void Collectives::watch_others(const CollectiveMembers& members) {
  if (!tasks_) return;
  for (const std::string& member : members) {
    const std::string task = CollectiveGroup::task_of(member);
    {
      const std::lock_guard lock(mutex_);
      if (task == tasks_->own() || std::exchange(watching_[task], true)) continue;
    }
    tasks_->watch(task, [weak = weak_from_this(), task](const std::optional<Error>& why) {
      if (const auto self = weak.lock())
        self->lost(task, why.value_or(Error(Code::kUnavailable,
                                            task + " has ended its collective operations.")));
    });
  }
}

void Collectives::lost(const std::string& task, const Error& why) {
  const std::lock_guard lock(mutex_);
  lost_.try_emplace(task, why, Clock::now());
  changed_.notify_all();
}

void Collectives::arrived(const CollectivePart& part, Tensor value) {
  const std::lock_guard lock(mutex_);
  if (ended_) return;
  // Whoever sends has heard that all members have joined.
  const auto member = asked_.lower_bound({part.group, ""});
  if (member == asked_.end() || member->first.first != part.group)
    throw invalid_argument(fmt::format("Nobody here belongs to group {}.", part.group));
  inbox_.insert_or_assign(part, std::move(value));
  changed_.notify_all();
}

void Collectives::watched(CollectiveDone done) {
  std::optional<Error> ended;
  {
    const std::lock_guard lock(mutex_);
    if (!ended_) {
      watchers_.push_back(std::move(done));
      return;
    }
    ended = ended_;
  }
  done(ended);
}

void Collectives::abort(const Error& why) {
  std::vector<CollectiveDone> watchers;
  decltype(led_) led;
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    ended_ = why.message().starts_with("Collective ops is aborted by") ? why : aborted_by(why);
    watchers.swap(watchers_);
    led.swap(led_);
    inbox_.clear();
    changed_.notify_all();
  }
  for (const auto& done : watchers) done(why);
  for (auto& [group, l] : led)
    for (const auto& done : l.waiting) done(why, {});
}

void Collectives::stop(const Error& why) {
  abort(why);
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return instances_.empty(); });
}

void Collectives::lead(int32_t group, int32_t size, const std::string& member,
                       std::function<void(std::optional<Error>, CollectiveMembers)> done) {
  std::vector<std::function<void(std::optional<Error>, CollectiveMembers)>> told;
  CollectiveMembers members;
  std::optional<Error> error;
  {
    const std::lock_guard lock(mutex_);
    Led& led = led_.try_emplace(group, Led{size, {}, {}}).first->second;
    const bool again = std::ranges::find(led.members, member) != led.members.end();
    if (ended_) {
      error = ended_;
    } else if (size < 1 || led.size != size) {
      error =
          invalid_argument(fmt::format("{} says that group {} has {} members, but others say {}.",
                                       member, group, size, led.size));
    } else if (again) {
      error =
          failed_precondition(fmt::format("Device {} current incarnation doesn't match with one in "
                                          "the group. This usually means this worker has "
                                          "restarted but the collective leader hasn't, or this "
                                          "worker connects to a wrong cluster.",
                                          member));
    } else if (std::ssize(led.members) == led.size) {
      error = failed_precondition(fmt::format("Group {} is complete without {}.", group, member));
    } else {
      led.members.push_back(member);
      led.waiting.push_back(std::move(done));
      if (std::ssize(led.members) == led.size) {
        std::ranges::sort(led.members, {}, &DeviceName::parse);
        members = led.members;
        told.swap(led.waiting);
      }
    }
  }
  if (error) return done(std::move(error), {});
  for (const auto& tell : told) tell({}, members);
}

}  // namespace emplace
