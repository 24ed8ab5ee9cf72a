#include "cluster/partial_run.h"

#include <fmt/format.h>

#include "exec/prune.h"

namespace emplace::cluster {
namespace {

std::pair<const Node*, int> key(const Output& o) { return {o.node, o.index}; }

[[noreturn]] void refuse(std::string words) { throw invalid_argument(std::move(words)); }

}  // namespace

PartialRun::PartialRun(const Graph& graph, MasterSession::Request wanted) {
  FeedIndex fed;
  std::vector<Node*> roots;
  for (const std::string& name : wanted.feeds) {
    const Output o = names_[name] = graph.tensor(name);
    fed.emplace(o, static_cast<int>(fed.size()));
    unfed_.insert(name);
    unfed_outputs_.insert(key(o));
  }
  for (const std::string& name : wanted.fetches) {
    const Output o = names_[name] = graph.tensor(name);
    open_.insert(name);
    if (!fed.contains(o)) roots.push_back(o.node);
  }
  for (const std::string& name : wanted.targets) {
    Node* const n = graph.find(name);
    if (!n) throw not_found(fmt::format("FetchOutputs node {}: not found", name));
    roots.push_back(n);
  }
  if (roots.empty() && open_.empty()) refuse("Must specify at least one target to fetch or execute.");
  needed_ = needed_nodes(roots, fed);
}

// Does it depend on what has not been fed?
bool PartialRun::waits(const Node* n, std::map<const Node*, bool>& known) const {
  if (done_.contains(n)) return false;
  const auto it = known.find(n);
  return it != known.end() && it->second;
}

PartialRun::Piece PartialRun::begin(std::span<const std::string> feeds, std::span<const Tensor> values,
                                    std::span<const std::string> fetches) {
  std::set<std::pair<const Node*, int>> unfed = unfed_outputs_;
  for (const std::string& name : feeds) {
    if (!names_.contains(name)) refuse(fmt::format("The feed {} was not specified in partial_run_setup.", name));
    if (!unfed_.contains(name)) refuse(fmt::format("The feed {} has already been fed.", name));
    unfed.erase(key(names_.at(name)));
  }
  std::map<const Node*, bool> waiting;  // needed_ has inputs first
  std::map<const Node*, std::string> what;
  for (const Node* n : needed_) {
    for (const Output& in : n->inputs()) {
      const bool missing = unfed.contains(key(in));
      if (!missing && (values_.contains(key(in)) || unfed_outputs_.contains(key(in)) || !waits(in.node, waiting))) continue;
      waiting[n] = true;
      what.emplace(n, missing ? in.name() : what[in.node]);
    }
    for (const Node* c : n->control_inputs())
      if (waits(c, waiting)) waiting[n] = true, what.emplace(n, what[c]);
  }
  for (const std::string& name : fetches) {
    if (!names_.contains(name)) refuse(fmt::format("The fetch {} was not specified in partial_run_setup.", name));
    if (!open_.contains(name)) refuse(fmt::format("The fetch {} has already been fetched.", name));
    const Node* const n = names_.at(name).node;
    if (waits(n, waiting))
      refuse(fmt::format("Fetch {} can't be computed from the feeds that have been fed so far.", what[n]));
  }
  for (size_t i = 0; i < feeds.size(); ++i) {
    values_[key(names_.at(feeds[i]))] = values[i];
    unfed_outputs_.erase(key(names_.at(feeds[i])));
    unfed_.erase(feeds[i]);
  }
  Piece piece;
  std::set<const Node*> now;
  std::set<std::pair<const Node*, int>> fed, kept;
  for (const Node* n : needed_)
    if (!done_.contains(n) && !waits(n, waiting)) now.insert(n);
  const auto keep = [&](const Output& o) {
    if (now.contains(o.node) && !values_.contains(key(o)) && kept.insert(key(o)).second)
      piece.request.fetches.push_back(o.name());
  };
  for (const Node* n : needed_)
    for (const Output& in : n->inputs()) {
      if (waits(n, waiting)) keep(in);
      const auto value = now.contains(n) ? values_.find(key(in)) : values_.end();
      if (value == values_.end() || !fed.insert(key(in)).second) continue;
      piece.request.feeds.push_back(in.name());
      piece.feeds.push_back(value->second);
    }
  for (const auto& [name, output] : names_)
    if (open_.contains(name)) keep(output);
  for (const Node* n : now) piece.request.targets.push_back(n->name());
  done_.insert(now.begin(), now.end());
  return piece;
}

std::vector<Tensor> PartialRun::end(const Piece& piece, std::vector<Tensor> fetched,
                                    std::span<const std::string> fetches) {
  std::map<std::string, Tensor> by_name;
  for (size_t i = 0; i < fetched.size(); ++i) by_name[piece.request.fetches[i]] = std::move(fetched[i]);
  for (const Node* n : needed_)
    for (int i = 0; i < n->num_outputs(); ++i)
      if (const auto it = by_name.find(Output{const_cast<Node*>(n), i}.name()); it != by_name.end())
        values_[{n, i}] = it->second;
  std::vector<Tensor> values;
  for (const std::string& name : fetches) {
    values.push_back(values_.at(key(names_.at(name))));
    open_.erase(name);
  }
  return values;
}

}  // namespace emplace::cluster
