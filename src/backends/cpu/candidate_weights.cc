#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>

#include "backends/cpu/candidates.h"

namespace emplace::cpu {

uint64_t Words::next64() {
  const uint64_t low = next();
  return low | uint64_t{next()} << 32;
}

float Words::unit_float() { return std::bit_cast<float>(127u << 23 | (next() & 0x7fffffu)) - 1.0f; }

double Words::unit() {
  const uint64_t high = next() & 0xfffffu;
  return std::ldexp(static_cast<double>(high << 32 | next()), -52);
}

uint64_t Words::below(uint64_t n) {
  if (std::has_single_bit(n)) return next64() & (n - 1);
  const uint64_t cut = std::numeric_limits<uint64_t>::max() % n + 1;
  uint64_t word = next64();
  while (word < cut) word = next64();
  return word % n;
}

uint32_t Words::below32(uint32_t n) {
  if (std::has_single_bit(n)) return next() & (n - 1);
  const uint32_t cut = std::numeric_limits<uint32_t>::max() % n + 1;
  uint32_t word = next();
  while (word < cut) word = next();
  return word % n;
}

// ---- Given weights.

GivenWeights::GivenWeights(const KernelInit& init) {
  const auto& file = init.attr<std::string>("vocab_file");
  const auto& unigrams = init.attr<std::vector<float>>("unigrams");
  if (file.empty() && unigrams.empty())
    throw invalid_argument("Must provide either vocab_file or unigrams.");
  if (!file.empty() && !unigrams.empty())
    throw invalid_argument("Must only provide one of vocab_file and unigrams.");
  const auto range = init.attr<int64_t>("range_max"), reserved = init.attr<int64_t>("num_reserved_ids");
  if (reserved > range) throw invalid_argument("num_reserved_ids must not exceed range_max");
  weights_.resize(static_cast<size_t>(std::max<int64_t>(reserved, 0)));
  if (file.empty()) {
    auto word = static_cast<int64_t>(weights_.size());
    for (const float w : unigrams) take(w, word++, init);
  } else {
    read_file(init, file);
  }
  if (static_cast<int64_t>(weights_.size()) != range)
    throw invalid_argument(fmt::format("range is {}, must be equal to weights size {}", range,
                                       weights_.size()));
  make_aliases();
}

void GivenWeights::read_file(const KernelInit& init, const std::string& path) {
  std::ifstream in(path);
  if (!in) throw not_found(fmt::format("{}; No such file or directory", path));
  auto word = static_cast<int64_t>(weights_.size());
  for (std::string line; std::getline(in, line);) {
    const size_t comma = line.rfind(',');
    const std::string_view last = std::string_view(line).substr(comma == line.npos ? 0 : comma + 1);
    float w = 0;
    const auto [end, failed] = std::from_chars(last.data(), last.data() + last.size(), w);
    if (failed != std::errc() || end != last.data() + last.size())
      throw invalid_argument("Wrong vocabulary format at line: " + line);
    take(w, word++, init);
  }
}

void GivenWeights::take(float weight, int64_t word, const KernelInit& init) {
  if (word % init.attr<int64_t>("num_shards") != init.attr<int64_t>("shard")) return;
  const float w = std::pow(weight, init.attr<float>("distortion"));
  if (!(w >= 0) || std::isinf(w)) throw invalid_argument("weights must be finite and not negative");
  total_ += w;
  weights_.push_back(w);
}

void GivenWeights::make_aliases() {
  const size_t n = weights_.size();
  double sum = 0;
  for (const float w : weights_) sum += w, possible_ += w > 0;
  std::vector<double> share(n);
  std::vector<size_t> high, low;
  other_.resize(n);
  for (size_t i = 0; i < n; ++i) {
    other_[i] = static_cast<int>(i);
    share[i] = weights_[i] * static_cast<float>(n) / sum;
    (share[i] < 1.0 ? low : high).push_back(i);
  }
  while (!high.empty() && !low.empty()) {
    const size_t l = low.back(), h = high.back();
    low.pop_back(), high.pop_back();
    other_[l] = static_cast<int>(h);
    share[h] -= 1.0 - share[l];
    (share[h] < 1.0 ? low : high).push_back(h);
  }
  share_.assign(share.begin(), share.end());
  for (const auto& left : {high, low})
    for (const size_t i : left) share_[i] = 1.0f, other_[i] = static_cast<int>(i);
}

int64_t GivenWeights::draw(Words& words) const {
  const float r = words.unit_float();
  const uint32_t i = words.below32(static_cast<uint32_t>(weights_.size()));
  return r < share_[i] ? i : other_[i];
}

float GivenWeights::probability(int64_t v) const {
  if (v < 0 || v >= static_cast<int64_t>(weights_.size())) return 0;
  return weights_[static_cast<size_t>(v)] / total_;
}

// ---- Learned weights.

LearnedWeights::LearnedWeights(int64_t range) : range_(range), total_(range) {
  if (range >= std::numeric_limits<int32_t>::max())
    throw invalid_argument(fmt::format("range_max must be below 2^31 - 1, got {}", range));
}

int64_t LearnedWeights::draw(Words& words) const {
  int64_t left = words.below32(static_cast<uint32_t>(total_)), at = 0;
  for (auto step = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(range_))); step; step /= 2) {
    if (at + step > range_) continue;
    const auto more = tree_.find(at + step);
    const int64_t weight = step + (more == tree_.end() ? 0 : more->second);
    if (weight <= left) at += step, left -= weight;
  }
  return at;
}

float LearnedWeights::probability(int64_t v) const {
  const auto more = counts_.find(v);
  const int64_t weight = 1 + (more == counts_.end() ? 0 : more->second);
  return static_cast<float>(weight) / static_cast<float>(total_);
}

void LearnedWeights::learn(std::span<const int64_t> labels) {
  for (const int64_t v : labels) {
    if (total_ >= std::numeric_limits<int32_t>::max()) return;
    ++counts_[v], ++total_;
    for (int64_t node = v + 1; node <= range_; node += node & -node) ++tree_[node];
  }
}

std::shared_ptr<LearnedWeights> learned_weights_of(const KernelInit& init) {
  const auto range = init.attr<int64_t>("range_max");
  const auto make = [range]() -> std::shared_ptr<Resource> {
    return std::make_shared<LearnedWeights>(range);
  };
  if (!init.resources) return std::static_pointer_cast<LearnedWeights>(make());
  return init.resources->find_or_create_as<LearnedWeights>(
      "_candidates", fmt::format("{}/{}", init.node, range), make);
}

}  // namespace emplace::cpu
