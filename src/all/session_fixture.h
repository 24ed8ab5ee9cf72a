#pragma once
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "all/session_testutil.h"
#include "emplace/emplace.h"
#include "session/session_impl.h"

namespace emplace::testing {

// A graph over the catalogue and the test ops, and sessions over it.
class SessionFixture : public ::testing::Test {
 protected:
  Graph graph{session_ops()};
  Scope in_graph = graph.as_default();

  std::unique_ptr<Session> session(SessionOptions o = {}) {
    return make_session(graph, std::move(o), session_kernels());
  }
  static SessionOptions gpus(int n) {
    SessionOptions o;
    o.virtual_gpus = n;
    o.virtual_gpu_memory = 16 << 20;
    return o;
  }
  template <class F>
  static Error error_of(F f) {
    try {
      f();
    } catch (const Error& e) {
      return e;
    }
    ADD_FAILURE() << "no error";
    return {Code::kOk, ""};
  }
  // A function of one float argument whose body `make` builds.
  template <class F>
  std::shared_ptr<Function> function(const std::string& name, F make) {
    auto f = std::make_shared<Function>();
    f->name = name;
    f->body = std::make_shared<Graph>(session_ops());
    const Scope in_body = f->body->as_default();
    Node* arg = f->body->add("_Arg", {}, {{"T", DType::kFloat}, {"index", 0}});
    f->body->set_shape(arg->output(), Shape{});
    f->inputs = {arg};
    f->input_names = {"x"};
    f->outputs = {make(arg->output())};
    f->output_names = {"y"};
    graph.add_function(f);
    return f;
  }
  Output call(const Function& f, Output x) {
    return op("PartitionedCall", {x}, {{"Tout", std::vector<DType>{DType::kFloat}},
                                       {"f", FunctionName{f.name, {}}}});
  }
};

}  // namespace emplace::testing
