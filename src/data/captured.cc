#include "data/captured.h"

namespace emplace::data {

Captured::Call::Call(const Captured& f, Caller& c)
    : caller_(c.pass.function(f.f_, c.branch)->caller(c.helped && c.pass.options().max_intra_op == 0)),
      captured_(f.captured_) {}

std::string first_stateful(std::initializer_list<const Captured*> functions) {
  for (const Captured* f : functions)
    if (!f->stateful_op().empty()) return f->stateful_op();
  return {};
}

void Captured::Call::operator()(Caller& c, std::span<const Tensor> inputs, Element& outputs) {
  const FunctionTurn turn(c.pass, c.scope);
  if (captured_.empty()) return caller_->call(c.scope, inputs, outputs);
  inputs_.resize(inputs.size() + captured_.size());
  std::copy(inputs.begin(), inputs.end(), inputs_.begin());
  std::copy(captured_.begin(), captured_.end(), inputs_.begin() + inputs.size());
  caller_->call(c.scope, inputs_, outputs);
  for (Tensor& t : inputs_) t = Tensor();
}

bool Captured::Call::yes(Caller& c, std::span<const Tensor> inputs) {
  (*this)(c, inputs, outputs_);
  if (outputs_.size() != 1 || outputs_[0].dtype() != DType::kBool ||
      outputs_[0].num_elements() != 1)
    throw invalid_argument("`predicate` must returns a scalar bool tensor.");
  return *outputs_[0].data<bool>();
}

int64_t Captured::Call::number(Caller& c, std::span<const Tensor> inputs) {
  (*this)(c, inputs, outputs_);
  if (outputs_.size() != 1 || outputs_[0].dtype() != DType::kInt64 ||
      outputs_[0].num_elements() != 1)
    throw invalid_argument("the function must return a scalar int64.");
  return *outputs_[0].data<int64_t>();
}

}  // namespace emplace::data
