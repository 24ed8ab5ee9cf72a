#include "base/device_name.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "emplace/error.h"

namespace emplace {
namespace {

DeviceName name_of(std::string_view text) {
  auto parsed = DeviceName::try_parse(text);
  EXPECT_TRUE(parsed.has_value()) << text;
  return parsed.value_or(DeviceName{});
}

std::string reprint(std::string_view text) { return name_of(text).to_string(); }

template <typename F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kInvalidArgument);
    return error.message();
  }
  return "no error";
}

// Merges both ways round and compares in canonical spelling.
void expect_merge(const char* a, const char* b, const char* expected,
                  OnConflict on_conflict = OnConflict::kFail) {
  DeviceName ab = name_of(a), ba = name_of(b);
  ab.merge(name_of(b), on_conflict);
  ba.merge(name_of(a), on_conflict);
  EXPECT_EQ(ab.to_string(), reprint(expected)) << a << " + " << b;
  EXPECT_EQ(ba.to_string(), reprint(expected)) << b << " + " << a;
}

void expect_override(const char* target, const char* other, const char* expected) {
  DeviceName name = name_of(target);
  name.merge_override(name_of(other));
  EXPECT_EQ(name.to_string(), reprint(expected)) << target << " + " << other;
}

void expect_merge_unset(const char* target, const char* base, const char* expected) {
  DeviceName name = name_of(target);
  name.merge_unset(name_of(base));
  EXPECT_EQ(name.to_string(), reprint(expected)) << target << " + " << base;
}

std::string merge_error(const char* a, const char* b, OnConflict on_conflict = OnConflict::kFail) {
  DeviceName name = name_of(a);
  std::string message = message_of([&] { name.merge(name_of(b), on_conflict); });
  EXPECT_EQ(name, name_of(a)) << "a failed merge must leave its target alone";
  return message;
}

TEST(DeviceName, ParsesAFullNameIntoItsParts) {
  const DeviceName name = name_of("/job:foo/replica:1/task:2/device:GPU:3");
  EXPECT_EQ(name.job, "foo");
  EXPECT_EQ(name.replica, 1);
  EXPECT_EQ(name.task, 2);
  EXPECT_EQ(name.type, "GPU");
  EXPECT_EQ(name.id, 3);
}

TEST(DeviceName, PrintsWhatItParsed) {
  for (const char* text : {"/job:foo/replica:1/task:2/device:GPU:3", "/job:foo_bar9/device:CPU:0",
                           "/task:7", "/replica:0/task:1", "/device:GPU:*", "/device:gpu:0", "",
                           "/device:*:4", "/device:XLA_CPU_JIT:0"}) {
    EXPECT_EQ(reprint(text), text);
  }
}

TEST(DeviceName, PartsMayComeInAnyOrder) {
  EXPECT_EQ(reprint("/device:GPU:3/task:2/replica:1/job:foo"),
            "/job:foo/replica:1/task:2/device:GPU:3");
  EXPECT_EQ(reprint("/gpu:3/job:foo"), "/job:foo/device:GPU:3");
}

TEST(DeviceName, WildcardsAreUnsetParts) {
  const DeviceName name = name_of("/job:*/replica:4/task:*/device:GPU:*");
  EXPECT_FALSE(name.job || name.task || name.id);
  EXPECT_EQ(name.to_string(), "/replica:4/device:GPU:*");
  EXPECT_TRUE(name_of("/job:*/replica:*/task:*/device:*:*").empty());
  EXPECT_EQ(name_of("/device:GPU"), name_of("/device:GPU:*"));
  EXPECT_EQ(name_of("/cpu:*"), name_of("/device:CPU:*"));
}

TEST(DeviceName, LegacySpellingsBecomeUpperCaseButDeviceKeepsItsCase) {
  for (const char* text : {"/cpu:3", "/CPU:3", "/device:CPU:3"})
    EXPECT_EQ(reprint(text), "/device:CPU:3");
  for (const char* text : {"/gpu:1", "/GPU:1"}) EXPECT_EQ(reprint(text), "/device:GPU:1");
  EXPECT_NE(name_of("/device:gpu:1"), name_of("/gpu:1"));
}

TEST(DeviceName, SlashAloneAndNothingMeanAnywhere) {
  EXPECT_TRUE(name_of("/").empty());
  EXPECT_TRUE(name_of("").empty());
}

TEST(DeviceName, LastOfARepeatedPartWins) {
  EXPECT_EQ(reprint("/device:CPU:1/device:CPU:2"), "/device:CPU:2");
  EXPECT_EQ(reprint("/cpu:1/gpu:*"), "/device:GPU:*");
  EXPECT_EQ(reprint("/job:a/job:b/task:3/task:*"), "/job:b");
  EXPECT_EQ(reprint("/device:GPU:1/device:CPU"), "/device:CPU:*");
}

TEST(DeviceName, LeadingZerosAreDropped) { EXPECT_EQ(reprint("/device:CPU:03"), "/device:CPU:3"); }

TEST(DeviceName, RejectsMalformedNames) {
  for (const char* text : {"foobar",
                           "/foobar",
                           "/job:123/replica:1/task:2/device:GPU:3",
                           "/job:/task:1",
                           "/job:_a",
                           "/job:foo/replica:-1/task:2/device:GPU:3",
                           "/job:foo/replica:1/task:-2/device:GPU:3",
                           "/job:foo/replica:1/task:2/device:GPU:-3",
                           "/job:foo/replica:1/task:2/bar:3",
                           "/job:foo/replica:1/task:2/device:GPU:3/",
                           "/job:foo/replica:1/task:2/device:GPU:3/extra",
                           "/job:foo/replica:1/task:2/device:GPU:3x",
                           "/devise:CPU:0",
                           "//",
                           "/device:",
                           "/device:GPU:",
                           "/device:1GPU:0",
                           "/cpu",
                           "/cpu:",
                           "/cpu:x",
                           "/Cpu:0",
                           "CPU:0",
                           "/job:foo bar",
                           " /cpu:0",
                           "/replica:",
                           "/replica:+1",
                           "/task:99999999999",
                           "/task:2147483648",
                           "/job:a-b"}) {
    EXPECT_FALSE(DeviceName::try_parse(text).has_value()) << text;
  }
  EXPECT_EQ(name_of("/task:2147483647").task, 2147483647);
}

TEST(DeviceName, NeverReadsPastTheEndOfAnyPrefix) {
  const std::string text = "/job:foo/replica:1/task:2/device:GPU:3";
  for (size_t n = 0; n <= text.size(); ++n) {
    std::vector<char> exact(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(n));
    const auto parsed = DeviceName::try_parse({exact.data(), n});
    if (parsed) {
      EXPECT_EQ(name_of(parsed->to_string()), *parsed);
    }
  }
}

TEST(DeviceName, ParsesTheLocalForm) {
  const auto name = DeviceName::try_parse_local("CPU:10");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->to_string(), "/device:CPU:10");
  for (const char* text :
       {"CPU", "CPU:", "CPU:*", ":1", "CPU:1x", "CPU:-1", "/cpu:0", "CPU:1/job:a", ""}) {
    EXPECT_FALSE(DeviceName::try_parse_local(text)) << text;
  }
  EXPECT_EQ(DeviceName::parse("CPU:0"), name_of("/cpu:0"));
  EXPECT_EQ(DeviceName::parse("cpu:0"), name_of("/cpu:0"));
  EXPECT_EQ(DeviceName::parse("gpu:1"), name_of("/gpu:1"));
}

TEST(DeviceName, ParseNamesTheMalformedText) {
  EXPECT_EQ(message_of([] { DeviceName::parse("/devise:CPU:0"); }),
            "Malformed device specification '/devise:CPU:0'");
}

TEST(DeviceName, IsCompleteOnlyWithAllFiveParts) {
  EXPECT_TRUE(name_of("/job:worker/replica:0/task:1/device:GPU:3").is_complete());
  EXPECT_TRUE(name_of("/job:worker/replica:0/task:1/gpu:3").is_complete());
  for (const char* text : {"/job:worker/replica:0/task:1/device:GPU:*", "/replica:0/task:1/gpu:3",
                           "/job:worker/task:1/gpu:3", "/job:worker/replica:0/gpu:3",
                           "/job:worker/replica:0/task:1", "/"}) {
    EXPECT_FALSE(name_of(text).is_complete()) << text;
  }
}

TEST(DeviceName, IsSpecificationWhenEverySetPartIsSetAndEqual) {
  const auto is_spec = [](const char* less, const char* more) {
    return name_of(less).is_specification_of(name_of(more));
  };
  const char* full = "/job:work/replica:1/task:2/device:GPU:3";
  for (const char* less : {full, "/job:*", "/job:work/replica:1/task:2/device:GPU:*", "/job:work",
                           "/job:work/replica:1", "/task:2", "/device:GPU:*", "/gpu:3", "/", ""}) {
    EXPECT_TRUE(is_spec(less, full)) << less;
  }
  EXPECT_FALSE(is_spec(full, "/job:work/replica:1/task:2/device:GPU:*"));
  EXPECT_FALSE(is_spec("/job:foo", full));
  EXPECT_FALSE(is_spec("/device:CPU:*", full));
  EXPECT_FALSE(is_spec("/device:gpu:3", full));
  EXPECT_FALSE(is_spec("/replica:2", full));
  EXPECT_FALSE(is_spec("/gpu:4", full));
}

TEST(DeviceName, AddressSpaceIsJobReplicaAndTask) {
  const auto same = [](const char* a, const char* b) {
    return name_of(a).same_address_space(name_of(b));
  };
  EXPECT_TRUE(same("/job:foo/replica:1/task:2/cpu:1", "/job:foo/replica:1/task:2/gpu:3"));
  EXPECT_FALSE(same("/job:foo/replica:1/task:2/cpu:1", "/job:foo/replica:1/task:3/cpu:1"));
  EXPECT_FALSE(same("/job:foo/replica:1/task:2/cpu:1", "/job:foo/replica:2/task:2/cpu:1"));
  EXPECT_FALSE(same("/job:foo/replica:1/task:2/cpu:1", "/job:bar/replica:1/task:2/cpu:1"));
  EXPECT_FALSE(same("/cpu:0", "/cpu:0")) << "an unset task is no address";
}

TEST(DeviceName, SplitsIntoTaskAndLocalDevice) {
  using Split = std::pair<std::string, std::string>;
  EXPECT_EQ(split_device_name("/job:foo/replica:0/task:0/cpu:1"),
            Split("/job:foo/replica:0/task:0", "CPU:1"));
  EXPECT_EQ(split_device_name("/job:foo/cpu:1/task:0/replica:0"),
            Split("/job:foo/replica:0/task:0", "CPU:1"));
  EXPECT_EQ(split_device_name("/device:GPU:13"), Split("", "GPU:13"));
  EXPECT_FALSE(split_device_name("foobar"));
  EXPECT_FALSE(split_device_name("/job:foo/replica:0/task:0"));
  EXPECT_FALSE(split_device_name("/gpu:*"));
}

TEST(DeviceName, MergesCompatibleNames) {
  const char* full = "/job:foo/replica:1/task:2/cpu:1";
  expect_merge("", "", "");
  expect_merge(full, full, full);
  for (const char* part : {"/job:foo", "/replica:2", "/task:7", "/device:GPU:1", "/gpu:*"}) {
    expect_merge("", part, part);
  }
  expect_merge("/job:foo", "/task:7", "/job:foo/task:7");
  expect_merge("/job:foo", "/device:GPU:1", "/job:foo/device:GPU:1");
  expect_merge("/job:foo/replica:0", "/replica:0/task:1", "/job:foo/replica:0/task:1");
  expect_merge("/gpu:*", "/gpu:*", "/gpu:*");
  expect_merge("/device:GPU:1", "/gpu:*", "/device:GPU:1");
}

TEST(DeviceName, MergeOfConflictingPartsSaysWhichAndLeavesTheTarget) {
  EXPECT_EQ(merge_error("/job:foo", "/job:bar"),
            "Cannot merge devices with incompatible jobs: '/job:foo' and '/job:bar'");
  EXPECT_EQ(merge_error("/job:a/replica:0", "/replica:1/task:0"),
            "Cannot merge devices with incompatible replicas: '/job:a/replica:0' and "
            "'/replica:1/task:0'");
  EXPECT_EQ(merge_error("/task:0", "/task:1"),
            "Cannot merge devices with incompatible tasks: '/task:0' and '/task:1'");
  EXPECT_EQ(merge_error("/gpu:*", "/cpu:*"),
            "Cannot merge devices with incompatible types: '/device:GPU:*' and '/device:CPU:*'");
  EXPECT_EQ(merge_error("/gpu:0", "/gpu:1"),
            "Cannot merge devices with incompatible ids: '/device:GPU:0' and '/device:GPU:1'");
}

TEST(DeviceName, SoftMergeDropsConflictingTypeWithItsIdOrTheIdAlone) {
  expect_merge("/gpu:*", "/cpu:1", "", OnConflict::kSoften);
  expect_merge("/cpu:*", "/device:GPU:1", "", OnConflict::kSoften);
  expect_merge("/device:GPU:1", "/device:GPU:2", "/device:GPU:*", OnConflict::kSoften);
  expect_merge("/job:a/gpu:1", "/task:1/cpu:0", "/job:a/task:1", OnConflict::kSoften);
}

TEST(DeviceName, SoftAndOverridingMergesStillRefuseAnotherTask) {
  for (OnConflict mode : {OnConflict::kSoften, OnConflict::kOverride}) {
    EXPECT_NE(merge_error("/job:foo", "/job:bar", mode).find("incompatible jobs"),
              std::string::npos);
    EXPECT_NE(merge_error("/replica:0", "/replica:1", mode).find("replicas"), std::string::npos);
    EXPECT_NE(merge_error("/task:0", "/task:1", mode).find("tasks"), std::string::npos);
  }
}

TEST(DeviceName, OverridingMergeTakesTheOthersTypeAndId) {
  expect_override("/gpu:*", "/cpu:1", "/cpu:1");
  expect_override("/cpu:*", "/device:GPU:1", "/device:GPU:1");
  expect_override("/device:GPU:1", "/device:GPU:2", "/device:GPU:2");
  expect_override("/device:GPU:1", "/cpu:*", "/cpu:1");  // no id given: the old one stays
  expect_override("/job:foo/gpu:1", "/task:2", "/job:foo/task:2/gpu:1");
}

TEST(DeviceName, MergeUnsetFillsOnlyWhatIsMissing) {
  expect_merge_unset("", "", "");
  expect_merge_unset("", "/job:foo/task:1/gpu:2", "/job:foo/task:1/gpu:2");
  expect_merge_unset("/job:foo", "/job:bar/task:7", "/job:foo/task:7");
  expect_merge_unset("/device:GPU:*", "/job:a/replica:0/task:0/cpu:3",
                     "/job:a/replica:0/task:0/device:GPU:3");
  expect_merge_unset("/gpu:1", "/gpu:2", "/gpu:1");
}

TEST(DeviceName, DevicesAreMappedUnderTodaysAndTheLegacyName) {
  const DeviceName name = name_of("/job:foo/replica:10/task:0/device:GPU:1");
  const auto full = names_for_device_mapping(name);
  EXPECT_EQ(full[0], "/job:foo/replica:10/task:0/device:GPU:1");
  EXPECT_EQ(full[1], "/job:foo/replica:10/task:0/gpu:1");
  const auto local = local_names_for_device_mapping(name);
  EXPECT_EQ(local[0], "/device:GPU:1");
  EXPECT_EQ(local[1], "GPU:1");
}

TEST(DeviceName, CanonicalNameIsFilledFromTheBase) {
  const char* base = "/job:foo/replica:10/task:0/device:CPU:0";
  for (const char* text :
       {"/job:foo/replica:10/task:0/device:CPU:1", "/job:foo/task:0/replica:10/cpu:1",
        "/job:foo/replica:10/task:0/CPU:1", "/device:CPU:1", "/cpu:1", "CPU:1"}) {
    EXPECT_EQ(canonical_device_name(text, base), "/job:foo/replica:10/task:0/device:CPU:1") << text;
  }
  EXPECT_EQ(canonical_device_name("/job:bar/gpu:3", base),
            "/job:bar/replica:10/task:0/device:GPU:3");
}

TEST(DeviceName, CanonicalNameRefusesABadNameOrABaseWithoutTask) {
  EXPECT_EQ(message_of([] { canonical_device_name("/cpu:0", "/job:foo"); }),
            "Basename: /job:foo should be fully specified.");
  EXPECT_EQ(message_of([] { canonical_device_name("/cpu:0", "foo"); }),
            "Could not parse basename: foo into a device specification.");
  EXPECT_EQ(message_of([] { canonical_device_name("cpu", "/job:a/replica:0/task:0"); }),
            "Could not parse cpu into a device specification.");
}

TEST(DeviceName, SpellingsSortUnparsableFirstThenUnsetBeforeSetThenByPart) {
  const std::vector<std::string> sorted = {"aaa",
                                           "bbb",
                                           "/cpu:1",
                                           "/cpu:2",
                                           "/gpu:0",
                                           "/task:1",
                                           "/job:a/gpu:9",
                                           "/job:a/replica:0/task:2",
                                           "/job:a/replica:0/task:10",
                                           "/job:a/replica:1/task:0",
                                           "/job:b/cpu:0"};
  std::vector<std::string> shuffled = sorted;
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    std::shuffle(shuffled.begin(), shuffled.end(), random);
    std::sort(shuffled.begin(), shuffled.end(), device_name_less);
    EXPECT_EQ(shuffled, sorted);
  }
  EXPECT_FALSE(device_name_less("/cpu:1", "/device:CPU:1"));
}

}  // namespace
}  // namespace emplace
