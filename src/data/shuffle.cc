// Elements in random order: for given seeds TensorFlow's.
#include <deque>

#include "base/stop_scope.h"
#include "data/kernels.h"
#include "data/seeds.h"
#include "data/state.h"

namespace emplace::data {
namespace {

class ShuffleDataset final : public OverInput {
 public:
  ShuffleDataset(Spec spec, DatasetPtr input, int64_t room, int64_t rounds,
                 std::shared_ptr<SeedGenerator> seeds)
      : OverInput(std::move(spec), std::move(input)),
        room_(room),
        rounds_(rounds),
        seeds_(std::move(seeds)) {}
  int64_t cardinality() const override {
    const int64_t n = input_->cardinality();
    if (rounds_ == 1 || n == 0) return n;
    if (rounds_ < 0) return n == kUnknown ? kUnknown : kInfinite;
    return n < 0 ? n : n * rounds_;
  }
  std::unique_ptr<Iterator> make_iterator(Caller& c) const override;

 private:
  class Over;
  const int64_t room_;    // kUnknown: for all there are
  const int64_t rounds_;  // through the input; -1: for ever
  const std::shared_ptr<SeedGenerator> seeds_;
};

// A ring of those that wait. Elements of one round do not mix with those of the next: a slice a
// round.
class ShuffleDataset::Over final : public Iterator {
 public:
  Over(std::shared_ptr<const ShuffleDataset> self, Caller& c)
      : self_(std::move(self)),
        width_(std::max<size_t>(1, self_->spec().types.size())),
        seeds_(self_->seeds_->next()),
        words_(seeds_),
        input_(self_->rounds_ == 0 ? nullptr : self_->input_->iterator(c)) {
    slices_.push_back({0, 0});
  }

  bool ready() const override { return !input_ || input_->ready(); }

  bool next(Caller& c, Element& out) override {
    fill(c);
    while (slices_.size() > 1 && slices_.front().begin == slices_.front().end) next_round();
    Slice& s = slices_.front();
    if (s.begin == s.end) return false;
    const auto size = static_cast<uint64_t>(ring_size());
    const uint64_t chosen =
        (static_cast<uint64_t>(s.begin) + words_() % static_cast<uint64_t>(s.end - s.begin)) % size;
    const uint64_t front = static_cast<uint64_t>(s.begin) % size;
    out.resize(width_);
    for (size_t i = 0; i < width_; ++i) {
      Tensor& first = ring_[front * width_ + i];
      Tensor& one = ring_[chosen * width_ + i];
      out[i] = std::move(one);
      if (&one != &first) one = std::move(first);
      first = Tensor();
    }
    ++s.begin;
    --waiting_;
    return true;
  }

  void save(StateWriter& w) override {
    w.put(seeds_.first);
    w.put(seeds_.second);
    w.put(words_.count());
    w.put(self_->seeds_->drawn());
    w.put(round_);
    w.put(int64_t{some_});
    w.put(ring_size());
    w.put(static_cast<int64_t>(slices_.size()));
    for (const Slice& s : slices_) {
      w.put(s.begin);
      w.put(s.end);
      for (int64_t k = s.begin; k < s.end; ++k)
        for (size_t i = 0; i < width_; ++i) w.put(ring_[place(k) + i]);
    }
    w.put(input_);
  }

  void restore(Caller& c, StateReader& r) override {
    seeds_.first = r.number();
    seeds_.second = r.number();
    words_ = CountedWords(seeds_);
    words_.go_to(r.number());
    self_->seeds_->go_to(r.number());
    round_ = r.number();
    some_ = r.number() != 0;
    ring_.assign(static_cast<size_t>(r.number()) * width_, Tensor());
    slices_.clear();
    waiting_ = 0;
    for (int64_t n = r.number(); n > 0; --n) {
      Slice s{r.number(), 0};
      s.end = r.number();
      for (int64_t k = s.begin; k < s.end; ++k, ++waiting_)
        for (size_t i = 0; i < width_; ++i) ring_.at(place(k) + i) = r.tensor();
      slices_.push_back(s);
    }
    if (r.number()) input_->restore(c, r);
    else input_.reset();
  }

 private:
  struct Slice {
    int64_t begin, end;  // places, counted on for ever
  };

  int64_t ring_size() const { return static_cast<int64_t>(ring_.size() / width_); }
  size_t place(int64_t k) const { return static_cast<size_t>(k % ring_size()) * width_; }

  void fill(Caller& c) {
    while (input_ && (self_->room_ < 0 || waiting_ < self_->room_)) {
      if (waiting_ % 64 == 0) StopScope::attend();
      if (input_->next(c, in_)) {
        some_ = true;
        put();
      } else if (++round_; !goes_on()) {
        input_.reset();
      } else {
        input_ = self_->input_->iterator(c);
        some_ = false;
        slices_.push_back({slices_.back().end, slices_.back().end});
      }
    }
  }

  bool goes_on() const { return self_->rounds_ < 0 ? some_ : round_ < self_->rounds_; }

  // Each round has seeds of its own.
  void next_round() {
    slices_.pop_front();
    seeds_ = self_->seeds_->next();
    words_ = CountedWords(seeds_);
  }

  void put() {
    in_.resize(width_);
    Slice& s = slices_.back();
    if (self_->room_ < 0 || ring_size() < self_->room_) {
      std::move(in_.begin(), in_.end(), std::back_inserter(ring_));
    } else {
      std::move(in_.begin(), in_.end(), ring_.begin() + static_cast<int64_t>(place(s.end)));
    }
    ++s.end;
    ++waiting_;
  }

  const std::shared_ptr<const ShuffleDataset> self_;
  const size_t width_;
  Seeds seeds_;
  CountedWords words_;
  std::unique_ptr<Iterator> input_;
  std::vector<Tensor> ring_;
  std::deque<Slice> slices_;
  int64_t waiting_ = 0, round_ = 0;
  bool some_ = false;
  Element in_;
};

std::unique_ptr<Iterator> ShuffleDataset::make_iterator(Caller& c) const {
  return std::make_unique<Over>(std::static_pointer_cast<const ShuffleDataset>(shared_from_this()),
                                c);
}

struct MakeShuffle {
  explicit MakeShuffle(const KernelInit& init)
      : again(!init.find("reshuffle_each_iteration") ||
              init.attr<bool>("reshuffle_each_iteration")),
        seed(init.op->input_index("seed")),
        count(init.op->input_index("count")),
        generator(init.op->input_index("seed_generator")) {}
  std::shared_ptr<Dataset> make(const Dataset::Spec& spec, KernelContext& c) const {
    const int64_t room = int_input(c, 1, "buffer_size");
    if (room < 1 && room != kUnknown)
      throw invalid_argument("buffer_size must be greater than zero or UNKNOWN_CARDINALITY");
    const int64_t rounds = count < 0 ? 1 : int_input(c, count, "count");
    if (count >= 0 && rounds < 1 && rounds != -1)
      throw invalid_argument("count must be greater than zero or equal to -1.");
    return std::make_shared<ShuffleDataset>(spec, dataset_in(c.input(0)), room, rounds, seeds(c));
  }
  std::shared_ptr<SeedGenerator> seeds(KernelContext& c) const {
    if (generator >= 0)
      if (auto g = std::dynamic_pointer_cast<SeedGenerator>(c.handle(generator).resource)) return g;
    const Seeds own =
        seed < 0 ? seeds_or_any(0, 0)
                 : seeds_or_any(int_input(c, seed, "seed"), int_input(c, seed + 1, "seed2"));
    return std::make_shared<SeedGenerator>(own, again);
  }
  bool again;
  int seed, count, generator;
};

}  // namespace

void add_shuffle_kernels(KernelList& rows) {
  for (const char* op : {"ShuffleDataset", "ShuffleDatasetV2", "ShuffleDatasetV3",
                         "ShuffleAndRepeatDataset", "ShuffleAndRepeatDatasetV2"})
    add_row(rows, op, dataset_kernel<MakeShuffle>);
}

}  // namespace emplace::data
