// Classes drawn as examples of what is not the label, each with how often it was to be expected.
// Words of the generator are used as TensorFlow uses them: the same classes for the same seeds.
#include "backends/cpu/candidates.h"

#include <fmt/format.h>

#include <cfloat>
#include <cmath>
#include <limits>
#include <unordered_set>

#include "backends/cpu/training_kernels.h"
#include "base/stop_scope.h"
#include "kernel/random_stream.h"

namespace emplace::cpu {
namespace {

constexpr uint64_t kBlocksPerDraw = 512;
constexpr int64_t kMaxTries = std::numeric_limits<int32_t>::max();

struct Uniform {
  int64_t range;
  int64_t draw(Words& words) const {
    return static_cast<int64_t>(words.below(static_cast<uint64_t>(range)));
  }
  float probability(int64_t) const { return static_cast<float>(1.0 / static_cast<double>(range)); }
  int64_t classes() const { return range; }
  int64_t possible() const { return range; }
};

// Class v with a probability of log((v + 2) / (v + 1)): for words sorted by how common they are.
struct LogUniform {
  int64_t range;
  double log_range() const { return std::log1p(static_cast<double>(range)); }
  int64_t draw(Words& words) const {
    const double x = std::exp(words.unit() * log_range());
    return (static_cast<int64_t>(std::min(x, 9e18)) - 1) % range;
  }
  float probability(int64_t v) const {
    const auto x = static_cast<double>(v);
    return static_cast<float>(std::log((x + 2.0) / (x + 1.0)) / log_range());
  }
  int64_t classes() const { return range; }
  int64_t possible() const { return range; }
};

float expected_count(float p, int64_t count, int64_t tries) {
  if (tries == count) return p * static_cast<float>(count);
  return -std::expm1(static_cast<float>(tries) * std::log1p(-p));
}

struct Asked {
  int64_t count, num_true;
  bool unique;
  explicit Asked(const KernelInit& init)
      : count(init.attr<int64_t>("num_sampled")),
        num_true(init.attr<int64_t>("num_true")),
        unique(init.attr<bool>("unique")) {}
};

void check_labels(const Tensor& labels, int64_t num_true, int64_t range) {
  if (labels.rank() != 2) throw invalid_argument("true_classes must be a matrix");
  if (labels.dim(1) != num_true)
    throw invalid_argument(fmt::format("true_classes must have num_true columns, expected: {} "
                                       "was: {}", num_true, labels.dim(1)));
  for (const int64_t v : labels.values<int64_t>())
    if (v < 0 || v >= range)
      throw invalid_argument(fmt::format("`true_candidate` out of range [0, {}), received {}",
                                         range, v));
}

// How many were drawn until there were enough.
template <class Law>
int64_t draw(const Law& law, Words& words, bool unique, std::span<int64_t> out) {
  if (!unique) {
    for (int64_t& v : out) v = law.draw(words);
    return static_cast<int64_t>(out.size());
  }
  std::unordered_set<int64_t> seen;
  int64_t tries = 0;
  for (int64_t& v : out)
    do {
      if (++tries >= kMaxTries) throw invalid_argument("Sampler found too few distinct classes");
      v = law.draw(words);
    } while (!seen.insert(v).second);
  return tries;
}

template <class Law>
void expect(const Law& law, const Tensor& classes, int64_t count, int64_t tries, Tensor& out) {
  const int64_t* v = classes.data<int64_t>();
  float* to = out.data<float>();
  for (const int64_t i : paced(classes.num_elements()))
    to[i] = expected_count(law.probability(v[i]), count, tries);
}

template <class Law>
void sample(KernelContext& c, const Asked& asked, const Law& law, RandomStream& stream) {
  const Tensor& labels = c.input(0);
  check_labels(labels, asked.num_true, law.classes());
  if (asked.unique && asked.count > law.possible())
    throw invalid_argument("Sampler's range is too small.");
  Tensor& drawn = c.output(0, Shape{asked.count});
  Words words(stream.reserve(static_cast<uint64_t>(asked.count) * kBlocksPerDraw));
  const int64_t tries = draw(law, words, asked.unique,
                             {drawn.data<int64_t>(), static_cast<size_t>(asked.count)});
  expect(law, labels, asked.count, tries, c.output(1, labels.shape()));
  expect(law, drawn, asked.count, tries, c.output(2, Shape{asked.count}));
}

template <class Law>
struct Sampler {
  Asked asked;
  Law law;
  std::shared_ptr<RandomStream> stream;
  void operator()(KernelContext& c) const { sample(c, asked, law, *stream); }
};

template <class Law>
Prepared make_sampler(const KernelInit& init) {
  return prepared(Sampler<Law>{Asked(init), Law{init.attr<int64_t>("range_max")},
                               random_stream_of(init)});
}

Prepared make_fixed(const KernelInit& init) {
  return prepared(Sampler<GivenWeights>{Asked(init), GivenWeights(init), random_stream_of(init)});
}

// What was a label before is drawn more often.
struct LearnedSampler {
  Asked asked;
  std::shared_ptr<LearnedWeights> weights;
  std::shared_ptr<RandomStream> stream;
  void operator()(KernelContext& c) const {
    const std::lock_guard lock(weights->mutex());
    const Tensor& labels = c.input(0);
    sample(c, asked, *weights, *stream);
    weights->learn({labels.data<int64_t>(), static_cast<size_t>(labels.num_elements())});
  }
};

Prepared make_learned(const KernelInit& init) {
  return prepared(LearnedSampler{Asked(init), learned_weights_of(init), random_stream_of(init)});
}

struct Everything {
  Asked asked;
  void operator()(KernelContext& c) const {
    const Tensor& labels = c.input(0);
    check_labels(labels, asked.num_true, asked.count);
    Tensor& drawn = c.output(0, Shape{asked.count});
    for (int64_t i = 0; i < asked.count; ++i) drawn.data<int64_t>()[i] = i;
    Tensor& of_labels = c.output(1, labels.shape());
    std::fill_n(of_labels.data<float>(), of_labels.num_elements(), 1.0f);
    std::fill_n(c.output(2, Shape{asked.count}).data<float>(), asked.count, 1.0f);
  }
};

Prepared make_everything(const KernelInit& init) { return prepared(Everything{Asked(init)}); }

struct Hits {
  int64_t num_true;
  void operator()(KernelContext& c) const {
    const Tensor &labels = c.input(0), &drawn = c.input(1);
    if (labels.rank() != 2 || labels.dim(1) != num_true)
      throw invalid_argument("true_candidates must be a batch_size * num_true matrix");
    if (drawn.rank() != 1)
      throw invalid_argument("sampled_candidates must be a vector, which is typically an output "
                             "from CandidateSampler");
    std::unordered_map<int64_t, int64_t> at;
    for (const int64_t i : paced(drawn.num_elements())) at[drawn.data<int64_t>()[i]] = i;
    std::vector<std::pair<int32_t, int64_t>> found;
    for (const int64_t i : paced(labels.num_elements()))
      if (const auto it = at.find(labels.data<int64_t>()[i]); it != at.end())
        found.emplace_back(static_cast<int32_t>(i / num_true), it->second);
    write(c, found);
  }
  static void write(KernelContext& c, std::span<const std::pair<int32_t, int64_t>> found) {
    const Shape shape{static_cast<int64_t>(found.size())};
    auto* rows = c.output(0, shape).data<int32_t>();
    auto* ids = c.output(1, shape).data<int64_t>();
    std::fill_n(c.output(2, shape).data<float>(), found.size(), -FLT_MAX);
    for (size_t i = 0; i < found.size(); ++i) rows[i] = found[i].first, ids[i] = found[i].second;
  }
};

Prepared make_hits(const KernelInit& init) {
  return prepared(Hits{init.attr<int64_t>("num_true")});
}

}  // namespace

std::vector<KernelRow> candidate_kernels() {
  const auto row = [](const char* op, auto make) {
    return KernelRow{op, "CPU", {}, {}, make, {}, 0, ""};
  };
  return {row("UniformCandidateSampler", make_sampler<Uniform>),
          row("LogUniformCandidateSampler", make_sampler<LogUniform>),
          row("LearnedUnigramCandidateSampler", make_learned),
          row("ThreadUnsafeUnigramCandidateSampler", make_learned),
          row("FixedUnigramCandidateSampler", make_fixed),
          row("AllCandidateSampler", make_everything),
          row("ComputeAccidentalHits", make_hits)};
}

}  // namespace emplace::cpu
