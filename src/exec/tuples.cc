#include "exec/tuples.h"

#include <algorithm>
#include <bit>

#include "exec/idle.h"
#include "exec/joiner.h"

namespace emplace {
namespace {

constexpr size_t kMostWords = size_t{4} << 20;  // of all sets of steps together

// Which of the steps that matter come surely before each step.
class Before {
 public:
  Before(const StepGraph& g, const std::vector<int>& number, size_t count)
      : g_(g), number_(number), words_((count + 63) / 64), bits_(g.steps.size() * words_) {}

  static bool affordable(const StepGraph& g, size_t count) {
    return (count + 63) / 64 * g.steps.size() <= kMostWords;
  }
  // Steps before i are done.
  void find(int i) {
    for (Port p : g_.steps[i].inputs) behind(i, p.step);
    for (const int c : g_.steps[i].controls) behind(i, c);
  }
  void behind(int i, int first) {
    uint64_t* const of = at(i);
    const uint64_t* const more = at(first);
    for (size_t w = 0; w < words_; ++w) of[w] |= more[w];
    if (const int n = number_[first]; n >= 0) of[n / 64] |= uint64_t{1} << n % 64;
  }
  // Calls f(number), the highest first, for those before i here and not in `other`, asked anew each time.
  template <class F>
  void lost(int i, const Before& other, F f) const {
    for (size_t w = words_; w-- > 0;)
      for (uint64_t tried = 0;;) {
        const uint64_t rest = bits_[i * words_ + w] & ~other.bits_[i * words_ + w] & ~tried;
        if (!rest) break;
        const int bit = 63 - std::countl_zero(rest);
        tried |= uint64_t{1} << bit;
        f(static_cast<int>(w) * 64 + bit);
      }
  }

 private:
  uint64_t* at(int i) { return bits_.data() + static_cast<size_t>(i) * words_; }

  const StepGraph& g_;
  const std::vector<int>& number_;  // by step, of those that matter; -1
  size_t words_;
  std::vector<uint64_t> bits_;
};

class Tuples {
 public:
  explicit Tuples(StepGraph& g) : g_(g) {}

  void run() {
    find();
    if (members_.empty()) return;
    number();
    if (!Before::affordable(g_, steps_.size())) return;
    Before was(g_, number_, steps_.size());
    for (size_t i = 0; i < g_.steps.size(); ++i) was.find(static_cast<int>(i));
    release();
    forget_gates();
    restore(was);
    look_through();
  }

 private:
  struct Member {
    int identity, gate;
  };

  bool is_gate(int i) const {
    const Step& s = g_.steps[i];
    return s.kind == StepKind::kKernel && s.row && s.inputs.empty() && s.node->type() == "NoOp";
  }
  bool is_identity(const Step& s) const {
    return s.kind == StepKind::kKernel && s.row && s.node->type() == "Identity" && has_no_effect(g_, s) &&
           g_.out(s.inputs[0]).space == s.outputs[0].space;
  }

  void find() {
    for (size_t i = 0; i < g_.steps.size(); ++i) {
      const Step& s = g_.steps[i];
      if (s.controls.empty() || !is_identity(s)) continue;
      for (const int c : s.controls)
        if (is_gate(c) && std::ranges::find(g_.steps[c].controls, s.inputs[0].step) != g_.steps[c].controls.end())
          members_.push_back({static_cast<int>(i), c});
    }
  }

  // Order matters to what has effects, and to what takes a variable's memory.
  void number() {
    number_.assign(g_.steps.size(), -1);
    std::vector<bool> shares(g_.steps.size());  // its result may be a variable's memory
    for (size_t i = 0; i < g_.steps.size(); ++i) {
      const Step& s = g_.steps[i];
      const bool takes = std::ranges::any_of(s.inputs, [&](Port p) { return shares[p.step]; });
      const bool reads = s.kind == StepKind::kRead || (s.kind == StepKind::kKernel && s.node->type() == "ReadVariableOp");
      shares[i] = reads || (takes && s.row && s.row->traits.forwards);
      if (!takes && is_plain(static_cast<int>(i))) continue;
      number_[i] = static_cast<int>(steps_.size());
      steps_.push_back(static_cast<int>(i));
    }
  }
  bool is_plain(int i) const {
    const Step& s = g_.steps[i];
    return s.kind == StepKind::kConst || s.kind == StepKind::kFeed || s.kind == StepKind::kCopy || is_gate(i) ||
           has_no_effect(g_, s);
  }

  void release() {
    for (const Member& m : members_) {
      Step& s = g_.steps[m.identity];
      std::erase(s.controls, m.gate);
      for (const int c : g_.steps[m.gate].controls)
        if (!is_plain(c) && c != s.inputs[0].step) s.controls.push_back(c);
    }
  }

  // Gates that nobody waits for any more.
  void forget_gates() {
    std::vector<bool> waited(g_.steps.size());
    for (const Step& s : g_.steps)
      for (const int c : s.controls) waited[c] = true;
    for (const auto& life : g_.fetch_lives)
      for (const int i : life) waited[i] = true;
    for (const Member& m : members_)
      if (!waited[m.gate]) {
        g_.steps[m.gate].kind = StepKind::kConst;
        g_.steps[m.gate].controls.clear();
      }
  }

  void restore(const Before& was) {
    Before now(g_, number_, steps_.size());
    for (size_t k = 0; k < g_.steps.size(); ++k) {
      const int i = static_cast<int>(k);
      now.find(i);
      const bool all = !is_plain(i);
      was.lost(i, now, [&](int n) {
        if (!all && !is_check(g_.steps[steps_[n]])) return;
        g_.steps[i].controls.push_back(steps_[n]);
        now.behind(i, steps_[n]);
      });
    }
  }

  // Identities that wait for nothing more are only names.
  void look_through() {
    std::vector<bool> needed(g_.steps.size());
    for (Port p : g_.fetches) needed[p.step] = true;
    for (const auto& life : g_.fetch_lives)
      for (const int i : life) needed[i] = true;
    for (const Step& s : g_.steps)
      for (const int c : s.controls) needed[c] = true;
    std::vector<bool> is_name(g_.steps.size());
    for (const Member& m : members_)
      is_name[m.identity] = !needed[m.identity] && g_.steps[m.identity].controls.empty();
    for (Step& s : g_.steps)
      for (Port& p : s.inputs)
        while (is_name[p.step]) p = g_.steps[p.step].inputs[0];
    for (size_t i = 0; i < g_.steps.size(); ++i)
      if (is_name[i]) vanish(g_.steps[i]);
  }
  static void vanish(Step& s) {
    s.kind = StepKind::kConst;
    s.row = nullptr;
    s.kernel = {};
    s.inputs.clear();
    s.outputs.clear();
  }

  StepGraph& g_;
  std::vector<Member> members_;
  std::vector<int> steps_, number_;  // those that matter; by step: its place among them, or -1
};

}  // namespace

void release_tuples(StepGraph& g) {
  // On a CPU there is little to join, and the more order the more memory can be used again.
  if (!g.devices.empty() && !Joiner::branches(g)) Tuples(g).run();
}

}  // namespace emplace
