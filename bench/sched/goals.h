// What the figures are held to, so that a run says by itself what it met and what it missed.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "bench/common/rows.h"

namespace emplace::bench {

struct Goal {
  std::string what;
  double figure = 0;
  double limit = 0;
  bool at_least = false;  // the figure must reach the limit; otherwise it must not exceed it

  bool met() const { return at_least ? figure >= limit : figure <= limit; }
};

// The goals for which the rows have figures.
std::vector<Goal> judge(const std::vector<Row>& rows);

void print_goals(std::ostream& out, const std::vector<Goal>& goals);

}  // namespace emplace::bench
