#pragma once
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "emplace/emplace.h"

namespace emplace::testing {

// A program with state, from programs.txt: a graph and the steps that are run in it, in order.
struct ProgramText {
  struct Step {
    std::vector<std::string> fetches;  // "x:0", "^target"
    std::vector<std::pair<std::string, Tensor>> feeds;
  };
  std::string name, graph;
  std::vector<Step> steps;
  std::vector<std::pair<std::string, std::string>> files;  // name, content
};
const std::vector<ProgramText>& program_texts();

// The same within a larger graph.
class Program {
 public:
  struct Step {
    Feeds feeds;
    std::vector<Output> fetches;
    std::vector<Node*> targets;
  };
  // Adds it to `graph`, on devices that `device` chooses. Throws what refuses it. Its files lie in
  // `folder`, which is its own.
  Program(Graph& graph, const ProgramText& text, std::string folder,
          const std::function<std::string()>& device);

  const std::string& name() const { return text_->name; }
  const std::vector<Step>& steps() const { return steps_; }
  // What the steps give in a session that has run none of them.
  std::vector<std::vector<Tensor>> run(Session& session) const;

 private:
  void add_step(const Graph& graph, const std::string& prefix, const ProgramText::Step& step);

  const ProgramText* text_;
  std::string folder_;
  std::vector<Step> steps_;
};

}  // namespace emplace::testing
