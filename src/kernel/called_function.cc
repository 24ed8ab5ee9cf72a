#include "kernel/called_function.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "kernel/kernel.h"

namespace emplace {

void CallScope::cancel(const Error& why) {
  const std::lock_guard lock(mutex_);
  if (cancelled_) return;
  why_ = why;
  cancelled_.store(true, std::memory_order_release);
  for (Guest* guest : guests_) guest->interrupt(why);
}

void CallScope::check() {
  if (!cancelled()) [[likely]]
    return;
  const std::lock_guard lock(mutex_);
  throw *why_;
}

void CallScope::enter(Guest& guest) {
  const std::lock_guard lock(mutex_);
  if (cancelled()) throw *why_;
  guests_.push_back(&guest);
}

void CallScope::leave(Guest& guest) {
  const std::lock_guard lock(mutex_);
  guests_.erase(std::find(guests_.begin(), guests_.end(), &guest));
}

namespace {

thread_local const FunctionMaker* maker = nullptr;
// What this scope has made so far: a kernel may ask for its function twice.
thread_local std::map<std::string, std::shared_ptr<CalledFunction>> made;

}  // namespace

FunctionScope::FunctionScope(const FunctionMaker& make) : outer_(std::exchange(maker, &make)) {
  made.clear();
}
FunctionScope::~FunctionScope() {
  maker = outer_;
  made.clear();
}

std::shared_ptr<CalledFunction> function_named(const KernelInit& init, std::string_view attr) {
  if (!maker) throw failed_precondition(fmt::format("{} can't call functions here", init.op->name));
  const std::string& name = init.attr<FunctionName>(attr).name;
  if (const auto known = made.find(name); known != made.end()) return known->second;
  auto function = (*maker)(name);
  return made[name] = std::move(function);
}

}  // namespace emplace
