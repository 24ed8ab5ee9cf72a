#include <fmt/format.h>

#include <algorithm>

#include "emplace/session.h"

namespace emplace {
namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\', out += c;
    else if (static_cast<unsigned char>(c) < 0x20) out += fmt::format("\\u{:04x}", c);
    else out += c;
  }
  return out + '"';
}

}  // namespace

std::string PlacementReport::table() const {
  size_t node = 4, op = 2, device = 6;
  for (const PlacementRow& r : rows) {
    node = std::max(node, r.node.size());
    op = std::max(op, r.op.size());
    device = std::max(device, r.device.size());
  }
  std::string out = fmt::format("{:<{}}  {:<{}}  {:<{}}  reason\n", "node", node, "op", op,
                                "device", device);
  for (const PlacementRow& r : rows)
    out += fmt::format("{:<{}}  {:<{}}  {:<{}}  {}\n", r.node, node, r.op, op, r.device, device,
                       r.reason);
  return out;
}

std::string PlacementReport::json() const {
  std::string out = "{\"nodes\": [";
  for (size_t i = 0; i < rows.size(); ++i) {
    const PlacementRow& r = rows[i];
    out += fmt::format("{}{{\"name\": {}, \"op\": {}, \"device\": {}, \"reason\": {}, \"rejected\": [",
                       i ? ", " : "", quoted(r.node), quoted(r.op), quoted(r.device),
                       quoted(r.reason));
    for (size_t k = 0; k < r.rejected.size(); ++k)
      out += fmt::format("{}{{\"device\": {}, \"why\": {}}}", k ? ", " : "",
                         quoted(r.rejected[k].device), quoted(r.rejected[k].why));
    out += "]}";
  }
  return out + "]}";
}

}  // namespace emplace
