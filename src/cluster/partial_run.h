#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cluster/master_session.h"

namespace emplace::cluster {

// A step in pieces: with each, whatever no longer waits for a feed is run, every node once; what later
// pieces take of it is kept and fed to them. One thread at a time.
class PartialRun {
 public:
  // Throws InvalidArgument or NotFound for names that are not the graph's.
  PartialRun(const Graph& graph, MasterSession::Request wanted);

  struct Piece {
    MasterSession::Request request;   // nothing in it: nothing is left to do
    std::vector<Tensor> feeds;
  };
  // What is to be run now that these are fed and fetched. Throws InvalidArgument, and then nothing counts.
  Piece begin(std::span<const std::string> feeds, std::span<const Tensor> values, std::span<const std::string> fetches);
  // What that gave; returns the values of `fetches`.
  std::vector<Tensor> end(const Piece& piece, std::vector<Tensor> fetched, std::span<const std::string> fetches);
  bool over() const { return unfed_.empty() && open_.empty(); }

 private:
  bool waits(const Node* n, std::map<const Node*, bool>& known) const;

  std::vector<Node*> needed_;             // in an order in which they may run
  std::map<std::string, Output> names_;   // of feeds and fetches
  std::set<std::string> unfed_, open_;
  std::set<std::pair<const Node*, int>> unfed_outputs_;
  std::map<std::pair<const Node*, int>, Tensor> values_;
  std::set<const Node*> done_;
};

}  // namespace emplace::cluster
