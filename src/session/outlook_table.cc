// Ways of placing a graph beside each other, for people.
#include <fmt/format.h>

#include <algorithm>

#include "base/byte_size.h"
#include "base/device_name.h"
#include "emplace/what_if.h"

namespace emplace {
namespace {

std::string time_text(double s) {
  if (s < 1e-3) return fmt::format("{:.1f} us", s * 1e6);
  return s < 1 ? fmt::format("{:.2f} ms", s * 1e3) : fmt::format("{:.2f} s", s);
}

bool has_figures(const Outlook& o) { return !o.devices.empty(); }

std::string device_text(const Outlook& o, size_t d) {
  if (!has_figures(o)) return "";
  const double share = o.step_s > 0 ? 100 * o.devices[d].busy_s / o.step_s : 0;
  return fmt::format("{:3.0f} %  {}", share, byte_size_text(double(o.devices[d].memory.peak)));
}

// The way that ends soonest of those that can be.
size_t best_of(std::span<const Outlook> all) {
  size_t best = all.size();
  for (size_t k = 0; k < all.size(); ++k)
    if (all[k].problem.empty() && (best == all.size() || all[k].step_s < all[best].step_s)) best = k;
  return best;
}

}  // namespace

std::string outlook_table(std::span<const Outlook> all) {
  const auto full = std::ranges::find_if(all, has_figures);
  std::vector<std::vector<std::string>> rows{{"way", "step"}};
  if (full != all.end())
    for (const auto& d : full->devices)
      rows[0].push_back(DeviceName::parse(d.memory.device).local_name() + " busy, peak");
  const size_t best = best_of(all);
  for (size_t k = 0; k < all.size(); ++k) {
    rows.push_back({all[k].way, has_figures(all[k]) ? time_text(all[k].step_s) : "-"});
    for (size_t d = 0; d + 2 < rows[0].size(); ++d) rows.back().push_back(device_text(all[k], d));
    rows.back().push_back(!all[k].problem.empty() ? "can't be: " + all[k].problem
                          : k == best             ? "soonest"
                                                  : "");
  }
  std::vector<size_t> width(rows[0].size(), 0);
  for (const auto& row : rows)
    for (size_t c = 0; c < width.size(); ++c) width[c] = std::max(width[c], row[c].size());
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (size_t c = 0; c < row.size(); ++c)
      line += c < width.size() ? fmt::format("{:<{}}  ", row[c], width[c]) : row[c];
    out += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  }
  return out;
}

}  // namespace emplace
