#include "emplace/attr.h"

#include <gtest/gtest.h>

#include <cmath>

namespace emplace {
namespace {

TEST(AttrTest, PrintsScalarsAsInNodeDefinitions) {
  EXPECT_EQ(AttrValue("SAME").str(), "\"SAME\"");
  EXPECT_EQ(AttrValue("a\"b\n").str(), R"("a\"b\n")");
  EXPECT_EQ(AttrValue(3).str(), "3");
  EXPECT_EQ(AttrValue(0.1f).str(), "0.1");
  EXPECT_EQ(AttrValue(true).str(), "true");
  EXPECT_EQ(AttrValue(DType::kFloat).str(), "DT_FLOAT");
  EXPECT_EQ(AttrValue(Shape{2, -1}).str(), "[2,?]");
  EXPECT_EQ(AttrValue(Shape::unknown()).str(), "<unknown>");
}

TEST(AttrTest, PrintsTensorsWithThreeValues) {
  EXPECT_EQ(AttrValue(Tensor::of<float>({1, 2, 3, 4, 5, 6}, {3, 2})).str(),
            "Tensor<type: float shape: [3,2] values: 1 2 3...>");
  EXPECT_EQ(AttrValue(Tensor::scalar<int32_t>(7)).str(), "Tensor<type: int32 shape: [] values: 7>");
}

TEST(AttrTest, PrintsFunctionsWithTheirAttributes) {
  EXPECT_EQ(AttrValue(FunctionName{"body", {}}).str(), "body[]");
  EXPECT_EQ(AttrValue(FunctionName{"body", {{"T", DType::kInt32}, {"n", 2}}}).str(),
            "body[T=DT_INT32, n=2]");
}

TEST(AttrTest, ShortensLongStringsInTheMiddle) {
  EXPECT_EQ(AttrValue(std::string(79, 'x')).str(), '"' + std::string(79, 'x') + '"');
  EXPECT_EQ(AttrValue(std::string(40, 'x') + std::string(40, 'y')).str(),
            R"("xxxxxxxxxx...yyyyyyyyyy")");
}

TEST(AttrTest, PrintsListsAndShortensLongOnes) {
  EXPECT_EQ(AttrValue(std::vector<int64_t>{}).str(), "[]");
  EXPECT_EQ(AttrValue(std::vector<int64_t>{1, 2}).str(), "[1, 2]");
  EXPECT_EQ(AttrValue(std::vector<std::string>{"a", "b"}).str(), R"(["a", "b"])");
  EXPECT_EQ(AttrValue(std::vector<bool>{true, false}).str(), "[true, false]");
  std::vector<int64_t> many(30);
  for (int64_t i = 0; i < 30; ++i) many[static_cast<size_t>(i)] = i;
  EXPECT_EQ(AttrValue(many).str(), "[0, 1, 2, 3, 4, ..., 25, 26, 27, 28, 29]");
  many.pop_back();
  EXPECT_EQ(AttrValue(many).str().find("..."), std::string::npos);
}

TEST(AttrTest, KindsAreKeptApart) {
  EXPECT_FALSE(AttrValue().is_set());
  EXPECT_FALSE(AttrValue(1).is_list());
  EXPECT_TRUE(AttrValue(std::vector<Shape>{}).is_list());
  EXPECT_EQ(AttrValue(2).as<int64_t>(), 2);
  try {
    AttrValue("text").as<int64_t>();
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kInvalidArgument);
    EXPECT_NE(e.message().find("\"text\" is of kind string"), std::string::npos);
  }
}

TEST(AttrTest, EqualityLooksInside) {
  EXPECT_EQ(AttrValue(1), AttrValue(int64_t{1}));
  EXPECT_FALSE(AttrValue(1) == AttrValue(1.0f));
  EXPECT_FALSE(AttrValue(1) == AttrValue(true));
  EXPECT_EQ(AttrValue(std::nanf("")), AttrValue(std::nanf("")));
  EXPECT_FALSE(AttrValue(0.0f) == AttrValue(-0.0f));
  EXPECT_EQ(AttrValue(Tensor::of<float>({1, 2}, {2})), AttrValue(Tensor::of<float>({1, 2}, {2})));
  EXPECT_FALSE(AttrValue(Tensor::of<float>({1, 2}, {2})) ==
               AttrValue(Tensor::of<float>({1, 2}, {2, 1})));
  EXPECT_FALSE(AttrValue(Tensor::string("a")) == AttrValue(Tensor::string("b")));
  EXPECT_EQ(AttrValue(Tensor::string("a")), AttrValue(Tensor::string("a")));
  const FunctionName f{"f", {{"T", DType::kInt32}}}, g{"f", {{"T", DType::kInt64}}};
  EXPECT_EQ(AttrValue(f), AttrValue(f));
  EXPECT_FALSE(AttrValue(f) == AttrValue(g));
  EXPECT_EQ(AttrValue(std::vector<FunctionName>{f}), AttrValue(std::vector<FunctionName>{f}));
}

TEST(AttrTest, AListOfAttributesIsSortedAndFoundByName) {
  AttrList attrs;
  for (const char* name : {"m", "a", "z", "m"}) set_attr(attrs, name, name);
  ASSERT_EQ(attrs.size(), 3u);
  EXPECT_EQ(attrs[0].first, "a");
  EXPECT_EQ(attrs[2].first, "z");
  set_attr(attrs, "a", 1);
  EXPECT_EQ(find_attr(attrs, "a")->as<int64_t>(), 1);
  EXPECT_EQ(find_attr(attrs, "b"), nullptr);
}

}  // namespace
}  // namespace emplace
