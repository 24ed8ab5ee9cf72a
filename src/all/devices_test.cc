// Which devices a session has, by its options and the environment.
#include <gtest/gtest.h>
#include <sched.h>

#include <cmath>
#include <cstdlib>

#include "all/session_testutil.h"
#include "base/cpu_info.h"
#include "emplace/emplace.h"
#include "session/session_impl.h"

namespace emplace {
namespace {

class DevicesTest : public ::testing::Test {
 protected:
  ~DevicesTest() override { unsetenv("EMPLACE_VIRTUAL_GPUS"); }

  static void set_environment(const char* value) { setenv("EMPLACE_VIRTUAL_GPUS", value, 1); }
  static SessionOptions gpus(int n, std::string visible = "") {
    SessionOptions o;
    o.virtual_gpus = n;
    o.virtual_gpu_memory = 1 << 20;
    o.gpu_options.visible_device_list = std::move(visible);
    return o;
  }
  std::vector<DeviceAttributes> devices(const SessionOptions& o) {
    return Session(graph, o).list_devices();
  }
  // "GPU:0 on card 1, 4 MiB" …
  std::vector<std::string> gpus_of(const SessionOptions& o) {
    std::vector<std::string> list;
    for (const DeviceAttributes& d : devices(o))
      if (d.type == "GPU")
        list.push_back(d.name.substr(d.name.find("GPU:")) + " on card " + d.description.substr(8, 1) +
                       ", " + std::to_string(d.memory_limit >> 20) + " MiB");
    return list;
  }
  std::string refusal(const SessionOptions& o) {
    try {
      devices(o);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::kInvalidArgument);
      return e.message();
    }
    return "no error";
  }
  using List = std::vector<std::string>;
  Graph graph{testing::session_ops()};
};

// ---- Limits that are none.

TEST_F(DevicesTest, LimitsOfVirtualDevicesAreChecked) {
  for (const float mib : {-5.f, 0.f, NAN, INFINITY, 1e30f}) {
    SessionOptions o = gpus(1);
    o.gpu_options.virtual_devices = {{64, mib}};
    EXPECT_NE(refusal(o).find("virtual_devices: a memory limit of"), std::string::npos) << mib;
  }
  SessionOptions o = gpus(1);
  o.gpu_options.virtual_devices = {std::vector<float>(2000, 1)};
  EXPECT_EQ(refusal(o), "2000 virtual devices asked for; at most 64 can be made");
}

TEST_F(DevicesTest, SizesThatFitNoMachineAreRefused) {
  SessionOptions o = gpus(1);
  o.virtual_gpu_memory = INT64_MAX;
  EXPECT_NE(refusal(o).find("virtual_gpu_memory of"), std::string::npos);
  o.virtual_gpu_memory = -1;
  EXPECT_NE(refusal(o).find("virtual_gpu_memory of -1"), std::string::npos);
  o = {};
  o.virtual_gpus = -2;
  EXPECT_NE(refusal(o).find("-2 virtual GPUs"), std::string::npos);
  o = gpus(1);
  o.gpu_options.per_process_gpu_memory_fraction = NAN;
  EXPECT_NE(refusal(o).find("per_process_gpu_memory_fraction must be between"), std::string::npos);
}

// ---- EMPLACE_VIRTUAL_GPUS.

TEST_F(DevicesTest, TheEnvironmentGivesNumberAndSize) {
  EXPECT_TRUE(gpus_of({}).empty());
  set_environment("2");
  EXPECT_EQ(gpus_of({}), (List{"GPU:0 on card 0, 1024 MiB", "GPU:1 on card 1, 1024 MiB"}));
  for (const char* size : {"1:8388608", "1:8192K", "1:8M", "1:8MiB"}) {
    set_environment(size);
    EXPECT_EQ(gpus_of({}), List{"GPU:0 on card 0, 8 MiB"}) << size;
  }
  set_environment("0");
  EXPECT_TRUE(gpus_of({}).empty());
}

TEST_F(DevicesTest, OptionsComeBeforeTheEnvironment) {
  set_environment("3:64M");
  EXPECT_EQ(gpus_of(gpus(1)), List{"GPU:0 on card 0, 1 MiB"});
  EXPECT_TRUE(gpus_of(gpus(0)).empty());
}

TEST_F(DevicesTest, AnEnvironmentThatSaysNothingCanBeUnderstoodIsRefused) {
  for (const char* wrong : {"x", "-1", "1x", ":", "2 ", "1.5"}) {
    set_environment(wrong);
    EXPECT_EQ(refusal({}), "EMPLACE_VIRTUAL_GPUS='" + std::string(wrong) +
                               "': expected N or N:SIZE");
  }
  for (const char* wrong : {"", "x", "0", "-5M", "1E", "1Mx", "99999999999999999999"}) {
    set_environment(("1:" + std::string(wrong)).c_str());
    EXPECT_EQ(refusal({}), "EMPLACE_VIRTUAL_GPUS='1:" + std::string(wrong) + "': bad size '" +
                               wrong + "'");
  }
  set_environment("65");
  EXPECT_EQ(refusal({}), "65 virtual GPUs asked for; at most 64 can be made");
}

// ---- The visible list, and device_count.

TEST_F(DevicesTest, AnEmptyListShowsAllGpus) {
  EXPECT_EQ(gpus_of(gpus(2)), (List{"GPU:0 on card 0, 1 MiB", "GPU:1 on card 1, 1 MiB"}));
}

TEST_F(DevicesTest, TheVisibleListRenumbersInItsOrder) {
  EXPECT_EQ(gpus_of(gpus(3, "2,0")), (List{"GPU:0 on card 2, 1 MiB", "GPU:1 on card 0, 1 MiB"}));
}

TEST_F(DevicesTest, AVisibleListThatIsNoListIsRefused) {
  EXPECT_EQ(refusal(gpus(2, "0,abc")), "Could not parse entry in 'visible_device_list': 'abc'.");
  EXPECT_EQ(refusal(gpus(2, "0,")), "Could not parse entry in 'visible_device_list': ''.");
}

TEST_F(DevicesTest, AVisibleGpuThatIsNotThereIsRefused) {
  EXPECT_EQ(refusal(gpus(2, "2")),
            "'visible_device_list' listed an invalid Device id '2' but visible device count is 2");
  EXPECT_EQ(refusal(gpus(2, "-1")),
            "'visible_device_list' listed an invalid Device id '-1' but visible device count is 2");
}

TEST_F(DevicesTest, AGpuVisibleTwiceIsRefused) {
  EXPECT_EQ(refusal(gpus(2, "0,0")), "visible_device_list contained a duplicate entry: 0,0");
}

TEST_F(DevicesTest, DeviceCountLimitsGpusAndNamesCpus) {
  SessionOptions o = gpus(3);
  o.device_count = {{"GPU", 1}, {"CPU", 2}};
  List names;
  for (const DeviceAttributes& d : devices(o)) names.push_back(d.name.substr(d.name.size() - 5));
  EXPECT_EQ(names, (List{"CPU:0", "CPU:1", "GPU:0"}));
  o.device_count = {{"GPU", 0}};
  EXPECT_TRUE(gpus_of(o).empty());
}

// ---- Several devices on one card.

TEST_F(DevicesTest, ALimitEachMakesSeveralDevicesOfOneCard) {
  SessionOptions o = gpus(2);
  o.gpu_options.virtual_devices = {{123, 456}, {}};
  EXPECT_EQ(gpus_of(o), (List{"GPU:0 on card 0, 123 MiB", "GPU:1 on card 0, 456 MiB",
                              "GPU:2 on card 1, 1 MiB"}));
}

TEST_F(DevicesTest, WithoutLimitsACardIsOneDevice) {
  SessionOptions o = gpus(1);
  o.gpu_options.virtual_devices = {};
  EXPECT_EQ(gpus_of(o), List{"GPU:0 on card 0, 1 MiB"});
  o.gpu_options.virtual_devices = {{}};
  EXPECT_EQ(gpus_of(o), List{"GPU:0 on card 0, 1 MiB"});
  o.gpu_options.virtual_devices = {{5}};
  EXPECT_EQ(gpus_of(o), List{"GPU:0 on card 0, 5 MiB"});
}

TEST_F(DevicesTest, LimitsFollowTheVisibleList) {
  SessionOptions o = gpus(3, "2,1");
  o.gpu_options.virtual_devices = {{7}, {8, 9}};
  EXPECT_EQ(gpus_of(o), (List{"GPU:0 on card 2, 7 MiB", "GPU:1 on card 1, 8 MiB",
                              "GPU:2 on card 1, 9 MiB"}));
}

TEST_F(DevicesTest, LimitsAndAFractionAreRefusedTogether) {
  SessionOptions o = gpus(1);
  o.gpu_options.virtual_devices = {{5}};
  o.gpu_options.per_process_gpu_memory_fraction = 0.5;
  EXPECT_NE(refusal(o).find("It's invalid to set per_process_gpu_memory_fraction"),
            std::string::npos);
}

TEST_F(DevicesTest, MoreListsOfLimitsThanCardsAreRefused) {
  SessionOptions o = gpus(1);
  o.gpu_options.virtual_devices = {{5}, {6}};
  EXPECT_NE(refusal(o).find("Not enough GPUs to create virtual devices."), std::string::npos);
  o = gpus(2);
  o.device_count = {{"GPU", 0}};
  o.gpu_options.virtual_devices = {{5}};
  EXPECT_NE(refusal(o).find("Not enough GPUs to create virtual devices."), std::string::npos);
  o = gpus(2, "0");
  o.gpu_options.virtual_devices = {{5}, {6}};
  EXPECT_NE(refusal(o).find("Not enough GPUs to create virtual devices."), std::string::npos);
}

TEST_F(DevicesTest, FewerListsOfLimitsThanVisibleCardsAreRefused) {
  SessionOptions o = gpus(2, "0,1");
  o.gpu_options.virtual_devices = {{5}};
  EXPECT_NE(refusal(o).find("The number of GPUs in visible_device_list doesn't match the number "
                            "of elements in the virtual_devices list."),
            std::string::npos);
}

TEST_F(DevicesTest, DevicesOfOneCardWorkApart) {
  SessionOptions o = gpus(1);
  o.gpu_options.virtual_devices = {{4, 4}};
  const Scope in_graph = graph.as_default();
  std::vector<Output> halves;
  for (const char* device : {"/gpu:0", "/gpu:1"}) {
    const Scope on = graph.device(device);
    halves.push_back(constant(1.f) + constant(2.f));
  }
  EXPECT_EQ(Session(graph, o).run(add_n(halves)).item<float>(), 6.f);
}

// ---- CPUs.

TEST_F(DevicesTest, TheFirstDeviceIsTheHostsCpu) {
  const DeviceAttributes first = devices(gpus(1)).front();
  EXPECT_EQ(first.name, "/job:localhost/replica:0/task:0/device:CPU:0");
  EXPECT_EQ(first.type, "CPU");
}

TEST_F(DevicesTest, ACpuSetWithoutCoresIsRefused) {
  SessionOptions o;
  o.cpu_sets = {{{}, 4711}};
  EXPECT_EQ(refusal(o), "CPU set 1 has no cores (NUMA node 4711)");
}

TEST_F(DevicesTest, ACpuSetHasCoresOrANodeAndNoNegativeNumbers) {
  SessionOptions o;
  o.cpu_sets = {{{0}, 77}};
  EXPECT_NE(refusal(o).find("names cores and a NUMA node (77)"), std::string::npos);
  o.cpu_sets = {{{0, -1}, -1}};
  EXPECT_NE(refusal(o).find("a core's number is negative"), std::string::npos);
}

TEST_F(DevicesTest, ACpuSetOfCoresThatMayNotBeUsedIsRefused) {
  SessionOptions o;
  o.cpu_sets = {{{100'000}, -1}};
  EXPECT_NE(refusal(o).find("to cores 100000"), std::string::npos) << refusal(o);
}

// What a node of a core set may use is that set, also inside a loop that its kernel splits.
TEST_F(DevicesTest, ThreadsOfACpuSetAreBoundToItsCores) {
  const std::vector<int> cores = usable_cores();
  for (const int core : {cores.front(), cores.back()}) {
    SessionOptions o;
    o.virtual_gpus = 0;
    o.cpu_sets = {{{core}, -1}};
    const Scope in_graph = graph.as_default();
    const Output x = placeholder(DType::kFloat, Shape{});
    const Scope on = graph.device("/cpu:1");
    const Output mask = op("CoreMask", {x});
    auto session = make_session(graph, o, testing::session_kernels());
    EXPECT_EQ(session->run(mask, {{x, Tensor::scalar(1.f)}}).item<int64_t>(), int64_t{1} << core);
  }
}

TEST_F(DevicesTest, ThreadsOfANumaNodeAreBoundToItsCores) {
  const NumaNode node = numa_nodes().front();
  SessionOptions o;
  o.virtual_gpus = 0;
  o.cpu_sets = {{{}, node.id}};
  const Scope in_graph = graph.as_default();
  const Output x = placeholder(DType::kFloat, Shape{});
  const Scope on = graph.device("/cpu:1");
  const Output mask = op("CoreMask", {x});
  auto session = make_session(graph, o, testing::session_kernels());
  int64_t expected = 0;
  for (const int core : node.cores)
    if (core < 64) expected |= int64_t{1} << core;
  EXPECT_EQ(session->run(mask, {{x, Tensor::scalar(1.f)}}).item<int64_t>(), expected);
}

}  // namespace
}  // namespace emplace
