#include "exec/line_up.h"

#include <algorithm>
#include <map>

#include "exec/joiner.h"
#include "exec/order.h"

namespace emplace {
namespace {

constexpr int64_t kLarge = 1 << 20;     // bytes of a value that counts
constexpr int64_t kWorthIt = 32 << 20;  // of all such values together

bool is_large(const StepOutput& o) {
  return !o.is_ref && o.space == kHostSpace && is_plain(o.dtype) && o.shape.is_fully_known() &&
         bytes_of(o.shape, o.dtype) >= kLarge;
}

bool works(const Step& s) {
  const bool forwards = s.row && s.row->traits.forwards;
  return s.kind != StepKind::kFeed && s.kind != StepKind::kConst && !forwards;
}

// Of which each waits for those of before: steps of one device.
struct Lines {
  int first = 0;  // number
  size_t count = 0;
  std::vector<int> steps;  // the k-th in line `first` + k % count
};

class Former {
 public:
  explicit Former(StepGraph& g) : g_(g) {}

  bool pays() const {
    int64_t bytes = 0;
    for (const Step& s : g_.steps)
      for (const StepOutput& o : s.outputs)
        if (works(s) && is_large(o) && (bytes += bytes_of(o.shape, o.dtype)) >= kWorthIt)
          return true;  // at once: all sizes together may fit no number
    return false;
  }

  void run() {
    for (size_t i = 0; i < g_.steps.size(); ++i) {
      Step& s = g_.steps[i];
      if (s.is_value() || !works(s) || !touches_large(s)) continue;
      if (Lines* lines = lines_of(s.device)) append(static_cast<int>(i), *lines);
    }
  }

 private:
  bool touches_large(const Step& s) const {
    return std::ranges::any_of(s.outputs, is_large) ||
           std::ranges::any_of(s.inputs, [&](Port p) { return is_large(g_.out(p)); });
  }

  // None when others have taken all numbers.
  Lines* lines_of(Device* device) {
    const auto [it, fresh] = lines_.try_emplace(device);
    if (fresh) {
      const int threads = 1 + device->inter_op().size();  // a caller helps
      it->second.first = next_;
      it->second.count =
          static_cast<size_t>(std::clamp(threads + 1, 0, Order::kTracked / 2 - next_));
      next_ += static_cast<int>(it->second.count);
    }
    return it->second.count > 0 ? &it->second : nullptr;
  }

  // Waits for as many as there are lines, which have waited for all that came before.
  void append(int i, Lines& lines) {
    const size_t k = lines.steps.size();
    Step& s = g_.steps[static_cast<size_t>(i)];
    s.line = static_cast<int16_t>(lines.first + static_cast<int>(k % lines.count));
    for (size_t back = lines.count; back < 2 * lines.count && back <= k; ++back)
      s.controls.push_back(lines.steps[k - back]);
    lines.steps.push_back(i);
  }

  StepGraph& g_;
  std::map<Device*, Lines> lines_;
  int next_ = 0;
};

// Nothing in it waits for what another step does besides.
bool is_plain_work(const StepGraph& g) {
  if (!g.devices.empty() || Joiner::branches(g)) return false;
  return std::ranges::none_of(g.steps, [](const Step& s) {
    return hands_over(s.kind) || (s.row && s.row->traits.blocks) ||
           (s.flow->loop && s.flow->loop->has_effects);
  });
}

}  // namespace

void line_up(StepGraph& g) {
  Former former(g);
  if (former.pays() && is_plain_work(g)) former.run();
}

}  // namespace emplace
