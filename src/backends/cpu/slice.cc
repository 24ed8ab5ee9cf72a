#include <fmt/format.h>

#include "backends/cpu/cpu_kernels.h"
#include "backends/cpu/rows.h"
#include "backends/cpu/strided.h"
#include "op/strided_slice.h"

namespace emplace::cpu {
namespace {

void slice(KernelContext& c) {
  const Tensor& in = c.input(0);
  const auto begin = int_values(c.input(1));
  auto size = int_values(c.input(2));
  const int rank = in.rank();
  if (c.input(1).rank() != 1 || c.input(2).rank() != 1 || static_cast<int>(begin.size()) != rank ||
      static_cast<int>(size.size()) != rank)
    throw invalid_argument(fmt::format("Expected begin and size arguments to be 1-D tensors of size "
                                       "{}, but got shapes {} and {} instead.", rank,
                                       c.input(1).shape().str(), c.input(2).shape().str()));
  Box from = Box::whole(in);
  for (size_t i = 0; i < size.size(); ++i) {
    const int64_t dim = in.dim(static_cast<int>(i)), b = begin[i];
    if (b < 0 || b > dim)
      throw invalid_argument(fmt::format("Expected begin[{}] in [0, {}], but got {}", i, dim, b));
    if (size[i] == -1) size[i] = dim - b;
    if (size[i] < 0 || size[i] > dim - b)
      throw invalid_argument(
          fmt::format("Expected size[{}] in [0, {}], but got {}", i, dim - b, size[i]));
    from.offset += b * from.strides[i];
  }
  Tensor& out = c.output(0, Shape(size));
  copy_box(c, size, from, Box::whole(out));
}

// begin, end and strides stand at inputs first, first + 1, first + 2.
SliceSpec read_spec(KernelContext& c, const SliceSpec& masks, int first) {
  SliceSpec spec = masks;
  for (int i = first; i < first + 3; ++i) {
    const Tensor& t = c.input(i);
    if (t.rank() != 1 || t.num_elements() != c.input(first).num_elements() ||
        t.num_elements() >= 32)
      throw invalid_argument(
          fmt::format("Expected begin, end, and strides to be 1D equal size tensors, but got shapes "
                      "{}, {}, and {} instead.", c.input(first).shape().str(),
                      c.input(first + 1).shape().str(), c.input(first + 2).shape().str()));
  }
  spec.begin = int_values(c.input(first));
  spec.end = int_values(c.input(first + 1));
  spec.strides = int_values(c.input(first + 2));
  spec.entries = static_cast<int>(spec.begin->size());
  return spec;
}

// The box of `t` that a plan speaks of.
Box box_of(const Tensor& t, const SlicePlan& plan) {
  Box box = Box::whole(t);
  for (size_t i = 0; i < plan.dims.size(); ++i) {
    box.offset += plan.dims[i].begin * box.strides[i];
    box.strides[i] *= plan.dims[i].stride;
  }
  return box;
}

struct StridedSlice {
  SliceSpec masks;
  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    const SlicePlan plan = plan_slice(in.shape(), read_spec(c, masks, 1));
    Tensor& out = c.output(0, plan.result);
    const Tensor seen = out.reshaped(plan.kept);
    copy_box(c, plan.kept.dims(), box_of(in, plan), Box::whole(seen));
  }
};

[[noreturn]] void does_not_fit(const SlicePlan& plan, const Tensor& value) {
  throw invalid_argument(fmt::format("strided slice shape {} does not match the value's {}",
                                     plan.result.str(), value.shape().str()));
}

// The value's stride along dimension i of the result; it broadcasts from the right, as NumPy
// assigns.
int64_t value_stride(const SlicePlan& plan, const Tensor& value, const Box& box, int i) {
  const int at = i - (plan.result.rank() - value.rank());
  if (at < 0 || (value.dim(at) == 1 && plan.result[i] != 1)) return 0;
  if (value.dim(at) != plan.result[i]) does_not_fit(plan, value);
  return box.strides[static_cast<size_t>(at)];
}

// Writes `value` into the part of `to` that the spec names.
void write_slice(KernelContext& c, const SliceSpec& spec, const Tensor& value, const Tensor& to) {
  const SlicePlan plan = plan_slice(to.shape(), spec);
  if (value.rank() > plan.result.rank()) does_not_fit(plan, value);
  const Box packed = Box::whole(value);
  for (int i = 0; i < plan.result.rank(); ++i) value_stride(plan, value, packed, i);  // all fit?
  Box from{&value, 0, {}};
  for (const SlicePlan::Dim& d : plan.dims)
    from.strides.push_back(d.result < 0 ? 0 : value_stride(plan, value, packed, d.result));
  copy_box(c, plan.kept.dims(), from, box_of(to, plan));
}

struct StridedSliceGrad {
  SliceSpec masks;
  void operator()(KernelContext& c) const {
    Tensor& out = c.output(0, shape_from(c.input(0)));
    const SliceSpec spec = read_spec(c, masks, 1);
    const SlicePlan plan = plan_slice(out.shape(), spec);
    const Tensor& dy = c.input(4);
    if (!(dy.shape() == plan.result))
      throw invalid_argument(fmt::format("shape of dy was {} instead of {}", dy.shape().str(),
                                         plan.result.str()));
    Mover(out.dtype()).zero(out, 0, out.num_elements());
    write_slice(c, spec, dy, out);
  }
};

struct StridedSliceUpdate {
  SliceSpec masks;
  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    Tensor& out = c.output(0, in.shape());
    if (out.raw() != in.raw()) copy_elements(out, in);
    write_slice(c, read_spec(c, masks, 1), c.input(4), out);
  }
};

struct StridedSliceAssign {
  SliceSpec masks;
  bool is_ref;
  void operator()(KernelContext& c) const {
    const SliceSpec spec = read_spec(c, masks, 1);
    c.variable(0).update(c.own_aliases(), [&](Tensor& t) {
      if (t.dtype() != c.input(4).dtype())
        throw invalid_argument("l-value dtype does not match r-value dtype");
      write_slice(c, spec, c.input(4), t);
    });
    if (is_ref) c.set_output(0, c.input(0));
  }
};

SliceSpec masks_of(const KernelInit& init) {
  SliceSpec spec;
  spec.read_masks(*init.attrs);
  return spec;
}

Prepared make_slice(const KernelInit& i) { return prepared(StridedSlice{masks_of(i)}); }
Prepared make_grad(const KernelInit& i) { return prepared(StridedSliceGrad{masks_of(i)}); }
Prepared make_update(const KernelInit& i) { return prepared(StridedSliceUpdate{masks_of(i)}); }
Prepared make_assign(const KernelInit& i) {
  return prepared(StridedSliceAssign{masks_of(i), true});
}
Prepared make_resource_assign(const KernelInit& i) {
  return prepared(StridedSliceAssign{masks_of(i), false});
}

}  // namespace

std::vector<KernelRow> slice_kernels() {
  return {row("Slice", stateless<slice>),
          row("StridedSlice", make_slice),
          row("StridedSliceGrad", make_grad),
          row("TensorStridedSliceUpdate", make_update),
          row("StridedSliceAssign", make_assign),
          row("ResourceStridedSliceAssign", make_resource_assign)};
}

}  // namespace emplace::cpu
