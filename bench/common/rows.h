// The rows every benchmark prints: ours, the peers measured in the same run, and the ratio.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace emplace::bench {

struct Peer {
  std::string name;
  double value = 0;
  bool counts = true;  // false: a yardstick (the floor, a plain loop), not a rival
};

// One line of a benchmark.
struct Row {
  std::string name;
  std::optional<double> value;  // absent where we have nothing to show yet
  std::string unit;
  std::vector<Peer> peers;
  int quiet_rounds = 0;  // fewest quiet rounds behind any figure of the row
  bool higher_is_better = false;

  const Peer* best_peer() const;        // the best of those that count
  const Peer* peer(const std::string& peer_name) const;
  std::optional<double> ratio() const;  // ours / best peer
};

// One JSON object a row: {"name", "value", "unit", "peers": {name: value}, "ratio", ...}; the
// fields after `ratio` say which peer it is over and how quiet the machine was.
std::string to_json(const Row& row);

void print_table(std::ostream& out, const std::vector<Row>& rows);
void write_json(const std::string& path, const std::vector<Row>& rows);

// The value after `--json`, empty without one.
std::string json_path(int argc, char** argv);

}  // namespace emplace::bench
