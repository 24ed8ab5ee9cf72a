#include "exec/played_group.h"

#include <algorithm>

namespace emplace {
namespace {

struct Member {
  Prepared kernel;
  std::vector<uint32_t> operands;  // inputs, then outputs, by their place among the joined step's
  std::vector<DType> types;        // of its outputs
  const std::string* name;
};

struct PlayedGroup {
  std::vector<Member> members;

  void operator()(KernelContext& c) const {
    for (const Member& m : members) play(m, c);
  }

  static void play(const Member& m, const KernelContext& outer) {
    SmallVector<uint32_t, 24> operands;
    const auto num_inputs = static_cast<uint32_t>(outer.num_inputs());
    CallSite site = *outer.site_;
    site.count(m.operands.size() - m.types.size(), m.types.size());
    site.planned = site.host_outputs = 0;
    for (size_t k = 0; k < m.operands.size(); ++k) {
      operands.push_back(outer.site_->operands[m.operands[k]]);
      if (k < site.num_inputs) continue;
      const uint32_t bit = outer.site_->planned >> (m.operands[k] - num_inputs) & 1;
      site.planned |= bit << (k - site.num_inputs);
    }
    site.operands = operands.data();
    site.output_types = m.types.data();
    site.node = m.name;
    KernelContext c = outer;
    c.site_ = &site;
    m.kernel.run(m.kernel.state.get(), c);
  }
};

}  // namespace

Prepared play_group(StepGraph& g, const std::vector<int>& group, const std::vector<Port>& inputs) {
  Step& last = g.steps[group.back()];
  const size_t results = last.outputs.size();
  std::vector<Port> operands = inputs;
  for (size_t o = 0; o < results; ++o) operands.push_back({group.back(), static_cast<int>(o)});
  for (const int i : group)
    for (size_t o = 0; i != group.back() && o < g.steps[i].outputs.size(); ++o) {
      operands.push_back({i, static_cast<int>(o)});
      last.outputs.push_back(g.steps[i].outputs[o]);
    }
  const auto place = [&](Port p) {
    return static_cast<uint32_t>(std::find(operands.begin(), operands.end(), p) -
                                 operands.begin());
  };
  PlayedGroup played;
  for (const int i : group) {
    const Step& s = g.steps[i];
    Member m{s.kernel, {}, {}, s.name};
    for (Port p : s.inputs) m.operands.push_back(place(p));
    const size_t own = i == group.back() ? results : s.outputs.size();
    for (size_t o = 0; o < own; ++o) {
      m.operands.push_back(place({i, static_cast<int>(o)}));
      m.types.push_back(s.outputs[o].dtype);
    }
    played.members.push_back(std::move(m));
  }
  return prepared(std::move(played));
}

const KernelRow& played_row() {
  static const KernelRow row{"_Joined", "GPU", {}, {}, nullptr, {.replays = true}, 0, ""};
  return row;
}

}  // namespace emplace
