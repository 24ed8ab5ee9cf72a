// Choosing boxes that overlap little, best scores first.
#include <cmath>
#include <queue>

#include "backends/cpu/layout.h"
#include "backends/cpu/nets_kernels.h"
#include "backends/cpu/stop.h"
#include "kernel/box_checks.h"

namespace emplace::cpu {
namespace {

struct Request {
  int64_t most = 0;
  float overlap = 0.5f, score = -std::numeric_limits<float>::infinity(), sigma = 0;
};
struct Chosen {
  std::vector<int32_t> index;
  std::vector<float> score;
};

// How much of two boxes' union they share. Corners may come in either order.
float shared(const float* a, const float* b) {
  auto low = [](const float* p, int i) { return std::min(p[i], p[i + 2]); };
  auto high = [](const float* p, int i) { return std::max(p[i], p[i + 2]); };
  auto area = [&](const float* p) { return (high(p, 0) - low(p, 0)) * (high(p, 1) - low(p, 1)); };
  const float area_a = area(a), area_b = area(b);
  if (area_a <= 0 || area_b <= 0) return 0;
  const float height =
      std::max(0.0f, std::min(high(a, 0), high(b, 0)) - std::max(low(a, 0), low(b, 0)));
  const float width =
      std::max(0.0f, std::min(high(a, 1), high(b, 1)) - std::max(low(a, 1), low(b, 1)));
  return height * width / (area_a + area_b - height * width);
}

struct Candidate {
  float score;
  int32_t index;
  size_t seen;  // chosen boxes that this score accounts for
  bool operator<(const Candidate& o) const {
    return score != o.score ? score < o.score : index > o.index;
  }
};

// Takes the best candidate again and again. Its score is lowered for boxes chosen since it was last
// looked at; if that changes it, it queues again.
template <class Overlap>
Chosen choose(KernelContext& context, const Request& r, const float* scores, int64_t n,
              Overlap&& overlap) {
  std::priority_queue<Candidate> queue;
  for (int32_t i = 0; i < n; ++i)
    if (scores[i] > r.score) queue.push({scores[i], i, 0});
  const float curve = r.sigma > 0 ? -0.5f / r.sigma : 0;
  Chosen out;
  while (static_cast<int64_t>(out.index.size()) < r.most && !queue.empty()) {
    stop_if_cancelled(context);
    Candidate c = queue.top();
    queue.pop();
    const float before = c.score;
    for (size_t k = out.index.size(); k > c.seen && c.score > r.score; --k) {
      const float o = overlap(c.index, out.index[k - 1]);
      if (r.sigma > 0)
        c.score *= std::exp(curve * o * o);
      else if (o > r.overlap)
        c.score = -std::numeric_limits<float>::infinity();
    }
    c.seen = out.index.size();
    if (c.score == before) {
      out.index.push_back(c.index);
      out.score.push_back(c.score);
    } else if (c.score > r.score) {
      queue.push(c);
    }
  }
  return out;
}

float number(KernelContext& c, int i) {
  const Tensor& t = c.input(i);
  check_threshold(t);
  return *widened(c, t).data<float>();
}

struct NonMaxSuppression {
  float fixed_overlap;  // below 0: an input
  bool overlaps, pads;

  void operator()(KernelContext& c) const {
    check_boxes(c.input(0), c.input(1), overlaps);
    Request r;
    r.most = most_boxes(c.input(2));
    r.overlap = fixed_overlap >= 0 ? fixed_overlap : number(c, 3);
    if (!overlaps) check_overlap(r.overlap);
    if (c.num_inputs() > 4) r.score = number(c, 4);
    if (c.num_inputs() > 5) r.sigma = number(c, 5);
    if (r.sigma < 0) throw invalid_argument("soft_nms_sigma must be non-negative");
    const Tensor boxes = widened(c, c.input(0)), scores = widened(c, c.input(1));
    const int64_t n = scores.dim(0);
    const float* p = boxes.data<float>();
    r.most = pads ? r.most : std::min(r.most, n);
    put(c, r, choose(c, r, scores.data<float>(), n, [&](int32_t a, int32_t b) {
          return overlaps ? p[a * n + b] : shared(p + a * 4, p + b * 4);
        }));
  }

  void put(KernelContext& c, const Request& r, const Chosen& chosen) const {
    const auto found = static_cast<int64_t>(chosen.index.size()), n = pads ? r.most : found;
    Tensor& index = c.output(0, Shape{n});
    std::fill_n(index.data<int32_t>(), n, 0);
    std::copy(chosen.index.begin(), chosen.index.end(), index.data<int32_t>());
    const int last = c.num_outputs() - 1;
    if (last == 2) {
      WideOutput scores(c, c.output(1, Shape{n}), false);
      std::fill_n(scores.tensor().data<float>(), n, 0.0f);
      std::copy(chosen.score.begin(), chosen.score.end(), scores.tensor().data<float>());
      scores.finish();
    }
    if (last > 0) *c.output(last, Shape{}).data<int32_t>() = static_cast<int32_t>(found);
  }
};

Prepared make(const KernelInit& init) {
  const AttrValue* overlap = init.find("iou_threshold");
  const AttrValue* pad = init.find("pad_to_max_output_size");
  const float fixed = overlap ? overlap->as<float>() : -1;
  if (overlap) check_overlap(fixed);
  return prepared(NonMaxSuppression{fixed, init.op->name == "NonMaxSuppressionWithOverlaps",
                                    pad && pad->as<bool>()});
}

}  // namespace

std::vector<KernelRow> box_kernels() {
  using enum DType;
  const std::vector<DType> types = {kFloat, kHalf};
  std::vector<KernelRow> rows = {
      {"NonMaxSuppression", "CPU", {}, {}, make, {}, 0, ""},
      {"NonMaxSuppressionWithOverlaps", "CPU", {}, {}, make, {}, 0, ""},
      {"NonMaxSuppressionV5", "CPU", {{"T", types}}, {}, make, {}, 0, ""}};
  for (const char* op : {"NonMaxSuppressionV2", "NonMaxSuppressionV3", "NonMaxSuppressionV4"})
    rows.push_back({op, "CPU", {{"T", types}, {"T_threshold", types}}, {}, make, {}, 0, ""});
  return rows;
}

}  // namespace emplace::cpu
