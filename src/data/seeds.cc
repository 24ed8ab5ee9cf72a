#include "data/seeds.h"

#include <random>

#include "data/kernels.h"

namespace emplace::data {

Seeds seeds_or_any(int64_t seed, int64_t seed2) {
  if (seed != 0 || seed2 != 0) return {seed, seed2};
  std::random_device device;
  const auto any = [&] { return static_cast<int64_t>(uint64_t{device()} << 32 | device()); };
  return {any(), any()};
}

CountedWords::CountedWords(Seeds seeds)
    : gen_(static_cast<uint64_t>(seeds.first), static_cast<uint64_t>(seeds.second)), words_(gen_) {}

void CountedWords::go_to(int64_t count) {
  words_ = PhiloxWords(gen_.skipped(static_cast<uint64_t>(count) / 4));
  for (int64_t i = count / 4 * 4; i < count; ++i) words_();
  count_ = count;
}

Seeds SeedGenerator::next() {
  if (!others_) return seeds_;
  const std::lock_guard lock(mutex_);
  const int64_t first = words_();
  return {first, words_()};
}

int64_t SeedGenerator::drawn() {
  const std::lock_guard lock(mutex_);
  return words_.count();
}

void SeedGenerator::go_to(int64_t drawn) {
  const std::lock_guard lock(mutex_);
  words_.go_to(drawn);
}

namespace {

void put_generator(KernelContext& c, std::shared_ptr<Resource> resource) {
  Tensor t(DType::kResource, Shape{});
  auto& h = *t.data<ResourceHandle>();
  h.container = "localhost";
  h.name = std::string(c.node());
  h.type_name = "tensorflow::data::SeedGeneratorManager";
  h.device = c.device().name();
  h.resource = std::move(resource);
  c.set_output(0, std::move(t));
  if (c.num_outputs() > 1) c.set_output(1, Tensor(DType::kVariant, Shape{}));
}

// One that says nothing: the dataset makes its own.
struct NoSeeds : Resource {
  std::string debug_string() const override { return "no seed generator"; }
};

void dummy(KernelContext& c) { put_generator(c, std::make_shared<NoSeeds>()); }

void seed_generator(KernelContext& c) {
  const Seeds seeds = seeds_or_any(int_input(c, 0, "seed"), int_input(c, 1, "seed2"));
  const bool others = c.num_inputs() < 3 || bool_input(c, 2, "reshuffle");
  put_generator(c, std::make_shared<SeedGenerator>(seeds, others));
}

// The handles own them.
void forget(KernelContext&) {}

}  // namespace

void add_seed_kernels(KernelList& rows) {
  add_row(rows, "DummySeedGenerator", stateless<dummy>);
  add_row(rows, "AnonymousSeedGenerator", stateless<seed_generator>);
  add_row(rows, "AnonymousRandomSeedGenerator", stateless<seed_generator>);
  add_row(rows, "DeleteSeedGenerator", stateless<forget>);
  add_row(rows, "DeleteRandomSeedGenerator", stateless<forget>);
}

}  // namespace emplace::data
