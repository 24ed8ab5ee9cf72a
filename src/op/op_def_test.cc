#include "op/op_def.h"

#include <gtest/gtest.h>

#include "emplace/error.h"

namespace emplace {
namespace {

TEST(OpRegistry, FindsWhatWasAdded) {
  OpRegistry ops;
  ops.add(parse_signature("B() -> ()"));
  ops.add(parse_signature("A(x: float) -> (y: float)"));
  EXPECT_EQ(ops.find("A")->inputs[0].name, "x");
  EXPECT_EQ(ops.find("C"), nullptr);
  ASSERT_EQ(ops.all().size(), 2u);
  EXPECT_EQ(ops.all()[0]->name, "A");
}

TEST(OpRegistry, TakesRowsWithTheirRules) {
  static constexpr ShapeRule kRule = [](ShapeContext&) {};
  const OpRow rows[] = {{"A() -> ()", kRule, nullptr, "Does nothing."}};
  OpRegistry ops;
  ops.add(rows);
  EXPECT_EQ(ops.get("A").shape_rule, kRule);
  EXPECT_EQ(ops.get("A").doc, "Does nothing.");
}

TEST(OpRegistry, RefusesASecondOpOfTheName) {
  OpRegistry ops;
  ops.add(parse_signature("A() -> ()"));
  try {
    ops.add(parse_signature("A() -> () | stateful"));
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kAlreadyExists);
  }
  EXPECT_FALSE(ops.get("A").stateful);
}

TEST(OpRegistry, NamesAnUnknownOp) {
  try {
    OpRegistry().get("Nope");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kNotFound);
    EXPECT_EQ(e.message(), "Op type not registered 'Nope'");
  }
}

TEST(OpDef, SummaryIsTensorFlows) {
  const OpDef assign = parse_signature(
      "Assign(ref: ref T, value: T) -> (output_ref: ref T) | T: type; validate_shape: bool = true; "
      "use_locking: bool = true | allows_uninitialized_input");
  EXPECT_EQ(assign.summary(),
            "Op<name=Assign; signature=ref:Ref(T), value:T -> output_ref:Ref(T); attr=T:type; "
            "attr=validate_shape:bool,default=true; attr=use_locking:bool,default=true; "
            "allows_uninitialized_input=true>");
  const OpDef placeholder = parse_signature(
      "Placeholder() -> (output: dtype) | dtype: type; shape: shape = unknown");
  EXPECT_EQ(placeholder.summary(),
            "Op<name=Placeholder; signature= -> output:dtype; attr=dtype:type; "
            "attr=shape:shape,default=<unknown>>");
}

}  // namespace
}  // namespace emplace
