// Gradients through loops, branches and calls.
#include <array>

#include "all/gradient_fixture.h"

namespace emplace {
namespace {

using testing::ints;
constexpr DType kInt = DType::kInt32;

class GradientFlow : public testing::GradientFixture {
 protected:
  using Body = std::function<Values(Values)>;
  int functions = 0;

  std::string made(const std::vector<DType>& types, const Body& make) {
    return body("f" + std::to_string(functions++), types, make);
  }
  // Rounds over (number of the round, how many, values): the values afterwards.
  Values repeat(Output rounds, const Values& start, const Body& round) {
    Values all = {number(0), rounds};
    all.insert(all.end(), start.begin(), start.end());
    const std::string test =
        made(types_of(all), [](Values v) { return Values{less(v[0], v[1])}; });
    const std::string next = made(types_of(all), [&](Values v) {
      Values out = {plus(v[0], number(1)), v[1]};
      for (const Output& o : round({v.begin(), v.end()})) out.push_back(o);
      return out;
    });
    return outputs(op("While", all, loop_attrs(all, test, next)).node, 2);
  }
  static AttrList loop_attrs(const Values& all, const std::string& test, const std::string& next) {
    return {{"T", types_of(all)},
            {"cond", FunctionName{test, {}}},
            {"body", FunctionName{next, {}}}};
  }
  static Values outputs(Node* n, int first = 0) {
    Values all;
    for (int i = first; i < n->num_outputs(); ++i) all.push_back(n->output(i));
    return all;
  }
  Output choose(Output condition, const Values& args, const Body& yes, const Body& no) {
    Values all = {condition};
    all.insert(all.end(), args.begin(), args.end());
    return op("If", all, {{"Tout", std::vector<DType>{kDouble}},
                          {"then_branch", FunctionName{made(types_of(args), yes), {}}},
                          {"else_branch", FunctionName{made(types_of(args), no), {}}}});
  }
  double at(Output y, Output x, double value) {
    return session()->run(y, {{x, Tensor::scalar(value)}}).item<double>();
  }
  const Output x = placeholder(kDouble, {});
};

TEST_F(GradientFlow, OfALoopThatMultiplies) {
  const Output rounds = placeholder(kInt, {});
  const Output start = constant(2.0);
  const Output y = repeat(rounds, {start, x}, [](Values v) {
    return Values{times(v[2], v[3]), v[3]};
  })[0];
  const Output by_x = one(y, x), by_start = one(y, start);
  const auto s = session();
  for (int n : {0, 1, 5}) {
    const Feeds feeds = {{x, Tensor::scalar(1.5)}, {rounds, Tensor::scalar(n)}};
    EXPECT_DOUBLE_EQ(s->run(y, feeds).item<double>(), 2 * std::pow(1.5, n)) << n;
    EXPECT_DOUBLE_EQ(s->run(by_x, feeds).item<double>(), n ? 2 * n * std::pow(1.5, n - 1) : 0) << n;
    EXPECT_DOUBLE_EQ(s->run(by_start, feeds).item<double>(), std::pow(1.5, n)) << n;
  }
}

TEST_F(GradientFlow, OfALoopsGradientIsTheSecondDerivative) {
  const Output y = repeat(number(5), {constant(1.0), x}, [](Values v) {
    return Values{times(v[2], v[3]), v[3]};
  })[0];
  const Output once = one(y, x), twice = one(once, x), thrice = one(twice, x);
  EXPECT_NEAR(at(once, x, 1.5), 5 * std::pow(1.5, 4), 1e-12);
  EXPECT_NEAR(at(twice, x, 1.5), 20 * std::pow(1.5, 3), 1e-12);
  EXPECT_NEAR(at(thrice, x, 1.5), 60 * std::pow(1.5, 2), 1e-12);
}

TEST_F(GradientFlow, OfALoopWhoseRoundsTheValuesDecide) {
  const std::string test = made({kDouble}, [](Values v) {
    return Values{less(v[0], constant(100.0))};
  });
  const std::string square = made({kDouble}, [](Values v) { return Values{times(v[0], v[0])}; });
  const Output y = op("StatelessWhile", {x}, loop_attrs({x}, test, square));
  const Output g = one(y, x);
  EXPECT_DOUBLE_EQ(at(g, x, 3), 8 * std::pow(3, 7));  // 3, 9, 81, 6561
  EXPECT_DOUBLE_EQ(at(g, x, 200), 1);
}

TEST_F(GradientFlow, OfALoopOverWhatIsOutside) {
  Sample s = drawn({{2, 3}, {3, 3}, {3}});
  s.total = weighed(repeat(number(4), s.x, [](Values v) {
    return Values{op("Tanh", {matmul(v[2], v[3]) + v[4]}), v[3], v[4]};
  })[0]);
  check(*session(), s);
}

TEST_F(GradientFlow, OfLoopsInLoops) {
  Sample s = drawn({{2}, {2}});
  s.total = weighed(repeat(number(3), s.x, [&](Values v) {
    const auto inner = [](Values u) { return Values{op("Sin", {u[2]}) * u[3] + u[2], u[3]}; };
    const Output h = repeat(plus(v[0], number(1)), {v[2], v[3]}, inner)[0];
    return Values{op("Exp", {-h}), v[3]};
  })[0]);
  check(*session(), s);
}

TEST_F(GradientFlow, OfABranchInALoop) {
  Sample s = drawn({{3}, {3}});
  s.total = weighed(repeat(number(5), s.x, [&](Values v) {
    const Output odd = op("Equal", {op("FloorMod", {v[0], number(2)}), number(1)});
    const auto yes = [](Values u) { return Values{op("Exp", {op("Sin", {u[0]})})}; };
    const auto no = [](Values u) { return Values{times(op("Square", {u[0]}), u[1])}; };
    return Values{choose(odd, {v[2], v[3]}, yes, no), v[3]};
  })[0]);
  check(*session(), s);
}

TEST_F(GradientFlow, OfALoopInABranch) {
  Sample s = drawn({{2}, {2}});
  for (const bool taken : {true, false}) {
    const auto yes = [&](Values u) {
      return Values{repeat(number(3), u, [](Values v) {
        return Values{times(op("Cos", {v[2]}), v[3]), v[3]};
      })[0]};
    };
    const auto no = [](Values u) { return Values{op("Exp", {u[0]}) + u[1]}; };
    s.total = weighed(choose(constant(taken), s.x, yes, no));
    check(*session(), s);
  }
}

TEST_F(GradientFlow, OfGradientsThroughLoopsAndBranches) {
  Sample s = drawn({{2}, {2}});
  const Output y = weighed(repeat(number(3), s.x, [&](Values v) {
    const Output last = op("Equal", {v[0], number(2)});
    const auto yes = [](Values u) { return Values{op("Exp", {op("Sin", {u[0]})})}; };
    const auto no = [](Values u) { return Values{times(op("Square", {u[0]}), u[1])}; };
    return Values{choose(last, {v[2], v[3]}, yes, no), v[3]};
  })[0]);
  const Values first = gradients(std::span(&y, 1), s.x);
  s.total = weighed(first[0] * s.x[0]) + weighed(first[1] * s.x[1]);
  check(*session(), s);
}

TEST_F(GradientFlow, OfACaseGoThroughTheOneTaken) {
  const Output which = placeholder(kInt, {});
  std::vector<FunctionName> branches;
  for (const char* type : {"Square", "Exp", "Neg"})
    branches.push_back({made({kDouble}, [&](Values v) { return Values{op(type, {v[0]})}; }), {}});
  const Output y = op("Case", {which, x}, {{"Tout", std::vector<DType>{kDouble}},
                                           {"branches", branches}});
  const Output g = one(y, x);
  const double slopes[] = {6, std::exp(3), -1};
  for (int i : {0, 1, 2})
    EXPECT_DOUBLE_EQ(
        session()->run(g, {{x, Tensor::scalar(3.0)}, {which, Tensor::scalar(i)}}).item<double>(),
        slopes[i]);
}

TEST_F(GradientFlow, ReadTheVeryValuesOfTheRun) {
  const auto noise = [] {
    return op("RandomUniform", {ints({1})}, {{"dtype", kDouble}});
  };
  const Output start = op("Reshape", {x, ints({1})});
  const Output looped = repeat(number(4), {start}, [&](Values v) {
    return Values{v[2] * (noise() + constant(0.5))};
  })[0];
  const std::string f = made({kDouble}, [&](Values v) { return Values{v[0] * noise()}; });
  const Output y = op("PartitionedCall", {looped}, {{"Tout", std::vector<DType>{kDouble}},
                                                    {"f", FunctionName{f, {}}}});
  const Output g = one(y, x);
  const std::vector<Tensor> both = session()->run(Feeds{{x, Tensor::scalar(2.0)}}, std::array{y, g});
  EXPECT_NEAR(both[0].values<double>()[0], 2 * both[1].item<double>(), 1e-12);
}

TEST_F(GradientFlow, OfAVariableThatRoundsReadAddUp) {
  const Output handle = op("VarHandleOp", {}, {{"dtype", kDouble}, {"shape", Shape{}}});
  Node* start = op("AssignVariableOp", {handle, constant(3.0)}).node;
  const auto read = [](Output h) { return op("ReadVariableOp", {h}, {{"dtype", kDouble}}); };
  const Output looped = repeat(number(3), {x, handle}, [&](Values v) {
    return Values{v[2] * read(v[3]), v[3]};
  })[0];
  const Output y = choose(constant(true), {looped, handle},
                          [&](Values v) { return Values{v[0] * read(v[1])}; },
                          [](Values v) { return Values{v[0]}; });
  const Output g = one(y, handle);
  const auto s = session();
  s->run(start);
  EXPECT_DOUBLE_EQ(s->run(g, {{x, Tensor::scalar(2.0)}}).item<double>(), 2 * 4 * 27);
}

TEST_F(GradientFlow, OfHandlesThatChangePlacesAreRefused) {
  const auto variable = [](const char* name) {
    return op("VarHandleOp", {}, {{"dtype", kDouble}, {"shape", Shape{}}, {"shared_name", name}});
  };
  const Output first = variable("first"), second = variable("second");
  const Output y = repeat(number(3), {x, first, second}, [](Values v) {
    return Values{v[2] * op("ReadVariableOp", {v[3]}, {{"dtype", kDouble}}), v[4], v[3]};
  })[0];
  EXPECT_EQ(error_of([&] { one(y, first); }).code(), Code::kUnimplemented);
}

TEST_F(GradientFlow, OfBranchesThatCallOneFunctionForDifferentResults) {
  const std::string powers = made({kDouble}, [](Values v) {
    const Output square = v[0] * v[0];
    return Values{op("Sin", {square}), square * v[0]};
  });
  const auto result = [&](int i) {
    return [&, i](Values v) {
      v[0].graph().add_function(graph.find_function(powers));
      return Values{op("PartitionedCall", v, {{"Tout", std::vector<DType>{kDouble, kDouble}},
                                              {"f", FunctionName{powers, {}}}}).node->output(i)};
    };
  };
  const Output question = placeholder(DType::kBool, {});
  const Output g = one(choose(question, {x}, result(0), result(1)), x);
  const auto s = session();
  for (bool first : {true, false})
    EXPECT_NEAR(s->run(g, {{x, Tensor::scalar(0.5)}, {question, Tensor::scalar(first)}}).item<double>(),
                first ? std::cos(0.25) * 2 * 0.5 : 3 * 0.25, 1e-12);
}

TEST_F(GradientFlow, OfShapesThatGrow) {
  const Output y = repeat(number(3), {op("Reshape", {x, ints({1})})}, [](Values v) {
    return Values{op("ConcatV2", {v[2], op("Square", {v[2]}), number(0)})};
  })[0];
  // x at powers 1, 2, 2, 4, 2, 4, 4, 8
  double slope = 1;
  for (int p : {2, 2, 4, 2, 4, 4, 8}) slope += p * std::pow(1.1, p - 1);
  EXPECT_NEAR(at(one(y, x), x, 1.1), slope, 1e-12);
}

TEST_F(GradientFlow, LeaveAloneWhatDoesNotLeadThere) {
  const Output matrix = constant({4.0, 0.0, 0.0, 9.0}, {2, 2});
  const Output y = repeat(number(2), {x, matrix}, [](Values v) {
    return Values{times(v[2], v[2]), op("MatrixSquareRoot", {v[3]})};
  })[0];
  EXPECT_DOUBLE_EQ(at(one(y, x), x, 2), 32);
}

TEST_F(GradientFlow, MayBeAskedForAgain) {
  const Values two = repeat(number(3), {x, x}, [](Values v) {
    return Values{times(v[2], v[3]), v[3]};
  });
  const Output first = one(two[0], x), second = one(op("Square", {two[0]}), x);
  EXPECT_DOUBLE_EQ(at(first, x, 2), 32);
  EXPECT_DOUBLE_EQ(at(second, x, 2), 2 * 16 * 32);
  EXPECT_FALSE(one(two[0], placeholder(kDouble, {})));
}

TEST_F(GradientFlow, OfTablesThatRoundsLookUp) {
  const Output table = placeholder(kDouble, {3});
  const Output y = repeat(number(3), {constant(1.0), table}, [](Values v) {
    return Values{v[2] * op("GatherV2", {v[3], v[0], number(0)}), v[3]};
  })[0];
  const Tensor g = session()->run(one(y, table), {{table, Tensor::of({2., 3., 5.}, {3})}});
  EXPECT_EQ(std::vector<double>(g.values<double>().begin(), g.values<double>().end()),
            (std::vector<double>{15, 10, 6}));
}

TEST_F(GradientFlow, OfWhatWasImported) {
  const Output y = repeat(number(3), {x}, [](Values v) { return Values{times(v[2], v[2])}; })[0];
  Graph other(testing::session_ops());
  ImportOptions options;
  options.return_tensors = {x.name(), y.name()};
  const auto ends = import_graph_def(other, graph_def(graph), options).outputs;
  const Output g = one(ends[1], ends[0]);
  const auto s = make_session(other, {}, testing::session_kernels());
  EXPECT_DOUBLE_EQ(s->run(g, {{ends[0], Tensor::scalar(1.5)}}).item<double>(), 8 * std::pow(1.5, 7));
}

TEST_F(GradientFlow, OfListsThatRoundsFill) {
  Sample s = drawn({{3, 2}});
  const Output shape = ints({2});
  const Output items = op("TensorListFromTensor", {s.x[0], shape});
  const Output empty =
      op("TensorListReserve", {shape, number(3)}, {{"element_dtype", kDouble}});
  const Output filled = repeat(number(3), {items, empty}, [&](Values v) {
    const Output item = op("TensorListGetItem", {v[2], v[0], ints({2})}, {{"element_dtype", kDouble}});
    return Values{v[2], op("TensorListSetItem", {v[3], v[0], op("Exp", {item})})};
  })[1];
  s.total = weighed(op("TensorListStack", {filled, shape}, {{"element_dtype", kDouble}}));
  check(*session(), s);
}

}  // namespace
}  // namespace emplace
