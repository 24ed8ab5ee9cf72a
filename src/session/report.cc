#include <fmt/format.h>

#include <algorithm>

#include "base/json_text.h"
#include "emplace/session.h"

namespace emplace {
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
                       i ? ", " : "", json_text(r.node), json_text(r.op), json_text(r.device),
                       json_text(r.reason));
    for (size_t k = 0; k < r.rejected.size(); ++k)
      out += fmt::format("{}{{\"device\": {}, \"why\": {}}}", k ? ", " : "",
                         json_text(r.rejected[k].device), json_text(r.rejected[k].why));
    out += "]}";
  }
  return out + "]}";
}

}  // namespace emplace
