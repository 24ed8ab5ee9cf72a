// Steps as pictures: a line a device and slot, time to the right, one step above the other.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>

#include "emplace/what_if.h"
#include "trace/svg_text.h"

namespace emplace {
namespace {

constexpr std::array kOpColours{"#8ecae6", "#ffb703", "#90be6d", "#f28482",
                              "#cdb4db", "#f9c74f", "#84a59d", "#e0aaff"};
constexpr const char* kCopy = "#bbb";
constexpr int kLabel = 210, kSpan = 1000, kLane = 18, kTitle = 26, kAxis = 22;
constexpr double kReadable = 6.0;  // pixels a letter

using Lanes = std::map<std::pair<std::string, uint32_t>, int>;  // by device and thread

// Copies lie below what their device computes.
std::pair<std::string, uint32_t> lane_of(const NodeStats& n) {
  return {n.device, n.op == "Copy" ? ~0u : n.thread};
}

Lanes lanes_of(const RunMetadata& step) {
  Lanes lanes;
  for (const NodeStats& n : step.nodes) lanes.emplace(lane_of(n), 0);
  int next = 0;
  for (auto& [key, at] : lanes) at = next++;
  return lanes;
}

int64_t end_of(const RunMetadata& step) {
  int64_t end = 0;
  for (const NodeStats& n : step.nodes) end = std::max(end, n.end_ns);
  return end;
}

std::string duration(double ns) {
  if (ns < 1e6) return fmt::format("{:.1f} us", ns / 1e3);
  return ns < 1e9 ? fmt::format("{:.2f} ms", ns / 1e6) : fmt::format("{:.2f} s", ns / 1e9);
}

std::string colour_of(const NodeStats& n) {
  if (n.op == "Copy") return kCopy;
  return kOpColours[std::hash<std::string>()(n.op) % kOpColours.size()];
}

void draw_box(const NodeStats& n, double scale, int y, std::string& out) {
  const double x = kLabel + double(n.start_ns) * scale;
  const double width = std::max(0.5, double(n.end_ns - n.start_ns) * scale);
  const auto letters = size_t(width / kReadable);
  out += fmt::format(
      "<g><title>{}</title><rect x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\" "
      "stroke=\"#fff\" stroke-width=\"0.3\"/>",
      svg_text(fmt::format("{} ({}) on {}: {}, from {}", n.node, n.op, n.device,
                           duration(double(n.end_ns - n.start_ns)), duration(double(n.start_ns)))),
      x, y, width, kLane - 3, colour_of(n));
  if (letters > 2)
    out += fmt::format("<text x=\"{:.1f}\" y=\"{}\">{}</text>", x + 2, y + 11,
                       svg_text(std::string_view(n.op).substr(0, letters)));
  out += "</g>\n";
}

int draw_step(const Timeline& t, double scale, int y, std::string& out) {
  out += fmt::format("<text x=\"10\" y=\"{}\" font-weight=\"bold\">{}: {}</text>\n", y + 17,
                     svg_text(t.title), duration(double(end_of(t.step))));
  y += kTitle;
  const Lanes lanes = lanes_of(t.step);
  std::string_view device;
  for (const auto& [key, lane] : lanes) {
    const bool fresh = key.first != device;
    device = key.first;
    const size_t slash = device.find_last_of('/');
    const std::string name = std::string(device.substr(slash == device.npos ? 0 : slash + 1));
    out += fmt::format("<text x=\"10\" y=\"{}\" fill=\"{}\">{}{}</text>\n", y + lane * kLane + 12,
                       fresh ? "#000" : "#888", svg_text(name),
                       key.second == ~0u ? " (copies to it)" : "");
  }
  for (const NodeStats& n : t.step.nodes) draw_box(n, scale, y + lanes.at(lane_of(n)) * kLane, out);
  return y + int(lanes.size()) * kLane;
}

}  // namespace

std::string timeline_svg(std::span<const Timeline> steps) {
  int64_t end = 1;
  for (const Timeline& t : steps) end = std::max(end, end_of(t.step));
  const double scale = double(kSpan) / double(end);
  std::string body;
  int y = 4;
  for (const Timeline& t : steps) y = draw_step(t, scale, y, body) + 8;
  for (int k = 0; k <= 4; ++k)
    body += fmt::format("<line x1=\"{0}\" y1=\"4\" x2=\"{0}\" y2=\"{1}\" stroke=\"#ddd\"/>"
                        "<text x=\"{0}\" y=\"{2}\" text-anchor=\"middle\">{3}</text>\n",
                        kLabel + k * kSpan / 4, y, y + 12, duration(double(end) * k / 4));
  return fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" "
                     "font-family=\"sans-serif\" font-size=\"10\">\n{}</svg>\n",
                     kLabel + kSpan + 40, y + kAxis, body);
}

}  // namespace emplace
