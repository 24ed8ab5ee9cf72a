#include "format/parse_kernels.h"

#include <fmt/format.h>

#include "format/parse_features.h"
#include "graph/parse_message.h"

namespace emplace {
namespace {

struct Wanted {
  std::vector<DType> sparse, dense, ragged;
  std::vector<Shape> dense_shapes;
};

// The examples of one call.
class Batch : public FeatureBatch {
 public:
  Batch(const Tensor& serialized, bool single) : Batch(parsed(serialized), single) {}

 private:
  using Examples = std::vector<proto::Example>;
  Batch(std::shared_ptr<Examples> examples, bool single)
      : FeatureBatch(features_of(*examples), single), owned_(std::move(examples)) {}
  static std::shared_ptr<Examples> parsed(const Tensor& serialized) {
    auto examples = std::make_shared<Examples>();
    for (const std::string& s : serialized.values<std::string>())
      if (!parse_message(examples->emplace_back(), s))
        throw invalid_argument("Could not parse example input, value: '" + s + "'");
    return examples;
  }
  static std::vector<const proto::Features*> features_of(const Examples& examples) {
    std::vector<const proto::Features*> all;
    for (const proto::Example& e : examples) all.push_back(&e.features());
    return all;
  }

  std::shared_ptr<Examples> owned_;
};

void put_all(KernelContext& c, const Batch& batch, const Wanted& wanted,
             const std::vector<std::string>& sparse, const std::vector<std::string>& dense,
             const std::vector<std::string>& ragged, int defaults_at) {
  const auto n = static_cast<int>(wanted.sparse.size()), d = static_cast<int>(wanted.dense.size());
  const auto r = static_cast<int>(wanted.ragged.size());
  if (sparse.size() != wanted.sparse.size() || dense.size() != wanted.dense.size() ||
      ragged.size() != wanted.ragged.size() || wanted.dense_shapes.size() != wanted.dense.size())
    throw invalid_argument("as many keys as types are needed");
  if (c.num_outputs() != 3 * n + d + 2 * r)
    throw invalid_argument("num_sparse must be the number of sparse keys");
  for (const Shape& s : wanted.dense_shapes)
    for (int i = 0; i < (s.has_rank() ? s.rank() : 0); ++i)
      if (i > 0 && s[i] < 0)
        throw invalid_argument("only the first dimension of a dense feature may be unknown");
  for (int i = 0; i < n; ++i)
    batch.put_sparse(c, i, n + i, 2 * n + i, sparse[static_cast<size_t>(i)],
                     wanted.sparse[static_cast<size_t>(i)]);
  for (int i = 0; i < d; ++i) {
    const Shape& shape = wanted.dense_shapes[static_cast<size_t>(i)];
    if (!shape.has_rank()) throw invalid_argument("a dense feature needs a shape");
    batch.put_dense(c, 3 * n + i, dense[static_cast<size_t>(i)], shape, c.input(defaults_at + i));
  }
  for (int i = 0; i < r; ++i)
    batch.put_ragged(c, 3 * n + d + i, 3 * n + d + r + i, ragged[static_cast<size_t>(i)]);
}

struct ParseExamples {
  Wanted wanted;
  void operator()(KernelContext& c) const {
    const Tensor& serialized = c.input(0);
    if (serialized.rank() > 1) throw invalid_argument("serialized must be a scalar or a vector");
    const Batch batch(serialized, serialized.rank() == 0);
    put_all(c, batch, wanted, texts(c.input(2)), texts(c.input(3)), texts(c.input(4)), 5);
  }
};
Prepared make_examples(const KernelInit& i) {
  return prepared(ParseExamples{{i.attr<std::vector<DType>>("sparse_types"),
                                 i.attr<std::vector<DType>>("Tdense"),
                                 i.attr<std::vector<DType>>("ragged_value_types"),
                                 i.attr<std::vector<Shape>>("dense_shapes")}});
}

// The first version, with a scalar for each key.
struct ParseExamplesV1 {
  Wanted wanted;
  void operator()(KernelContext& c) const {
    if (c.input(0).rank() != 1) throw invalid_argument("serialized must be a vector");
    const auto n = static_cast<int>(wanted.sparse.size());
    const auto d = static_cast<int>(wanted.dense.size());
    put_all(c, Batch(c.input(0), false), wanted, keys(c, 2, n), keys(c, 2 + n, d), {}, 2 + n + d);
  }
  static std::vector<std::string> keys(KernelContext& c, int first, int count) {
    std::vector<std::string> out;
    for (int i = first; i < first + count; ++i) {
      if (c.input(i).num_elements() != 1) throw invalid_argument("a key must be a scalar");
      out.push_back(c.input(i).data<std::string>()[0]);
    }
    return out;
  }
};
Prepared make_examples_v1(const KernelInit& i) {
  const auto& sparse = i.attr<std::vector<DType>>("sparse_types");
  const auto& dense = i.attr<std::vector<DType>>("Tdense");
  if (static_cast<int64_t>(sparse.size()) != i.attr<int64_t>("Nsparse") ||
      static_cast<int64_t>(dense.size()) != i.attr<int64_t>("Ndense"))
    throw invalid_argument("as many keys as types are needed");
  return prepared(ParseExamplesV1{{sparse, dense, {}, i.attr<std::vector<Shape>>("dense_shapes")}});
}

struct ParseOne {
  Wanted wanted;
  std::vector<std::string> sparse_keys, dense_keys;
  void operator()(KernelContext& c) const {
    if (c.input(0).num_elements() != 1) throw invalid_argument("serialized must be a scalar");
    put_all(c, Batch(c.input(0), true), wanted, sparse_keys, dense_keys, {}, 1);
  }
};
Prepared make_one(const KernelInit& i) {
  return prepared(ParseOne{{i.attr<std::vector<DType>>("sparse_types"),
                            i.attr<std::vector<DType>>("Tdense"),
                            {},
                            i.attr<std::vector<Shape>>("dense_shapes")},
                           i.attr<std::vector<std::string>>("sparse_keys"),
                           i.attr<std::vector<std::string>>("dense_keys")});
}

}  // namespace

void register_parse_kernels(KernelRegistry& r) {
  const auto add = [&](const char* op, KernelFactory make) {
    r.add({op, "CPU", {}, {}, make, {}, 0, ""});
  };
  add("ParseExample", make_examples_v1);
  add("ParseExampleV2", make_examples);
  add("ParseSingleExample", make_one);
  register_sequence_parse_kernels(r);
}

}  // namespace emplace
