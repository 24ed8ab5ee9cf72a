#include "bench/common/rows.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <ostream>
#include <stdexcept>

namespace emplace::bench {
namespace {

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

std::string number(const std::optional<double>& value, const char* absent) {
  return value ? number(*value) : absent;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string pad(const std::string& text, size_t width) {
  return text.size() >= width ? text : text + std::string(width - text.size(), ' ');
}

void print_row(std::ostream& out, const Row& row) {
  out << pad(row.name, 30) << pad(number(row.value, "-"), 10) << pad(row.unit, 9)
      << pad(number(row.ratio(), "-"), 9);
  for (const Peer& peer : row.peers) out << peer.name << ' ' << number(peer.value) << "  ";
  if (row.quiet_rounds == 0) out << "(never quiet: rough figures)";
  out << '\n';
}

}  // namespace

const Peer* Row::best_peer() const {
  const Peer* best = nullptr;
  for (const Peer& peer : peers) {
    if (!peer.counts) continue;
    const bool better = best == nullptr || (peer.value < best->value) != higher_is_better;
    if (better) best = &peer;
  }
  return best;
}

const Peer* Row::peer(const std::string& peer_name) const {
  const auto found = std::ranges::find(peers, peer_name, &Peer::name);
  return found == peers.end() ? nullptr : &*found;
}

std::optional<double> Row::ratio() const {
  const Peer* best = best_peer();
  if (!value || best == nullptr || best->value <= 0) return std::nullopt;
  return *value / best->value;
}

std::string to_json(const Row& row) {
  std::string out = "{\"name\": " + quoted(row.name) + ", \"value\": " + number(row.value, "null") +
                    ", \"unit\": " + quoted(row.unit) + ", \"peers\": {";
  for (size_t i = 0; i < row.peers.size(); ++i) {
    out += (i == 0 ? "" : ", ") + quoted(row.peers[i].name) + ": " + number(row.peers[i].value);
  }
  out += "}, \"ratio\": " + number(row.ratio(), "null");
  const Peer* best = row.best_peer();
  if (best != nullptr) out += ", \"best_peer\": " + quoted(best->name);
  return out + ", \"quiet_rounds\": " + std::to_string(row.quiet_rounds) + "}";
}

void print_table(std::ostream& out, const std::vector<Row>& rows) {
  out << pad("work", 30) << pad("ours", 10) << pad("unit", 9) << pad("ratio", 9) << "peers\n";
  for (const Row& row : rows) print_row(out, row);
}

void write_json(const std::string& path, const std::vector<Row>& rows) {
  std::ofstream out(path);
  for (const Row& row : rows) out << to_json(row) << '\n';
  out.flush();
  if (!out) throw std::runtime_error("cannot write " + path);
}

std::string json_path(int argc, char** argv) {
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::strcmp(argv[i], "--json") == 0) return argv[i + 1];
  }
  return {};
}

}  // namespace emplace::bench
