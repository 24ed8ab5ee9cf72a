#include <fmt/format.h>

#include <iostream>

#include "common.h"

namespace emplace::cli {
namespace {

struct DevicesArguments {
  std::string config, cluster;
  int virtual_gpus = -1;
};

bool is_virtual(const DeviceAttributes& d) {
  return d.description.find("name: Virtual GPU") != std::string::npos;
}

std::string task_of(const std::string& device) { return device.substr(0, device.find("/device:")); }

// How data gets from one device to another.
std::string link(const DeviceAttributes& a, const DeviceAttributes& b) {
  if (task_of(a.name) != task_of(b.name)) return "over the network";
  if (a.type == "CPU" && b.type == "CPU") return "same memory";
  if (is_virtual(a) || is_virtual(b)) return "copy within host memory";
  return a.type == "CPU" || b.type == "CPU" ? "copy between host and card" : "copy between cards";
}

Json device_json(const DeviceAttributes& d, const std::vector<DeviceAttributes>& all) {
  Json links = Json::array();
  for (const DeviceAttributes& other : all)
    if (other.name != d.name) links.push_back({{"to", other.name}, {"kind", link(d, other)}});
  return {{"name", d.name},   {"type", d.type},   {"memory_limit", d.memory_limit},
          {"incarnation", d.incarnation}, {"description", d.description}, {"links", links}};
}

void devices(const DevicesArguments& a, Context& context) {
  SessionOptions options = options_from(a.config);
  if (a.virtual_gpus >= 0) options.virtual_gpus = a.virtual_gpus;
  options.log_device_placement = false;
  if (!a.cluster.empty()) {
    options.target = target_text(a.cluster);
    options.operation_timeout_in_ms = 10'000;
  }
  Graph graph;
  const std::vector<DeviceAttributes> all = Session(graph, options).list_devices();
  std::vector<Finding> unusable;
  std::string host_memory;  // a CPU's limit says nothing: TensorFlow gives every one the same
  for (Finding& f : examine_machine()) {
    if (f.topic == "memory" && host_memory.empty()) host_memory = f.text;
    if (f.topic == "gpu" && a.cluster.empty() && (f.problem || all.size() == 1)) unusable.push_back(std::move(f));
  }
  if (context.json) {
    Json out{{"devices", Json::array()}, {"unusable", Json::array()}};
    for (const DeviceAttributes& d : all) out["devices"].push_back(device_json(d, all));
    for (const Finding& f : unusable)
      out["unusable"].push_back({{"type", "GPU"}, {"why", f.text}, {"advice", f.advice}});
    return print(out);
  }
  std::vector<std::vector<std::string>> rows{{"device", "memory", "description"}};
  for (const DeviceAttributes& d : all)
    rows.push_back({d.name,
                    d.type == "CPU" && a.cluster.empty() ? host_memory : size_text(static_cast<double>(d.memory_limit)),
                    d.description.empty() ? "all cores that this process may use" : d.description});
  print_table(rows);
  for (size_t i = 0; i < all.size() && a.cluster.empty(); ++i)
    for (size_t k = i + 1; k < all.size(); ++k)
      std::cout << fmt::format("link: {} - {}: {}\n", all[i].name.substr(all[i].name.rfind('/')),
                               all[k].name.substr(all[k].name.rfind('/')), link(all[i], all[k]));
  for (const Finding& f : unusable)
    std::cout << fmt::format("GPU not usable: {}{}{}\n", f.text, f.advice.empty() ? "" : ". ",
                             f.advice);
}

}  // namespace

void add_devices(CLI::App& app, Context& context) {
  CLI::App* sub = subcommand(app, context, "devices",
                             "What there is to run on, its memory and links, and why something is "
                             "not usable");
  auto a = std::make_shared<DevicesArguments>();
  sub->add_option("--config", a->config, "ConfigProto in text form (device_count, gpu_options)")
      ->type_name("FILE.pbtxt");
  sub->add_option("--cluster", a->cluster, "The devices of a cluster, as any of its servers knows them")
      ->type_name("HOST:PORT");
  sub->add_option("--virtual-gpus", a->virtual_gpus,
                  "GPUs in host memory (otherwise as EMPLACE_VIRTUAL_GPUS says)")
      ->type_name("N");
  sub->footer("Example: EMPLACE_VIRTUAL_GPUS=2:512M emplace devices --json");
  sub->callback([a, &context] { devices(*a, context); });
}

}  // namespace emplace::cli
