#include "data/state.h"

namespace emplace::data {
namespace {

[[noreturn]] void wrong_state() {
  throw failed_precondition("The iterator's state is not one of this dataset.");
}

}  // namespace

void StateWriter::put(const Element& e) {
  put(static_cast<int64_t>(e.size()));
  for (const Tensor& t : e) put(t);
}

void StateWriter::put(const std::unique_ptr<Iterator>& it) {
  put(int64_t{it != nullptr});
  if (it) it->save(*this);
}

Tensor StateReader::tensor() {
  if (at_end()) wrong_state();
  return values_[at_++];
}

int64_t StateReader::number() {
  const Tensor t = tensor();
  if (t.dtype() != DType::kInt64 || t.num_elements() != 1) wrong_state();
  return *t.data<int64_t>();
}

std::string StateReader::text() {
  const Tensor t = tensor();
  if (t.dtype() != DType::kString || t.num_elements() != 1) wrong_state();
  return *t.data<std::string>();
}

Element StateReader::element() {
  const int64_t n = number();
  if (n < 0 || n > static_cast<int64_t>(values_.size())) wrong_state();
  Element e;
  for (int64_t i = 0; i < n; ++i) e.push_back(tensor());
  return e;
}

}  // namespace emplace::data
