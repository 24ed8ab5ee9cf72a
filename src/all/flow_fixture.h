#pragma once
#include <algorithm>

#include "all/session_fixture.h"

namespace emplace::testing {

// Branches and loops over functions of several values.
class FlowFixture : public SessionFixture {
 protected:
  using Values = std::vector<Output>;
  static constexpr DType kInts = DType::kInt32, kFloats = DType::kFloat;

  // A function whose body `make` builds from its arguments.
  template <class F>
  std::string body(const std::string& name, const std::vector<DType>& types, F make) {
    auto f = std::make_shared<Function>();
    f->name = name;
    f->body = std::make_shared<Graph>(session_ops());
    const Scope in_body = f->body->as_default();
    Values args;
    for (size_t i = 0; i < types.size(); ++i) {
      Node* arg = f->body->add("_Arg", {}, {{"T", types[i]}, {"index", static_cast<int64_t>(i)}});
      f->inputs.push_back(arg);
      f->input_names.push_back("x" + std::to_string(i));
      args.push_back(arg->output());
    }
    f->outputs = make(args);
    for (size_t i = 0; i < f->outputs.size(); ++i)
      f->output_names.push_back("y" + std::to_string(i));
    graph.add_function(f);
    return name;
  }

  static std::vector<DType> types_of(const Values& values) {
    std::vector<DType> types;
    for (const Output& o : values) types.push_back(o.dtype());
    return types;
  }

  Node* while_loop(const std::string& test, const std::string& body, const Values& start,
                   int64_t parallel_iterations = 10) {
    return graph.add("While", start,
                     {{"T", types_of(start)},
                      {"cond", FunctionName{test, {}}},
                      {"body", FunctionName{body, {}}},
                      {"parallel_iterations", parallel_iterations}},
                     {});
  }
  Node* if_else(Output condition, const std::string& then_do, const std::string& else_do,
                const Values& args, const std::vector<DType>& results) {
    Values inputs = {condition};
    inputs.insert(inputs.end(), args.begin(), args.end());
    return graph.add("If", inputs,
                     {{"Tin", types_of(args)},
                      {"Tout", results},
                      {"then_branch", FunctionName{then_do, {}}},
                      {"else_branch", FunctionName{else_do, {}}}},
                     {});
  }
  static Output less(Output a, Output b) { return op("Less", {a, b}); }
  static Output plus(Output a, Output b) { return op("AddV2", {a, b}); }
  static Output times(Output a, Output b) { return op("Mul", {a, b}); }
  static Output number(int32_t v) { return constant(Tensor::scalar(v)); }

  // Counts from 0 to what is fed.
  Node* counter(Output n) {
    const std::vector<DType> types = {DType::kInt32, DType::kInt32};
    return while_loop(body("test", types, [](Values v) { return Values{less(v[0], v[1])}; }),
                      body("count", types,
                           [](Values v) { return Values{plus(v[0], number(1)), v[1]}; }),
                      {number(0), n});
  }
};

}  // namespace emplace::testing
