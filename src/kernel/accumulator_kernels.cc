// Accumulators of gradients: dense ones, and of chosen rows. A gradient that is older than the
// accumulator's step is left out; whoever takes waits until enough have come.
#include <fmt/format.h>

#include "kernel/keep.h"
#include "kernel/shared_resource.h"
#include "kernel/staging_kernels.h"
#include "kernel/waiting_room.h"

namespace emplace {
namespace {

// ---- Arithmetic of floats, in host memory.

template <class F>
void visit_floats(DType dtype, F&& f) {
  switch (dtype) {
    case DType::kFloat: return f(float{});
    case DType::kDouble: return f(double{});
    case DType::kHalf: return f(Half{});
    default:
      throw unimplemented(fmt::format("no accumulator of {}", dtype_proto_name(dtype)));
  }
}
template <class T>
using Wide = std::conditional_t<std::is_same_v<T, Half>, float, T>;

// to[0..n) = (to + from), element by element, from given places on.
void add_part(Tensor& to, int64_t at, const Tensor& from, int64_t start, int64_t n) {
  visit_floats(to.dtype(), [&]<class T>(T) {
    T* out = to.data<T>() + at;
    const T* in = from.data<T>() + start;
    for (int64_t i = 0; i < n; ++i)
      out[i] = static_cast<T>(static_cast<Wide<T>>(out[i]) + static_cast<Wide<T>>(in[i]));
  });
}
void divide_part(Tensor& t, int64_t at, int64_t n, int64_t by) {
  visit_floats(t.dtype(), [&]<class T>(T) {
    T* out = t.data<T>() + at;
    for (int64_t i = 0; i < n; ++i)
      out[i] = static_cast<T>(static_cast<Wide<T>>(out[i]) / static_cast<Wide<T>>(by));
  });
}

// ---- The accumulator. Guarded by the room's turn.

struct RowSum {
  int64_t index;
  Tensor sum;
  int64_t count = 1;
};

class Accumulator : public Resource {
 public:
  Accumulator(std::string name, DType dtype, Shape shape, bool mean, bool sparse)
      : name(std::move(name)), dtype(dtype), shape(std::move(shape)), mean(mean), sparse(sparse) {}
  std::string debug_string() const override { return "A conditional accumulator"; }

  const std::shared_ptr<WaitingRoom> room = std::make_shared<WaitingRoom>();
  const std::string name;
  const DType dtype;
  const Shape shape;  // declared
  const bool mean, sparse;

  int64_t step = 0, count = 0;
  Tensor sum;                      // dense
  std::vector<RowSum> rows;        // sparse; rising, as long as each gradient's rows rise
  Shape row_shape = Shape::unknown(), whole_shape = Shape::unknown();
};

template <bool kSparse>
Prepared make_accumulator(const KernelInit& init) {
  const auto& container = init.attr<std::string>("container");
  const std::string name = shared_name(init);
  const DType dtype = init.type("dtype");
  visit_floats(dtype, [](auto) {});
  const auto found = init.resources->find_or_create_as<Accumulator>(container, name, [&] {
    return std::make_shared<Accumulator>(name, dtype, init.attr<Shape>("shape"),
                                         init.attr<std::string>("reduction_type") == "MEAN",
                                         kSparse);
  });
  if (found->dtype != dtype)
    throw invalid_argument(fmt::format("Shared conditional accumulator '{}' has data type {}, but "
                                       "requested data type is {}",
                                       name, dtype_proto_name(found->dtype),
                                       dtype_proto_name(dtype)));
  return prepared(
      GiveHandle{found, container, found->name, "tensorflow::ConditionalAccumulatorBase"});
}

std::shared_ptr<Accumulator> accumulator_of(KernelContext& c, bool sparse) {
  auto a = c.resource<Accumulator>(0);
  if (a->sparse != sparse)
    throw invalid_argument(fmt::format("'{}' accumulates {}", a->name,
                                       a->sparse ? "chosen rows" : "whole tensors"));
  return a;
}

int64_t scalar(const Tensor& t, const char* what) {
  if (t.num_elements() != 1)
    throw invalid_argument(
        fmt::format("Argument {} must be a scalar, not {}", what, t.shape().str()));
  return t.dtype() == DType::kInt64 ? *t.data<int64_t>() : *t.data<int32_t>();
}

void check_type(const Accumulator& a, const Tensor& gradient) {
  if (gradient.dtype() != a.dtype)
    throw invalid_argument(fmt::format("Tensor of {} given to an accumulator of {}",
                                       dtype_proto_name(gradient.dtype()),
                                       dtype_proto_name(a.dtype)));
}

void check_asked(const Accumulator& a, DType asked) {
  if (asked != a.dtype)
    throw invalid_argument(fmt::format("Accumulator dtype is {} but Op requested dtype {}.",
                                       dtype_proto_name(a.dtype), dtype_proto_name(asked)));
}

// ---- Dense.

void apply(KernelContext& c) {
  const auto a = accumulator_of(c, false);
  const int64_t step = scalar(c.input(1), "local_step");
  const Tensor& gradient = c.input(2);
  check_type(*a, gradient);
  if (!a->shape.compatible_with(gradient.shape()))
    throw invalid_argument(fmt::format("Shape mismatch: expected {}, got {}", a->shape.str(),
                                       gradient.shape().str()));
  const Tensor own = keep(c, gradient);
  a->room->change([&] {
    if (step < a->step) return;
    if (a->count > 0 && !(a->sum.shape() == own.shape()))
      throw invalid_argument(fmt::format("Shape mismatch: expected {}, got {}",
                                         a->sum.shape().str(), own.shape().str()));
    if (a->count == 0) a->sum = own;
    else add_part(a->sum, 0, own, 0, own.num_elements());
    ++a->count;
  });
}

int64_t required(const Tensor& t) {
  const int64_t n = scalar(t, "num_required");
  if (n <= 0)
    throw invalid_argument(fmt::format("Argument num_required must be positive, got {}", n));
  return n;
}

void take(KernelContext& c) {
  const auto a = accumulator_of(c, false);
  check_asked(*a, c.output_type(0));
  a->room->run(c, [a, n = required(c.input(1))](KernelContext& c) {
    if (a->count < n) return false;
    Tensor& out = c.output(0, a->sum.shape());
    put(c, out, 0, a->sum);
    if (a->mean) divide_part(out, 0, out.num_elements(), a->count);
    a->count = 0;
    ++a->step;
    return true;
  });
}

// ---- Of chosen rows: index i of the indices is the row that row i of the values belongs to.

struct ApplyRows {
  bool has_known_shape;
  void operator()(KernelContext& c) const {
    const auto a = accumulator_of(c, true);
    const int64_t step = scalar(c.input(1), "local_step");
    const Tensor &indices = c.input(2), &values = c.input(3), &whole = c.input(4);
    check_type(*a, values);
    if (indices.rank() != 1 || values.rank() < 1 || values.dim(0) != indices.dim(0))
      throw invalid_argument(
          "Input indices should be a vector with one for each row of the values");
    for (int64_t i : indices.values<int64_t>())
      if (i < 0) throw invalid_argument(fmt::format("Indices must not be negative, got {}", i));
    const Shape rest = without_first(values.shape());
    Shape given = Shape::unknown();
    if (has_known_shape) given = shape_from(whole);
    const Shape& declared = a->shape;
    for (const Shape* s : {&declared, &std::as_const(given)})
      if (s->has_rank() && (s->rank() != values.rank() || !without_first(*s).compatible_with(rest)))
        throw invalid_argument(fmt::format("Shape mismatch: expected {}, got {}", s->str(),
                                           values.shape().str()));
    if (!declared.compatible_with(given))
      throw invalid_argument(
          fmt::format("Shape mismatch: expected {}, got {}", declared.str(), given.str()));
    const Tensor own = keep(c, values), where = keep(c, indices);
    a->room->change([&] {
      if (step < a->step) return;
      if (a->count > 0 && !(a->row_shape == rest))
        throw invalid_argument("Shape mismatch: rows differ from those before");
      a->row_shape = rest;
      if (given.has_rank()) a->whole_shape = given;
      add_rows(*a, where, own);
      ++a->count;
    });
  }
  static void add_rows(Accumulator& a, const Tensor& where, const Tensor& values) {
    const int64_t n = where.num_elements();
    const int64_t inner = n ? values.num_elements() / n : 0;
    std::vector<RowSum> merged;
    size_t old = 0;
    int64_t i = 0;
    while (old < a.rows.size() || i < n) {
      const int64_t index = i < n ? where.data<int64_t>()[i] : 0;
      if (i == n || (old < a.rows.size() && a.rows[old].index < index)) {
        merged.push_back(std::move(a.rows[old++]));
      } else if (old == a.rows.size() || index < a.rows[old].index) {
        merged.push_back({index, values.slice(i, i + 1).copy()});
        ++i;
      } else {
        merged.push_back(std::move(a.rows[old++]));
        add_part(merged.back().sum, 0, values, i++ * inner, inner);
        ++merged.back().count;
      }
    }
    a.rows = std::move(merged);
  }
};
Prepared make_apply_rows(const KernelInit& init) {
  return prepared(ApplyRows{init.attr<bool>("has_known_shape")});
}

void take_rows(KernelContext& c) {
  const auto a = accumulator_of(c, true);
  check_asked(*a, c.output_type(1));
  a->room->run(c, [a, n = required(c.input(1))](KernelContext& c) {
    if (a->count < n) return false;
    const auto found = static_cast<int64_t>(a->rows.size());
    Tensor& indices = c.output(0, Shape{found});
    Tensor& values = c.output(1, with_first(found, a->row_shape));
    const int64_t inner = a->row_shape.num_elements();
    int64_t at = 0;
    for (const RowSum& row : a->rows) {
      indices.data<int64_t>()[at] = row.index;
      put(c, values, at * inner, row.sum);
      if (a->mean) divide_part(values, at * inner, inner, row.count);
      ++at;
    }
    const Shape whole = a->shape.has_rank() ? a->shape : a->whole_shape.has_rank()
                                                  ? a->whole_shape : with_first(-1, a->row_shape);
    Tensor& shape = c.output(2, Shape{whole.rank()});
    for (int d = 0; d < whole.rank(); ++d) shape.data<int64_t>()[d] = whole[d];
    a->rows.clear();
    a->count = 0;
    ++a->step;
    return true;
  });
}

// ---- Both.

void set_step(KernelContext& c) {
  const auto a = c.resource<Accumulator>(0);
  const int64_t step = scalar(c.input(1), "new_global_step");
  a->room->change([&] { a->step = step; });
}

void number(KernelContext& c) {
  const auto a = c.resource<Accumulator>(0);
  int64_t n = 0;
  a->room->change([&] { n = a->count; });
  *c.output(0, Shape{}).data<int32_t>() = static_cast<int32_t>(n);
}

}  // namespace

std::vector<KernelRow> accumulator_kernels(std::string_view device_type) {
  std::vector<KernelRow> rows;
  const auto add = [&](std::string op, KernelFactory make, bool blocks = false) {
    rows.push_back(
        {std::move(op), std::string(device_type), {}, {}, make, {.blocks = blocks}, 0, ""});
  };
  for (const std::string prefix : {"", "Resource"}) {
    add(prefix + "AccumulatorApplyGradient", stateless<apply>);
    add(prefix + "AccumulatorTakeGradient", stateless<take>, true);
    add(prefix + "AccumulatorSetGlobalStep", stateless<set_step>);
    add(prefix + "AccumulatorNumAccumulated", stateless<number>);
  }
  add("ConditionalAccumulator", make_accumulator<false>);
  add("ResourceConditionalAccumulator", make_accumulator<false>);
  add("SparseConditionalAccumulator", make_accumulator<true>);
  add("SparseAccumulatorApplyGradient", make_apply_rows);
  add("SparseAccumulatorTakeGradient", stateless<take_rows>, true);
  return rows;
}

}  // namespace emplace
