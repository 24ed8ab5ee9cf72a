// Whether a placement is what the user demands.
#include "emplace/contract.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "base/byte_size.h"
#include "base/device_name.h"
#include "emplace/error.h"
#include "placement/contract/check_contract.h"
#include "placement/contract/name_glob.h"

namespace emplace {
namespace {

constexpr size_t kShown = 5;  // copies and holders that a reason names

// A tensor that one device makes and others need a copy of.
struct CopyOf {
  const Node* from;
  int output;
  std::string_view to;
  std::vector<const Node*> readers;
  int64_t bytes;  // -1: not known
};

int64_t bytes_of(const Node& node, int output) {
  const Shape& shape = node.output_shape(output);
  return shape.is_fully_known()
             ? shape.num_elements() * int64_t(dtype_size(node.output_type(output)))
             : -1;
}

class Check {
 public:
  Check(const Graph& graph, const PlacementReport& report, std::span<const DeviceForecast> peaks)
      : graph_(graph), report_(report), peaks_(peaks) {
    for (const PlacementRow& row : report.rows) {
      nodes_.push_back(graph.find(row.node));
      if (nodes_.back()) row_of_.emplace(nodes_.back(), &row);
    }
    find_copies();
  }

  std::vector<Violation> run(std::span<const Contract> contracts) {
    for (number_ = 0; number_ < contracts.size(); ++number_) check(contracts[number_]);
    return std::move(found_);
  }

 private:
  void find_copies() {
    std::map<std::tuple<const Node*, int, std::string_view>, size_t> known;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (!nodes_[i]) continue;
      for (const Output& in : nodes_[i]->inputs()) {
        const auto from = row_of_.find(in.node);
        const std::string& here = report_.rows[i].device;
        if (from == row_of_.end() || from->second->device == here) continue;
        const auto [at, fresh] = known.emplace(std::tuple(in.node, in.index, std::string_view(here)), copies_.size());
        if (fresh) copies_.push_back({in.node, in.index, here, {}, bytes_of(*in.node, in.index)});
        copies_[at->second].readers.push_back(nodes_[i]);
      }
    }
    std::ranges::stable_sort(copies_, std::greater<>(), &CopyOf::bytes);
  }

  void check(const Contract& c) {
    const DeviceName wanted = check_contract(c);
    chosen_.clear();
    std::vector<std::string_view> devices;
    for (const PlacementRow& row : report_.rows) {
      if (!placement::name_matches(c.ops, row.node)) continue;
      chosen_.insert(row.node);
      devices.push_back(row.device);
      if (!wanted.is_specification_of(DeviceName::parse(row.device)))
        add(row, fmt::format("must be on {}: {}", c.device, row.reason));
    }
    if (chosen_.empty())
      found_.push_back({number_, "", "", "", fmt::format("no operation matches '{}'", c.ops), ""});
    check_copies(c);
    std::ranges::sort(devices);
    devices.erase(std::ranges::unique(devices).begin(), devices.end());
    if (c.max_peak)
      for (std::string_view d : devices) check_peak(c, d);
  }

  void check_copies(const Contract& c) {
    if (!c.max_copies && !c.max_copied_bytes) return;
    std::vector<const CopyOf*> copies;
    int64_t bytes = 0, unknown = 0;
    for (const CopyOf& copy : copies_) {
      if (!concerns(copy)) continue;
      copies.push_back(&copy);
      (copy.bytes < 0 ? unknown : bytes) += copy.bytes < 0 ? 1 : copy.bytes;
    }
    const int64_t count = int64_t(copies.size());
    if (c.max_copies && count > *c.max_copies)
      add(*row_of_.at(copies[0]->from),
          fmt::format("{} copies a step, {} allowed: {}", count, *c.max_copies, listed(copies)));
    if (c.max_copied_bytes && bytes > *c.max_copied_bytes)
      add(*row_of_.at(copies[0]->from),
          fmt::format("{}{} copied a step, {} allowed: {}", unknown ? "at least " : "",
                      byte_size_text(double(bytes)), byte_size_text(double(*c.max_copied_bytes)),
                      listed(copies)));
  }

  bool concerns(const CopyOf& copy) const {
    const auto chosen = [&](const Node* n) { return chosen_.contains(n->name()); };
    return chosen(copy.from) || std::ranges::any_of(copy.readers, chosen);
  }

  std::string listed(const std::vector<const CopyOf*>& copies) const {
    std::string out;
    for (size_t k = 0; k < copies.size() && k < kShown; ++k) {
      const CopyOf& c = *copies[k];
      out += fmt::format("{}{}:{} ({}) to {} for {}", k ? ", " : "", c.from->name(), c.output,
                         c.bytes < 0 ? "size not known" : byte_size_text(double(c.bytes)), c.to,
                         c.readers.front()->name());
    }
    if (copies.size() > kShown) out += fmt::format(" and {} more", copies.size() - kShown);
    return out;
  }

  void check_peak(const Contract& c, std::string_view device) {
    const auto peak = std::ranges::find(peaks_, device, &DeviceForecast::device);
    if (peak == peaks_.end()) {
      found_.push_back({number_, "", "", std::string(device),
                        "max_peak is demanded, and nobody has foretold what is held there", ""});
    } else if (peak->peak > *c.max_peak) {
      std::string held;
      for (size_t k = 0; k < peak->holders.size() && k < kShown; ++k)
        held += fmt::format("{}{} ({})", k ? ", " : "", peak->holders[k].node,
                            byte_size_text(double(peak->holders[k].bytes)));
      add_at(peak->holders.empty() ? "" : peak->holders[0].node, device,
             fmt::format("{} held at once, {} allowed: {}", byte_size_text(double(peak->peak)),
                         byte_size_text(double(*c.max_peak)), held));
    }
  }

  void add(const PlacementRow& row, std::string reason) {
    add_at(row.node, row.device, std::move(reason));
  }
  void add_at(const std::string& name, std::string_view device, std::string reason) {
    Violation v{number_, name, "", std::string(device), std::move(reason), ""};
    if (const Node* node = graph_.find(name)) v.op = node->type(), v.source = node->source();
    found_.push_back(std::move(v));
  }

  const Graph& graph_;
  const PlacementReport& report_;
  std::span<const DeviceForecast> peaks_;
  std::vector<const Node*> nodes_;  // by row
  std::unordered_map<const Node*, const PlacementRow*> row_of_;
  std::vector<CopyOf> copies_;  // largest first
  std::unordered_set<std::string_view> chosen_;  // names
  size_t number_ = 0;
  std::vector<Violation> found_;
};

std::string demanded(const Contract& c) {
  std::string out = fmt::format("'{}'", c.ops);
  if (!c.device.empty()) out += fmt::format(" on {}", c.device);
  if (c.max_copies) out += fmt::format(", max_copies={}", *c.max_copies);
  if (c.max_copied_bytes) out += fmt::format(", max_copied_bytes={}", *c.max_copied_bytes);
  if (c.max_peak) out += fmt::format(", max_peak={}", *c.max_peak);
  return out + (c.source.empty() ? "" : fmt::format(" ({})", c.source));
}

}  // namespace

DeviceName check_contract(const Contract& c) {
  if (c.device.empty() || c.device == "*") return {};
  if (auto name = DeviceName::try_parse(c.device)) return *name;
  if (auto local = DeviceName::try_parse_local(c.device)) return *local;
  throw invalid_argument(fmt::format("A contract demands '{}', which is no device", c.device))
      .from_source(c.source);
}

std::vector<Violation> violations(const Graph& graph, const PlacementReport& report,
                                  std::span<const Contract> contracts,
                                  std::span<const DeviceForecast> peaks) {
  return Check(graph, report, peaks).run(contracts);
}

std::string violations_text(std::span<const Violation> violations,
                            std::span<const Contract> contracts) {
  std::string out;
  for (const Violation& v : violations) {
    if (!v.node.empty()) out += fmt::format("{} ({}) ", v.node, v.op);
    if (!v.device.empty()) out += fmt::format("on {}: ", v.device);
    out += v.reason;
    if (!v.source.empty()) out += fmt::format("; defined at {}", v.source);
    out += fmt::format("; demanded of {}\n", demanded(contracts[v.contract]));
  }
  return out;
}

}  // namespace emplace
