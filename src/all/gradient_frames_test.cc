// Gradients through the loops and branches of TensorFlow 1: Enter, Merge, Switch, Exit.
#include <array>

#include "all/gradient_fixture.h"

namespace emplace {
namespace {

using testing::ints;
class GradientFrames : public testing::GradientFixture {
 protected:
  using Body = std::function<Values(Values)>;
  const Output x = placeholder(kDouble, {});

  static Output enter(Output v, const std::string& frame, bool is_constant = false) {
    return op("Enter", {v}, {{"frame_name", frame}, {"is_constant", is_constant}});
  }
  // Rounds over (number of the round, values, what stays the same): the values afterwards.
  Values repeat(const std::string& frame, Output rounds, Values start, const Values& same,
                const Body& round) {
    start.insert(start.begin(), number(0));
    Values entered, merged, now, next, done;
    for (const Output& s : start) entered.push_back(enter(s, frame));
    const Output limit = enter(rounds, frame, true);
    const Scope inside = graph.control_dependencies(nullptr);
    for (const Output& in : entered) merged.push_back(op("Merge", {in, in}));
    const Output goes_on = op("LoopCond", {less(merged[0], limit)});
    for (const Output& m : merged) {
      Node* gate = op("Switch", {m, goes_on}).node;
      done.push_back(op("Exit", {gate->output(0)}));
      now.push_back(identity(gate->output(1)));
    }
    Values args = now;
    for (const Output& s : same) args.push_back(enter(s, frame, true));
    {
      Node* const pivot = now[0].node;
      const Scope in_round = graph.control_dependencies(std::span(&pivot, 1));
      next = round(args);
      next.insert(next.begin(), plus(now[0], number(1)));
    }
    for (size_t i = 0; i < merged.size(); ++i)
      graph.update_input(merged[i].node, 1, op("NextIteration", {next[i]}));
    return {done.begin() + 1, done.end()};
  }
  Values choose(Output question, const Values& args, const Body& yes, const Body& no) {
    Values ways[2];
    Node* const pivots = op("Switch", {question, question}).node;
    const Output named = identity(question);  // as TensorFlow's pred_id
    for (int way : {0, 1}) {
      Node* const pivot = identity(pivots->output(way)).node;
      const Scope on_way = graph.control_dependencies(std::span(&pivot, 1));
      Values in;
      for (const Output& a : args) in.push_back(op("Switch", {a, named}).node->output(way));
      ways[way] = (way ? yes : no)(in);
    }
    Values results;
    for (size_t i = 0; i < ways[0].size(); ++i) results.push_back(op("Merge", {ways[0][i], ways[1][i]}));
    return results;
  }
  int count(std::string_view type) const {
    int n = 0;
    for (const Node* node : graph.nodes()) n += node->type() == type;
    return n;
  }
};

TEST_F(GradientFrames, OfALoop) {
  const Output rounds = placeholder(DType::kInt32, {});
  const Output y = repeat("powers", rounds, {constant(2.0)}, {x}, [](Values v) {
    return Values{times(v[1], v[2])};
  })[0];
  const Output g = one(y, x), again = one(g, x);
  const auto s = session();
  for (int n : {0, 1, 5}) {
    const Feeds feeds = {{x, Tensor::scalar(1.5)}, {rounds, Tensor::scalar(n)}};
    EXPECT_NEAR(s->run(y, feeds).item<double>(), 2 * std::pow(1.5, n), 1e-12) << n;
    EXPECT_NEAR(s->run(g, feeds).item<double>(), 2 * n * std::pow(1.5, n - 1), 1e-12) << n;
    EXPECT_NEAR(s->run(again, feeds).item<double>(), 2 * n * (n - 1) * std::pow(1.5, n - 2), 1e-12) << n;
  }
}

TEST_F(GradientFrames, OfWhatReadsALoopGoThroughTheLoopThatStandsInItsPlace) {
  const Output done = repeat("squares", number(2), {x}, {}, [](Values v) {
    return Values{times(v[1], v[1])};
  })[0];
  const Output y = op("Exp", {done});
  const Output by_done = one(y, done), by_x = one(y, x);
  EXPECT_EQ(count("StatelessWhile"), 2);  // forward and back, however often it is asked
  EXPECT_EQ(y.node->inputs()[0].node->type(), "StatelessWhile");
  const Feeds feeds = {{x, Tensor::scalar(0.5)}};
  EXPECT_NEAR(session()->run(by_done, feeds).item<double>(), std::exp(0.0625), 1e-12);
  EXPECT_NEAR(session()->run(by_x, feeds).item<double>(), std::exp(0.0625) * 0.5, 1e-12);
}

TEST_F(GradientFrames, OfLoopsInLoops) {
  Sample s = drawn({{2}, {2}});
  s.total = weighed(repeat("outer", number(3), {s.x[0]}, {s.x[1]}, [&](Values v) {
    const Output h = repeat("inner", plus(v[0], number(1)), {v[1]}, {v[2]}, [](Values u) {
      return Values{op("Sin", {u[1]}) * u[2] + u[1]};
    })[0];
    return Values{op("Exp", {-h})};
  })[0]);
  check(*session(), s);
}

TEST_F(GradientFrames, OfABranch) {
  const Output question = placeholder(DType::kBool, {});
  const Output y = choose(question, {x}, [](Values v) { return Values{op("Exp", {op("Sin", v)})}; },
                          [](Values v) { return Values{v[0] * constant(3.0)}; })[0];
  const Output g = one(y, x);
  const auto at = [&](bool way) {
    return session()->run(g, {{x, Tensor::scalar(0.5)}, {question, Tensor::scalar(way)}}).item<double>();
  };
  EXPECT_NEAR(at(true), std::exp(std::sin(0.5)) * std::cos(0.5), 1e-12);
  EXPECT_NEAR(at(false), 3, 1e-12);
}

TEST_F(GradientFrames, OfABranchInALoopAndOneInABranch) {
  Sample s = drawn({{3}, {3}});
  s.total = weighed(repeat("loop", number(5), {s.x[0]}, {s.x[1]}, [&](Values v) {
    const Output odd = op("Equal", {op("FloorMod", {v[0], number(2)}), number(1)});
    const Output late = op("Greater", {v[0], number(2)});
    const Body yes = [](Values u) { return Values{op("Exp", {op("Sin", {u[0]})})}; };
    const Body no = [&](Values u) {
      return choose(u[2], {u[0], u[1]}, [](Values w) { return Values{times(w[0], w[1])}; },
                    [](Values w) { return Values{op("Square", {w[0]})}; });
    };
    return choose(odd, {v[1], v[2], late}, yes, no);
  })[0]);
  check(*session(), s);
}

TEST_F(GradientFrames, ReadTheVeryValuesOfTheRunInAllResultsOfABranch) {
  const Values both = choose(constant(true), {x},
                             [](Values v) {
                               const Output noise =
                                   op("RandomUniform", {ints({1})}, {{"dtype", kDouble}});
                               return Values{v[0] * noise, noise};
                             },
                             [](Values v) {
                               const Output row = op("Reshape", {v[0], ints({1})});
                               return Values{row, row};
                             });
  const Output y = identity(both[0]), noise = identity(both[1]);
  const Output g = one(y, x);
  EXPECT_EQ(count("If"), 2);
  const std::vector<Tensor> got =
      session()->run(Feeds{{x, Tensor::scalar(2.0)}}, std::array{y, noise, g});
  EXPECT_EQ(got[0].values<double>()[0], 2 * got[1].values<double>()[0]);
  EXPECT_EQ(got[2].item<double>(), got[1].values<double>()[0]);
}

TEST_F(GradientFrames, OfAMergeThatNothingDecidesNameIt) {
  const Output y = op("Merge", {x, x}, {}, "joined");
  const Error e = error_of([&] { one(y, x); });
  EXPECT_EQ(e.code(), Code::kUnimplemented);
  EXPECT_EQ(e.node(), "joined");
}

TEST_F(GradientFrames, LeaveAloneWhatDoesNotLeadThere) {
  const Output other = placeholder(kDouble, {});
  const Output odd = op("Merge", {other, other});  // which has none
  const Output done = repeat("apart", number(2), {other}, {}, [](Values v) {
    return Values{v[1] * v[1]};
  })[0];
  const Output g = one(x * x * (odd + done), x);
  EXPECT_EQ(count("While") + count("StatelessWhile"), 0);
  const Feeds feeds = {{x, Tensor::scalar(3.0)}, {other, Tensor::scalar(2.0)}};
  EXPECT_DOUBLE_EQ(session()->run(g, feeds).item<double>(), 6 * (2 + 16));
}

}  // namespace
}  // namespace emplace
