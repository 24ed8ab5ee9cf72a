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
    variable_.reserve(g_.steps.size());
    for (size_t i = 0; i < g_.steps.size(); ++i) look(static_cast<int>(i));
    for (auto& [variable, of] : all_)
      for (int r : of.reads) settle(r, variable);
    for (auto& [variable, of] : all_)
      for (int w : of.writes) {
        int16_t& aliases = g_.steps[w].own_aliases;  // the most, where it writes several
        aliases = std::max(aliases, handles_before(w, variable));
      }
  }

 private:
  struct Uses {
    std::vector<int> reads, writes;
  };

  bool any_handle() const {
    for (const Step& s : g_.steps)
      for (const StepOutput& o : s.outputs)
        if (is_handle(o)) return true;
    return false;
  }

  void look(int i) {
    const Step& s = g_.steps[i];
    variable_.push_back(variable_of(s));
    const bool reads = is_read(s), writes = !reads && !only_looks(s);
    for (Port p : s.inputs) {
      if (!is_handle(g_.out(p))) continue;
      Uses& of = all_[variable_[p.step]];
      if (reads && (of.reads.empty() || of.reads.back() != i)) of.reads.push_back(i);
      if (writes && (of.writes.empty() || of.writes.back() != i)) of.writes.push_back(i);
    }
  }

  // Which variable the handles mean that a step gives: the same number for the same container and
  // name. Assign, Identity … hand on the handle they were given.
  int variable_of(const Step& s) {
    if (s.kind != StepKind::kKernel) return kUnknownVariable;
    const std::string& type = s.node->type();
    if (type == "VarHandleOp" || type == "Variable" || type == "VariableV2") return number(s);
    if (s.inputs.empty() || !is_handle(g_.out(s.inputs[0]))) return kUnknownVariable;
    return variable_[s.inputs[0].step];
  }

  int number(const Step& s) {
    std::string key = *s.name;
    if (const AttrValue* v = s.node->attr("shared_name"); v && !v->as<std::string>().empty())
      key = v->as<std::string>();
    if (const AttrValue* v = s.node->attr("container")) key += '\0' + v->as<std::string>();
    return numbers_.try_emplace(key, static_cast<int>(numbers_.size())).first->second;
  }

  // Calls f on those whose variable may be this one; until it says true.
  template <class F>
  bool any_of(int variable, std::vector<int> Uses::* which, F f) const {
    if (variable == kUnknownVariable)
      return std::ranges::any_of(all_, [&](const auto& of) {
        return std::ranges::any_of(of.second.*which, f);
      });
    for (const int v : {variable, kUnknownVariable})
      if (const auto of = all_.find(v); of != all_.end())
        if (std::ranges::any_of(of->second.*which, f)) return true;
    return false;
  }

  void settle(int r, int variable) {
    Step& read = g_.steps[r];
    sharing(r, makers_[r]);
    read.snapshot = must_snapshot(r, variable);
    read.kernel =
        read.kind == StepKind::kRead ? deref(read.snapshot) : read_variable(read.snapshot);
    if (const Shape& shape = read.outputs[0].shape; shape.is_fully_known())
      read.kernel = prepared(ReadAsDeclared{std::move(read.kernel), shape});
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

  bool must_snapshot(int r, int variable) const {
    const std::vector<int>& makers = makers_.at(r);
    return any_of(variable, &Uses::writes, [&](int w) {
      if (order_.before(w, r)) return false;
      for (int m : makers) {
        const int s = users_.slot({m, 0});
        if (users_.fetched(s)) return true;
        for (int u : users_.of(s))
          if (u == w || !order_.before(u, w)) return true;
      }
      return !order_.before(r, w);
    });
  }

  int16_t handles_before(int w, int variable) const {
    int count = 0;
    any_of(variable, &Uses::reads, [&](int r) {
      if (g_.steps[r].snapshot || !order_.before(r, w)) return false;
      // What a closed gate kept from running holds nothing.
      for (int m : makers_.at(r)) {
        const auto& gates = g_.steps[m].flow->gates;
        count += gates.empty() || gates == g_.steps[w].flow->gates;
      }
      return false;
    });
    return static_cast<int16_t>(std::min(count, 30000));
  }

  StepGraph& g_;
  const Order& order_;
  const Users& users_;
  std::vector<int> variable_;                         // by step: what its handles mean
  std::unordered_map<int, Uses> all_;                 // by variable
  std::unordered_map<int, std::vector<int>> makers_;  // by read: see sharing
  std::unordered_map<std::string, int> numbers_;
};

}  // namespace

void plan_variables(StepGraph& g, const Order& order, const Users& users) {
  Variables(g, order, users).run();
}

}  // namespace emplace
