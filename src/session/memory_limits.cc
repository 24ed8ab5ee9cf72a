#include "session/memory_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/byte_size.h"
#include "base/host_cache.h"
#include "base/host_limit.h"
#include "device/limited_memory.h"

namespace emplace {
namespace {

constexpr size_t kNamedHolders = 10;  // variables that an error names

int64_t held_there(std::span<const std::shared_ptr<Device>> devices) {
  int64_t sum = static_cast<int64_t>(host_memory().held);
  for (const auto& d : devices) sum += d->memory_stats().reserved;
  return sum;
}

std::string size_text(int64_t bytes) { return byte_size_text(static_cast<double>(bytes)); }

}  // namespace

void limit_memory(std::span<const std::shared_ptr<Device>> devices, std::string_view name, int64_t bytes) {
  if (bytes < 0) throw invalid_argument(fmt::format("a limit of {} bytes: it must not be negative", bytes));
  const DeviceName spec = DeviceName::parse(name.empty() ? "/cpu:0" : name);
  const auto found = std::ranges::find_if(
      devices, [&](const auto& d) { return spec.is_specification_of(d->parsed_name()); });
  if (found == devices.end()) throw invalid_argument(fmt::format("there is no device {} here", name));
  auto* const limited = dynamic_cast<LimitedMemory*>(found->get());
  if (!limited) throw unimplemented("the memory of " + (*found)->name() + " cannot be limited");
  limited->limit_memory(bytes);
}

int64_t trim_memory(std::span<const std::shared_ptr<Device>> devices) {
  const int64_t before = held_there(devices);
  for (const auto& d : devices) d->trim();
  host_trim();
  return std::max<int64_t>(0, before - held_there(devices));
}

void tell_host_holders(Error& error, const ResourceManager& resources) {
  const HostMemory host = host_memory();
  if (error.code() != Code::kResourceExhausted || host.limit == 0 ||
      (error.message().find(" on host") == std::string::npos &&
       error.message().find("host memory") == std::string::npos))
    return;
  std::vector<std::pair<int64_t, std::string>> holders;
  int64_t named = 0;
  for (const auto& r : resources.all())
    if (const auto v = std::dynamic_pointer_cast<Variable>(r); v && v->initialized()) {
      const Tensor value = v->read();
      if (value.device() && value.device()->is_async()) continue;
      holders.emplace_back(value.bytes(), v->name());
      named += holders.back().first;
    }
  std::ranges::sort(holders, std::ranges::greater());
  std::string out = fmt::format("\nLimit {}, of which {} are held, by:", size_text(static_cast<int64_t>(host.limit)),
                                size_text(static_cast<int64_t>(host.held)));
  for (size_t i = 0; i < holders.size() && i < kNamedHolders; ++i)
    out += fmt::format("\n  {} variable '{}'", size_text(holders[i].first), holders[i].second);
  if (holders.size() > kNamedHolders) out += fmt::format("\n  and {} more variables", holders.size() - kNamedHolders);
  out += fmt::format("\n  {} tensors, steps under way and other sessions",
                     size_text(std::max<int64_t>(0, static_cast<int64_t>(host.held) - named)));
  error.append(out);
}

}  // namespace emplace
