// Convolutions through oneDNN. A primitive is made once for each shape and kept; work is cut into
// images, or rows of one image, since each call of the library runs on the thread that makes it.
#include "backends/cpu/conv.h"
#if defined(EMPLACE_WITH_DNNL)
#include <map>
#include <mutex>
#include <shared_mutex>

#include <oneapi/dnnl/dnnl.hpp>

#include "backends/cpu/gemm.h"
#include "base/cpu_isa.h"

namespace emplace::cpu {
namespace {

using dnnl::memory;
using Dims = memory::dims;
enum class Way { kForward, kInput, kFilter };

// Before the library is used; its own DNNL_MAX_CPU_ISA counts where ours says nothing.
void hold_back() {
#if defined(__x86_64__)
  if (max_cpu_isa() == CpuIsa::kAvx2) dnnl::set_max_cpu_isa(dnnl::cpu_isa::avx2);
  if (max_cpu_isa() == CpuIsa::kBase) dnnl::set_max_cpu_isa(dnnl::cpu_isa::sse41);
#endif
}

dnnl::engine& engine() {
  static dnnl::engine e = [] {
    hold_back();
    return dnnl::engine(dnnl::engine::kind::cpu, 0);
  }();
  return e;
}
dnnl::stream& stream() {
  thread_local dnnl::stream s(engine());
  return s;
}

// The shape in the library's terms.
struct Descs {
  memory::desc x, w, y, any_w;
  Dims strides, dilations, before, after;
};

Descs describe(const ConvShape& s) {
  const bool flat = s.dims[0].in == 1 && s.dims[0].size == 1 && s.dims[0].out == 1;
  Dims x = {s.batch, s.in_channels}, y = {s.batch, s.out_channels}, w;
  if (s.groups > 1)
    w = {s.groups, s.group_out(), s.group_in()};
  else
    w = {s.out_channels, s.in_channels};
  Descs d;
  for (const WindowDim& dim : std::span(s.dims).subspan(flat ? 1 : 0)) {
    x.push_back(dim.in);
    y.push_back(dim.out);
    w.push_back(dim.size);
    d.strides.push_back(dim.stride);
    d.dilations.push_back(dim.dilation - 1);
    d.before.push_back(dim.before);
    d.after.push_back(dim.after);
  }
  using Tag = memory::format_tag;
  const Tag image = flat ? Tag::nhwc : Tag::ndhwc;
  const Tag filter =
      s.groups > 1 ? (flat ? Tag::hwigo : Tag::dhwigo) : (flat ? Tag::hwio : Tag::dhwio);
  const auto f32 = memory::data_type::f32;
  d.x = {x, f32, image};
  d.y = {y, f32, image};
  d.w = {w, f32, filter};
  d.any_w = {w, f32, Tag::any};
  return d;
}

dnnl::primitive_attr own_scratch() {
  dnnl::primitive_attr a;
  a.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return a;
}

using DnnlForward = dnnl::convolution_forward;
using Input = dnnl::convolution_backward_data;
using Filter = dnnl::convolution_backward_weights;
constexpr auto kDirect = dnnl::algorithm::convolution_direct;

#if DNNL_VERSION_MAJOR >= 3
DnnlForward::primitive_desc forward_desc(const Descs& d, dnnl::prop_kind kind) {
  return {engine(),  kind,        kDirect,  d.x,     d.any_w,      d.y,
          d.strides, d.dilations, d.before, d.after, own_scratch()};
}
Input::primitive_desc input_desc(const Descs& d) {
  return {engine(),     kDirect,
          d.x,          d.any_w,
          d.y,          d.strides,
          d.dilations,  d.before,
          d.after,      forward_desc(d, dnnl::prop_kind::forward_training),
          own_scratch()};
}
Filter::primitive_desc filter_desc(const Descs& d) {
  return {engine(),     kDirect,
          d.x,          d.any_w,
          d.y,          d.strides,
          d.dilations,  d.before,
          d.after,      forward_desc(d, dnnl::prop_kind::forward_training),
          own_scratch()};
}
#else
DnnlForward::primitive_desc forward_desc(const Descs& d, dnnl::prop_kind kind) {
  return {{kind, kDirect, d.x, d.any_w, d.y, d.strides, d.dilations, d.before, d.after},
          own_scratch(),
          engine()};
}
Input::primitive_desc input_desc(const Descs& d) {
  return {{kDirect, d.x, d.any_w, d.y, d.strides, d.dilations, d.before, d.after},
          own_scratch(),
          engine(),
          forward_desc(d, dnnl::prop_kind::forward_training)};
}
Filter::primitive_desc filter_desc(const Descs& d) {
  return {{kDirect, d.x, d.any_w, d.y, d.strides, d.dilations, d.before, d.after},
          own_scratch(),
          engine(),
          forward_desc(d, dnnl::prop_kind::forward_training)};
}
#endif

// A primitive with what it wants: the filter in a layout of its own, and scratch.
struct Made {
  dnnl::primitive run;
  memory::desc x, w, y, plain_w, scratch;
  dnnl::reorder turn;  // the filter to its layout, or the gradient back from it
  bool turns = false;

  Made(Way way, const ConvShape& s) {
    const Descs d = describe(s);
    x = d.x;
    y = d.y;
    plain_w = d.w;
    if (way == Way::kForward) take(forward_desc(d, dnnl::prop_kind::forward_inference));
    if (way == Way::kInput) take(input_desc(d));
    if (way == Way::kFilter) take_filter(filter_desc(d));
    turns = w != plain_w;
    if (!turns) return;
    const bool back = way == Way::kFilter;
    turn = dnnl::reorder(back ? dnnl::reorder::primitive_desc(engine(), w, engine(), plain_w)
                              : dnnl::reorder::primitive_desc(engine(), plain_w, engine(), w));
  }
  void take(const DnnlForward::primitive_desc& p) {
    run = DnnlForward(p);
    w = p.weights_desc();
    scratch = p.scratchpad_desc();
  }
  void take(const Input::primitive_desc& p) {
    run = Input(p);
    w = p.weights_desc();
    scratch = p.scratchpad_desc();
  }
  void take_filter(const Filter::primitive_desc& p) {
    run = Filter(p);
    w = p.diff_weights_desc();
    scratch = p.scratchpad_desc();
  }
};

using Key = std::array<int64_t, 26>;
Key key_of(Way way, const ConvShape& s) {
  Key k{};
  size_t at = 0;
  for (const WindowDim& d : s.dims)
    for (int64_t v : {d.in, d.size, d.stride, d.dilation, d.before, d.after, d.out}) k[at++] = v;
  for (int64_t v : {s.batch, s.in_channels, s.out_channels, s.groups, static_cast<int64_t>(way)})
    k[at++] = v;
  return k;
}

// The primitive for a shape: made on first use. Many shapes: the store starts anew.
std::shared_ptr<const Made> made(Way way, const ConvShape& s) {
  static std::shared_mutex mutex;
  static std::map<Key, std::shared_ptr<const Made>> store;
  constexpr size_t kMost = 1024;
  const Key key = key_of(way, s);
  {
    std::shared_lock lock(mutex);
    if (auto it = store.find(key); it != store.end()) return it->second;
  }
  one_dnnl_thread();
  auto fresh = std::make_shared<const Made>(way, s);
  std::unique_lock lock(mutex);
  if (store.size() >= kMost) store.clear();
  return store.emplace(key, std::move(fresh)).first->second;
}

Tensor bytes(KernelContext& c, const memory::desc& d) {
  return c.temp(DType::kInt8, Shape{std::max<int64_t>(64, static_cast<int64_t>(d.get_size()))});
}
memory at(const memory::desc& d, const void* p) {
  return memory(d, engine(), const_cast<void*>(p));
}

void turn(const Made& m, const memory::desc& from, const void* p, const memory::desc& to, void* q) {
  memory a = at(from, p), b = at(to, q);
  m.turn.execute(stream(), a, b);
}

// A part of the work: a shape of its own, and where it starts.
struct Part {
  ConvShape shape;
  int64_t x = 0, y = 0;
};

constexpr double kAlone = 2e6;  // operations below which nothing is cut

std::vector<Part> by_images(const ConvShape& s, int64_t most) {
  const int64_t count = s.flops() < kAlone ? 1 : std::min(most, s.batch);
  const int64_t images = (s.batch + count - 1) / count;
  std::vector<Part> parts;
  for (int64_t i = 0; i < s.batch; i += images) {
    parts.push_back({s, i * s.in_pixels() * s.in_channels, i * s.out_pixels() * s.out_channels});
    parts.back().shape.batch = std::min(images, s.batch - i);
  }
  return parts;
}

// Rows of one flat image. Empty where a part would meet padding only.
std::vector<Part> by_rows(const ConvShape& s) {
  const WindowDim& h = s.dims[1];
  const int64_t row = s.dims[2].in * s.in_channels, row_out = s.dims[2].out * s.out_channels;
  const int64_t rows = (h.out + 3) / 4;
  std::vector<Part> parts;
  for (int64_t o = 0; o < h.out; o += rows) {
    const int64_t n = std::min(rows, h.out - o), first = h.at(o, 0);
    const int64_t end = h.at(o + n - 1, h.size - 1) + 1, from = std::max<int64_t>(0, first);
    Part p{s, from * row, o * row_out};
    WindowDim& d = p.shape.dims[1];
    d.in = std::min(end, h.in) - from;
    if (d.in <= 0) return {};
    d.before = from - first;
    d.after = std::max<int64_t>(0, end - h.in);
    d.out = n;
    parts.push_back(p);
  }
  return parts;
}

std::vector<Part> forward_parts(const ConvShape& s) {
  const bool one = s.batch == 1 && s.dims[0].in == 1 && s.dims[0].out == 1;
  if (one && s.flops() >= kAlone && s.dims[1].out >= 16)
    if (auto parts = by_rows(s); !parts.empty()) return parts;
  return by_images(s, 8);
}

double part_cost(const ConvShape& s, size_t parts) {
  return s.flops() / 50 / static_cast<double>(parts);
}

// Runs parts of which each reads `in` and the filter, and writes `out`.
void run_parts(KernelContext& c, Way way, const std::vector<Part>& parts, double cost,
               const float* in, const float* w, float* out) {
  std::vector<std::shared_ptr<const Made>> all;
  for (const Part& p : parts) all.push_back(made(way, p.shape));
  one_dnnl_thread();
  Tensor packed;
  const Made& first = *all[0];
  if (first.turns) {
    packed = bytes(c, first.w);
    turn(first, first.plain_w, w, first.w, packed.raw());
  }
  const bool forward = way == Way::kForward;
  c.parallel_for(static_cast<int64_t>(parts.size()), cost, [&](int64_t begin, int64_t end) {
    one_dnnl_thread();
    for (int64_t i = begin; i < end; ++i) {
      const Part& p = parts[static_cast<size_t>(i)];
      const Made& m = *all[static_cast<size_t>(i)];
      Tensor own;  // another shape may want another layout
      const void* filter = m.turns ? packed.raw() : w;
      if (m.w != first.w && m.turns) {
        own = bytes(c, m.w);
        turn(m, m.plain_w, w, m.w, own.raw());
        filter = own.raw();
      }
      const Tensor scratch = bytes(c, m.scratch);
      const int from = forward ? DNNL_ARG_SRC : DNNL_ARG_DIFF_DST;
      const int to = forward ? DNNL_ARG_DST : DNNL_ARG_DIFF_SRC;
      m.run.execute(stream(), {{from, at(forward ? m.x : m.y, in + (forward ? p.x : p.y))},
                               {DNNL_ARG_WEIGHTS, at(m.w, filter)},
                               {to, at(forward ? m.y : m.x, out + (forward ? p.y : p.x))},
                               {DNNL_ARG_SCRATCHPAD, at(m.scratch, scratch.raw())}});
    }
  });
}

void filter_part(KernelContext& c, const Made& m, const float* x, const float* dy, float* dw) {
  const Tensor scratch = bytes(c, m.scratch);
  Tensor packed;
  void* to = dw;
  if (m.turns) {
    packed = bytes(c, m.w);
    to = packed.raw();
  }
  m.run.execute(stream(), {{DNNL_ARG_SRC, at(m.x, x)},
                           {DNNL_ARG_DIFF_DST, at(m.y, dy)},
                           {DNNL_ARG_DIFF_WEIGHTS, at(m.w, to)},
                           {DNNL_ARG_SCRATCHPAD, at(m.scratch, scratch.raw())}});
  if (m.turns) turn(m, m.w, to, m.plain_w, dw);
}

void filter_gradient(KernelContext& c, const ConvShape& s, const float* x, const float* dy,
                     float* dw) {
  const std::vector<Part> parts = by_images(s, 4);
  std::vector<std::shared_ptr<const Made>> all;
  for (const Part& p : parts) all.push_back(made(Way::kFilter, p.shape));
  const int64_t size = s.filter_elements();
  Tensor others;
  if (parts.size() > 1)
    others = c.temp(DType::kFloat, Shape{static_cast<int64_t>(parts.size()) - 1, size});
  c.parallel_for(static_cast<int64_t>(parts.size()), part_cost(s, parts.size()),
                 [&](int64_t begin, int64_t end) {
                   one_dnnl_thread();
                   for (int64_t i = begin; i < end; ++i) {
                     const Part& p = parts[static_cast<size_t>(i)];
                     filter_part(c, *all[static_cast<size_t>(i)], x + p.x, dy + p.y,
                                 i == 0 ? dw : others.data<float>() + (i - 1) * size);
                   }
                 });
  for (size_t i = 1; i < parts.size(); ++i) {
    const float* more = others.data<float>() + static_cast<int64_t>(i - 1) * size;
    for (int64_t k = 0; k < size; ++k) dw[k] += more[k];
  }
}

// What the library refuses is done without it.
template <class F>
bool tried(F&& f) {
  try {
    f();
    return true;
  } catch (const dnnl::error&) {
    return false;
  }
}

}  // namespace

bool dnnl_conv_forward(KernelContext& c, const ConvShape& s, const float* x, const float* w,
                       float* y) {
  return tried([&] {
    const auto parts = forward_parts(s);
    run_parts(c, Way::kForward, parts, part_cost(s, parts.size()), x, w, y);
  });
}
bool dnnl_conv_input_gradient(KernelContext& c, const ConvShape& s, const float* w, const float* dy,
                              float* dx) {
  return tried([&] {
    const auto parts = by_images(s, 8);
    run_parts(c, Way::kInput, parts, part_cost(s, parts.size()), dy, w, dx);
  });
}
bool dnnl_conv_filter_gradient(KernelContext& c, const ConvShape& s, const float* x,
                               const float* dy, float* dw) {
  return tried([&] { filter_gradient(c, s, x, dy, dw); });
}

}  // namespace emplace::cpu
#else
namespace emplace::cpu {

bool dnnl_conv_forward(KernelContext&, const ConvShape&, const float*, const float*, float*) {
  return false;
}
bool dnnl_conv_input_gradient(KernelContext&, const ConvShape&, const float*, const float*,
                              float*) {
  return false;
}
bool dnnl_conv_filter_gradient(KernelContext&, const ConvShape&, const float*, const float*,
                               float*) {
  return false;
}

}  // namespace emplace::cpu
#endif
