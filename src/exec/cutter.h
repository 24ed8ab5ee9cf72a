#pragma once
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "exec/branches.h"
#include "exec/loops.h"
#include "exec/partition.h"
#include "exec/prune.h"

namespace emplace {

// Cuts one signature's graph by task: partition.cc nodes and values, cut_loops.cc loops over several
// tasks, cut_levels.cc the order of what is received. `frames` are loops, 0 what lies in none.
class Cutter {
 public:
  Cutter(const Graph& graph, const Signature& s, const PlaceOf& place,
         std::span<const std::string> hosts);
  Partition cut();

 private:
  // ---- Nodes as they are.
  GraphPart& part(int task);
  void add_node(Node& n);
  std::string tensor_in(int task, const Output& o, const Node* user);
  std::string fed_in(int task, const Output& o, int number);
  std::string copied(int task, const Node& n);
  std::string control_in(int task, Node& n, const Node& user);
  proto::NodeDef& new_node(int task, std::string_view op, const std::string& like);
  void finish(GraphPart& part) const;

  // ---- What goes from task to task.
  std::string received(int task, const Output& o, const Node* user);
  std::string crossing(int from, int to, const std::string& tensor, std::string name,
                       const Node& node, int index, DType dtype, const Conditions& conditions,
                       const Node* after);
  std::string pivot_in(int task, const Condition& c);
  std::string nothing(int task, int frame, std::span<const std::string> after);
  void check_kind(const Output& o, const Node* user, int task) const;
  std::string ends(const Node& from, const Node* to, int task) const;

  // ---- Loops (cut_loops.cc).
  // What a task has of a loop that spans several: a variable of its own that says how long it goes on.
  struct Round {
    proto::NodeDef* start = nullptr;    // waits for what the loop waits for
    std::string merge;                  // is there in every round …
    std::string condition;              // … with the word whether there is to be another …
    std::string body;                   // … and if so, this
    proto::NodeDef* sent = nullptr;     // waits for what the round has to send
    std::string exit;
  };
  void find_homes();
  const NodePlace& home(const Node& n) const;
  int frame(const Node& n) const { return nest_.frame(&n); }
  bool spans(int frame) const { return frame > 0 && tasks_[static_cast<size_t>(frame)].size() > 1; }
  Round& round(int frame, int task);
  void begin_round(Round& r, int frame, int task);
  std::string entered(int task, Node& enter);
  std::vector<std::string> waits_in(int task, int frame, const Conditions& conditions);
  void check_loop(const Node& from, const Node& to, int task) const;

  // ---- Order (cut_levels.cc).
  void order_receives();
  void find_levels(int frame);
  int level_of(int task, const Node& from, int index) const;
  void order_task(int task, int frame);

  const Graph& graph_;
  const Signature& signature_;
  const PlaceOf& place_;
  const std::span<const std::string> hosts_;
  const FeedIndex fed_;
  const std::vector<Node*> order_;
  const LoopNest nest_;
  const Branches branches_;
  mutable std::unordered_map<const Node*, NodePlace> homes_;
  std::unordered_map<const Node*, const Node*> variable_enters_;  // and their Merges
  std::vector<std::set<int>> tasks_;                  // by frame
  std::vector<Node*> conditions_;                     // by frame: its LoopCond
  std::map<std::pair<int, int>, Round> rounds_;       // by frame and task
  std::map<int, GraphPart> parts_;
  std::vector<Crossing> crossings_;
  std::map<std::tuple<int, const Node*, int>, std::string> known_;  // by task and output; -1: control
  std::map<std::tuple<int, const Node*, int, int>, std::string> pivots_;
  std::map<int, std::string> nothings_;
  int next_name_ = 0;
  struct Way {
    proto::NodeDef *send, *receive;
    const Node* node;  // whose value it is …
    int index;         // … and which; -1: that it is done
    Conditions conditions;
  };
  std::vector<Way> ways_;                          // by channel
  std::unordered_map<std::string, int> channels_;  // by the receive's name
  std::unordered_map<const Node*, int> levels_;    // among those of their frame
  std::vector<int> loop_levels_;                   // by frame, in the one around it
};

}  // namespace emplace
