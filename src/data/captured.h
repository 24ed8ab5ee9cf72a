#pragma once
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "data/dataset.h"
#include "kernel/kernel.h"

namespace emplace::data {

// A function with the values that it captured: inputs behind those of each call. A value; copies
// share.
class Captured {
 public:
  // Calls it from one thread at a time.
  class Call {
   public:
    Call(const Captured& f, Caller& c);
    void operator()(Caller& c, std::span<const Tensor> inputs, Element& outputs);
    // … whose only output is a boolean scalar.
    bool yes(Caller& c, std::span<const Tensor> inputs);
    int64_t number(Caller& c, std::span<const Tensor> inputs);

   private:
    const std::unique_ptr<FunctionCaller> caller_;
    const std::vector<Tensor>& captured_;
    std::vector<Tensor> inputs_;
    Element outputs_;
  };

  Captured(std::shared_ptr<CalledFunction> f, std::vector<Tensor> captured)
      : f_(std::move(f)), captured_(std::move(captured)) {}
  const std::string& stateful_op() const { return f_->stateful_op(); }

 private:
  std::shared_ptr<CalledFunction> f_;
  std::vector<Tensor> captured_;
};

// Of several ones, the first that has state.
std::string first_stateful(std::initializer_list<const Captured*> functions);

}  // namespace emplace::data
