#include "format/summary_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "emplace/proto/event.pb.h"
#include "graph/parse_message.h"

namespace emplace {
namespace {

template <class T>
double number(T v) { return static_cast<double>(v); }
double number(Half v) { return static_cast<float>(v); }
double number(Bfloat16 v) { return static_cast<float>(v); }

template <class T>
std::vector<double> as_doubles(const Tensor& t) {
  std::vector<double> out;
  for (const T& v : t.values<T>()) out.push_back(number(v));
  return out;
}

std::vector<double> doubles(const Tensor& t) {
  switch (t.dtype()) {
    case DType::kFloat: return as_doubles<float>(t);
    case DType::kDouble: return as_doubles<double>(t);
    case DType::kHalf: return as_doubles<Half>(t);
    case DType::kBfloat16: return as_doubles<Bfloat16>(t);
    case DType::kInt8: return as_doubles<int8_t>(t);
    case DType::kInt16: return as_doubles<int16_t>(t);
    case DType::kInt32: return as_doubles<int32_t>(t);
    case DType::kInt64: return as_doubles<int64_t>(t);
    case DType::kUint8: return as_doubles<uint8_t>(t);
    case DType::kUint16: return as_doubles<uint16_t>(t);
    case DType::kUint32: return as_doubles<uint32_t>(t);
    case DType::kUint64: return as_doubles<uint64_t>(t);
    default:
      throw unimplemented(fmt::format("a summary of {} values", dtype_name(t.dtype())));
  }
}

// Upper limits of the buckets: -max … -1e-12, 0, 1e-12 … max.
const std::vector<double>& limits() {
  static const std::vector<double> kLimits = [] {
    std::vector<double> up;
    for (double v = 1e-12; v < 1e20; v *= 1.1) up.push_back(v);
    up.push_back(std::numeric_limits<double>::max());
    std::vector<double> all;
    for (auto v = up.rbegin(); v != up.rend(); ++v) all.push_back(-*v);
    all.push_back(0.0);
    all.insert(all.end(), up.begin(), up.end());
    return all;
  }();
  return kLimits;
}

// Runs of empty buckets are written as one.
void write_buckets(const std::vector<double>& counts, proto::HistogramProto& out) {
  const auto& ends = limits();
  for (size_t i = 0; i < counts.size();) {
    double end = ends[i];
    const double count = counts[i++];
    if (count <= 0.0)
      for (; i < counts.size() && counts[i] <= 0.0; ++i) end = ends[i];
    out.add_bucket_limit(end);
    out.add_bucket(count);
  }
}

void scalar_summary(KernelContext& c) {
  const Tensor &tags = c.input(0), &values = c.input(1);
  if (!(tags.shape() == values.shape()))
    throw invalid_argument(fmt::format(
        "tags and values are not the same shape: {} != {}{}", tags.shape().str(), values.shape().str(),
        tags.num_elements() == 1 ? " (tag '" + *tags.data<std::string>() + "')" : ""));
  proto::Summary out;
  const auto names = tags.values<std::string>();
  const auto numbers = doubles(values);
  for (size_t i = 0; i < numbers.size(); ++i) {
    proto::Summary::Value& v = *out.add_value();
    v.set_tag(names[i]);
    v.set_simple_value(static_cast<float>(numbers[i]));
  }
  c.set_output(0, Tensor::string(out.SerializeAsString()));
}

void histogram_summary(KernelContext& c) {
  if (c.input(0).num_elements() != 1) throw invalid_argument("tags must be scalar");
  c.set_output(0, Tensor::string(histogram_message(c.input(0).item<std::string>(),
                                                   doubles(c.input(1)))));
}

void merge_summary(KernelContext& c) {
  proto::Summary out;
  std::set<std::string> tags;
  for (int i = 0; i < c.num_inputs(); ++i)
    for (const std::string& message : c.input(i).values<std::string>()) {
      proto::Summary in;
      if (!parse_message(in, message))
        throw invalid_argument("Could not parse one of the summary inputs");
      for (const proto::Summary::Value& v : in.value()) {
        if (!v.tag().empty() && !tags.insert(v.tag()).second)
          throw invalid_argument(fmt::format("Duplicate tag {} found in summary inputs", v.tag()));
        *out.add_value() = v;
      }
    }
  c.set_output(0, Tensor::string(out.SerializeAsString()));
}

}  // namespace

std::string histogram_message(const std::string& tag, std::span<const double> values) {
  proto::Summary out;
  proto::Summary::Value& v = *out.add_value();
  v.set_tag(tag);
  proto::HistogramProto& h = *v.mutable_histo();
  std::vector<double> counts(limits().size());
  double low = std::numeric_limits<double>::max(), high = -low, sum = 0, squares = 0;
  for (const double x : values) {
    if (std::isnan(x)) throw invalid_argument(fmt::format("Nan in summary histogram for: {}", tag));
    if (std::isinf(x))
      throw invalid_argument(fmt::format("Infinity in summary histogram for: {}", tag));
    counts[static_cast<size_t>(std::ranges::upper_bound(limits(), x) - limits().begin())] += 1.0;
    low = std::min(low, x);
    high = std::max(high, x);
    sum += x;
    squares += x * x;
  }
  h.set_min(low);
  h.set_max(high);
  h.set_num(static_cast<double>(values.size()));
  h.set_sum(sum);
  h.set_sum_squares(squares);
  write_buckets(counts, h);
  return out.SerializeAsString();
}

void register_summary_kernels(KernelRegistry& r) {
  r.add({"ScalarSummary", "CPU", {}, {}, stateless<scalar_summary>, {}, 0, {}});
  r.add({"HistogramSummary", "CPU", {}, {}, stateless<histogram_summary>, {}, 0, {}});
  r.add({"MergeSummary", "CPU", {}, {}, stateless<merge_summary>, {}, 0, {}});
}

}  // namespace emplace
