#include <gtest/gtest.h>

#include "emplace/error.h"
#include "op/attr_check.h"
#include "op/op_def.h"

namespace emplace {
namespace {

constexpr DType F = DType::kFloat, I = DType::kInt32, S = DType::kString;

const OpDef kAdd = parse_signature("Add(x: T, y: T) -> (z: T) | T: type in [float,double,int32]");
const OpDef kAddN = parse_signature(
    "AddN(inputs: N*T) -> (sum: T) | N: int >= 1; T: type in [float,int32] | commutative");
const OpDef kFill = parse_signature(
    "Fill(dims: index_type, value: T) -> (output: T) | T: type; "
    "index_type: type in [int32,int64] = int32");
const OpDef kIdentityN =
    parse_signature("IdentityN(input: T) -> (output: T) | T: list(type) >= 1");
const OpDef kPool = parse_signature(
    "Pool(value: T) -> (output: T) | ksize: list(int) >= 4; padding: string in ['SAME','VALID']; "
    "T: type in [float] = float; scale: float = 1.0");
const OpDef kSplit = parse_signature(
    "Split(split_dim: int32, value: T) -> (output: num_split*T) | num_split: int >= 1; T: type");
const OpDef kTwoLists = parse_signature(
    "Two(a: A, b: N*float) -> () | A: list(type) >= 0; N: int >= 0");

std::string failure(const OpDef& op, std::vector<DType> types, AttrList attrs = {},
                    std::string_view node = "n") {
  try {
    complete_attrs(op, types, std::move(attrs), node);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kInvalidArgument);
    return e.message();
  }
  return "no error";
}

AttrList complete(const OpDef& op, std::vector<DType> types, AttrList attrs = {}) {
  return complete_attrs(op, types, std::move(attrs));
}

TEST(CompleteAttrs, RefusesUnknownOnesUnlessImported) {
  const AttrList unknown = {{"foo", 3}};
  EXPECT_TRUE(failure(kAdd, {F, F}, unknown)
                  .starts_with("NodeDef mentions attr 'foo' not in Op<name=Add;"));
  EXPECT_NE(find_attr(complete(kAdd, {F, F}, {{"_foo", 3}}), "_foo"), nullptr);
  const std::vector<DType> types = {F, F};
  const AttrList kept = complete_attrs(kAdd, types, unknown, "n", UnknownAttrs::kKept);
  EXPECT_EQ(find_attr(kept, "foo")->as<int64_t>(), 3);
}

TEST(CompleteAttrs, RefusesOneGivenTwice) {
  EXPECT_TRUE(failure(kAdd, {F, F}, {{"T", F}, {"T", F}})
                  .starts_with("NodeDef mentions attr 'T' twice; Op<name=Add;"));
}

TEST(CompleteAttrs, InfersATypeFromTheInputs) {
  const AttrList attrs = complete(kAdd, {F, F});
  EXPECT_EQ(find_attr(attrs, "T")->as<DType>(), F);
  EXPECT_EQ(output_types(kAdd, attrs), std::vector{F});
  EXPECT_EQ(input_types(kAdd, attrs), (std::vector{F, F}));
}

TEST(CompleteAttrs, InfersLengthAndTypeOfAList) {
  const AttrList attrs = complete(kAddN, {I, I, I});
  EXPECT_EQ(find_attr(attrs, "N")->as<int64_t>(), 3);
  EXPECT_EQ(find_attr(attrs, "T")->as<DType>(), I);
  EXPECT_EQ(input_types(kAddN, attrs), (std::vector{I, I, I}));
}

TEST(CompleteAttrs, InfersAListOfTypes) {
  const AttrList attrs = complete(kIdentityN, {F, S, I});
  EXPECT_EQ(find_attr(attrs, "T")->as<std::vector<DType>>(), (std::vector{F, S, I}));
  EXPECT_EQ(output_types(kIdentityN, attrs), (std::vector{F, S, I}));
}

TEST(CompleteAttrs, FillsDefaultsAndSortsByName) {
  const AttrList attrs = complete(kPool, {F}, {{"padding", "SAME"},
                                               {"_x", 1},
                                               {"ksize", std::vector<int64_t>{1, 2, 2, 1}}});
  std::vector<std::string> names;
  for (const auto& [name, value] : attrs) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"T", "_x", "ksize", "padding", "scale"}));
  EXPECT_EQ(find_attr(attrs, "scale")->as<float>(), 1.0f);
}

TEST(CompleteAttrs, AWholeNumberServesAsAFloat) {
  const AttrList attrs = complete(
      kPool, {F},
      {{"padding", "SAME"}, {"scale", 2}, {"ksize", std::vector<int64_t>{1, 2, 2, 1}}});
  EXPECT_EQ(find_attr(attrs, "scale")->as<float>(), 2.0f);
}

TEST(CompleteAttrs, SecondInputOfAnotherType) {
  EXPECT_EQ(failure(kAdd, {F, I}),
            "Input 'y' of 'Add' Op has type int32 that does not match type float32 of argument "
            "'x'.");
}

TEST(CompleteAttrs, InputOfAnotherTypeThanDeclared) {
  EXPECT_EQ(failure(kSplit, {F, F}, {{"num_split", 2}}),
            "Input 'split_dim' of 'Split' Op has type float32 that does not match expected type of "
            "int32.");
}

TEST(CompleteAttrs, TypeOutsideTheAllowedOnes) {
  EXPECT_EQ(failure(kAdd, {S, S}),
            "Value for attr 'T' of string is not in the list of allowed values: float, double, "
            "int32\n\t; NodeDef: {{node n}}; Op<name=Add; signature=x:T, y:T -> z:T; "
            "attr=T:type,allowed=[DT_FLOAT, DT_DOUBLE, DT_INT32]>");
}

TEST(CompleteAttrs, StringOutsideTheAllowedOnes) {
  const std::string m = failure(
      kPool, {F}, {{"ksize", std::vector<int64_t>{1, 1, 1, 1}}, {"padding", "FOO"}});
  EXPECT_TRUE(m.starts_with("Value for attr 'padding' of \"FOO\" is not in the list of allowed "
                            "values: \"SAME\", \"VALID\"\n\t; NodeDef: {{node n}}; Op<name=Pool;"))
      << m;
}

TEST(CompleteAttrs, ListWithUnlikeTypes) {
  EXPECT_EQ(failure(kAddN, {F, I}),
            "Tensors in list passed to 'inputs' of 'AddN' Op have types [float32, int32] that "
            "don't all match.");
}

TEST(CompleteAttrs, ListThatIsTooShort) {
  EXPECT_EQ(failure(kAddN, {}),
            "List argument 'inputs' to 'AddN' Op with length 0 shorter than minimum length 1.");
  const std::string m = failure(kPool, {F}, {{"ksize", std::vector<int64_t>{1}}});
  EXPECT_TRUE(m.starts_with("Length for attr 'ksize' of 1 must be at least minimum 4")) << m;
}

TEST(CompleteAttrs, ValueBelowItsMinimum) {
  const std::string m = failure(kSplit, {I, F}, {{"num_split", 0}});
  EXPECT_TRUE(m.starts_with("Value for attr 'num_split' of 0 must be at least minimum 1")) << m;
}

TEST(CompleteAttrs, MissingAttribute) {
  const std::string m = failure(kSplit, {I, F});
  EXPECT_TRUE(m.starts_with("NodeDef missing attr 'num_split' from Op<name=Split;")) << m;
  EXPECT_TRUE(m.ends_with(">; NodeDef: {{node n}}")) << m;
}

TEST(CompleteAttrs, AttributeOfAnotherKind) {
  const std::string m = failure(kSplit, {I, F}, {{"num_split", DType::kFloat}});
  EXPECT_TRUE(m.starts_with("AttrValue had value with type 'type' when 'int' expected\n\t for attr "
                            "'num_split'\n\t; NodeDef: {{node n}}; Op<name=Split;"))
      << m;
}

TEST(CompleteAttrs, TooFewOrTooManyInputs) {
  const std::string m = failure(kAdd, {F});
  EXPECT_TRUE(m.starts_with("NodeDef expected inputs 'T, T' do not match 1 inputs specified; Op<"))
      << m;
  EXPECT_NE(failure(kAdd, {F, F, F}).find("do not match 3 inputs"), std::string::npos);
}

TEST(CompleteAttrs, SeveralListsNeedTheirLengths) {
  EXPECT_NE(failure(kTwoLists, {F, F}).find("several list arguments"), std::string::npos);
  const AttrList attrs = complete(kTwoLists, {I, F, F}, {{"N", 2}});
  EXPECT_EQ(find_attr(attrs, "A")->as<std::vector<DType>>(), std::vector{I});
  const ArgRange b = input_range(kTwoLists, attrs, 1);
  EXPECT_EQ(b.begin, 1);
  EXPECT_EQ(b.end, 3);
}

TEST(CompleteAttrs, LengthsThatNoGraphHasAreRefused) {
  const AttrList huge = complete(kSplit, {I, F}, {{"num_split", int64_t{1} << 50}});
  EXPECT_THROW(output_types(kSplit, huge), Error);
  EXPECT_NE(failure(kAddN, {F}, {{"N", int64_t{1} << 62}}).find("do not match"), std::string::npos);
}

TEST(CompleteAttrs, RefnessFollowsTheArguments) {
  const OpDef op = parse_signature(
      "R(index: int32, inputs: ref N*T) -> (output: ref T) | T: type; N: int >= 1");
  const AttrList attrs = complete(op, {I, F, F});
  EXPECT_EQ(input_refs(op, attrs), (std::vector<bool>{false, true, true}));
  EXPECT_EQ(output_refs(op, attrs), std::vector<bool>{true});
}

TEST(CompleteAttrs, TheSameLengthServesTwoLists) {
  const OpDef op = parse_signature("P(a: N*T, b: N*int32) -> () | N: int >= 1; T: type");
  EXPECT_EQ(find_attr(complete(op, {F, F, I, I}), "N")->as<int64_t>(), 2);
  EXPECT_NE(failure(op, {F, I, I}).find("do not match 3 inputs"), std::string::npos);
}

}  // namespace
}  // namespace emplace
