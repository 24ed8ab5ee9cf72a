#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <set>

#include "all/cuda.h"
#include "backends/cpu/cpu_device.h"
#include "backends/virtual/virtual_gpu.h"
#include "base/byte_size.h"
#include "base/cpu_info.h"
#include "device/spare_memory.h"
#include "session/runtime.h"

namespace emplace {
namespace {

constexpr int64_t kDefaultGpuMemory = int64_t{1} << 30;
constexpr int kMaxVirtualGpus = 64;
constexpr int64_t kMostMemory = INT64_MAX >> 4;  // sums of several stay whole numbers
constexpr float kMostMib = static_cast<float>(kMostMemory >> 20);

DeviceName cpu_name(DeviceName task, int id) {
  task.type = "CPU";
  task.id = id;
  return task;
}

// "512M", "2G", "1073741824".
int64_t parse_size(std::string_view text, std::string_view whole) {
  const int64_t value = parse_byte_size(text).value_or(0);
  if (value <= 0 || value > kMostMemory)
    throw invalid_argument(fmt::format("EMPLACE_VIRTUAL_GPUS='{}': bad size '{}'", whole, text));
  return value;
}

struct VirtualGpus {
  int count = 0;
  int64_t memory = kDefaultGpuMemory;
};

VirtualGpus wanted_virtual_gpus(const SessionOptions& options) {
  VirtualGpus v;
  if (const char* text = std::getenv("EMPLACE_VIRTUAL_GPUS"); text && *text) {
    const std::string_view whole = text;
    const size_t colon = whole.find(':');
    const std::string_view number = whole.substr(0, colon);
    const auto [end, error] =
        std::from_chars(number.data(), number.data() + number.size(), v.count);
    if (error != std::errc() || end != number.data() + number.size() || v.count < 0)
      throw invalid_argument(fmt::format("EMPLACE_VIRTUAL_GPUS='{}': expected N or N:SIZE", whole));
    if (colon != std::string_view::npos) v.memory = parse_size(whole.substr(colon + 1), whole);
  }
  if (options.virtual_gpus < -1)
    throw invalid_argument(fmt::format("{} virtual GPUs are asked for", options.virtual_gpus));
  if (options.virtual_gpus >= 0) v.count = options.virtual_gpus;
  if (options.virtual_gpu_memory < 0 || options.virtual_gpu_memory > kMostMemory)
    throw invalid_argument(
        fmt::format("virtual_gpu_memory of {} bytes is asked for", options.virtual_gpu_memory));
  if (options.virtual_gpu_memory > 0) v.memory = options.virtual_gpu_memory;
  if (v.count > kMaxVirtualGpus)
    throw invalid_argument(fmt::format("{} virtual GPUs asked for; at most {} can be made", v.count,
                                       kMaxVirtualGpus));
  return v;
}

// "1,0": which GPUs are seen, in which order.
std::vector<int> visible(const std::string& list, int count) {
  std::vector<int> ids;
  if (list.empty()) {
    for (int i = 0; i < count; ++i) ids.push_back(i);
    return ids;
  }
  std::set<int> seen;
  size_t begin = 0;
  while (begin <= list.size()) {
    const size_t end = std::min(list.find(',', begin), list.size());
    const std::string entry = list.substr(begin, end - begin);
    int id = -1;
    const auto [stop, error] = std::from_chars(entry.data(), entry.data() + entry.size(), id);
    if (error != std::errc() || stop != entry.data() + entry.size())
      throw invalid_argument(
          fmt::format("Could not parse entry in 'visible_device_list': '{}'.", entry));
    if (id < 0 || id >= count)
      throw invalid_argument(fmt::format(
          "'visible_device_list' listed an invalid Device id '{}' but visible device count is {}",
          id, count));
    if (!seen.insert(id).second)
      throw invalid_argument(
          fmt::format("visible_device_list contained a duplicate entry: {}", list));
    ids.push_back(id);
    begin = end + 1;
  }
  return ids;
}

void add_cpus(const SessionOptions& options, const Pools& pools, const DeviceName& task,
              std::vector<std::shared_ptr<Device>>& devices) {
  const auto it = options.device_count.find("CPU");
  const int names = it == options.device_count.end() ? 1 : std::max(1, it->second);
  int id = 0;
  for (; id < names; ++id)
    devices.push_back(std::make_shared<CpuDevice>(cpu_name(task, id), pools.inter_op[0].helpers,
                                                  pools.intra_op));
  for (const CpuSet& set : options.cpu_sets) {
    std::vector<int> cores = set.cores;
    if (set.numa_node >= 0) {
      if (!cores.empty())
        throw invalid_argument(fmt::format(
            "CPU set {} names cores and a NUMA node ({}); it can be only one of them", id,
            set.numa_node));
      for (const NumaNode& node : numa_nodes())
        if (node.id == set.numa_node) cores = node.cores;
    }
    if (cores.empty())
      throw invalid_argument(
          fmt::format("CPU set {} has no cores (NUMA node {})", id, set.numa_node));
    const int threads = static_cast<int>(cores.size());
    // At least two, so that independent operations can wait for each other on one core.
    auto inter = std::make_shared<ThreadPool>(
        ThreadPool::Options{fmt::format("cpu{}", id), std::max(2, threads), cores});
    auto intra = std::make_shared<ThreadPool>(
        ThreadPool::Options{fmt::format("cpu{}-intra", id), threads - 1, cores});
    devices.push_back(std::make_shared<CpuDevice>(cpu_name(task, id), inter, intra));
    ++id;
  }
}

struct LogicalGpu {
  int card;
  int64_t memory;
};

int64_t bytes_of(float mib) {
  if (!(mib >= 1.f / 1024) || mib > kMostMib)
    throw invalid_argument(
        fmt::format("virtual_devices: a memory limit of {} MiB is asked for", mib));
  return static_cast<int64_t>(static_cast<double>(mib) * (1 << 20));
}

// TensorFlow's rules for gpu_options.virtual_devices: one list of limits a GPU.
void check_limits(const GpuOptions& gpu, size_t gpus) {
  const size_t lists = gpu.virtual_devices.size();
  size_t devices = 0;
  for (const auto& limits : gpu.virtual_devices) devices += std::max<size_t>(1, limits.size());
  if (devices > kMaxVirtualGpus)
    throw invalid_argument(fmt::format("{} virtual devices asked for; at most {} can be made",
                                       devices, kMaxVirtualGpus));
  if (gpu.per_process_gpu_memory_fraction > 0)
    throw invalid_argument(
        "It's invalid to set per_process_gpu_memory_fraction when virtual_devices is set.");
  if (gpus < lists)
    throw invalid_argument(fmt::format("Not enough GPUs to create virtual devices. "
                                       "num_gpus_to_use: {} #virtual_devices: {}",
                                       gpus, lists));
  if (!gpu.visible_device_list.empty() && gpus != lists)
    throw invalid_argument(fmt::format(
        "The number of GPUs in visible_device_list doesn't match the number of elements in the "
        "virtual_devices list. #GPUs in visible_device_list: {} virtual_devices.size(): {}",
        gpus, lists));
}

// A device for each card; where limits (MiB) are given for it, one for each of them.
std::vector<LogicalGpu> logical_gpus(const GpuOptions& gpu, const std::vector<int>& cards,
                                     int64_t memory) {
  std::vector<LogicalGpu> result;
  const auto& limits = gpu.virtual_devices;
  if (!limits.empty()) check_limits(gpu, cards.size());
  for (size_t i = 0; i < (limits.empty() ? cards.size() : limits.size()); ++i) {
    if (limits.empty() || limits[i].empty()) result.push_back({cards[i], memory});
    else
      for (const float mib : limits[i]) result.push_back({cards[i], bytes_of(mib)});
  }
  return result;
}

void add_virtual_gpus(const SessionOptions& options, const Pools& pools, const DeviceName& task,
                      std::vector<std::shared_ptr<Device>>& devices) {
  const VirtualGpus wanted = wanted_virtual_gpus(options);
  std::vector<int> ids = visible(options.gpu_options.visible_device_list, wanted.count);
  if (const auto it = options.device_count.find("GPU"); it != options.device_count.end())
    ids.resize(std::min(ids.size(), static_cast<size_t>(std::max(0, it->second))));
  VirtualGpuOptions o;
  o.task = task;
  o.memory_fraction = options.gpu_options.per_process_gpu_memory_fraction;
  o.allow_growth = options.gpu_options.allow_growth;
  o.intra_op_threads = pools.intra_op->size() + 1;
  o.inter_op = pools.inter_op[0].helpers;
  int id = 0;
  for (const LogicalGpu& gpu : logical_gpus(options.gpu_options, ids, wanted.memory)) {
    o.memory = gpu.memory;
    devices.push_back(VirtualGpu::get(id++, gpu.card, o));
  }
}

// ---- Cards.

// What is left to the system and to CUDA itself, as TensorFlow leaves it.
size_t reserve_of(const cuda::Card& card) {
  if (card.free_memory < (size_t{2} << 30)) return size_t{225} << 20;
  return size_t{card.major >= 9 ? 1800u : card.major >= 8 ? 1536u : 1050u} << 20;
}

size_t memory_of(const cuda::Card& card, double fraction) {
  if (!(fraction >= 0 && fraction <= 1))
    throw invalid_argument(fmt::format(
        "per_process_gpu_memory_fraction must be between 0 and 1, not {}", fraction));
  if (fraction > 0)
    return static_cast<size_t>(static_cast<double>(card.total_memory) * fraction);
  const size_t reserve = reserve_of(card);
  return card.free_memory > reserve ? card.free_memory - reserve : card.free_memory;
}

// Memory limits of the logical GPUs that a card becomes; one, usually.
std::vector<size_t> limits_of(const SessionOptions& options, size_t place, const cuda::Card& card) {
  const auto& parts = options.gpu_options.virtual_devices;
  const size_t whole = memory_of(card, options.gpu_options.per_process_gpu_memory_fraction);
  if (place < parts.size() && !parts[place].empty()) {
    std::vector<size_t> limits;
    for (float mib : parts[place]) limits.push_back(static_cast<size_t>(bytes_of(mib)));
    return limits;
  }
  int split = 1;
  if (const char* text = std::getenv("EMPLACE_SPLIT_GPUS"); text && *text) {
    const std::string_view whole_text = text;
    const auto [end, error] = std::from_chars(text, text + whole_text.size(), split);
    if (error != std::errc() || *end || split < 1 || split > kMaxVirtualGpus)
      throw invalid_argument(fmt::format("EMPLACE_SPLIT_GPUS='{}': expected a number", text));
  }
  return std::vector<size_t>(static_cast<size_t>(split), whole / static_cast<size_t>(split));
}

void add_cards(const SessionOptions& options, const Pools& pools, const DeviceName& task,
               std::vector<std::shared_ptr<Device>>& devices) {
  const CudaState& state = cuda_state();
  const auto count = static_cast<int>(state.cards.size());
  int most = kMaxVirtualGpus;
  if (const auto it = options.device_count.find("GPU"); it != options.device_count.end())
    most = std::max(0, it->second);
  const std::vector<int> ids = visible(options.gpu_options.visible_device_list, count);
  int id = 0;
  for (size_t place = 0; place < ids.size(); ++place) {
    const cuda::Card& card = state.cards[static_cast<size_t>(ids[place])];
    for (size_t limit : limits_of(options, place, card)) {
      if (id == most) return;
      cuda::GpuSpec spec;
      spec.card = card.ordinal;
      spec.task = task;
      spec.memory_limit = limit;
      spec.allow_growth = options.gpu_options.allow_growth;
      spec.use_cuda_malloc_async = options.gpu_options.use_cuda_malloc_async;
      spec.description =
          fmt::format("device: {}, name: {}, pci bus id: {}, compute capability: {}.{}", id,
                      card.name, card.pci_bus_id, card.major, card.minor);
      spec.inter_op = pools.inter_op[0].helpers;
      spec.intra_op = pools.intra_op;
      spec.find_room = &SpareMemory::find_room;
      devices.push_back(state.backend->make_gpu(id++, spec));
    }
  }
}

}  // namespace

std::vector<std::shared_ptr<Device>> make_devices(const SessionOptions& options,
                                                  const Pools& pools, const DeviceName& task) {
  std::vector<std::shared_ptr<Device>> devices;
  add_cpus(options, pools, task, devices);
  if (!uses_cards(options)) {
    add_virtual_gpus(options, pools, task, devices);
    return devices;
  }
  const size_t others = devices.size();
  try {
    add_cards(options, pools, task, devices);
  } catch (const Error& e) {
    if (e.code() != Code::kInternal) throw;
    lose_cards(e.message());
    devices.resize(others);  // the others go on
  }
  return devices;
}

}  // namespace emplace
