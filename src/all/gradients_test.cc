// The gradients of the C++ API: each against differences of the function itself.
#include <cmath>

#include "all/gradient_fixture.h"

namespace emplace {
namespace {

using Inputs = std::vector<Output>;
using testing::ints;

// A function of doubles whose arguments lie between low and high.
struct Case {
  const char* name;
  std::vector<Shape> shapes;
  Output (*function)(const Inputs& x);
  double low = 0.2, high = 0.9;
  bool twice = true;  // the gradient's own gradient is looked at too
};

template <int N>
struct Text {
  char text[N];
  constexpr Text(const char (&t)[N]) { std::copy_n(t, N, text); }
};
template <Text type>
Output unary(const Inputs& x) {
  return op(type.text, {x[0]});
}
template <Text type>
Output binary(const Inputs& x) {
  return op(type.text, {x[0], x[1]});
}
template <Text type, bool keep>
Output reduction(const Inputs& x) {
  return op(type.text, {x[0], ints({-1, 0})}, {{"keep_dims", keep}});
}
template <bool a, bool b>
Output product(const Inputs& x) {
  return matmul(x[0], x[1], a, b);
}
template <bool a, bool b>
Output batches(const Inputs& x) {
  return op("BatchMatMulV2", {x[0], x[1]}, {{"adj_x", a}, {"adj_y", b}});
}

// Symmetric, positive, its eigenvalues far apart.
Output positive(Output x) {
  return matmul(x, x, false, true) + op("Diag", {constant({1., 3., 7.}, {3})});
}

const std::vector<int64_t> kOnes = {1, 1, 1, 1}, kWindow = {1, 2, 2, 1};

const Case kCases[] = {
    {"Neg", {{3}}, unary<"Neg">},
    {"Abs", {{3}}, unary<"Abs">},
    {"Square", {{3}}, unary<"Square">},
    {"Sqrt", {{3}}, unary<"Sqrt">},
    {"Rsqrt", {{3}}, unary<"Rsqrt">},
    {"Reciprocal", {{3}}, unary<"Reciprocal">},
    {"Exp", {{3}}, unary<"Exp">},
    {"Expm1", {{3}}, unary<"Expm1">},
    {"Log", {{3}}, unary<"Log">},
    {"Log1p", {{3}}, unary<"Log1p">},
    {"Sin", {{3}}, unary<"Sin">},
    {"Cos", {{3}}, unary<"Cos">},
    {"Tan", {{3}}, unary<"Tan">},
    {"Asin", {{3}}, unary<"Asin">},
    {"Acos", {{3}}, unary<"Acos">},
    {"Atan", {{3}}, unary<"Atan">},
    {"Sinh", {{3}}, unary<"Sinh">},
    {"Cosh", {{3}}, unary<"Cosh">},
    {"Tanh", {{3}}, unary<"Tanh">},
    {"Asinh", {{3}}, unary<"Asinh">},
    {"Acosh", {{3}}, unary<"Acosh">, 1.2, 3.0},
    {"Atanh", {{3}}, unary<"Atanh">},
    {"Sigmoid", {{3}}, unary<"Sigmoid">},
    {"Erf", {{3}}, unary<"Erf">},
    {"Erfc", {{3}}, unary<"Erfc">},
    {"Erfinv", {{3}}, unary<"Erfinv">},
    {"Ndtri", {{3}}, unary<"Ndtri">},
    {"Lgamma", {{3}}, unary<"Lgamma">},
    {"Digamma", {{3}}, unary<"Digamma">, 0.5, 2.0, false},
    {"Relu", {{3}}, unary<"Relu">, -1.0, 1.0},
    {"Relu6", {{3}}, unary<"Relu6">, -1.0, 1.0},
    {"LeakyRelu", {{3}}, unary<"LeakyRelu">, -1.0, 1.0, false},
    {"Elu", {{3}}, unary<"Elu">, -1.0, 1.0, false},
    {"Selu", {{3}}, unary<"Selu">, -1.0, 1.0, false},
    {"Softplus", {{3}}, unary<"Softplus">, -1.0, 1.0},
    {"Softsign", {{3}}, unary<"Softsign">, -1.0, 1.0, false},
    {"L2Loss", {{3, 2}}, unary<"L2Loss">},
    {"Softmax", {{2, 3}}, unary<"Softmax">},
    {"LogSoftmax", {{2, 3}}, unary<"LogSoftmax">},
    {"AddBroadcasts", {{2, 1, 3}, {4, 1}}, binary<"AddV2">},
    {"SubBroadcasts", {{3}, {2, 3}}, binary<"Sub">},
    {"MulBroadcasts", {{2, 1}, {3}}, binary<"Mul">},
    {"RealDivBroadcasts", {{2, 3}, {}}, binary<"RealDiv">},
    {"DivNoNan", {{3}, {3}}, binary<"DivNoNan">},
    {"MulNoNan", {{3}, {3}}, binary<"MulNoNan">},
    {"PowBroadcasts", {{2, 3}, {3}}, binary<"Pow">},
    {"Maximum", {{4}, {4}}, binary<"Maximum">, -1.0, 1.0},
    {"Minimum", {{4}, {2, 4}}, binary<"Minimum">, -1.0, 1.0},
    {"SquaredDifference", {{2, 3}, {3}}, binary<"SquaredDifference">},
    {"Atan2", {{3}, {3}}, binary<"Atan2">},
    {"Xlogy", {{3}, {3}}, binary<"Xlogy">},
    {"Xlog1py", {{3}, {3}}, binary<"Xlog1py">},
    {"Xdivy", {{3}, {3}}, binary<"Xdivy">},
    {"FloorMod", {{3}, {3}}, binary<"FloorMod">, 0.3, 0.9, false},
    {"AddN", {{2}, {2}, {2}}, [](const Inputs& x) { return add_n(x); }},
    {"SelectV2", {{2, 2}, {2}},
     [](const Inputs& x) {
       return op("SelectV2", {constant({true, false, false, true}, {2, 2}), x[0], x[1]});
     }},
    {"ClipByValue", {{5}, {}, {}},
     [](const Inputs& x) {
       return op("ClipByValue", {x[0], x[1] - constant(0.5), x[2] + constant(0.1)});
     }, -1.0, 1.0},
    {"Sum", {{2, 3, 2}}, reduction<"Sum", false>},
    {"SumThatKeeps", {{2, 3, 2}}, reduction<"Sum", true>},
    {"Mean", {{2, 3, 2}}, reduction<"Mean", false>},
    {"Max", {{2, 3, 2}}, reduction<"Max", false>, -1.0, 1.0},
    {"MinThatKeeps", {{2, 3, 2}}, reduction<"Min", true>, -1.0, 1.0},
    {"Prod", {{2, 3, 2}}, reduction<"Prod", false>},
    {"EuclideanNorm", {{2, 3, 2}}, reduction<"EuclideanNorm", false>},
    {"Cumsum", {{2, 3}},
     [](const Inputs& x) {
       return op("Cumsum", {x[0], constant(1)}, {{"exclusive", true}, {"reverse", true}});
     }},
    {"Cumprod", {{2, 3}}, [](const Inputs& x) { return op("Cumprod", {x[0], constant(1)}); }},
    {"SegmentSum", {{3, 2}},
     [](const Inputs& x) { return op("SegmentSum", {x[0], ints({0, 0, 2})}); }},
    {"UnsortedSegmentSum", {{3, 2}},
     [](const Inputs& x) {
       return op("UnsortedSegmentSum", {x[0], ints({1, -1, 1}), constant(3)});
     }},
    {"Reshape", {{2, 3}}, [](const Inputs& x) { return op("Reshape", {x[0], ints({3, -1})}); }},
    {"Squeeze", {{2, 1}}, unary<"Squeeze">},
    {"Transpose", {{2, 3, 1}},
     [](const Inputs& x) { return op("Transpose", {x[0], ints({1, 2, 0})}); }},
    {"BroadcastTo", {{2, 1}},
     [](const Inputs& x) { return op("BroadcastTo", {x[0], ints({3, 2, 2})}); }},
    {"Fill", {{}}, [](const Inputs& x) { return op("Fill", {ints({2, 3}), x[0]}); }},
    {"ConcatV2", {{2, 1}, {2, 3}},
     [](const Inputs& x) { return op("ConcatV2", {x[0], x[1], constant(1)}); }},
    {"ConcatV2CountedFromTheEnd", {{2, 1}, {2, 3}},
     [](const Inputs& x) { return op("ConcatV2", {x[0], x[1], constant(-1)}); }},
    {"Pack", {{2}, {2}}, [](const Inputs& x) { return op("Pack", x, {{"axis", 1}}); }},
    {"Unpack", {{2, 3}},
     [](const Inputs& x) { return op("Unpack", {x[0]}, {{"num", 2}}).node->output(1); }},
    {"Split", {{2, 4}},
     [](const Inputs& x) {
       return op("Split", {constant(1), x[0]}, {{"num_split", 2}}).node->output(1);
     }},
    {"Slice", {{3, 4}},
     [](const Inputs& x) { return op("Slice", {x[0], ints({1, 0}), ints({2, 3})}); }},
    {"StridedSlice", {{4, 3}},
     [](const Inputs& x) {
       return op("StridedSlice", {x[0], ints({0, 1}), ints({4, 2}), ints({2, 1})},
                 {{"shrink_axis_mask", 2}});
     }},
    {"GatherOfRows", {{3, 2}},
     [](const Inputs& x) { return op("GatherV2", {x[0], ints({2, 0, 2}), constant(0)}); }},
    {"GatherAlongTheLastAxis", {{2, 3, 4}},
     [](const Inputs& x) {
       return op("GatherV2", {x[0], constant({1, 3, 1, 0}, {2, 2}), constant(-1)});
     }},
    {"GatherNd", {{3, 2}},
     [](const Inputs& x) { return op("GatherNd", {x[0], constant({2, 0, 1, 1}, {2, 2})}); }},
    {"ScatterNd", {{2}},
     [](const Inputs& x) { return op("ScatterNd", {constant({1, 3}, {2, 1}), x[0], ints({4})}); }},
    {"TensorScatterUpdate", {{4}, {2}},
     [](const Inputs& x) {
       return op("TensorScatterUpdate", {x[0], constant({1, 3}, {2, 1}), x[1]});
     }},
    {"Tile", {{2, 3}}, [](const Inputs& x) { return op("Tile", {x[0], ints({2, 1})}); }},
    {"Pad", {{2, 3}},
     [](const Inputs& x) { return op("Pad", {x[0], constant({1, 0, 0, 2}, {2, 2})}); }},
    {"MirrorPad", {{3}},
     [](const Inputs& x) {
       return op("MirrorPad", {x[0], constant({1, 2}, {1, 2})}, {{"mode", "REFLECT"}});
     }},
    {"ReverseV2", {{3}}, [](const Inputs& x) { return op("ReverseV2", {x[0], ints({0})}); }},
    {"Roll", {{4}}, [](const Inputs& x) { return op("Roll", {x[0], constant(1), constant(0)}); }},
    {"Diag", {{3}}, unary<"Diag">},
    {"MatMul", {{2, 3}, {3, 4}}, product<false, false>},
    {"MatMulOfTransposes", {{3, 2}, {4, 3}}, product<true, true>},
    {"MatMulWithTheFirstTurned", {{3, 2}, {3, 4}}, product<true, false>},
    {"MatMulWithTheSecondTurned", {{2, 3}, {4, 3}}, product<false, true>},
    {"BatchesBroadcast", {{2, 1, 2, 3}, {3, 3, 2}}, batches<false, false>},
    {"BatchesTurned", {{2, 3, 2}, {2, 2, 3}}, batches<true, true>},
    {"Cross", {{2, 3}, {2, 3}}, binary<"Cross">},
    {"MatrixInverse", {{3, 3}},
     [](const Inputs& x) {
       return op("MatrixInverse", {x[0] + op("Diag", {constant({3., 3., 3.}, {3})})});
     }},
    {"MatrixDeterminant", {{2, 3, 3}}, unary<"MatrixDeterminant">},
    {"MatrixSolve", {{3, 3}, {3, 2}},
     [](const Inputs& x) { return op("MatrixSolve", {positive(x[0]), x[1]}); }},
    {"MatrixSolveTurned", {{3, 3}, {3, 2}},
     [](const Inputs& x) {
       return op("MatrixSolve", {positive(x[0]) + x[0], x[1]}, {{"adjoint", true}});
     }},
    {"MatrixTriangularSolve", {{2, 2}, {2, 3}},
     [](const Inputs& x) { return op("MatrixTriangularSolve", {x[0], x[1]}, {{"lower", true}}); }},
    {"MatrixTriangularSolveUpperTurned", {{2, 2}, {2, 3}},
     [](const Inputs& x) {
       return op("MatrixTriangularSolve", {x[0], x[1]}, {{"lower", false}, {"adjoint", true}});
     }},
    {"Cholesky", {{3, 3}}, [](const Inputs& x) { return op("Cholesky", {positive(x[0])}); }},
    {"LogMatrixDeterminant", {{3, 3}},
     [](const Inputs& x) {
       return op("LogMatrixDeterminant", {positive(x[0])}).node->output(1);
     }},
    {"Eigenvalues", {{3, 3}},
     [](const Inputs& x) {
       return op("SelfAdjointEigV2", {positive(x[0])}, {{"compute_v", false}});
     }},
    {"Eigenvectors", {{3, 3}},
     [](const Inputs& x) {
       return op("SelfAdjointEigV2", {positive(x[0])}, {{"compute_v", true}}).node->output(1);
     }},
    {"SingularValues", {{2, 3}},
     [](const Inputs& x) { return op("Svd", {x[0]}, {{"compute_uv", false}}); }},
    {"SvdTall", {{4, 2}},
     [](const Inputs& x) {
       Node* svd = op("Svd", {x[0]}).node;
       return matmul(svd->output(1), op("Diag", {svd->output(0) * svd->output(0)}));
     }},
    {"SvdWide", {{2, 3}}, [](const Inputs& x) { return op("Svd", {x[0]}).node->output(2); }},
    {"QrTall", {{4, 3}},
     [](const Inputs& x) {
       Node* qr = op("Qr", {x[0]}).node;
       return matmul(qr->output(0) * qr->output(0), qr->output(1));
     }},
    {"QrWide", {{2, 4}}, [](const Inputs& x) { return op("Qr", {x[0]}).node->output(1); }},
    {"MatrixSetDiag", {{2, 3}, {2}}, binary<"MatrixSetDiag">},
    {"MatrixDiagPart", {{3, 2}}, unary<"MatrixDiagPart">},
    {"GatherInBatches", {{2, 3, 2}},
     [](const Inputs& x) {
       return op("GatherV2", {x[0], constant({2, 0, 1, 1}, {2, 2}), constant(1)},
                 {{"batch_dims", 1}});
     }},
    {"GatherInBatchesAlongALaterAxis", {{2, 2, 3}},
     [](const Inputs& x) {
       return op("GatherV2", {x[0], constant({2, 0, 1, 1}, {2, 2}), constant(2)},
                 {{"batch_dims", 1}});
     }},
    {"SoftmaxCrossEntropy", {{2, 3}, {2, 3}},
     [](const Inputs& x) {  // labels are probabilities
       return op("SoftmaxCrossEntropyWithLogits", {x[0], op("Softmax", {x[1]})});
     }},
    {"SparseSoftmaxCrossEntropy", {{2, 3}},
     [](const Inputs& x) {
       return op("SparseSoftmaxCrossEntropyWithLogits", {x[0], ints({2, 0})});
     }},
    {"BiasAdd", {{2, 2, 3}, {3}}, binary<"BiasAdd">},
    {"Conv2D", {{1, 4, 3, 2}, {2, 2, 2, 2}},
     [](const Inputs& x) {
       return op("Conv2D", {x[0], x[1]}, {{"strides", kOnes}, {"padding", "SAME"}});
     }},
    {"DepthwiseConv2d", {{1, 4, 3, 2}, {2, 2, 2, 2}},
     [](const Inputs& x) {
       return op("DepthwiseConv2dNative", {x[0], x[1]}, {{"strides", kOnes}, {"padding", "VALID"}});
     }},
    {"MaxPool", {{1, 4, 4, 1}},
     [](const Inputs& x) {
       return op("MaxPool", {x[0]}, {{"ksize", kWindow}, {"strides", kWindow}, {"padding", "VALID"}});
     }, -1.0, 1.0, false},
    {"AvgPool", {{1, 3, 3, 2}},
     [](const Inputs& x) {
       return op("AvgPool", {x[0]}, {{"ksize", kWindow}, {"strides", kOnes}, {"padding", "SAME"}});
     }},
};

class Gradients : public testing::GradientFixture {
 protected:
  Sample sample(const Case& c) {
    Sample s;
    for (const Shape& shape : c.shapes) {
      s.x.push_back(placeholder(DType::kDouble, shape));
      s.values.push_back(draw(shape, c.low, c.high));
    }
    s.total = weighed(c.function(s.x));
    return s;
  }
};

TEST_F(Gradients, EqualDifferencesOfTheFunction) {
  const auto s = session();
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    ASSERT_NO_THROW(check(*s, sample(c)));
  }
}

TEST_F(Gradients, OfGradientsEqualTheirDifferences) {
  const auto s = session();
  for (const Case& c : kCases) {
    if (!c.twice) continue;
    SCOPED_TRACE(c.name);
    Sample once = sample(c);
    const std::vector<Output> first = gradients(std::span(&once.total, 1), once.x);
    std::vector<Output> parts;  // times the argument, so that linear functions lead back as well
    for (size_t i = 0; i < first.size(); ++i) parts.push_back(weighed(first[i] * once.x[i]));
    once.total = add_n(parts);
    ASSERT_NO_THROW(check(*s, once));
  }
}

TEST_F(Gradients, AreEmptyWhereNothingConnects) {
  const Output x = placeholder(DType::kFloat, {2}), other = placeholder(DType::kFloat, {2});
  const Output y = op("Square", {x}), cut = op("StopGradient", {other}) * x;
  EXPECT_FALSE(gradients(std::span(&y, 1), std::span(&other, 1))[0]);
  EXPECT_FALSE(gradients(std::span(&cut, 1), std::span(&other, 1))[0]);
}

TEST_F(Gradients, AddUpOverEveryWay) {
  const Output x = placeholder(DType::kFloat, {});
  const Output y = x * x + x;
  const Output g = gradients(std::span(&y, 1), std::span(&x, 1))[0];
  EXPECT_EQ(session()->run(g, {{x, Tensor::scalar(3.f)}}).item<float>(), 7.f);
}

TEST_F(Gradients, BeginWithWhatIsGivenAndEndWhereTold) {
  const Output x = placeholder(DType::kFloat, {}), inner = op("Exp", {x});
  const Output y = inner * x;
  GradientOptions o;
  o.grad_ys = {constant(10.f)};
  o.stop_gradients = {inner};
  const Output g = gradients(std::span(&y, 1), std::span(&x, 1), o)[0];
  EXPECT_EQ(session()->run(g, {{x, Tensor::scalar(0.f)}}).item<float>(), 10.f);
}

TEST_F(Gradients, AreNamedAndPlacedWithTheirForwardOperations) {
  Output y;
  const Output x = placeholder(DType::kFloat, {2, 2}, "x");
  {
    const Scope tower = graph.name_scope("tower"), gpu = graph.device("/gpu:1");
    y = matmul(x, x, false, false, "product");
  }
  GradientOptions o;
  o.colocate_with_ops = true;
  const Output g = gradients(std::span(&y, 1), std::span(&x, 1), o)[0];
  Node* back = graph.find("gradients/tower/product_grad/MatMul");
  ASSERT_NE(back, nullptr);
  EXPECT_EQ(back->colocation_groups(), std::vector<std::string>{"loc:@tower/product"});
  const auto s = session(gpus(2));
  for (const PlacementRow& row : s->placement().rows)
    if (row.node == back->name()) {
      EXPECT_TRUE(row.device.ends_with("GPU:1")) << row.device;
    }
  EXPECT_EQ(g.shape(), (Shape{2, 2}));
}

TEST_F(Gradients, OfAnOperationWithoutOneNameTheNode) {
  const Output x = placeholder(DType::kFloat, {2, 2});
  const Output y = op("MatrixSquareRoot", {x}, {}, "decomposed");
  const Error e = error_of([&] { gradients(std::span(&y, 1), std::span(&x, 1)); });
  EXPECT_EQ(e.code(), Code::kUnimplemented);
  EXPECT_EQ(e.node(), "decomposed");
}

TEST_F(Gradients, OfUsersOwn) {
  register_gradient("Betainc", [](Node& n, std::span<const Output> dy) -> std::vector<Output> {
    return {{}, {}, dy[0] * n.inputs()[0]};
  });
  const Output x = placeholder(DType::kFloat, {});
  const Output y = op("Betainc", {constant(2.f), constant(3.f), x});
  const Output g = gradients(std::span(&y, 1), std::span(&x, 1))[0];
  EXPECT_EQ(session()->run(g, {{x, Tensor::scalar(0.5f)}}).item<float>(), 2.f);
  EXPECT_EQ(error_of([] { register_gradient("Square", {}); }).code(), Code::kAlreadyExists);
}

TEST_F(Gradients, OfCallsAreCalls) {
  const auto inner = function("inner", [](Output x) { return op("Exp", {x}); });
  const auto outer = function("outer", [&](Output x) {
    x.graph().add_function(inner);
    return call(*inner, x) * x;
  });
  const Output x = placeholder(DType::kFloat, {});
  const Output y = call(*outer, op("Square", {x}));
  const Output g = gradients(std::span(&y, 1), std::span(&x, 1))[0];
  EXPECT_NE(graph.find_function("outer_grad"), nullptr);
  const float at = 0.5f, square = at * at;
  const float slope = std::exp(square) * (square + 1) * 2 * at;
  EXPECT_NEAR(session()->run(g, {{x, Tensor::scalar(at)}}).item<float>(), slope, 1e-5);
}

TEST_F(Gradients, OfBranchesGoThroughTheOneTaken) {
  const auto yes = function("yes", [](Output x) { return op("Square", {x}); });
  const auto no = function("no", [](Output x) { return constant(7.f) + x * constant(0.f); });
  const Output x = placeholder(DType::kFloat, {});
  const Output y = op("If", {op("Greater", {x, constant(0.f)}), x},
                      {{"Tout", std::vector<DType>{DType::kFloat}},
                       {"then_branch", FunctionName{yes->name, {}}},
                       {"else_branch", FunctionName{no->name, {}}}});
  const Output g = gradients(std::span(&y, 1), std::span(&x, 1))[0];
  const auto s = session();
  EXPECT_EQ(s->run(g, {{x, Tensor::scalar(3.f)}}).item<float>(), 6.f);
  EXPECT_EQ(s->run(g, {{x, Tensor::scalar(-3.f)}}).item<float>(), 0.f);
}

TEST_F(Gradients, DescendToTheMinimum) {
  const VariableNodes w = variable(Tensor::of({4.f, -2.f}, {2}), "w");
  const Output goal = constant({1.f, 3.f}, {2});
  const Output loss = reduce_sum(op("SquaredDifference", {w.value, goal}), {0});
  Node* step = gradient_descent(loss, std::span(&w, 1), 0.25);
  const auto s = session();
  s->run(w.initializer);
  for (int i = 0; i < 30; ++i) s->run(step);
  EXPECT_NEAR(s->run(w.value).values<float>()[0], 1.f, 1e-5);
  EXPECT_NEAR(s->run(w.value).values<float>()[1], 3.f, 1e-5);
}

TEST_F(Gradients, OfWhatIsNotThereAreRefused) {
  const VariableNodes w = variable(Tensor::scalar(4.f), "w");
  const auto refused = [&](Output y, std::string_view why) {
    const Error e = error_of([&] { gradients(std::span(&y, 1), std::span(&w.value, 1)); });
    EXPECT_EQ(e.code(), Code::kInvalidArgument);
    EXPECT_EQ(e.message(), why);
    EXPECT_EQ(error_of([&] { gradient_descent(y, std::span(&w, 1), 0.1); }).message(), why);
  };
  refused({}, "gradients of an empty Output: ys[0]");
  refused({w.value.node, 4}, "gradients of 'w/read:4': node 'w/read' has 1 outputs");
}

TEST_F(Gradients, BearTheLineThatAsksForThem) {
  const Output x = placeholder(DType::kFloat, {}, "x");
  const Output y = op("Square", {x});
  const size_t before = graph.num_nodes();
  gradients(std::span(&y, 1), std::span(&x, 1));
  const std::string here = std::string(__FILE__) + ":" + std::to_string(__LINE__ - 1);
  const std::vector<Node*> nodes = graph.nodes();
  ASSERT_GT(nodes.size(), before);
  for (size_t i = before; i < nodes.size(); ++i)
    EXPECT_EQ(nodes[i]->source(), here) << nodes[i]->name();
}

}  // namespace
}  // namespace emplace
