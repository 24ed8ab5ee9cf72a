// Books of costs as files: a CostFile in protobuf's JSON.
#include <fmt/format.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <cmath>

#include "base/file.h"
#include "emplace/error.h"
#include "emplace/plan.h"
#include "emplace/proto/costs.pb.h"

namespace emplace {
namespace {

constexpr int kVersion = 1;
constexpr double kMostCalls = 9e15;  // beyond, a double counts no more

// A number of a file that has to make sense. The file says what is wrong with the rest.
double positive(double value, const char* what, const std::string& of) {
  if (std::isfinite(value) && value >= 0) return value;
  throw invalid_argument(fmt::format("{} of '{}' is {}", what, of, value));
}

double rate(double value, const char* what, const std::string& of) {
  if (positive(value, what, of) > 0) return value;
  throw invalid_argument(fmt::format("{} of '{}' is missing, or 0", what, of));
}

CostRow row_from(const proto::CostEntry& e) {
  const double count = positive(e.count(), "count", e.node().empty() ? e.op() : e.node());
  return {e.node(), {e.op(), e.attrs(), e.inputs()}, e.outputs(), e.device(),
          {e.seconds(), e.spread(), static_cast<int64_t>(std::min(count, kMostCalls))}};
}

template <class Entries>
std::vector<DeviceRates::Rate> rates_by_size(const Entries& entries, const char* what,
                                             const std::string& kind) {
  std::vector<DeviceRates::Rate> rates;
  for (const auto& e : entries) {
    if (!(e.size() > (rates.empty() ? 0 : rates.back().size)))
      throw invalid_argument(fmt::format("\"{}\" of '{}' are not sorted by size", what, kind));
    rates.push_back({rate(e.size(), "size", kind), rate(e.per_s(), "per_s", kind)});
  }
  if (rates.empty()) throw invalid_argument(fmt::format("\"{}\" of '{}' are missing", what, kind));
  return rates;
}

DeviceRates rates_from(const proto::RatesEntry& e) {
  const std::string& kind = e.device();
  if (kind.empty()) throw invalid_argument("An entry of \"devices\" names no kind of device");
  return {kind, positive(e.launch_s(), "launch_s", kind), rate(e.ops_per_s(), "ops_per_s", kind),
          rates_by_size(e.products(), "products", kind), rates_by_size(e.moves(), "moves", kind)};
}

LinkRate link_from(const proto::LinkEntry& e) {
  const std::string ends = e.from() + "' to '" + e.to();
  if (e.from().empty() || e.to().empty())
    throw invalid_argument("An entry of \"links\" names no kinds of devices");
  return {e.from(), e.to(), positive(e.latency_s(), "latency_s", ends),
          rate(e.bytes_per_s(), "bytes_per_s", ends)};
}

CostBook book_from(const proto::CostFile& file) {
  if (file.version() != kVersion)
    throw invalid_argument(fmt::format("its version is {}, and {} is known", file.version(), kVersion));
  CostBook book;
  for (const auto& e : file.costs()) book.add(row_from(e));
  for (const auto& e : file.devices()) book.set_rates(rates_from(e));
  for (const auto& e : file.links()) book.set_link(link_from(e));
  return book;
}

void fill(const CostRow& row, proto::CostEntry& e) {
  e.set_node(row.node);
  e.set_op(row.call.op);
  e.set_attrs(row.call.attrs);
  e.set_inputs(row.call.inputs);
  e.set_outputs(row.outputs);
  e.set_device(row.device);
  e.set_seconds(row.cost.seconds);
  e.set_spread(row.cost.spread);
  e.set_count(static_cast<double>(row.cost.count));
}

void fill(const DeviceRates& rates, proto::RatesEntry& e) {
  e.set_device(rates.device);
  e.set_launch_s(rates.launch_s);
  e.set_ops_per_s(rates.ops_per_s);
  const auto add = [](const DeviceRates::Rate& rate, auto* entry) {
    entry->set_size(rate.size);
    entry->set_per_s(rate.per_s);
  };
  for (const auto& r : rates.products) add(r, e.add_products());
  for (const auto& r : rates.moves) add(r, e.add_moves());
}

void fill(const LinkRate& link, proto::LinkEntry& e) {
  e.set_from(link.from);
  e.set_to(link.to);
  e.set_latency_s(link.latency_s);
  e.set_bytes_per_s(link.bytes_per_s);
}

// What a whole book says as JSON of one message, an entry a line: readable, and diffs show rows.
template <class Message, class Entries>
void append_list(std::string& out, const char* name, const Entries& entries) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  out += fmt::format(",\n \"{}\": [", name);
  bool first = true;
  for (const auto& entry : entries) {
    Message message;
    fill(entry, message);
    std::string line;
    if (!google::protobuf::util::MessageToJsonString(message, &line, options).ok())
      throw internal_error("costs can't be written as JSON");
    out += (first ? "\n  " : ",\n  ") + line;
    first = false;
  }
  out += "]";
}

}  // namespace

std::string CostBook::json() const {
  std::string out = fmt::format("{{\"version\": {}", kVersion);
  append_list<proto::RatesEntry>(out, "devices", all_rates());
  append_list<proto::LinkEntry>(out, "links", links());
  append_list<proto::CostEntry>(out, "costs", rows());
  return out + "}\n";
}

CostBook CostBook::parse(std::string_view json) {
  if (json.size() > kMaxFileBytes)
    throw invalid_argument(fmt::format("Costs of {} bytes: at most {} are read", json.size(), kMaxFileBytes));
  proto::CostFile file;
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;  // what later versions add
  const auto status =
      google::protobuf::util::JsonStringToMessage(std::string(json), &file, options);
  if (!status.ok())
    throw invalid_argument(fmt::format("No costs in JSON: {}", std::string(status.message())));
  try {
    return book_from(file);
  } catch (const Error& e) {
    throw invalid_argument(fmt::format("No costs in JSON: {}", e.message()));
  }
}

CostBook CostBook::load(const std::string& path) {
  const std::string text = read_file(path, kMaxFileBytes);
  try {
    return parse(text);
  } catch (const Error& e) {
    throw invalid_argument(fmt::format("{}: {}", path, e.message()));
  }
}

void CostBook::save(const std::string& path) const { write_file(path, json()); }

}  // namespace emplace
