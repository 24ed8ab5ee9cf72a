#include <fmt/format.h>

#include <map>

#include "emplace/session.h"
#include "base/json_text.h"

namespace emplace {

std::string chrome_trace(const RunMetadata& step) {
  std::map<std::string, int> processes;
  std::string out = "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [";
  const char* separator = "\n";
  const auto event = [&](const std::string& text) {
    out += separator + text;
    separator = ",\n";
  };
  for (const NodeStats& n : step.nodes) {
    const auto [it, fresh] = processes.emplace(n.device, static_cast<int>(processes.size()) + 1);
    if (fresh)
      event(fmt::format("{{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": {}, \"args\": "
                        "{{\"name\": {}}}}}",
                        it->second, json_text(n.device)));
    event(fmt::format("{{\"ph\": \"X\", \"name\": {}, \"cat\": \"Op\", \"pid\": {}, \"tid\": {}, "
                      "\"ts\": {:.3f}, \"dur\": {:.3f}, \"args\": {{\"name\": {}, \"op\": {}, "
                      "\"bytes\": {}}}}}",
                      json_text(n.op), it->second, n.thread,
                      static_cast<double>(n.start_ns) / 1e3,
                      static_cast<double>(n.end_ns - n.start_ns) / 1e3, json_text(n.node),
                      json_text(n.op), n.bytes));
  }
  return out + "\n]}\n";
}

}  // namespace emplace
