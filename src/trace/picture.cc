// Placements as pictures: boxes in columns by depth, coloured by device.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <shared_mutex>
#include <unordered_map>

#include "emplace/session.h"
#include "base/json_text.h"
#include "trace/svg_text.h"

namespace emplace {
namespace {

constexpr std::array kColours{"#8ecae6", "#ffb703", "#90be6d", "#f28482",
                              "#cdb4db", "#f9c74f", "#84a59d", "#e0aaff"};
constexpr int kWidth = 170, kHeight = 30, kGapX = 40, kGapY = 12, kTop = 40, kLegend = 330;

struct Box {
  const PlacementRow* row;
  const Node* node;
  int x = 0, y = 0;
};

struct Drawing {
  std::vector<Box> boxes;
  std::unordered_map<const Node*, size_t> index;
  std::map<std::string, std::string> colour;  // by device
  int width = 0, height = 0;
};

Drawing drawing_of(const Graph& graph, const PlacementReport& report) {
  Drawing d;
  for (const PlacementRow& row : report.rows) {
    d.colour.emplace(row.device, "");
    if (const Node* node = graph.find(row.node)) {
      d.index.emplace(node, d.boxes.size());
      d.boxes.push_back({&row, node});
    }
  }
  size_t i = 0;
  for (auto& [device, colour] : d.colour) colour = kColours[i++ % kColours.size()];
  return d;
}

template <class F>
void for_each_edge(const Drawing& d, const Box& box, F f) {
  for (const Output& in : box.node->inputs())
    if (const auto it = d.index.find(in.node); it != d.index.end()) f(it->second, false);
  for (const Node* before : box.node->control_inputs())
    if (const auto it = d.index.find(before); it != d.index.end()) f(it->second, true);
}

// Columns by depth. Nodes come in order of creation, so that all but back edges point forward.
void lay_out(Drawing& d) {
  std::vector<int> depth(d.boxes.size(), 0);
  std::map<int, int> rows;
  for (size_t i = 0; i < d.boxes.size(); ++i) {
    for_each_edge(d, d.boxes[i], [&](size_t from, bool) {
      if (from < i) depth[i] = std::max(depth[i], depth[from] + 1);
    });
    const int row = rows[depth[i]]++;
    d.boxes[i].x = 10 + depth[i] * (kWidth + kGapX);
    d.boxes[i].y = kTop + row * (kHeight + kGapY);
    d.width = std::max(d.width, d.boxes[i].x + kWidth + 10);
    d.height = std::max(d.height, d.boxes[i].y + kHeight + 20);
  }
  d.width = std::max(d.width, 20 + kLegend * static_cast<int>(d.colour.size()));
  d.height = std::max(d.height, kTop + 20);
}

std::string tail(std::string_view name, size_t width) {
  return svg_text(name.size() > width ? name.substr(name.size() - width) : name);
}

}  // namespace

std::string placement_dot(const Graph& graph, const PlacementReport& report) {
  const Drawing d = drawing_of(graph, report);
  const std::shared_lock reading(graph.mutex());
  std::string out = "digraph placement {\n  rankdir=LR;\n  node [shape=box, style=filled];\n";
  int cluster = 0;
  for (const auto& [device, colour] : d.colour) {
    out += fmt::format("  subgraph cluster_{} {{\n    label={};\n", cluster++, json_text(device));
    for (const Box& b : d.boxes)
      if (b.row->device == device)
        out += fmt::format("    {} [label={}, fillcolor=\"{}\", tooltip={}];\n",
                           json_text(b.row->node), json_text(b.row->node + "\n" + b.row->op),
                           colour, json_text(b.row->reason));
    out += "  }\n";
  }
  for (const Box& b : d.boxes)
    for_each_edge(d, b, [&](size_t from, bool control) {
      out += fmt::format("  {} -> {}{};\n", json_text(d.boxes[from].row->node),
                         json_text(b.row->node), control ? " [style=dashed]" : "");
    });
  return out + "}\n";
}

std::string placement_svg(const Graph& graph, const PlacementReport& report) {
  Drawing d = drawing_of(graph, report);
  const std::shared_lock reading(graph.mutex());
  lay_out(d);
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" "
      "font-family=\"sans-serif\" font-size=\"10\">\n",
      d.width, d.height);
  int x = 10;
  for (const auto& [device, colour] : d.colour) {
    out += fmt::format("<rect x=\"{}\" y=\"8\" width=\"14\" height=\"14\" fill=\"{}\"/>"
                       "<text x=\"{}\" y=\"19\">{}</text>\n",
                       x, colour, x + 18, svg_text(device));
    x += kLegend;
  }
  for (const Box& b : d.boxes)
    for_each_edge(d, b, [&](size_t from, bool control) {
      const Box& a = d.boxes[from];
      out += fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"#888\"{}/>\n",
                         a.x + kWidth, a.y + kHeight / 2, b.x, b.y + kHeight / 2,
                         control ? " stroke-dasharray=\"4\"" : "");
    });
  for (const Box& b : d.boxes)
    out += fmt::format("<g><title>{}</title><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" "
                       "rx=\"4\" fill=\"{}\"/><text x=\"{}\" y=\"{}\">{}</text>"
                       "<text x=\"{}\" y=\"{}\" fill=\"#444\">{}</text></g>\n",
                       svg_text(fmt::format("{} ({}) {}\n{}", b.row->node, b.row->op, b.row->device,
                                           b.row->reason)),
                       b.x, b.y, kWidth, kHeight, d.colour.at(b.row->device), b.x + 5, b.y + 13,
                       tail(b.row->node, 28), b.x + 5, b.y + 25, tail(b.row->op, 28));
  return out + "</svg>\n";
}

}  // namespace emplace
