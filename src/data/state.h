#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "data/dataset.h"

namespace emplace::data {

// What an iterator's place is written to: values in the order in which they are read again.
class StateWriter {
 public:
  void put(int64_t v) { values_.push_back(Tensor::scalar<int64_t>(v)); }
  void put(std::string v) { values_.push_back(Tensor::string(std::move(v))); }
  void put(const Tensor& t) { values_.push_back(t); }
  void put(const Element& e);
  // An iterator that may not be there.
  void put(const std::unique_ptr<Iterator>& it);
  std::vector<Tensor> take() { return std::move(values_); }

 private:
  std::vector<Tensor> values_;
};

// Reads them. FailedPrecondition where they are not of this dataset.
class StateReader {
 public:
  explicit StateReader(std::vector<Tensor> values) : values_(std::move(values)) {}
  int64_t number();
  std::string text();
  Tensor tensor();
  Element element();
  bool at_end() const { return at_ == values_.size(); }

 private:
  std::vector<Tensor> values_;
  size_t at_ = 0;
};

}  // namespace emplace::data
