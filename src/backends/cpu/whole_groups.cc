// What the members of a group make together; where they meet:
// kernel/collectives.h.
#include "kernel/collectives.h"

#include "backends/cpu/elementwise.h"
#include "backends/cpu/math.h"
#include "backends/cpu/more_kernels.h"

namespace emplace::cpu {
namespace {

using Summed = Types<float, double, Half, Bfloat16, int32_t, int64_t>;

// clang-format off
struct Sum { template <class T> T operator()(T a, T b) const { return plus(a, b); } };
struct Product { template <class T> T operator()(T a, T b) const { return times(a, b); } };
struct Least { template <class T> T operator()(T a, T b) const { return smaller(a, b); } };
struct Most { template <class T> T operator()(T a, T b) const { return larger(a, b); } };
// clang-format on

template <class Op>
void merge(Tensor& to, const Tensor& from) {
  find_binary<Op, Summed>(to.dtype())(to.raw(), 1, from.raw(), 1, to.raw(), to.num_elements());
}

void divide(Tensor& all, int32_t size) {
  visit_dtype(all.dtype(), Summed{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* const x = all.data<T>();
    for (int64_t i = 0; i < all.num_elements(); ++i)
      x[i] = static_cast<T>(static_cast<Compute<T>>(x[i]) / static_cast<Compute<T>>(size));
  });
}

auto merge_of(std::string_view op) {
  if (op == "Add") return &merge<Sum>;
  if (op == "Mul") return &merge<Product>;
  return op == "Min" ? &merge<Least> : &merge<Most>;
}

struct Collective {
  std::shared_ptr<Collectives> place;
  CollectiveCall call;  // but for what comes with inputs
  int keys = -1;        // the first of three inputs: size, group, instance
  bool has_value = true;

  void operator()(KernelContext& c) const {
    CollectiveCall mine = call;
    if (has_value) mine.value = c.input(0);
    if (keys >= 0) {
      mine.size = scalar(c, keys, "group_size");
      mine.group = scalar(c, keys + 1, "group_key");
      mine.instance = scalar(c, keys + 2, "instance_key");
    }
    if (mine.size < 1)
      throw invalid_argument("group_size must be positive integer but got " +
                             std::to_string(mine.size));
    if (mine.kind == CollectiveCall::Kind::kGather && mine.value.rank() < 1)
      throw invalid_argument("A scalar can't be gathered.");
    place->run(std::move(mine), c.device().name(), std::make_shared<Pending>(c));
  }

  static int32_t scalar(const KernelContext& c, int input, const char* name) {
    const Tensor& t = c.input(input);
    if (t.rank() != 0)
      throw invalid_argument(std::string("Unexpected dimensions on input ") + name + ", got " +
                             t.shape().str());
    return *t.data<int32_t>();
  }
};

template <CollectiveCall::Kind kKind, bool kKeysAsInputs>
Prepared make(const KernelInit& init) {
  Collective k;
  k.place = init.resources->find_or_create_as<Collectives>(
      "_collectives", "", [] { return std::make_shared<Collectives>(); });
  k.call.kind = kKind;
  k.call.timeout_s = static_cast<double>(init.attr<float>("timeout_seconds"));
  k.has_value = kKind != CollectiveCall::Kind::kReceive;
  if constexpr (kKind == CollectiveCall::Kind::kReduce) {
    k.call.merge = merge_of(init.attr<std::string>("merge_op"));
    if (init.attr<std::string>("final_op") == "Div") k.call.finish = &divide;
  }
  if constexpr (kKeysAsInputs) {
    k.keys = k.has_value ? 1 : 0;
  } else {
    const auto number = [&](const char* name) {
      return static_cast<int32_t>(init.attr<int64_t>(name));
    };
    k.call.size = number("group_size");
    k.call.group = number("group_key");
    k.call.instance = number("instance_key");
  }
  return prepared(std::move(k));
}

}  // namespace

std::vector<KernelRow> collective_kernels() {
  using Kind = CollectiveCall::Kind;
  const auto row = [](std::string op, KernelFactory factory) {
    return KernelRow{std::move(op), "CPU", {}, {}, factory, {.blocks = true}, 0, ""};
  };
  return {row("CollectiveReduce", make<Kind::kReduce, false>),
          row("CollectiveReduceV2", make<Kind::kReduce, true>),
          row("CollectiveGather", make<Kind::kGather, false>),
          row("CollectiveGatherV2", make<Kind::kGather, true>),
          row("CollectiveBcastSend", make<Kind::kSend, false>),
          row("CollectiveBcastSendV2", make<Kind::kSend, true>),
          row("CollectiveBcastRecv", make<Kind::kReceive, false>),
          row("CollectiveBcastRecvV2", make<Kind::kReceive, true>)};
}

}  // namespace emplace::cpu
