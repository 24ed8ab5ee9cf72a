#include "exec/late_updates.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "exec/card_chains.h"
#include "exec/joiner.h"
#include "exec/users.h"
#include "exec/variables.h"

namespace emplace {
namespace {

bool is_update(const Step& s) {
  const std::string_view type = on_card(s) ? std::string_view(s.node->type()) : "";
  return type.starts_with("Apply") || type.starts_with("ResourceApply");
}

class Updates {
 public:
  explicit Updates(StepGraph& g) : g_(g), users_(g) {}

  void run() {
    for (int i = 0; i < static_cast<int>(g_.steps.size()); ++i) {
      const Step& s = g_.steps[i];
      const bool reads = s.kind == StepKind::kRead || (s.kind == StepKind::kKernel && s.row &&
                                                       s.node->type() == "ReadVariableOp");
      if (reads && !s.inputs.empty()) reads_[s.inputs[0].step].push_back(i);
    }
    for (int i = 0; i < static_cast<int>(g_.steps.size()); ++i)
      if (is_update(g_.steps[i])) wait(i);
  }

 private:
  void wait(int update) {
    std::vector<int>& controls = g_.steps[update].controls;
    for (const Port p : g_.steps[update].inputs) {
      const auto reads = is_handle(g_.out(p)) ? reads_.find(p.step) : reads_.end();
      if (reads == reads_.end()) continue;
      for (const int read : reads->second)
        if (std::vector<int> found; read < update && all_before(read, update, found))
          controls.insert(controls.end(), found.begin(), found.end());
    }
    std::ranges::sort(controls);
    controls.erase(std::unique(controls.begin(), controls.end()), controls.end());
  }
  // Who uses what `step` read, views of it too; false: not all of them can be done before.
  bool all_before(int step, int update, std::vector<int>& found) const {
    if (users_.fetched(users_.slot({step, 0}))) return false;
    for (const int user : users_.of(Port{step, 0})) {
      const Step& s = g_.steps[user];
      if (user == update) continue;
      if (user > update || !on_card(s)) return false;
      if (s.row->traits.forwards && !all_before(user, update, found)) return false;
      found.push_back(user);
    }
    return true;
  }

  StepGraph& g_;
  const Users users_;
  std::unordered_map<int, std::vector<int>> reads_;  // by the step that gives the handle
};

}  // namespace

void let_updates_wait(StepGraph& g) {
  if (std::ranges::any_of(g.steps, on_card) && !Joiner::branches(g)) Updates(g).run();
}

}  // namespace emplace
