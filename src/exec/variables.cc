#include "exec/variables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>

#include "kernel/variable_kernels.h"

namespace emplace {

bool only_looks(const Step& s) {
  static constexpr std::array<std::string_view, 10> kReaders = {
      "ReadVariableOp", "VarIsInitializedOp", "IsVariableInitialized", "VariableShape",
      "ResourceGather", "ResourceGatherNd",   "Identity",              "IdentityN",
      "_Retval",        "RefIdentity"};
  if (s.kind == StepKind::kLoop) return false;  // who knows
  if (s.kind != StepKind::kKernel) return true;
  return std::find(kReaders.begin(), kReaders.end(), s.node->type()) != kReaders.end();
}

namespace {

bool is_read(const Step& s) {
  return s.kind == StepKind::kRead ||
         (s.kind == StepKind::kKernel && s.row && s.node->type() == "ReadVariableOp");
}

bool forwards(const Step& s) {
  return s.kind == StepKind::kKernel && s.row && s.row->traits.forwards;
}

constexpr int kUnknownVariable = -1;

// The plan counts on the shape the variable was declared with; an Assign that may change it can
// have done so in another run.
struct ReadAsDeclared {
  Prepared read;
  Shape shape;
  void operator()(KernelContext& c) const {
    read.run(read.state.get(), c);
    const Shape& now = c.output_slot(0).shape();
    if (!(now == shape))
      throw failed_precondition(fmt::format("variable read by '{}' was declared with shape {} but "
                                            "has shape {}",
                                            c.node(), shape.str(), now.str()));
  }
};

class Variables {
 public:
  Variables(StepGraph& g, const Order& order, const Users& users)
      : g_(g), order_(order), users_(users) {}

  void run() {
    if (!any_handle()) return;
    for (size_t i = 0; i < g_.steps.size(); ++i) look(static_cast<int>(i));
    for (int r : reads_) {
      Step& read = g_.steps[r];
      read.snapshot = must_snapshot(r);
      read.kernel =
          read.kind == StepKind::kRead ? deref(read.snapshot) : read_variable(read.snapshot);
      if (const Shape& shape = read.outputs[0].shape; shape.is_fully_known())
        read.kernel = prepared(ReadAsDeclared{std::move(read.kernel), shape});
    }
    for (int w : writes_) g_.steps[w].own_aliases = handles_before(w);
  }

 private:
  bool any_handle() const {
    for (const Step& s : g_.steps)
      for (const StepOutput& o : s.outputs)
        if (is_handle(o)) return true;
    return false;
  }

  void look(int i) {
    const Step& s = g_.steps[i];
    bool takes_handle = false;
    for (Port p : s.inputs) takes_handle |= is_handle(g_.out(p));
    if (!takes_handle) return;
    if (is_read(s)) reads_.push_back(i);
    else if (!only_looks(s)) writes_.push_back(i);
  }

  // Which variable a handle means: the same number for the same container and name.
  int variable_of(Port p) {
    for (int hops = 0; hops < 1000; ++hops) {
      const Step& s = g_.steps[p.step];
      const std::string& type = s.node->type();
      if (s.kind == StepKind::kKernel &&
          (type == "VarHandleOp" || type == "Variable" || type == "VariableV2"))
        return number(s);
      if (s.kind != StepKind::kKernel || s.inputs.empty()) break;
      p = s.inputs[0];  // Assign, Identity … hand on the handle they were given
      if (!is_handle(g_.out(p))) break;
    }
    return kUnknownVariable;
  }

  int number(const Step& s) {
    std::string key = *s.name;
    if (const AttrValue* v = s.node->attr("shared_name"); v && !v->as<std::string>().empty())
      key = v->as<std::string>();
    if (const AttrValue* v = s.node->attr("container")) key += '\0' + v->as<std::string>();
    return numbers_.try_emplace(key, static_cast<int>(numbers_.size())).first->second;
  }

  bool may_be_same(int a, int b) const {
    return a == b || a == kUnknownVariable || b == kUnknownVariable;
  }

  bool writes(int w, int variable) {
    for (Port p : g_.steps[w].inputs)
      if (is_handle(g_.out(p)) && may_be_same(variable_of(p), variable)) return true;
    return false;
  }

  // The slots that hold the read's handle: its own and those that forward it; by their makers.
  void sharing(int read, std::vector<int>& makers) const {
    makers = {read};
    for (size_t k = 0; k < makers.size(); ++k) {
      const int slot = users_.slot({makers[k], 0});
      for (int u : users_.of(slot))
        if (forwards(g_.steps[u]) && users_.slot(g_.steps[u].inputs[0]) == slot)
          makers.push_back(u);
    }
  }

  bool must_snapshot(int r) {
    const int variable = variable_of(g_.steps[r].inputs[0]);
    std::vector<int> makers;
    sharing(r, makers);
    for (int w : writes_) {
      if (!writes(w, variable) || order_.before(w, r)) continue;
      for (int m : makers) {
        const int s = users_.slot({m, 0});
        if (users_.fetched(s)) return true;
        for (int u : users_.of(s))
          if (u == w || !order_.before(u, w)) return true;
      }
      if (!order_.before(r, w)) return true;
    }
    return false;
  }

  // Of each variable that w writes; the most of them, where there are several.
  int16_t handles_before(int w) {
    int most = 0;
    for (Port p : g_.steps[w].inputs)
      if (is_handle(g_.out(p))) most = std::max(most, handles_before(w, variable_of(p)));
    return static_cast<int16_t>(std::min(most, 30000));
  }
  int handles_before(int w, int variable) {
    int count = 0;
    std::vector<int> makers;
    for (int r : reads_) {
      if (g_.steps[r].snapshot || !order_.before(r, w)) continue;
      if (!may_be_same(variable_of(g_.steps[r].inputs[0]), variable)) continue;
      sharing(r, makers);
      // What a closed gate kept from running holds nothing.
      for (int m : makers) count += g_.steps[m].gates.empty() || g_.steps[m].gates == g_.steps[w].gates;
    }
    return count;
  }

  StepGraph& g_;
  const Order& order_;
  const Users& users_;
  std::vector<int> reads_, writes_;
  std::unordered_map<std::string, int> numbers_;
};

}  // namespace

void plan_variables(StepGraph& g, const Order& order, const Users& users) {
  Variables(g, order, users).run();
}

}  // namespace emplace
