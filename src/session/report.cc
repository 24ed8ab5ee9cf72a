#include <fmt/format.h>

#include "base/json_text.h"
#include "emplace/session.h"
#include "placement/log_text.h"

namespace emplace {
std::string PlacementReport::table() const {
  std::vector<TableLine> lines;
  for (const PlacementRow& r : rows) lines.push_back({r.node, r.op, r.device, r.reason});
  return placement_table(lines);
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
