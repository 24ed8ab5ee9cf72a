#include "exec/fused_kernel.h"

#include <array>
#include <cstring>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace emplace {
namespace {

constexpr int64_t kBlock = 2048;                  // elements: a few blocks fit the first cache
constexpr size_t kStreamBytes = size_t{8} << 20;  // results larger than this go past the caches

// Writes without reading the lines first. The caller ends with a fence.
void copy_past_caches(void* to, const void* from, size_t bytes) {
#if defined(__SSE2__)
  if (reinterpret_cast<uintptr_t>(to) % 16 == 0 && bytes % 16 == 0) {
    auto* q = static_cast<__m128i*>(to);
    const auto* p = static_cast<const __m128i*>(from);
    for (size_t i = 0; i < bytes / 16; ++i) _mm_stream_si128(q + i, _mm_loadu_si128(p + i));
    return;
  }
#endif
  std::memcpy(to, from, bytes);
}
void fence() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

// Memory of the thread that results between kernels lie in; grows to the most that was asked for.
thread_local Tensor spare_scratch;

Tensor take_scratch(int64_t bytes) {
  Tensor t = std::exchange(spare_scratch, Tensor());
  if (!t.has_value() || static_cast<int64_t>(t.bytes()) < bytes)
    t = Tensor(DType::kInt8, Shape{bytes});
  return t;
}

int64_t rounded(int64_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace

FusedKernel::Builder::Builder(const Shape& shape) : kernel_(std::make_shared<FusedKernel>()) {
  kernel_->shape_ = shape;
  kernel_->elements_ = shape.num_elements();
  kernel_->block_ = std::min(kBlock, kernel_->elements_);
  kernel_->rest_ = kernel_->elements_ % kernel_->block_;
}

void FusedKernel::Builder::add(const Step& step, std::span<const Operand> operands,
                               const StepGraph& g) {
  Call call;
  call.operands.assign(operands.begin(), operands.end());
  call.result = step.outputs[0].dtype;
  call.name = step.name;
  std::vector<DType> types;
  for (Port p : step.inputs) types.push_back(g.out(p).dtype);
  auto made_for = [&](int64_t n) {
    std::vector<Shape> shapes;
    for (Port p : step.inputs)
      shapes.push_back(g.out(p).shape.num_elements() == kernel_->elements_ ? Shape{n} : Shape{});
    const Shape out{n};
    const std::vector<const Tensor*> unknown(types.size(), nullptr);
    KernelInit init;
    init.op = &step.node->op();
    init.node = *step.name;
    init.attrs = &step.node->attrs();
    init.input_types = types;
    init.output_types = {&call.result, 1};
    init.input_shapes = shapes;
    init.output_shapes = {&out, 1};
    init.input_values = unknown;
    init.device = step.device;
    return step.row->make(init);
  };
  call.block = made_for(kernel_->block_);
  if (kernel_->rest_ > 0) call.rest = made_for(kernel_->rest_);
  kernel_->calls_.push_back(std::move(call));
}

void FusedKernel::Builder::take(const StepOutput& input) {
  kernel_->whole_.push_back(input.shape.num_elements() == kernel_->elements_);
}

Prepared FusedKernel::Builder::prepared() && {
  kernel_->place_results();
  return {[](const void* k, KernelContext& c) { (*static_cast<const FusedKernel*>(k))(c); },
          std::shared_ptr<const void>(std::move(kernel_))};
}

// Slots: inputs, then results. A result's scratch is free again after its last taker.
void FusedKernel::place_results() {
  std::vector<size_t> last_use(calls_.size(), 0);
  const auto inputs = static_cast<uint32_t>(whole_.size());
  for (size_t i = 0; i < calls_.size(); ++i) {
    for (const Operand& o : calls_[i].operands) {
      if (o.is_result) last_use[static_cast<size_t>(o.index)] = i;
      calls_[i].slots.push_back(static_cast<uint32_t>(o.index) + (o.is_result ? inputs : 0));
    }
    calls_[i].slots.push_back(inputs + static_cast<uint32_t>(i));
    scratch_bytes_ = std::max(scratch_bytes_,
                              rounded(block_ * static_cast<int64_t>(dtype_size(calls_[i].result))));
  }
  std::vector<size_t> busy_until;  // by scratch block
  for (size_t i = 0; i < calls_.size(); ++i) {
    size_t at = 0;
    while (at < busy_until.size() && busy_until[at] >= i) ++at;
    if (at == busy_until.size()) busy_until.push_back(0);
    busy_until[at] = i + 1 < calls_.size() ? last_use[i] : i;
    calls_[i].scratch = static_cast<int>(at);
  }
  scratch_blocks_ = static_cast<int>(busy_until.size());
}

// One thread's share of a call: tensors that look at the current block.
class FusedKernel::Run {
 public:
  Run(const FusedKernel& k, KernelContext& c, Tensor& out, bool streams)
      : k_(k),
        c_(c),
        out_(out),
        streams_(streams),
        scratch_(take_scratch(k.scratch_blocks_ * k.scratch_bytes_)) {
    for (size_t i = 0; i < k_.whole_.size(); ++i)
      if (!k_.whole_[i]) slots_[i] = c_.input(static_cast<int>(i)).reshaped(Shape{});
    look_at_results(k_.block_);
    inner_ = c_;
    inner_.slots_ = slots_.data();
  }
  ~Run() {
    for (Tensor& t : slots_) t = Tensor();
    spare_scratch = std::move(scratch_);
    if (streams_) fence();
  }

  void block(int64_t index) {
    const int64_t at = index * k_.block_, n = std::min(k_.block_, k_.elements_ - at);
    if (n != k_.block_) look_at_results(n);
    for (size_t i = 0; i < k_.whole_.size(); ++i)
      if (k_.whole_[i]) slots_[i] = part(c_.input(static_cast<int>(i)), at, n);
    Tensor& result = slots_[k_.whole_.size() + k_.calls_.size() - 1];
    if (!streams_) result = part(out_, at, n);
    for (const Call& call : k_.calls_) run(call, n);
    if (streams_) copy_past_caches(part(out_, at, n).raw(), result.raw(), result.bytes());
    if (n != k_.block_) look_at_results(k_.block_);
  }

 private:
  static Tensor part(const Tensor& t, int64_t at, int64_t n) {
    const auto* base = static_cast<const char*>(t.buffer()->data());
    const auto start = static_cast<size_t>(static_cast<const char*>(t.raw()) - base);
    return Tensor(t.dtype(), Shape{n}, t.buffer(),
                  start + static_cast<size_t>(at) * dtype_size(t.dtype()));
  }
  void look_at_results(int64_t n) {
    for (size_t i = 0; i < k_.calls_.size(); ++i)
      slots_[k_.whole_.size() + i] =
          Tensor(k_.calls_[i].result, Shape{n}, scratch_.buffer(),
                 static_cast<size_t>(k_.calls_[i].scratch * k_.scratch_bytes_));
  }
  void run(const Call& call, int64_t n) {
    CallSite site;
    site.operands = call.slots.data();
    site.output_types = &call.result;
    site.planned = site.host_outputs = 1;
    site.count(call.operands.size(), 1);
    site.device = &c_.device();
    site.node = call.name;
    inner_.site_ = &site;
    const Prepared& kernel = n == k_.block_ ? call.block : call.rest;
    kernel.run(kernel.state.get(), inner_);
  }

  const FusedKernel& k_;
  KernelContext& c_;
  Tensor& out_;
  bool streams_;
  Tensor scratch_;
  std::array<Tensor, kMostCalls + kMostInputs> slots_;
  KernelContext inner_;
};

void FusedKernel::operator()(KernelContext& c) const {
  Tensor& out = c.output(0, shape_);
  bool over_input = false;  // its lines are in the cache by then
  for (int i = 0; i < c.num_inputs(); ++i) over_input |= c.input(i).raw() == out.raw();
  const bool streams = out.bytes() >= kStreamBytes && !over_input;
  const int64_t blocks = (elements_ + block_ - 1) / block_;
  const double cost = 0.3 * static_cast<double>(block_) * static_cast<double>(calls_.size());
  c.parallel_for(blocks, cost, [&](int64_t begin, int64_t end) {
    Run run(*this, c, out, streams);
    for (int64_t i = begin; i < end; ++i) run.block(i);
  });
}

}  // namespace emplace
