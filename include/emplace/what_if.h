#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emplace/plan.h"
#include "emplace/session.h"

namespace emplace {

// Devices and links that need not be here. Names may be partial ("GPU:1"); the first one's process
// is the caller's.
struct Topology {
  struct Device {
    CostDevice device;      // name, memory, slots, launch_s, pool; type: as the name says
    std::string kind = {};  // as the book of costs names it; empty: usual for its type
  };
  std::vector<Device> devices;
  std::optional<CostLink> default_link = {};  // none: as costs say
  std::vector<CostLinkPair> links;
};

struct OutlookOptions {
  std::span<const Output> fetches = {};  // empty: the most that one node of the graph needs
  bool soft = false;
  PlanOptions search = {};
  CostBook costs = {};  // what was measured; else estimates by the kinds' rates
};

// What one way of placing would give.
struct Outlook {
  struct Device {
    double busy_s = 0;  // something runs
    DeviceForecast memory;
  };
  std::string way;      // "GPU:0 alone", "simple placer", "your pins", "dynamic placer"
  std::string problem;  // why it can't be; empty: it can. Figures are there where they are known
  double step_s = 0;
  std::vector<Device> devices;  // as in the topology
  PlacementReport report;
  RunMetadata timeline;
};

// One step of the graph on the devices under each way of placing it: everything on each single
// device (but for what has no kernel there), the simple placer's rules, what the user's pins make of
// them where there are any, and the dynamic placer's plan. As for place_on, requests are as before
// afterwards. Throws InvalidArgument where the topology or the graph is at fault.
EMPLACE_API std::vector<Outlook> outlooks(Graph& graph, const Topology& topology,
                                          const OutlookOptions& options = {});

// Ways beside each other: step, against the first single device, load and peak of each device.
EMPLACE_API std::string outlook_table(std::span<const Outlook> outlooks);

// What each device will hold while a step runs that fetches these, before anything has run. Sizes
// that the graph leaves open are guessed; `least` counts on none of those.
struct Forecast {
  double step_s = 0;
  std::vector<DeviceForecast> devices;  // those that hold something, by name
  bool guessed = false;                 // some size is a guess
  RunMetadata timeline;                 // the step as it is expected
};
EMPLACE_API Forecast forecast(Session& session, std::span<const Output> fetches,
                              std::span<const Output> feeds = {});

// A step and what to call it: "predicted", "measured".
struct Timeline {
  std::string title;
  RunMetadata step;
};
// Steps below each other on one scale of time, as SVG: a line a device and slot.
EMPLACE_API std::string timeline_svg(std::span<const Timeline> steps);

}  // namespace emplace
