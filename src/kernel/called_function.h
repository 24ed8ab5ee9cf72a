#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emplace/error.h"
#include "emplace/tensor.h"

namespace emplace {

class Graph;
class KernelInit;

// Calls of functions that end together. Thread-safe.
class CallScope {
 public:
  // Who is in a call and can be made to leave it. `interrupt` comes from any thread, while it is
  // entered, and must not come back into the scope.
  class Guest {
   public:
    virtual void interrupt(const Error& why) = 0;

   protected:
    ~Guest() = default;
  };

  CallScope() = default;
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

  // Ends every call under way and to come; the first one to say why counts.
  void cancel(const Error& why);
  bool cancelled() const { return cancelled_.load(std::memory_order_acquire); }
  void check();              // throws when it is cancelled
  void enter(Guest& guest);  // throws when it is cancelled
  void leave(Guest& guest);

 private:
  std::atomic<bool> cancelled_{false};
  std::mutex mutex_;
  std::optional<Error> why_;
  std::vector<Guest*> guests_;
};

// Calls one function again and again, from one thread at a time; what a call needs is kept from the
// last one.
class FunctionCaller {
 public:
  virtual ~FunctionCaller() = default;
  // Outputs lie in host memory and are the caller's own.
  virtual void call(CallScope& scope, std::span<const Tensor> inputs,
                    std::vector<Tensor>& outputs) = 0;
};

// A function that kernels call: compiled for the shapes it is called with, kept for all calls.
// Thread-safe.
class CalledFunction {
 public:
  virtual ~CalledFunction() = default;
  virtual const std::string& name() const = 0;
  // The first of its operations that draws random numbers or uses what lies
  // outside (a variable, Python); empty: there is none.
  virtual const std::string& stateful_op() const = 0;
  // Of what it does: the same for functions that differ in names only.
  virtual uint64_t fingerprint() const = 0;
  // A graph that holds it by its name, and what it calls.
  virtual const Graph& definitions() const = 0;
  // `helped`: may others help with one call, or does it stay on its thread?
  virtual std::unique_ptr<FunctionCaller> caller(bool helped) = 0;
  // The same function whose random operations begin anew; itself where it has none.
  virtual std::shared_ptr<CalledFunction> afresh() = 0;
};

using FunctionMaker = std::function<std::shared_ptr<CalledFunction>(const std::string& name)>;

// While it lives, kernels that this thread prepares find their functions by `make`.
class FunctionScope {
 public:
  explicit FunctionScope(const FunctionMaker& make);
  ~FunctionScope();
  FunctionScope(const FunctionScope&) = delete;
  FunctionScope& operator=(const FunctionScope&) = delete;

 private:
  const FunctionMaker* const outer_;
};

// What a kernel's attribute of type func names. To be asked while the kernel is prepared;
// FailedPrecondition where that is done without its program.
std::shared_ptr<CalledFunction> function_named(const KernelInit& init, std::string_view attr);

}  // namespace emplace
