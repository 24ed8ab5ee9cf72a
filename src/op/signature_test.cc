#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "emplace/error.h"
#include "op/op_def.h"

namespace emplace {
namespace {

std::string message_of(std::string_view signature) {
  try {
    parse_signature(signature);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kInvalidArgument);
    return e.message();
  }
  return "no error";
}

TEST(Signature, ReadsArgumentsThatShareATypeAttribute) {
  const OpDef op = parse_signature("Add(x: T, y: T) -> (z: T) | T: type in [half,float,string]");
  EXPECT_EQ(op.name, "Add");
  ASSERT_EQ(op.inputs.size(), 2u);
  EXPECT_EQ(op.inputs[1].name, "y");
  EXPECT_EQ(op.inputs[1].type_attr, "T");
  EXPECT_FALSE(op.inputs[1].is_list());
  EXPECT_EQ(op.outputs[0].type_attr, "T");
  EXPECT_EQ(op.attrs[0].allowed_types,
            (std::vector{DType::kHalf, DType::kFloat, DType::kString}));
  EXPECT_FALSE(op.attrs[0].default_value.is_set());
}

TEST(Signature, ReadsNumberedLists) {
  const OpDef op = parse_signature(
      "AddN(inputs: N*T) -> (sum: T) | N: int >= 1; T: type in [float] | commutative aggregate");
  EXPECT_EQ(op.inputs[0].number_attr, "N");
  EXPECT_EQ(op.inputs[0].type_attr, "T");
  EXPECT_EQ(op.find_attr("N")->minimum, 1);
  EXPECT_TRUE(op.commutative);
  EXPECT_TRUE(op.aggregate);
  EXPECT_FALSE(op.stateful);
}

TEST(Signature, ReadsReferences) {
  const OpDef op = parse_signature(
      "RefSelect(index: int32, inputs: ref N*T) -> (output: ref T) | T: type; N: int >= 1");
  EXPECT_EQ(op.inputs[0].type, DType::kInt32);
  EXPECT_FALSE(op.inputs[0].is_ref);
  EXPECT_TRUE(op.inputs[1].is_ref);
  EXPECT_EQ(op.inputs[1].number_attr, "N");
  EXPECT_TRUE(op.outputs[0].is_ref);
}

TEST(Signature, ReadsListsOfTypes) {
  const OpDef op = parse_signature(
      "PartitionedCall(args: Tin) -> (output: Tout) | Tin: list(type) >= 0; Tout: list(type) >= 0; "
      "f: func; config: string = ''");
  EXPECT_EQ(op.inputs[0].type_list_attr, "Tin");
  EXPECT_TRUE(op.inputs[0].is_list());
  EXPECT_EQ(op.find_attr("f")->type, AttrType::kFunc);
  EXPECT_EQ(op.find_attr("config")->default_value.as<std::string>(), "");
}

TEST(Signature, ReadsDefaultsOfEveryKind) {
  const OpDef op = parse_signature(
      "Many() -> () | s: string = 'a;b|c\\n'; i: int = -1; f: float = 9.999999747378752e-05; "
      "inf: float = -inf; b: bool = true; t: type in [int32,int64] = int64; u: shape = unknown; "
      "e: shape = []; h: shape = [2,-1]; li: list(int) = [1,1]; lf: list(float) = [0.75,1.0]; "
      "ls: list(string) = ['x','y']; lb: list(bool) = [true,false]; "
      "lt: list(type) in [float] >= 0 = []; lh: list(shape) = []; n: int >= 1 = 3; "
      "w: string in ['NHWC','NCHW'] = 'NHWC'; z: tensor = tensor; g: list(func) = []");
  const auto value = [&](std::string_view name) { return op.find_attr(name)->default_value; };
  EXPECT_EQ(value("s").as<std::string>(), "a;b|c\n");
  EXPECT_EQ(value("i").as<int64_t>(), -1);
  EXPECT_FLOAT_EQ(value("f").as<float>(), 1e-4f);
  EXPECT_TRUE(std::isinf(value("inf").as<float>()));
  EXPECT_TRUE(value("b").as<bool>());
  EXPECT_EQ(value("t").as<DType>(), DType::kInt64);
  EXPECT_FALSE(value("u").as<Shape>().has_rank());
  EXPECT_EQ(value("e").as<Shape>(), Shape());
  EXPECT_EQ(value("h").as<Shape>(), Shape({2, -1}));
  EXPECT_EQ(value("li").as<std::vector<int64_t>>(), (std::vector<int64_t>{1, 1}));
  EXPECT_EQ(value("lf").as<std::vector<float>>(), (std::vector<float>{0.75f, 1.0f}));
  EXPECT_EQ(value("ls").as<std::vector<std::string>>(), (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(value("lb").as<std::vector<bool>>(), (std::vector<bool>{true, false}));
  EXPECT_TRUE(value("lt").as<std::vector<DType>>().empty());
  EXPECT_TRUE(value("lh").as<std::vector<Shape>>().empty());
  EXPECT_EQ(value("n").as<int64_t>(), 3);
  EXPECT_EQ(op.find_attr("n")->minimum, 1);
  EXPECT_EQ(op.find_attr("w")->allowed_strings, (std::vector<std::string>{"NHWC", "NCHW"}));
  EXPECT_FALSE(value("z").is_set());
  EXPECT_TRUE(value("g").as<std::vector<FunctionName>>().empty());
}

TEST(Signature, ReadsFlagsWithAndWithoutAttributes) {
  EXPECT_TRUE(parse_signature("A() -> (handle: resource) | stateful").stateful);
  const OpDef op = parse_signature(
      "Assign(ref: ref T, value: T) -> (output_ref: ref T) | T: type; validate_shape: bool = true "
      "| stateful allows_uninitialized_input");
  EXPECT_TRUE(op.stateful);
  EXPECT_TRUE(op.allows_uninitialized_input);
  EXPECT_TRUE(parse_signature("A() -> () | stateful distributed_communication").stateful);
}

TEST(Signature, QuotesThePlaceItDoesNotUnderstand) {
  EXPECT_NE(message_of("A(x: T) -> ()").find("'T' of argument 'x'"), std::string::npos);
  EXPECT_NE(message_of("A(x float) -> ()").find("at 'float) -> ()'"), std::string::npos);
  EXPECT_NE(message_of("A() -> () | x: strin").find("unknown attribute type"), std::string::npos);
  EXPECT_NE(message_of("A() -> () | sticky").find("unknown flag"), std::string::npos);
  EXPECT_NE(message_of("A() -> () | s: string = 'x").find("without end"), std::string::npos);
  EXPECT_NE(message_of("A() -> () trailing").find("trailing"), std::string::npos);
  EXPECT_NE(message_of("A(x: N*float) -> ()").find("no attribute 'N'"), std::string::npos);
  EXPECT_NE(message_of("").find("expected a name"), std::string::npos);
}

TEST(Signature, ATensorOfBytesCanBeADefault) {
  const OpDef op = parse_signature(
      "Draw() -> () | color: tensor = uint8[255,0,7]; later: tensor = tensor");
  EXPECT_THAT(op.find_attr("color")->default_value.as<Tensor>().values<uint8_t>(),
              testing::ElementsAre(255, 0, 7));
  EXPECT_FALSE(op.find_attr("later")->default_value.is_set());
}

}  // namespace
}  // namespace emplace
