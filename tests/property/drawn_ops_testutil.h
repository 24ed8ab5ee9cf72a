#pragma once
#include <map>
#include <set>
#include <string>

#include "random_graph_testutil.h"

namespace emplace::testing {

// The operations that are run when all of the graph is, in its functions too.
std::set<std::string> drawn_ops(const RandomGraph& g);

// Operations that no random graph can have, and why.
const std::map<std::string, std::string>& never_drawn();

// Operations of input pipelines have threads and an order of their own: tests/golden/pipelines_test.cc.
bool stands_in_pipelines(const std::string& op);

}  // namespace emplace::testing
