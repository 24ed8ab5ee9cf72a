// The likeliest labellings of sequences, found by a search that keeps the best few beginnings.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>

#include "backends/cpu/ctc.h"
#include "backends/cpu/imported_kernels.h"
#include "base/stop_scope.h"

namespace emplace::cpu {
namespace {

template <class T>
constexpr T kNone = -std::numeric_limits<T>::infinity();

template <class T>
T sum_of_logs(T a, T b) {
  if (a == kNone<T>) return b;
  if (b == kNone<T>) return a;
  return std::max(a, b) + std::log1p(std::exp(-std::abs(a - b)));
}

// Logarithms of how likely a beginning is: in all, ending in a blank, ending in its last label.
template <class T>
struct Chance {
  T total = kNone<T>, blank = kNone<T>, label = kNone<T>;
};

// A beginning: a label after a shorter one.
template <class T>
struct Beginning {
  Beginning* parent = nullptr;
  int label = -1;
  Chance<T> before{}, now{};
  std::map<int, std::unique_ptr<Beginning>> longer{};

  bool active() const { return now.total != kNone<T>; }
  Beginning& with(int next) {
    auto& child = longer[next];
    if (!child) child = std::make_unique<Beginning>(Beginning{.parent = this, .label = next});
    return *child;
  }
  std::vector<int64_t> labels(bool merge_repeated) const {
    std::vector<int64_t> found;
    int previous = -1;
    for (const Beginning* b = this; b->parent; b = b->parent) {
      if (!merge_repeated || b->label != previous) found.push_back(b->label);
      previous = b->label;
    }
    std::reverse(found.begin(), found.end());
    return found;
  }
};

// The best few, in falling order.
template <class T>
class Beam {
 public:
  explicit Beam(size_t width) : width_(width) {
    root_.now.total = root_.now.blank = 0;
    put(&root_);
  }

  void step(const T* logits, int classes) {
    const T largest = *std::max_element(logits, logits + classes);
    T sum = 0;
    for (int k = 0; k < classes; ++k) sum += std::exp(logits[k] - largest);
    const T offset = largest + std::log(sum);
    const auto chance = [&](int k) { return logits[k] - offset; };
    const std::vector<Beginning<T>*> kept = std::exchange(best_, {});
    for (Beginning<T>* b : kept) b->before = b->now;
    for (Beginning<T>* b : kept) {
      stay(*b, b->parent ? chance(b->label) : T(0), chance(classes - 1));
      put(b);
    }
    for (Beginning<T>* b : kept)
      if (is_candidate(b->before))
        for (int k = 0; k + 1 < classes; ++k) grow(*b, k, chance(k));
  }

  const std::vector<Beginning<T>*>& best() const { return best_; }

 private:
  static T chance_before(const Beginning<T>& parent, int label) {
    return label == parent.label ? parent.before.blank : parent.before.total;
  }
  void stay(Beginning<T>& b, T label, T blank) {
    if (b.parent) {
      if (b.parent->active())
        b.now.label = sum_of_logs(b.now.label, chance_before(*b.parent, b.label));
      b.now.label += label;
    }
    b.now.blank = b.before.total + blank;
    b.now.total = sum_of_logs(b.now.blank, b.now.label);
  }
  void grow(Beginning<T>& b, int label, T chance) {
    Beginning<T>& longer = b.with(label);
    if (longer.active()) return;
    longer.now = {};
    longer.now.label = longer.now.total = chance + chance_before(b, label);
    if (!is_candidate(longer.now)) {
      longer.before = longer.now = {};
      return;
    }
    if (best_.size() == width_) best_.back()->now = {};  // it falls out of the search
    put(&longer);
  }
  bool is_candidate(const Chance<T>& c) const {
    return c.total > kNone<T> && (best_.size() < width_ || c.total > best_.back()->now.total);
  }
  void put(Beginning<T>* b) {
    const auto at = std::find_if(best_.begin(), best_.end(), [&](const Beginning<T>* other) {
      return other->now.total < b->now.total;
    });
    best_.insert(at, b);
    if (best_.size() > width_) best_.pop_back();
  }

  size_t width_;
  Beginning<T> root_;
  std::vector<Beginning<T>*> best_;
};

template <class T>
struct BeamSearch {
  int64_t width, paths;
  bool merge_repeated;

  void operator()(KernelContext& c) const {
    const Tensor &in = c.input(0), &lengths = c.input(1);
    const CtcSizes size(in, lengths, failed_precondition);
    if (paths > width) throw invalid_argument("requested more paths than the beam width.");
    using Paths = std::vector<std::vector<int64_t>>;
    std::vector<Paths> found(static_cast<size_t>(size.batch));
    Tensor& chances = c.output(static_cast<int>(3 * paths), Shape{size.batch, paths});
    c.parallel_for(size.batch, 1e6, [&](int64_t first, int64_t last) {
      for (int64_t b = first; b < last; ++b) {
        Beam<T> beam(static_cast<size_t>(width));
        for (int64_t t = 0; t < lengths.data<int32_t>()[b]; ++t) {
          StopScope::attend();
          beam.step(in.data<T>() + (t * size.batch + b) * size.classes,
                    static_cast<int>(size.classes));
        }
        if (beam.best().size() < static_cast<size_t>(paths))
          throw invalid_argument("Less leaves in the beam search than requested.");
        for (int64_t p = 0; p < paths; ++p) {
          const Beginning<T>& path = *beam.best()[static_cast<size_t>(p)];
          found[static_cast<size_t>(b)].push_back(path.labels(merge_repeated));
          chances.data<T>()[b * paths + p] = path.now.total;
        }
      }
    });
    for (int64_t p = 0; p < paths; ++p) write(c, p, found);
  }

  void write(KernelContext& c, int64_t p,
             const std::vector<std::vector<std::vector<int64_t>>>& found) const {
    int64_t count = 0, longest = 0;
    for (const auto& of_batch : found) {
      const auto n = static_cast<int64_t>(of_batch[static_cast<size_t>(p)].size());
      count += n;
      longest = std::max(longest, n);
    }
    const auto at = static_cast<int>(p), n = static_cast<int>(paths);
    int64_t* index = c.output(at, Shape{count, 2}).data<int64_t>();
    int64_t* value = c.output(n + at, Shape{count}).data<int64_t>();
    int64_t* shape = c.output(2 * n + at, Shape{2}).data<int64_t>();
    shape[0] = static_cast<int64_t>(found.size());
    shape[1] = longest;
    for (size_t b = 0; b < found.size(); ++b) {
      const auto& path = found[b][static_cast<size_t>(p)];
      for (size_t i = 0; i < path.size(); ++i) {
        *index++ = static_cast<int64_t>(b);
        *index++ = static_cast<int64_t>(i);
        *value++ = path[i];
      }
    }
  }
};

template <class T>
Prepared make_beam_search(const KernelInit& init) {
  BeamSearch<T> s{init.attr<int64_t>("beam_width"), init.attr<int64_t>("top_paths"),
                  init.attr<bool>("merge_repeated")};
  return prepared(s);
}

}  // namespace

std::vector<KernelRow> ctc_beam_kernels() {
  const char* op = "CTCBeamSearchDecoder";
  return {{op, "CPU", {{"T", {DType::kFloat}}}, {}, make_beam_search<float>, {}, 0, ""},
          {op, "CPU", {{"T", {DType::kDouble}}}, {}, make_beam_search<double>, {}, 0, ""}};
}

}  // namespace emplace::cpu
