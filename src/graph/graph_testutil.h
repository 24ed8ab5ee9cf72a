#pragma once
#include <gtest/gtest.h>

#include <string>

#include "emplace/error.h"
#include "emplace/graph.h"
#include "op/op_def.h"

namespace emplace::testing {

// Some two dozen ops with TensorFlow's signatures, for tests of the graph itself.
const OpRegistry& test_ops();

// A graph over test_ops() with short ways to make nodes.
struct TestGraph : Graph {
  TestGraph() : Graph(test_ops()) {}

  Node* constant(Tensor value, NodeOptions options = {});
  Node* scalar(float value, std::string name = {});
  Node* ints(std::initializer_list<int32_t> values, std::string name = {});  // a vector
  Node* number(int32_t value);                                               // a scalar
  Node* placeholder(Shape shape, DType dtype = DType::kFloat, std::string name = {});
  Node* noop(std::string name = {});
  Node* variable(std::string name = {}, Shape shape = {}, DType dtype = DType::kFloat);
  Node* identity(Node* in, std::string name = {});
};

// The message of the Error that `f` throws, which must have that code.
template <class F>
std::string failure(Code code, F f) {
  try {
    f();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), code) << e.what();
    return e.message();
  }
  ADD_FAILURE() << "no error";
  return {};
}

}  // namespace emplace::testing
