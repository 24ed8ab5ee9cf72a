#include "exec/card_chains.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "exec/fuse.h"
#include "exec/played_group.h"

namespace emplace {

bool on_card(const Step& s) {
  return s.kind == StepKind::kKernel && s.row && s.device && s.device->can_record();
}

namespace {

constexpr size_t kMostCalls = 24, kMostInputs = 16;
constexpr int64_t kMostBetween = 64 << 10;
constexpr int64_t kLeastAlone =
    1 << 16;  // elements of a step that is worth a kernel written for it

// What lies between a group's steps: a kernel for all of them has it in registers, by themselves they
// share memory that a group which is played has to have.
int64_t bytes_between(const StepGraph& g, const std::vector<int>& group) {
  int64_t bytes = 0;
  for (const int i : group)
    for (const StepOutput& o : g.steps[i].outputs)
      if (i != group.back()) bytes += bytes_of(o.shape, o.dtype);
  return bytes;
}

}  // namespace

bool prepare_joined(StepGraph& g, const KernelRow* row, const std::vector<int>& group,
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

namespace {

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

// Repeats its operand, which a chain reads as it is.
bool repeats(const Step& s) {
  return s.node->type() == "Tile" || s.node->type() == "BroadcastTo";
}
bool is_bias(const Step& s) {
  return s.node->type() == "BiasAdd" || s.node->type() == "BiasAddV1";
}
size_t num_operands(const Step& s) { return repeats(s) ? 1 : s.inputs.size(); }

class Chains {
 public:
  Chains(StepGraph& g, const KernelRow* row) : g_(g), row_(row), joiner_(g) {}

  void run() {
    for (int t = static_cast<int>(g_.steps.size()) - 1; t >= 0; --t) {
      if (!fits(t)) continue;
      if (joiner_.drop_if_copied(t)) continue;
      join(joiner_.group_of(t, kMostCalls, [&](int i) { return goes_with(i, t); }));
    }
    joiner_.finish();
  }

 private:
  bool fits(int i) const {
    const Step& s = g_.steps[i];
    if (!on_card(s) || s.outputs.size() != 1 || s.inputs.empty()) return false;
    const StepOutput& out = s.outputs[0];
    if (out.is_ref || out.space != s.device_space || !out.shape.is_fully_known() ||
        out.shape.num_elements() == 0 || out.has_value())
      return false;
    if (!is_elementwise(s.node->type()) && !is_bias(s) && !(row_ && repeats(s))) return false;
    for (size_t k = 0; k < num_operands(s); ++k) {
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

  // ---- What is computed again.

  // Operands of the members that none of them makes, as large as the result.
  std::vector<Port> large_reads(const std::vector<int>& members) const {
    std::vector<Port> reads;
    for (const int i : members) {
      const Step& s = g_.steps[i];
      for (size_t k = 0; k < num_operands(s); ++k)
        if (const Port p = s.inputs[k]; span(s, static_cast<int>(k)) == Span{} &&
                                        std::ranges::find(members, p.step) == members.end() &&
                                        std::ranges::find(reads, p) == reads.end())
          reads.push_back(p);
    }
    return reads;
  }
  int64_t bytes(const std::vector<Port>& ports) const {
    int64_t sum = 0;
    for (Port p : ports) sum += bytes_of(g_.out(p).shape, g_.out(p).dtype);
    return sum;
  }
  bool may_copy(int i, int last) const {
    return goes_with(i, last) && g_.steps[i].controls.empty();
  }
  // Could all who take it make it themselves?
  bool only_chains_take(int i, int last) const {
    return std::ranges::all_of(joiner_.users().of(Port{i, 0}),
                               [&](int u) { return goes_with(u, last) || joined(u); }) &&
           !joiner_.users().fetched(joiner_.users().slot({i, 0}));
  }
  bool joined(int i) const { return g_.steps[i].joined || g_.steps[i].kind == StepKind::kConst; }

  // The group and makers of what it reads, as long as the bytes to read don't grow.
  std::vector<int> with_copies(const std::vector<int>& group) const {
    std::vector<int> members = group, best = group;
    int64_t now = bytes(large_reads(members)), least = now;
    for (bool grown = true; grown && members.size() < kMostCalls;) {
      grown = false;
      for (Port p : large_reads(members)) {
        if (!may_copy(p.step, group.back())) continue;
        std::vector<int> more = members;
        more.insert(std::ranges::upper_bound(more, p.step), p.step);
        const int64_t then = bytes(large_reads(more));
        if (then > now) continue;
        const bool unread = only_chains_take(p.step, group.back());
        members = std::move(more), now = then, grown = true;
        if (now < least || unread) best = members, least = now;
        break;
      }
    }
    return best;
  }

  // ---- The chain's description, as the backend reads it.

  struct Description {
    std::vector<std::string> ops;
    std::vector<DType> results;
    std::vector<int64_t> operands, counts, spans;  // operands: inputs from 0, results from -1 down
    std::vector<float> numbers;
    std::vector<Port> taken;

    AttrList attrs() const {
      AttrList list;
      set_attr(list, "ops", ops);
      set_attr(list, "results", results);
      set_attr(list, "operands", operands);
      set_attr(list, "counts", counts);
      set_attr(list, "spans", spans);
      set_attr(list, "numbers", numbers);
      return list;
    }
  };

  Description describe(const std::vector<int>& members) const {
    Description d;
    for (const int i : members) {
      const Step& s = g_.steps[i];
      d.ops.push_back(s.node->type());
      d.results.push_back(s.outputs[0].dtype);
      d.counts.push_back(static_cast<int64_t>(num_operands(s)));
      const AttrValue* alpha = s.node->attr("alpha");
      d.numbers.push_back(alpha && alpha->is<float>() ? alpha->as<float>() : 0);
      for (size_t k = 0; k < num_operands(s); ++k)
        d.operands.push_back(operand(s, static_cast<int>(k), members, d));
    }
    return d;
  }
  int64_t operand(const Step& s, int k, const std::vector<int>& members, Description& d) const {
    const Port p = s.inputs[static_cast<size_t>(k)];
    const auto member = std::ranges::find(members, p.step);
    if (member != members.end()) return -1 - (member - members.begin());
    const Span where = *span(s, k);
    for (size_t t = 0; t < d.taken.size(); ++t)
      if (d.taken[t] == p && Span{d.spans[2 * t], d.spans[2 * t + 1]} == where)
        return static_cast<int64_t>(t);
    d.taken.push_back(p);
    d.spans.insert(d.spans.end(), {where.inner, where.size});
    return static_cast<int64_t>(d.taken.size()) - 1;
  }

  // Alone, where an operand repeats: the general kernel looks for each of its elements anew.
  bool better_written(const Description& d, const Shape& result) const {
    if (!row_ || result.num_elements() < kLeastAlone) return false;
    for (size_t i = 0; i < d.spans.size(); i += 2)
      if (d.spans[i] > 0 && d.spans[i + 1] > 1) return true;
    return false;
  }

  void join(const std::vector<int>& group) {
    std::vector<int> members = row_ ? with_copies(group) : group;
    Description d = describe(members);
    if (d.taken.size() > kMostInputs && members.size() > group.size())
      d = describe(members = group);
    if (members.size() < 2 && !better_written(d, g_.steps[members[0]].outputs[0].shape)) return;
    if (d.taken.size() > kMostInputs) return;
    if (!prepare_joined(g_, row_, group, d.taken, d.attrs())) return;
    for (const int i : members)
      if (std::ranges::find(group, i) == group.end()) joiner_.copied(i, group, d.taken);
    joiner_.join(group, std::move(d.taken));
  }

  StepGraph& g_;
  const KernelRow* const row_;
  Joiner joiner_;
};

}  // namespace

void join_chains(StepGraph& g, const KernelRow* row) { Chains(g, row).run(); }

}  // namespace emplace
