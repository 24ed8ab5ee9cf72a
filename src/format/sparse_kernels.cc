// Sparse tensors as strings or variants: one each for indices, values and shape.
#include "format/sparse_kernels.h"

#include <fmt/format.h>

#include <algorithm>

#include "emplace/error.h"
#include "graph/parse_message.h"
#include "graph/tensor_proto.h"
#include "kernel/composite_values.h"

namespace emplace {
namespace {

constexpr int64_t kMostRows = int64_t{1} << 24;

struct Sparse {
  Tensor indices, values;
  std::vector<int64_t> shape;
  int64_t rank() const { return static_cast<int64_t>(shape.size()); }
  int64_t count() const { return values.num_elements(); }
};

Sparse checked(Tensor indices, Tensor values, const Tensor& shape) {
  if (indices.dtype() != DType::kInt64 || shape.dtype() != DType::kInt64)
    throw invalid_argument("indices and shape of a sparse tensor must be int64");
  if (indices.rank() != 2)
    throw invalid_argument(fmt::format("Input indices should be a matrix but received shape {}",
                                       indices.shape().str()));
  if (values.rank() != 1)
    throw invalid_argument(
        fmt::format("Input values should be a vector but received shape {}", values.shape().str()));
  if (shape.rank() != 1)
    throw invalid_argument(
        fmt::format("Input shape should be a vector but received shape {}", shape.shape().str()));
  if (indices.dim(0) != values.dim(0) || indices.dim(1) != shape.dim(0))
    throw invalid_argument("indices, values and shape of a sparse tensor do not fit together");
  Sparse s{std::move(indices), std::move(values), {}};
  const auto dims = shape.values<int64_t>();
  s.shape.assign(dims.begin(), dims.end());
  for (int64_t d : s.shape)
    if (d < 0) throw invalid_argument("a sparse tensor's sizes must not be negative");
  return s;
}

void put_part(const Tensor& t, Tensor& out, int64_t at) {
  if (out.dtype() == DType::kVariant) {
    out.data<Variant>()[at].value = std::make_shared<SparsePart>(t);
    return;
  }
  proto::TensorProto message;
  to_whole_proto(t, &message);
  out.data<std::string>()[at] = message.SerializeAsString();
}

Tensor part_of(const Tensor& in, int64_t at) {
  if (in.dtype() == DType::kVariant) {
    const auto* part = dynamic_cast<const SparsePart*>(in.data<Variant>()[at].value.get());
    if (!part) throw invalid_argument("Could not get a tensor from serialized_sparse");
    return part->tensor;
  }
  proto::TensorProto message;
  if (!parse_message(message, in.data<std::string>()[at]))
    throw invalid_argument("Could not parse serialized_sparse proto");
  return from_proto(message);
}

void put_parts(const Tensor& indices, const Tensor& values, const std::vector<int64_t>& shape,
               Tensor& out, int64_t at) {
  put_part(indices, out, at);
  put_part(values, out, at + 1);
  put_part(Tensor::vector<int64_t>(shape), out, at + 2);
}

void serialize(KernelContext& c) {
  const Sparse s = checked(c.input(0), c.input(1), c.input(2));
  put_parts(s.indices, s.values, s.shape, c.output(0, Shape{3}), 0);
}

// Rows `begin` to `end` of a sparse tensor, without their first dimension.
void put_row(const Sparse& s, int64_t begin, int64_t end, Tensor& to, int64_t at) {
  const int64_t rank = s.rank();
  Tensor indices(DType::kInt64, Shape{end - begin, rank - 1});
  int64_t* out = indices.data<int64_t>();
  for (int64_t i = begin; i < end; ++i)
    out = std::copy_n(s.indices.data<int64_t>() + i * rank + 1, rank - 1, out);
  put_parts(indices, s.values.slice(begin, end), {s.shape.begin() + 1, s.shape.end()}, to, at);
}

void serialize_many(KernelContext& c) {
  const Sparse s = checked(c.input(0), c.input(1), c.input(2));
  if (s.rank() < 2)
    throw invalid_argument(
        fmt::format("Rank of input SparseTensor should be > 1, but saw rank: {}", s.rank()));
  const int64_t rows = s.shape[0];
  if (rows > kMostRows) throw resource_exhausted("a sparse tensor of too many rows");
  Tensor& to = c.output(0, Shape{rows, 3});
  int64_t at = 0;
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t begin = at;
    while (at < s.count() && s.indices.data<int64_t>()[at * s.rank()] == row) ++at;
    put_row(s, begin, at, to, row * 3);
  }
  if (at != s.count())
    throw invalid_argument(
        "the indices of the first dimension must ascend and be inside the shape");
}

// Several sparse tensors as one, with the dimensions `outer` in front.
void put_joined(KernelContext& c, const std::vector<Sparse>& all,
                const std::vector<int64_t>& outer) {
  const int64_t inner = all.front().rank(), rank = inner + static_cast<int64_t>(outer.size());
  std::vector<int64_t> shape = outer;
  shape.resize(static_cast<size_t>(rank), 0);
  int64_t count = 0;
  for (const Sparse& s : all) {
    if (s.rank() != inner)
      throw invalid_argument("Inconsistent rank across SparseTensors: they must all be alike");
    count += s.count();
    for (int64_t d = 0; d < inner; ++d) {
      int64_t& size = shape[outer.size() + static_cast<size_t>(d)];
      size = std::max(size, s.shape[static_cast<size_t>(d)]);
    }
  }
  int64_t* indices = c.output(0, Shape{count, rank}).data<int64_t>();
  Tensor& values = c.output(1, Shape{count});
  int64_t at = 0;
  for (size_t k = 0; k < all.size(); ++k) {
    std::vector<int64_t> place(outer.size());
    for (size_t d = outer.size(), rest = k; d-- > 0; rest /= static_cast<size_t>(outer[d]))
      place[d] = static_cast<int64_t>(rest % static_cast<size_t>(outer[d]));
    for (int64_t i = 0; i < all[k].count(); ++i) {
      indices = std::copy(place.begin(), place.end(), indices);
      indices = std::copy_n(all[k].indices.data<int64_t>() + i * inner, inner, indices);
    }
    Tensor to = values.slice(at, at + all[k].count());
    copy_elements(to, all[k].values);
    at += all[k].count();
  }
  std::ranges::copy(shape, c.output(2, Shape{rank}).data<int64_t>());
}

void deserialize(KernelContext& c) {
  const Tensor& in = c.input(0);
  if (in.rank() < 1 || in.dim(in.rank() - 1) != 3)
    throw invalid_argument(
        fmt::format("Serialized sparse should have 3 as the last dimension but received shape {}",
                    in.shape().str()));
  std::vector<int64_t> outer;
  for (int d = 0; d + 1 < in.rank(); ++d) outer.push_back(in.dim(d));
  const int64_t n = in.num_elements() / 3;
  if (n == 0)
    throw invalid_argument(
        "Must have at least 1 serialized SparseTensor, but input matrix has 0 rows");
  std::vector<Sparse> all;
  for (int64_t i = 0; i < n; ++i) {
    all.push_back(checked(part_of(in, i * 3), part_of(in, i * 3 + 1), part_of(in, i * 3 + 2)));
    if (all.back().values.dtype() != c.output_type(1))
      throw invalid_argument(fmt::format(
          "Requested SparseTensor of type {} but SparseTensor[{}].values.dtype() == {}",
          dtype_proto_name(c.output_type(1)), i, dtype_proto_name(all.back().values.dtype())));
  }
  put_joined(c, all, outer);
}

void deserialize_many(KernelContext& c) {
  if (c.input(0).rank() != 2)
    throw invalid_argument(fmt::format("Serialized sparse should be a matrix but received shape {}",
                                       c.input(0).shape().str()));
  deserialize(c);
}

}  // namespace

void register_sparse_message_kernels(KernelRegistry& r) {
  const auto add = [&](const char* op, KernelFactory make) {
    r.add({op, "CPU", {}, {}, make, {}, 0, ""});
  };
  add("SerializeSparse", stateless<serialize>);
  add("SerializeManySparse", stateless<serialize_many>);
  add("DeserializeSparse", stateless<deserialize>);
  add("DeserializeManySparse", stateless<deserialize_many>);
}

Tensor sparse_as_variants(const Tensor& indices, const Tensor& values,
                          const std::vector<int64_t>& shape) {
  Tensor out(DType::kVariant, Shape{3});
  put_parts(indices, values, shape, out, 0);
  return out;
}

}  // namespace emplace
