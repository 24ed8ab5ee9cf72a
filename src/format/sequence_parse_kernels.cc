// Examples with lists over time beside their features.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "format/parse_features.h"
#include "format/parse_kernels.h"
#include "graph/parse_message.h"

namespace emplace {
namespace {

using Keys = std::vector<std::string>;
using Examples = std::vector<proto::SequenceExample>;

Examples parsed(const Tensor& serialized) {
  Examples examples;
  for (const std::string& s : serialized.values<std::string>())
    if (!parse_message(examples.emplace_back(), s))
      throw invalid_argument("Could not parse example input, value: '" + s + "'");
  return examples;
}

std::vector<const proto::Features*> contexts(const Examples& examples) {
  std::vector<const proto::Features*> all;
  for (const auto& e : examples) all.push_back(&e.context());
  return all;
}

void put_int(Tensor& t, int64_t i, int64_t v) {
  if (t.dtype() == DType::kInt32) t.data<int32_t>()[i] = static_cast<int32_t>(v);
  else t.data<int64_t>()[i] = v;
}

// One key's lists over time, of all examples.
class Lists {
 public:
  Lists(const Examples& examples, bool single, const std::string& key, DType dtype)
      : single_(single), key_(key) {
    for (const auto& e : examples) {
      const auto& map = e.feature_lists().feature_list();
      const auto it = map.find(key);
      missing_.push_back(it == map.end());
      auto& mine = steps_.emplace_back();
      if (it == map.end()) continue;
      for (const proto::Feature& f : it->second.feature())
        if (!mine.emplace_back(&f, dtype).fits())
          throw invalid_argument(fmt::format("Key: {}.  Data types don't match. Expected type: {}",
                                             key, feature_type(dtype)));
    }
    for (const auto& mine : steps_) {
      longest_ = std::max(longest_, static_cast<int64_t>(mine.size()));
      all_steps_ += static_cast<int64_t>(mine.size());
      for (const FeatureValues& v : mine) {
        widest_ = std::max(widest_, v.size());
        values_ += v.size();
      }
    }
  }

  void put_sparse(KernelContext& c, int indices_at, int values_at, int shape_at) const {
    const int64_t rank = single_ ? 2 : 3;
    int64_t* place = c.output(indices_at, Shape{values_, rank}).data<int64_t>();
    Tensor& values = c.output(values_at, Shape{values_});
    int64_t at = 0;
    for (size_t b = 0; b < steps_.size(); ++b)
      for (size_t t = 0; t < steps_[b].size(); ++t) {
        steps_[b][t].copy(values, at);
        at += steps_[b][t].size();
        for (int64_t i = 0; i < steps_[b][t].size(); ++i) {
          if (!single_) *place++ = static_cast<int64_t>(b);
          *place++ = static_cast<int64_t>(t);
          *place++ = i;
        }
      }
    int64_t* shape = c.output(shape_at, Shape{rank}).data<int64_t>();
    if (!single_) *shape++ = static_cast<int64_t>(steps_.size());
    *shape++ = longest_;
    *shape = widest_;
  }

  // Shorter lists end in zeros. `lengths_at` below 0: nobody asks for lengths.
  void put_dense(KernelContext& c, int values_at, int lengths_at, const Shape& shape,
                 bool assumed_empty) const {
    if (!shape.is_fully_known()) throw invalid_argument("a dense list needs a full shape");
    const int64_t each = checked_elements(shape.dims());
    std::vector<int64_t> dims;
    if (!single_) dims.push_back(static_cast<int64_t>(steps_.size()));
    dims.push_back(longest_);
    dims.insert(dims.end(), shape.dims().begin(), shape.dims().end());
    checked_elements(dims);
    Tensor& out = c.output(values_at, Shape(std::span<const int64_t>(dims)));
    if (is_plain(out.dtype())) std::memset(out.raw(), 0, out.bytes());
    else std::fill_n(out.data<std::string>(), out.num_elements(), std::string());
    for (size_t b = 0; b < steps_.size(); ++b) {
      if (missing_[b] && !assumed_empty)
        throw invalid_argument(fmt::format(
            "Name: <unknown>, Feature list '{}' is required but could not be found.  Did you mean "
            "to include it in feature_list_dense_missing_assumed_empty or "
            "feature_list_dense_defaults?",
            key_));
      for (size_t t = 0; t < steps_[b].size(); ++t) {
        if (steps_[b][t].size() != each)
          throw invalid_argument(
              fmt::format("Name: <unknown>, Key: {}, Index: {}.  Number of values != expected.  "
                          "values size: {} "
                          "but output shape: {}",
                          key_, t, steps_[b][t].size(), shape.str()));
        steps_[b][t].copy(out,
                          (static_cast<int64_t>(b) * longest_ + static_cast<int64_t>(t)) * each);
      }
    }
    if (lengths_at < 0) return;
    Tensor& lengths =
        c.output(lengths_at, single_ ? Shape{} : Shape{static_cast<int64_t>(steps_.size())});
    for (size_t b = 0; b < steps_.size(); ++b)
      lengths.data<int64_t>()[b] = static_cast<int64_t>(steps_[b].size());
  }

  void put_ragged(KernelContext& c, int values_at, int outer_at, int inner_at) const {
    Tensor& values = c.output(values_at, Shape{values_});
    const auto n = static_cast<int64_t>(steps_.size());
    Tensor& outer = c.output(outer_at, Shape{single_ ? 0 : n + 1});
    Tensor& inner = c.output(inner_at, Shape{all_steps_ + 1});
    int64_t at = 0, step = 0;
    put_int(inner, 0, 0);
    if (!single_) put_int(outer, 0, 0);
    for (int64_t b = 0; b < n; ++b) {
      for (const FeatureValues& v : steps_[static_cast<size_t>(b)]) {
        v.copy(values, at);
        at += v.size();
        put_int(inner, ++step, at);
      }
      if (!single_) put_int(outer, b + 1, step);
    }
  }

 private:
  bool single_;
  std::string key_;
  std::vector<std::vector<FeatureValues>> steps_;
  std::vector<bool> missing_;
  int64_t longest_ = 0, widest_ = 0, values_ = 0, all_steps_ = 0;
};

// What is asked for; how many keys there must be of each kind.
struct WantedLists {
  std::vector<DType> sparse, dense, ragged, list_sparse, list_dense, list_ragged;
  std::vector<Shape> dense_shapes, list_dense_shapes;

  explicit WantedLists(const KernelInit& i)
      : sparse(i.attr<std::vector<DType>>("context_sparse_types")),
        dense(i.attr<std::vector<DType>>("Tcontext_dense")),
        list_sparse(i.attr<std::vector<DType>>("feature_list_sparse_types")),
        list_dense(i.attr<std::vector<DType>>("feature_list_dense_types")),
        dense_shapes(i.attr<std::vector<Shape>>("context_dense_shapes")),
        list_dense_shapes(i.attr<std::vector<Shape>>("feature_list_dense_shapes")) {
    if (i.find("context_ragged_value_types")) {
      ragged = i.attr<std::vector<DType>>("context_ragged_value_types");
      list_ragged = i.attr<std::vector<DType>>("feature_list_ragged_value_types");
    }
    if (dense_shapes.size() != dense.size() || list_dense_shapes.size() != list_dense.size())
      throw invalid_argument("as many shapes as dense types are needed");
    for (const Shape& s : dense_shapes)
      if (!s.is_fully_known()) throw invalid_argument("a dense feature needs a full shape");
  }
};
struct Named {
  Keys sparse, dense, ragged, list_sparse, list_dense, list_ragged;
  std::vector<bool> assumed_empty;  // by dense list
};

void check_counts(const KernelContext& c, const WantedLists& w, const Named& k, bool lengths) {
  const bool fits = k.sparse.size() == w.sparse.size() && k.dense.size() == w.dense.size() &&
                    k.ragged.size() == w.ragged.size() &&
                    k.list_sparse.size() == w.list_sparse.size() &&
                    k.list_dense.size() == w.list_dense.size() &&
                    k.list_ragged.size() == w.list_ragged.size() &&
                    k.assumed_empty.size() == w.list_dense.size();
  const size_t outputs = 3 * w.sparse.size() + w.dense.size() + 2 * w.ragged.size() +
                         3 * w.list_sparse.size() + (lengths ? 2 : 1) * w.list_dense.size() +
                         3 * w.list_ragged.size();
  if (!fits || static_cast<size_t>(c.num_outputs()) != outputs)
    throw invalid_argument("as many keys as types are needed");
}

void put_all(KernelContext& c, const WantedLists& w, const Named& k, int defaults_at, bool lengths) {
  const Tensor& serialized = c.input(0);
  if (serialized.rank() > 1) throw invalid_argument("serialized must be a scalar or a vector");
  check_counts(c, w, k, lengths);
  const bool single = serialized.rank() == 0;
  const Examples examples = parsed(serialized);
  const FeatureBatch context(contexts(examples), single);
  int at = 0;
  const auto count = [](const auto& list) { return static_cast<int>(list.size()); };
  for (int i = 0, n = count(k.sparse); i < n; ++i)
    context.put_sparse(c, i, n + i, 2 * n + i, k.sparse[static_cast<size_t>(i)],
                       w.sparse[static_cast<size_t>(i)]);
  at += 3 * count(k.sparse);
  for (int i = 0; i < count(k.dense); ++i)
    context.put_dense(c, at + i, k.dense[static_cast<size_t>(i)],
                      w.dense_shapes[static_cast<size_t>(i)], c.input(defaults_at + i));
  at += count(k.dense);
  for (int i = 0, n = count(k.ragged); i < n; ++i)
    context.put_ragged(c, at + i, at + n + i, k.ragged[static_cast<size_t>(i)]);
  at += 2 * count(k.ragged);
  for (int i = 0, n = count(k.list_sparse); i < n; ++i)
    Lists(examples, single, k.list_sparse[static_cast<size_t>(i)],
          w.list_sparse[static_cast<size_t>(i)])
        .put_sparse(c, at + i, at + n + i, at + 2 * n + i);
  at += 3 * count(k.list_sparse);
  for (int i = 0, n = count(k.list_dense); i < n; ++i)
    Lists(examples, single, k.list_dense[static_cast<size_t>(i)],
          w.list_dense[static_cast<size_t>(i)])
        .put_dense(c, at + i, lengths ? at + n + i : -1,
                   w.list_dense_shapes[static_cast<size_t>(i)],
                   k.assumed_empty[static_cast<size_t>(i)]);
  at += (lengths ? 2 : 1) * count(k.list_dense);
  for (int i = 0, n = count(k.list_ragged); i < n; ++i)
    Lists(examples, single, k.list_ragged[static_cast<size_t>(i)],
          w.list_ragged[static_cast<size_t>(i)])
        .put_ragged(c, at + i, at + n + i, at + 2 * n + i);
}

std::vector<bool> among(const Keys& keys, const Keys& listed) {
  std::vector<bool> found;
  for (const auto& key : keys)
    found.push_back(std::find(listed.begin(), listed.end(), key) != listed.end());
  return found;
}

// Keys in tensors.
struct V2 {
  WantedLists wanted;
  void operator()(KernelContext& c) const {
    Named k{texts(c.input(2)), texts(c.input(3)), texts(c.input(4)),
            texts(c.input(5)), texts(c.input(6)), texts(c.input(7)), {}};
    for (bool b : c.input(8).values<bool>()) k.assumed_empty.push_back(b);
    put_all(c, wanted, k, 9, true);
  }
};
// Keys in attributes.
struct V1 {
  WantedLists wanted;
  Named keys;
  void operator()(KernelContext& c) const {
    if (c.input(0).rank() != 1) throw invalid_argument("serialized must be a vector");
    put_all(c, wanted, keys, 2, true);
  }
};
// A scalar for each key.
struct Single {
  WantedLists wanted;
  void operator()(KernelContext& c) const {
    if (c.input(0).rank() != 0) throw invalid_argument("serialized must be a scalar");
    int at = 2;
    auto next = [&](size_t n) {
      Keys keys;
      for (size_t i = 0; i < n; ++i, ++at) {
        if (c.input(at).num_elements() != 1) throw invalid_argument("a key must be a scalar");
        keys.push_back(c.input(at).item<std::string>());
      }
      return keys;
    };
    Named k;
    k.sparse = next(wanted.sparse.size());
    k.dense = next(wanted.dense.size());
    k.list_sparse = next(wanted.list_sparse.size());
    k.list_dense = next(wanted.list_dense.size());
    k.assumed_empty = among(k.list_dense, texts(c.input(1)));
    put_all(c, wanted, k, at, false);
  }
};

Prepared make_v2(const KernelInit& i) { return prepared(V2{WantedLists(i)}); }
Prepared make_v1(const KernelInit& i) {
  const auto keys = [&](const char* name) { return i.attr<Keys>(name); };
  Named k{keys("context_sparse_keys"), keys("context_dense_keys"), {},
          keys("feature_list_sparse_keys"), keys("feature_list_dense_keys"), {}, {}};
  k.assumed_empty = among(k.list_dense, keys("feature_list_dense_missing_assumed_empty"));
  return prepared(V1{WantedLists(i), std::move(k)});
}
Prepared make_single(const KernelInit& i) {
  const WantedLists w(i);
  const auto agrees = [&](const char* count, size_t types) {
    if (i.attr<int64_t>(count) != static_cast<int64_t>(types))
      throw invalid_argument(fmt::format("{} must be the number of types", count));
  };
  agrees("Ncontext_sparse", w.sparse.size());
  agrees("Ncontext_dense", w.dense.size());
  agrees("Nfeature_list_sparse", w.list_sparse.size());
  agrees("Nfeature_list_dense", w.list_dense.size());
  return prepared(Single{w});
}

}  // namespace

void register_sequence_parse_kernels(KernelRegistry& r) {
  const auto add = [&](const char* op, KernelFactory make) {
    r.add({op, "CPU", {}, {}, make, {}, 0, ""});
  };
  add("ParseSequenceExample", make_v1);
  add("ParseSequenceExampleV2", make_v2);
  add("ParseSingleSequenceExample", make_single);
}

}  // namespace emplace
