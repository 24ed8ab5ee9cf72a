#include "placement/spec_table.h"

#include <gtest/gtest.h>

namespace emplace::placement {
namespace {

TEST(SpecTable, GivesOneNumberToAllSpellingsOfAName) {
  SpecTable specs;
  EXPECT_EQ(specs.parse(""), SpecTable::kAny);
  EXPECT_EQ(specs.parse("/"), SpecTable::kAny);
  EXPECT_EQ(specs.parse("/gpu:0"), specs.parse("/device:GPU:0"));
  EXPECT_NE(specs.parse("/gpu:0"), specs.parse("/device:gpu:0"));
  EXPECT_EQ(specs.parse("/devise:CPU:0"), SpecTable::kBad);
  EXPECT_EQ(specs[specs.parse("/cpu:1")].to_string(), "/device:CPU:1");
}

TEST(SpecTable, MergesBothWishes) {
  SpecTable specs;
  const int task = specs.parse("/job:a/task:0"), gpu = specs.parse("/device:GPU:1");
  EXPECT_EQ(specs.merge(task, gpu, false), specs.parse("/job:a/task:0/device:GPU:1"));
  EXPECT_EQ(specs.merge(SpecTable::kAny, gpu, false), gpu);
  EXPECT_EQ(specs.merge(gpu, SpecTable::kAny, false), gpu);
}

TEST(SpecTable, ContradictionsAreBadOrSoftlyDropped) {
  SpecTable specs;
  const int one = specs.parse("/device:GPU:1"), two = specs.parse("/device:GPU:2");
  const int cpu = specs.parse("/device:CPU:1");
  EXPECT_EQ(specs.merge(one, two, false), SpecTable::kBad);
  EXPECT_EQ(specs.merge(one, two, false), SpecTable::kBad);  // remembered
  EXPECT_EQ(specs.conflict(one, two),
            "Cannot merge devices with incompatible ids: '/device:GPU:1' and '/device:GPU:2'");
  EXPECT_EQ(specs.merge(one, two, true), specs.parse("/device:GPU:*"));
  EXPECT_EQ(specs.merge(one, cpu, true), SpecTable::kAny);
  EXPECT_EQ(specs.merge(specs.parse("/job:a"), specs.parse("/job:b"), true), SpecTable::kBad);
  EXPECT_FALSE(specs.compatible(one, two));
  EXPECT_TRUE(specs.compatible(one, specs.parse("/job:a")));
}

TEST(SpecTable, ImprintTakesEveryPartOfTheOther) {
  SpecTable specs;
  const int a = specs.parse("/job:a/device:GPU:1"), b = specs.parse("/device:CPU:2");
  EXPECT_EQ(specs.imprint(a, b), specs.parse("/job:a/device:CPU:2"));
  EXPECT_EQ(specs.imprint(a, SpecTable::kAny), a);
}

TEST(SpecTable, LeavesTypeAndIdOut) {
  SpecTable specs;
  const int a = specs.parse("/job:a/device:GPU:1");
  EXPECT_EQ(specs.without_device(a, false, false), specs.parse("/job:a"));
  EXPECT_EQ(specs.without_device(a, true, false), specs.parse("/job:a/device:GPU:*"));
  EXPECT_EQ(specs.without_device(a, true, true), a);
}

}  // namespace
}  // namespace emplace::placement
