#include <mutex>
#include <random>

#include "backends/cpu/cpu_kernels.h"
#include "backends/cpu/move.h"
#include "backends/cpu/philox.h"

namespace emplace::cpu {
namespace {

// A node's place in its stream. It belongs to the session, so that every plan with the node goes on
// where the last run stopped.
class Stream : public Resource {
 public:
  Stream(uint64_t seed, uint64_t seed2) : next_(seed, seed2) {}
  // The generator for the next `elements`; the stream moves on behind them.
  Philox reserve(int64_t elements) {
    std::lock_guard lock(mutex_);
    const Philox here = next_;
    next_.skip(static_cast<uint64_t>(elements) * kPhiloxReservedPerOutput);
    return here;
  }
  std::string debug_string() const override { return "random stream"; }

 private:
  std::mutex mutex_;
  Philox next_;
};

std::shared_ptr<Stream> stream_of(const KernelInit& init) {
  auto seed = static_cast<uint64_t>(init.attr<int64_t>("seed"));
  auto seed2 = static_cast<uint64_t>(init.attr<int64_t>("seed2"));
  const std::string name = std::string(init.node) + "/" + init.op->name + "/" +
                           std::to_string(seed) + "/" + std::to_string(seed2);
  auto make = [&]() -> std::shared_ptr<Resource> {
    if (seed == 0 && seed2 == 0) {
      std::random_device device;
      seed = uint64_t{device()} << 32 | device();
      seed2 = uint64_t{device()} << 32 | device();
    }
    return std::make_shared<Stream>(seed, seed2);
  };
  if (!init.resources) return std::static_pointer_cast<Stream>(make());
  return init.resources->find_or_create_as<Stream>("_random", name, make);
}

template <class T, void (*kFill)(Philox, std::span<T>)>
struct Random {
  std::shared_ptr<Stream> stream;
  void operator()(KernelContext& c) const {
    Tensor& out = c.output(0, shape_from(c.input(0)));
    const int64_t n = out.num_elements();
    const Philox gen = stream->reserve(n);
    const int64_t group = kPhiloxGroup<T>, groups = (n + group - 1) / group;
    c.parallel_for(groups, 8, [&](int64_t begin, int64_t end) {
      const int64_t first = begin * group, last = std::min(end * group, n);
      kFill(gen.skipped(static_cast<uint64_t>(begin) * kPhiloxBlocks),
            std::span(out.data<T>() + first, static_cast<size_t>(last - first)));
    });
  }
};

Prepared make_uniform(const KernelInit& init) {
  Prepared result;
  visit_dtype(init.type("dtype"), Floats{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    result = prepared(Random<T, philox_uniform<T>>{stream_of(init)});
  });
  return result;
}

Prepared make_normal(const KernelInit& init) {
  Prepared result;
  visit_dtype(init.type("dtype"), Floats{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    result = prepared(Random<T, philox_normal<T>>{stream_of(init)});
  });
  return result;
}

}  // namespace

std::vector<KernelRow> random_kernels() {
  return {{"RandomUniform", "CPU", {{"dtype", Floats::dtypes()}}, {"shape"}, make_uniform, {}, 0, ""},
          {"RandomStandardNormal", "CPU", {{"dtype", Floats::dtypes()}}, {"shape"}, make_normal, {},
           0, ""}};
}

}  // namespace emplace::cpu
