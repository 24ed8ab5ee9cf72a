#include "placement/context.h"

#include "placement/placement_testutil.h"

namespace emplace::placement {
namespace {

using placement_test::fake_devices;
using placement_test::FakeKernels;
using placement_test::full;

TEST(Context, ListsMatchingDevicesBestFirstAndRemembersTheList) {
  const FakeKernels kernels;
  Context context(fake_devices(2), kernels, {});
  const int any = context.types.without_xla(context.types.all());
  const auto& list = context.devices_for(SpecTable::kAny, any);
  std::vector<std::string> names;
  for (int d : list) names.push_back(context.devices[d].name);
  EXPECT_EQ(names, (std::vector{full("GPU:0"), full("GPU:1"), full("CPU:0"), full("CPU:1")}));
  EXPECT_EQ(&list, &context.devices_for(SpecTable::kAny, any));
}

TEST(Context, FiltersBySpecAndType) {
  const FakeKernels kernels;
  Context context(fake_devices(2), kernels, {});
  const int cpu = context.types.single("CPU");
  EXPECT_TRUE(context.devices_for(context.specs.parse("/device:GPU:0"), cpu).empty());
  EXPECT_EQ(context.devices_for(context.specs.parse("/device:*:1"), cpu).size(), 1u);
  EXPECT_TRUE(context.any_device_matches(context.specs.parse("/job:a")));
  EXPECT_FALSE(context.any_device_matches(context.specs.parse("/job:b")));
}

TEST(Context, KnowsWhatIsRemote) {
  const FakeKernels kernels;
  Context context(fake_devices(1), kernels, {});
  EXPECT_TRUE(context.is_remote(context.specs.parse("/job:a/replica:0/task:1")));
  EXPECT_FALSE(context.is_remote(context.specs.parse("/job:a/replica:0/task:0/device:GPU:0")));
  EXPECT_FALSE(context.is_remote(context.specs.parse("/job:b"))) << "not a whole address";
}

}  // namespace
}  // namespace emplace::placement
