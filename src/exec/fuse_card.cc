#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <string_view>

#include "exec/fuse.h"
#include "exec/joiner.h"
#include "exec/played_group.h"

namespace emplace {
namespace {

constexpr size_t kMostCalls = 24, kMostInputs = 16, kMostSteps = 32;
constexpr int64_t kMostBetween = 64 << 10;

bool on_card(const Step& s) {
  return s.kind == StepKind::kKernel && s.row && s.device && s.device->can_record();
}

bool switched_off() {
  const char* text = std::getenv("EMPLACE_FUSION");
  return text && std::string_view(text) == "0";
}

// Where an operand's element for element i of the result lies: (i / inner) % size.
struct Span {
  int64_t inner = 0, size = 0;  // both 0: i itself
  bool operator==(const Span&) const = default;
};

std::optional<Span> span_of(const Shape& operand, const Shape& result) {
  if (operand == result) return Span{};
  if (operand.num_elements() == 1) return Span{1, 1};
  if (operand.rank() > result.rank()) return std::nullopt;
  Span s{1, 1};
  bool before = false;  // the run of dimensions that the operand has has ended
  for (int d = result.rank() - 1; d >= 0; --d) {
    const int at = d - (result.rank() - operand.rank());
    const int64_t size = at < 0 ? 1 : operand[at];
    if (result[d] == 1) continue;
    if (size == 1) {
      if (s.size == 1) s.inner *= result[d];
      else before = true;
    } else if (size != result[d] || before) {
      return std::nullopt;
    } else {
      s.size *= size;
    }
  }
  if (s.inner == 1 && s.size == result.num_elements()) return Span{};
  return s;
}

// What lies between a group's steps: a kernel for all of them has it in registers, by themselves they
// share memory that a group which is played has to have.
int64_t bytes_between(const StepGraph& g, const std::vector<int>& group) {
  int64_t bytes = 0;
  for (const int i : group)
    for (const StepOutput& o : g.steps[i].outputs)
      if (i != group.back()) bytes += bytes_of(o.shape, o.dtype);
  return bytes;
}

// Gives the group's last step the kernel for all of it; false: each stays by itself.
bool prepare(StepGraph& g, const KernelRow* row, const std::vector<int>& group,
             const std::vector<Port>& inputs, const AttrList& attrs) {
  Step& last = g.steps[group.back()];
  if (!row && bytes_between(g, group) > kMostBetween) return false;
  try {
    last.kernel = row ? make_joined(g, *row, last, inputs, attrs) : play_group(g, group, inputs);
  } catch (const Error&) {
    return false;
  }
  last.row = row ? row : &played_row();
  return true;
}

// A chain of elementwise steps becomes one kernel.
class Elementwise {
 public:
  Elementwise(StepGraph& g, const KernelRow* row) : g_(g), row_(row), joiner_(g) {}

  void run() {
    for (int t = static_cast<int>(g_.steps.size()) - 1; t >= 0; --t)
      if (fits(t))
        join(joiner_.group_of(t, kMostCalls, [&](int i) { return goes_with(i, t); }));
    joiner_.finish();
  }

 private:
  static bool is_bias(const Step& s) {
    return s.node->type() == "BiasAdd" || s.node->type() == "BiasAddV1";
  }
  bool fits(int i) const {
    const Step& s = g_.steps[i];
    if (!on_card(s) || s.outputs.size() != 1 || s.inputs.empty()) return false;
    const StepOutput& out = s.outputs[0];
    if (out.is_ref || out.space != s.device_space || !out.shape.is_fully_known() ||
        out.shape.num_elements() == 0 || out.has_value())
      return false;
    if (!is_elementwise(s.node->type()) && !is_bias(s)) return false;
    for (size_t k = 0; k < s.inputs.size(); ++k) {
      const StepOutput& in = g_.out(s.inputs[k]);
      if (in.is_ref || in.space != s.device_space || !in.shape.is_fully_known()) return false;
      if (!span(s, static_cast<int>(k))) return false;
    }
    return true;
  }
  std::optional<Span> span(const Step& s, int input) const {
    const Shape &in = g_.out(s.inputs[static_cast<size_t>(input)]).shape,
                &out = s.outputs[0].shape;
    if (is_bias(s) && input == 1 && out.rank() > 2) {
      const AttrValue* format = s.node->attr("data_format");
      if (format && format->as<std::string>().substr(0, 2) == "NC") {
        int64_t inner = 1;
        for (int d = 2; d < out.rank(); ++d) inner *= out[d];
        return Span{inner, out[1]};
      }
    }
    return span_of(in, out);
  }
  bool goes_with(int i, int last) const {
    return fits(i) && g_.steps[i].device == g_.steps[last].device &&
           g_.steps[i].outputs[0].shape == g_.steps[last].outputs[0].shape;
  }

  // Operands: inputs from outside count from 0, results of the group from -1 down.
  void join(const std::vector<int>& group) {
    if (group.size() < 2) return;
    std::vector<std::string> ops;
    std::vector<DType> results;
    std::vector<int64_t> operands, counts, spans;
    std::vector<float> numbers;
    std::vector<Port> taken;
    for (int i : group) {
      const Step& s = g_.steps[i];
      ops.push_back(s.node->type());
      results.push_back(s.outputs[0].dtype);
      counts.push_back(static_cast<int64_t>(s.inputs.size()));
      const AttrValue* alpha = s.node->attr("alpha");
      numbers.push_back(alpha && alpha->is<float>() ? alpha->as<float>() : 0);
      for (size_t k = 0; k < s.inputs.size(); ++k)
        operands.push_back(operand(s, static_cast<int>(k), group, taken, spans));
    }
    if (taken.size() > kMostInputs) return;
    AttrList attrs;
    set_attr(attrs, "ops", ops);
    set_attr(attrs, "results", results);
    set_attr(attrs, "operands", operands);
    set_attr(attrs, "counts", counts);
    set_attr(attrs, "spans", spans);
    set_attr(attrs, "numbers", numbers);
    if (prepare(g_, row_, group, taken, attrs)) joiner_.join(group, std::move(taken));
  }

  int64_t operand(const Step& s, int k, const std::vector<int>& group, std::vector<Port>& taken,
                  std::vector<int64_t>& spans) const {
    const Port p = s.inputs[static_cast<size_t>(k)];
    const auto member = std::find(group.begin(), group.end(), p.step);
    if (member != group.end()) return -1 - (member - group.begin());
    const Span where = *span(s, k);
    for (size_t t = 0; t < taken.size(); ++t)
      if (taken[t] == p && Span{spans[2 * t], spans[2 * t + 1]} == where)
        return static_cast<int64_t>(t);
    taken.push_back(p);
    spans.insert(spans.end(), {where.inner, where.size});
    return static_cast<int64_t>(taken.size()) - 1;
  }

  StepGraph& g_;
  const KernelRow* const row_;
  Joiner joiner_;
};

// A product of matrices takes the bias, and relu, that follow it.
class Epilogues {
 public:
  Epilogues(StepGraph& g, const KernelRow* row) : g_(g), row_(row), joiner_(g) {}

  void run() {
    for (int i = 0; i < static_cast<int>(g_.steps.size()); ++i)
      if (is(i, "MatMul") && g_.steps[i].inputs.size() == 2) join(i);
    joiner_.finish();
  }

 private:
  bool is(int i, std::string_view type) const {
    const Step& s = g_.steps[i];
    return on_card(s) && s.node->type() == type && s.outputs.size() == 1 &&
           s.outputs[0].shape.is_fully_known() && s.outputs[0].shape.num_elements() > 0;
  }
  // The one step that takes i's result as its first input.
  int next(int i, std::string_view type) const {
    const auto users = joiner_.users().of(Port{i, 0});
    if (users.size() != 1 || !is(users[0], type)) return -1;
    const Step& s = g_.steps[users[0]];
    const bool first = s.inputs[0] == Port{i, 0} && s.device == g_.steps[i].device;
    return first && joiner_.only_for(i, users[0], {users[0]}) ? users[0] : -1;
  }

  void join(int product) {
    const int bias = next(product, "BiasAdd");
    if (bias < 0) return;
    const int relu = next(bias, "Relu");
    const Step& p = g_.steps[product];
    std::vector<Port> inputs = {p.inputs[0], p.inputs[1],
                                g_.steps[bias].inputs[1]};
    if (relu >= 0 && attempt({product, bias, relu}, inputs, {"BiasAdd", "Relu"})) return;
    attempt({product, bias}, inputs, {"BiasAdd"});
  }

  bool attempt(const std::vector<int>& group, const std::vector<Port>& inputs,
               std::vector<std::string> ops) {
    const Step& product = g_.steps[group[0]];
    AttrList attrs = product.node->attrs();
    set_attr(attrs, "fused_ops", std::move(ops));
    if (!prepare(g_, row_, group, inputs, attrs)) return false;
    joiner_.join(group, inputs);
    return true;
  }

  StepGraph& g_;
  const KernelRow* const row_;
  Joiner joiner_;
};

// Steps of optimizers by the same rule, on variables of their own, become one.
class Updates {
 public:
  Updates(StepGraph& g, const KernelRow* row) : g_(g), row_(row), joiner_(g) {}

  void run() {
    std::map<std::string, std::vector<int>> groups;
    for (int i = 0; i < static_cast<int>(g_.steps.size()); ++i)
      if (fits(i)) groups[alike(g_.steps[i])].push_back(i);
    for (const auto& [key, group] : groups) cut(group);
    joiner_.finish();
  }

 private:
  bool fits(int i) const {
    const Step& s = g_.steps[i];
    if (!on_card(s) || !s.outputs.empty() || s.node->type().rfind("ResourceApply", 0) != 0)
      return false;
    for (Port p : s.inputs)
      if (g_.out(p).dtype == DType::kResource && variable(p).empty()) return false;
    return true;
  }
  // A name for the variable behind a handle; none: it might be any.
  std::string variable(Port p) const {
    const Step& s = g_.steps[p.step];
    if (s.kind == StepKind::kFeed) return "feed " + std::to_string(p.step);
    if (s.kind != StepKind::kKernel || s.node->type() != "VarHandleOp") return "";
    const AttrValue* shared = s.node->attr("shared_name");
    const AttrValue* container = s.node->attr("container");
    const bool named = shared && !shared->as<std::string>().empty();
    return "variable " + (container ? container->as<std::string>() : "") + "/" +
           (named ? shared->as<std::string>() : *s.name);
  }
  // Steps of one kind may be one: op, attributes, dtypes, device, and where their handles come from.
  std::string alike(const Step& s) const {
    std::string key = s.node->type() + "|" + s.device->name();
    for (const auto& [name, value] : s.node->attrs())
      if (name[0] != '_') key += "|" + name + "=" + value.str();
    return key + "|" + variable(s.inputs[0]).substr(0, 4);
  }

  // As many as fit a launch, none waited for before the last of them, no variable twice.
  void cut(const std::vector<int>& all) {
    std::vector<int> group;
    std::vector<std::string> held;
    auto close = [&] {
      if (group.size() > 1) join(group);
      group.clear();
      held.clear();
    };
    for (int i : all) {
      std::vector<std::string> mine;
      for (Port p : g_.steps[i].inputs)
        if (g_.out(p).dtype == DType::kResource) mine.push_back(variable(p));
      bool meets = group.size() == kMostSteps;
      for (int member : group) meets |= joiner_.waited_for_before(member, i);
      for (const std::string& v : mine)
        meets |= std::find(held.begin(), held.end(), v) != held.end();
      if (meets) close();
      group.push_back(i);
      held.insert(held.end(), mine.begin(), mine.end());
    }
    close();
  }

  void join(const std::vector<int>& group) {
    std::vector<Port> inputs;
    for (int i : group) {
      const Step& s = g_.steps[i];
      inputs.insert(inputs.end(), s.inputs.begin(), s.inputs.end());
    }
    AttrList attrs = g_.steps[group.back()].node->attrs();
    set_attr(attrs, "count", static_cast<int64_t>(group.size()));
    if (prepare(g_, row_, group, inputs, attrs)) joiner_.join(group, std::move(inputs));
  }

  StepGraph& g_;
  const KernelRow* const row_;
  Joiner joiner_;
};

template <class Pass>
void run_pass(StepGraph& g, PlanEnvironment& env, const char* op) {
  Pass(g, env.kernels().find(op, "GPU", {})).run();
}

}  // namespace

void fuse_for_cards(StepGraph& g, PlanEnvironment& env) {
  if (std::none_of(g.steps.begin(), g.steps.end(), on_card)) return;
  if (switched_off() || Joiner::branches(g)) return;
  run_pass<Epilogues>(g, env, "_FusedMatMul");
  run_pass<Elementwise>(g, env, "_FusedElementwise");
  run_pass<Updates>(g, env, "_FusedApply");
}

}  // namespace emplace
