// A book of measurements: rows in two tables, by call and by node, each under one text.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <unordered_map>

#include "emplace/error.h"
#include "emplace/plan.h"

namespace emplace {
namespace {

constexpr int64_t kBelieved = 4;    // calls, after which one that is far off counts as less far
constexpr double kFarSpreads = 3;   // from the mean …
constexpr double kFarShare = 0.2;   // … and at least so much of it
constexpr double kLongestMemory = 1000;  // older calls count as no more than so many

// Names hold no such byte.
std::string key_of(const CostRow& row) {
  constexpr char kEnd = '\0';
  std::string key = row.node;
  for (const std::string* part : {&row.device, &row.call.op, &row.call.attrs, &row.call.inputs})
    (key += kEnd) += *part;
  return key;
}

void check(const CostRow& row) {
  const Cost& c = row.cost;
  if (!std::isfinite(c.seconds) || c.seconds < 0 || !std::isfinite(c.spread) || c.spread < 0 ||
      c.count < 1)
    throw invalid_argument(fmt::format("A cost of {} s (spread {}, {} calls) is none: '{}'",
                                       c.seconds, c.spread, c.count,
                                       row.node.empty() ? row.call.op : row.node));
  if (row.device.empty() || (row.node.empty() && row.call.op.empty()))
    throw invalid_argument("A cost names neither node nor operation, or no kind of device");
}

// The mean and spread of what both have seen.
Cost together(const Cost& a, const Cost& b) {
  const double before = std::min(static_cast<double>(a.count), kLongestMemory);
  const auto more = static_cast<double>(b.count);
  const double all = before + more, apart = b.seconds - a.seconds;
  const double variance = (before * a.spread * a.spread + more * b.spread * b.spread +
                           apart * apart * before * more / all) / all;
  return {a.seconds + apart * more / all, std::sqrt(variance), a.count + b.count};
}

// The few calls known so far were held up, or cold.
bool starts_anew(const Cost& known, const Cost& seen) {
  return known.count < kBelieved && seen.seconds > 0 && 2 * seen.seconds < known.seconds;
}

// A single call that the system held up would spoil the mean of many.
Cost nearer(const Cost& known, Cost seen) {
  if (known.count < kBelieved || seen.count > 1) return seen;
  const double far = std::max(kFarSpreads * known.spread, kFarShare * known.seconds);
  seen.seconds = std::clamp(seen.seconds, known.seconds - far, known.seconds + far);
  return seen;
}

auto in_order(const CostRow& r) {
  return std::tie(r.node, r.call.op, r.device, r.call.inputs, r.call.attrs);
}

}  // namespace

struct CostBook::State {
  struct Line {
    CostRow row;
    uint64_t seen = 0;  // when, counted in calls of add
  };
  std::unordered_map<std::string, Line> lines;
  // By node: its latest line of each kind of device, by the key.
  std::unordered_map<std::string, std::map<std::string, std::string, std::less<>>> by_node;
  std::map<std::string, DeviceRates, std::less<>> rates;
  std::map<std::pair<std::string, std::string>, LinkRate, std::less<>> links;
  uint64_t now = 0;

  void forget_oldest();
  void forget(const std::string& key);
};

CostBook::CostBook() : state_(std::make_unique<State>()) {}
CostBook::~CostBook() = default;
CostBook::CostBook(const CostBook& other) : state_(std::make_unique<State>(*other.state_)) {}
CostBook& CostBook::operator=(const CostBook& other) {
  if (this != &other) *state_ = *other.state_;
  return *this;
}
CostBook::CostBook(CostBook&& other) noexcept : state_(std::move(other.state_)) {}
CostBook& CostBook::operator=(CostBook&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

void CostBook::State::forget(const std::string& key) {
  const auto line = lines.find(key);
  const CostRow& row = line->second.row;
  if (const auto node = by_node.find(row.node); node != by_node.end()) {
    const auto latest = node->second.find(row.device);
    if (latest != node->second.end() && latest->second == key) node->second.erase(latest);
    if (node->second.empty()) by_node.erase(node);
  }
  lines.erase(line);
}

// A tenth at a time, so that it is rare.
void CostBook::State::forget_oldest() {
  std::vector<std::pair<uint64_t, std::string>> by_age;
  for (const auto& [key, line] : lines) by_age.emplace_back(line.seen, key);
  const auto kept = by_age.begin() + static_cast<std::ptrdiff_t>(kMaxRows / 10);
  std::ranges::nth_element(by_age, kept);
  for (auto it = by_age.begin(); it != kept; ++it) forget(it->second);
}

void CostBook::add(const CostRow& row) {
  check(row);
  std::string key = key_of(row);
  const auto [it, fresh] = state_->lines.try_emplace(key);
  State::Line& line = it->second;
  if (fresh || starts_anew(line.row.cost, row.cost)) line.row = row;
  else line.row.cost = together(line.row.cost, nearer(line.row.cost, row.cost));
  if (!row.outputs.empty()) line.row.outputs = row.outputs;
  line.seen = ++state_->now;
  if (!row.node.empty()) state_->by_node[row.node][row.device] = std::move(key);
  if (state_->lines.size() > kMaxRows) state_->forget_oldest();
}

void CostBook::merge(const CostBook& other) {
  const CostBook apart = &other == this ? other : CostBook();
  const State& from = &other == this ? *apart.state_ : *other.state_;
  std::vector<const State::Line*> by_age;
  for (const auto& [key, line] : from.lines) by_age.push_back(&line);
  std::ranges::sort(by_age, {}, &State::Line::seen);
  for (const State::Line* line : by_age) add(line->row);
  for (const auto& [kind, rates] : from.rates) set_rates(rates);
  for (const auto& [ends, link] : from.links) set_link(link);
}

void CostBook::set_rates(DeviceRates rates) {
  std::string kind = rates.device;
  state_->rates.insert_or_assign(std::move(kind), std::move(rates));
}

void CostBook::set_link(LinkRate link) {
  std::pair ends(link.from, link.to);
  state_->links.insert_or_assign(std::move(ends), std::move(link));
}

std::optional<Cost> CostBook::find(const CostCall& call, std::string_view device) const {
  const auto it = state_->lines.find(key_of({{}, call, {}, std::string(device), {}}));
  return it == state_->lines.end() ? std::nullopt : std::optional(it->second.row.cost);
}

std::optional<Cost> CostBook::find_node(std::string_view node, std::string_view device,
                                        const CostCall* call) const {
  const auto devices = state_->by_node.find(std::string(node));
  if (devices == state_->by_node.end()) return {};
  if (call) {
    const auto it = state_->lines.find(
        key_of({std::string(node), *call, {}, std::string(device), {}}));
    return it == state_->lines.end() ? std::nullopt : std::optional(it->second.row.cost);
  }
  const auto latest = devices->second.find(device);
  if (latest == devices->second.end()) return {};
  return state_->lines.at(latest->second).row.cost;
}

std::optional<CostRow> CostBook::last_seen(std::string_view node) const {
  const auto devices = state_->by_node.find(std::string(node));
  if (devices == state_->by_node.end()) return {};
  const State::Line* last = nullptr;
  for (const auto& [device, key] : devices->second)
    if (const State::Line& line = state_->lines.at(key); !last || line.seen > last->seen) last = &line;
  return last->row;
}

const DeviceRates* CostBook::rates(std::string_view device) const {
  const auto it = state_->rates.find(device);
  return it == state_->rates.end() ? nullptr : &it->second;
}

const LinkRate* CostBook::link(std::string_view from, std::string_view to) const {
  const auto it = state_->links.find(std::pair(std::string(from), std::string(to)));
  return it == state_->links.end() ? nullptr : &it->second;
}

std::vector<CostRow> CostBook::rows() const {
  std::vector<CostRow> rows;
  for (const auto& [key, line] : state_->lines) rows.push_back(line.row);
  std::ranges::sort(rows, [](const auto& a, const auto& b) { return in_order(a) < in_order(b); });
  return rows;
}

std::vector<DeviceRates> CostBook::all_rates() const {
  std::vector<DeviceRates> all;
  for (const auto& [kind, rates] : state_->rates) all.push_back(rates);
  return all;
}

std::vector<LinkRate> CostBook::links() const {
  std::vector<LinkRate> all;
  for (const auto& [ends, link] : state_->links) all.push_back(link);
  return all;
}

size_t CostBook::size() const { return state_->lines.size(); }

}  // namespace emplace
