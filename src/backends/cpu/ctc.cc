// Connectionist temporal classification: labellings of sequences without an alignment.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/cpu/ctc.h"
#include "backends/cpu/imported_kernels.h"
#include "backends/cpu/move.h"
#include "base/stop_scope.h"

namespace emplace::cpu {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

double sum_of_logs(double a, double b) {
  if (a == kNever) return b;
  if (b == kNever) return a;
  return std::max(a, b) + std::log1p(std::exp(-std::abs(a - b)));
}


template <class T>
struct Loss {
  bool collapse, merge, ignore_longer;

  void operator()(KernelContext& c) const {
    const Tensor &in = c.input(0), &indices = c.input(1), &values = c.input(2),
                 &lengths = c.input(3);
    const CtcSizes size(in, lengths);
    if (indices.rank() != 2 || indices.dim(1) != 2 || values.rank() != 1 ||
        indices.dim(0) != values.dim(0))
      throw invalid_argument(
          "labels_indices must be a matrix with a row for each of labels_values");
    std::vector<std::vector<int32_t>> labels(static_cast<size_t>(size.batch));
    for (int64_t i = 0; i < values.dim(0); ++i) {
      const int64_t b = indices.data<int64_t>()[i * 2];
      if (b < 0 || b >= size.batch)
        throw invalid_argument(fmt::format("labels batch must be between 0 and {}", size.batch));
      const int32_t label = values.data<int32_t>()[i];
      if (label < 0 || label >= size.classes - 1)
        throw invalid_argument(fmt::format(
            "Saw a non-null label (index >= num_classes - 1) or a negative one: {}", label));
      auto& mine = labels[static_cast<size_t>(b)];
      if (!collapse || mine.empty() || mine.back() != label) mine.push_back(label);
    }
    Tensor &loss = c.output(0, Shape{size.batch}), &gradient = c.output(1, in.shape());
    std::fill_n(loss.data<T>(), size.batch, T{});
    std::fill_n(gradient.data<T>(), gradient.num_elements(), T{});
    c.parallel_for(size.batch, 1e5, [&](int64_t first, int64_t last) {
      for (int64_t b = first; b < last; ++b)
        one(in, labels[static_cast<size_t>(b)], lengths.data<int32_t>()[b], size, b, loss,
            gradient);
    });
  }

  void one(const Tensor& in, const std::vector<int32_t>& labels, int64_t steps, const CtcSizes& size,
           int64_t b, Tensor& loss, Tensor& gradient) const {
    if (steps == 0) return;
    int64_t needed = static_cast<int64_t>(labels.size());
    for (size_t i = 1; merge && i < labels.size(); ++i) needed += labels[i] == labels[i - 1];
    if (needed > steps) {
      if (ignore_longer) return;
      throw invalid_argument(
          fmt::format("Not enough time for target transition sequence (required: {}, "
                      "available: {}){}You can turn this error into a warning by using the "
                      "flag ignore_longer_outputs_than_inputs",
                      needed, steps, b));
    }
    const int64_t classes = size.classes;
    const std::vector<double> y = chances(in, steps, size, b);
    std::vector<int64_t> path;  // labels with blanks around each
    for (int32_t l : labels) path.insert(path.end(), {classes - 1, l});
    path.push_back(classes - 1);
    const auto n = static_cast<int64_t>(path.size());
    std::vector<double> ahead(static_cast<size_t>(n * steps), kNever), back = ahead;
    forward(y, path, steps, classes, ahead);
    backward(y, path, steps, classes, back);
    double total = kNever;
    for (int64_t u = 0; u < n; ++u)
      total = sum_of_logs(total, ahead[static_cast<size_t>(u)] + back[static_cast<size_t>(u)]);
    loss.data<T>()[b] = static_cast<T>(-total);
    for (const int64_t t : paced(steps)) {
      std::vector<double> sums(static_cast<size_t>(classes), kNever);
      for (int64_t u = 0; u < n; ++u) {
        double& s = sums[static_cast<size_t>(path[static_cast<size_t>(u)])];
        s = sum_of_logs(
            s, ahead[static_cast<size_t>(t * n + u)] + back[static_cast<size_t>(t * n + u)]);
      }
      T* to = gradient.data<T>() + (t * size.batch + b) * classes;
      for (int64_t k = 0; k < classes; ++k) {
        const double share = total == kNever ? 0 : std::exp(sums[static_cast<size_t>(k)] - total);
        to[k] = static_cast<T>(std::exp(y[static_cast<size_t>(t * classes + k)]) - share);
      }
    }
  }

  // Logarithms of the softmax, step by step.
  static std::vector<double> chances(const Tensor& in, int64_t steps, const CtcSizes& size,
                                     int64_t b) {
    std::vector<double> y(static_cast<size_t>(steps * size.classes));
    for (const int64_t t : paced(steps)) {
      const T* x = in.data<T>() + (t * size.batch + b) * size.classes;
      double top = static_cast<double>(*std::max_element(x, x + size.classes)), sum = 0;
      for (int64_t k = 0; k < size.classes; ++k) sum += std::exp(static_cast<double>(x[k]) - top);
      for (int64_t k = 0; k < size.classes; ++k)
        y[static_cast<size_t>(t * size.classes + k)] =
            static_cast<double>(x[k]) - top - std::log(sum);
    }
    return y;
  }

  bool may_skip(const std::vector<int64_t>& path, int64_t u, int64_t blank) const {
    const int64_t own = path[static_cast<size_t>(u)];
    return own != blank && !(merge && own == path[static_cast<size_t>(u - 2)]);
  }
  bool may_stay(const std::vector<int64_t>& path, int64_t u, int64_t blank) const {
    return merge || path[static_cast<size_t>(u)] == blank;
  }

  void forward(const std::vector<double>& y, const std::vector<int64_t>& path, int64_t steps,
               int64_t classes, std::vector<double>& a) const {
    const auto n = static_cast<int64_t>(path.size());
    auto chance = [&](int64_t t, int64_t u) {
      return y[static_cast<size_t>(t * classes + path[static_cast<size_t>(u)])];
    };
    for (int64_t u = 0; u < std::min<int64_t>(n, 2); ++u) a[static_cast<size_t>(u)] = chance(0, u);
    Pace pace;
    for (int64_t t = 1; t < steps; ++t)
      for (int64_t u = 0; u < n; ++u) {
        pace.step();
        const double* before = a.data() + (t - 1) * n;
        double sum = may_stay(path, u, classes - 1) ? before[u] : kNever;
        if (u > 0) sum = sum_of_logs(sum, before[u - 1]);
        if (u > 1 && may_skip(path, u, classes - 1)) sum = sum_of_logs(sum, before[u - 2]);
        a[static_cast<size_t>(t * n + u)] = sum + chance(t, u);
      }
  }

  // Without the chance of the step itself.
  void backward(const std::vector<double>& y, const std::vector<int64_t>& path, int64_t steps,
                int64_t classes, std::vector<double>& b) const {
    const auto n = static_cast<int64_t>(path.size());
    auto chance = [&](int64_t t, int64_t u) {
      return y[static_cast<size_t>(t * classes + path[static_cast<size_t>(u)])];
    };
    for (int64_t u = std::max<int64_t>(0, n - 2); u < n; ++u)
      b[static_cast<size_t>((steps - 1) * n + u)] = 0;
    Pace pace;
    for (int64_t t = steps - 1; t-- > 0;)
      for (int64_t u = 0; u < n; ++u) {
        pace.step();
        const double* after = b.data() + (t + 1) * n;
        double sum = may_stay(path, u, classes - 1) ? after[u] + chance(t + 1, u) : kNever;
        if (u + 1 < n) sum = sum_of_logs(sum, after[u + 1] + chance(t + 1, u + 1));
        if (u + 2 < n && may_skip(path, u + 2, classes - 1))
          sum = sum_of_logs(sum, after[u + 2] + chance(t + 1, u + 2));
        b[static_cast<size_t>(t * n + u)] = sum;
      }
  }
};

Prepared make_loss(const KernelInit& i) {
  const bool collapse = i.attr<bool>("preprocess_collapse_repeated"),
             merge = i.attr<bool>("ctc_merge_repeated");
  const bool longer = i.attr<bool>("ignore_longer_outputs_than_inputs");
  if (i.type("T") == DType::kFloat) return prepared(Loss<float>{collapse, merge, longer});
  return prepared(Loss<double>{collapse, merge, longer});
}

template <class T>
struct Greedy {
  bool merge;
  int64_t blank;

  void operator()(KernelContext& c) const {
    const Tensor &in = c.input(0), &lengths = c.input(1);
    const CtcSizes size(in, lengths);
    const int64_t empty = blank < 0 ? size.classes + blank : blank;
    if (empty < 0 || empty >= size.classes)
      throw invalid_argument(fmt::format("blank_index expected to be between {} and {} but was {}",
                                         -size.classes, size.classes - 1, blank));
    Tensor& chance = c.output(3, Shape{size.batch, 1});
    std::vector<int64_t> places, values;
    int64_t longest = 0;
    for (int64_t b = 0; b < size.batch; ++b) {
      int64_t before = -1, count = 0;
      T sum{};
      for (int64_t t = 0; t < lengths.data<int32_t>()[b]; ++t) {
        const T* x = in.data<T>() + (t * size.batch + b) * size.classes;
        const int64_t best = std::max_element(x, x + size.classes) - x;
        sum -= x[best];
        if (best != empty && !(merge && best == before)) {
          places.insert(places.end(), {b, count++});
          values.push_back(best);
        }
        before = best;
      }
      chance.data<T>()[b] = sum;
      longest = std::max(longest, count);
    }
    const auto n = static_cast<int64_t>(values.size());
    std::copy(places.begin(), places.end(), c.output(0, Shape{n, 2}).template data<int64_t>());
    std::copy(values.begin(), values.end(), c.output(1, Shape{n}).template data<int64_t>());
    int64_t* shape = c.output(2, Shape{2}).template data<int64_t>();
    shape[0] = size.batch;
    shape[1] = longest;
  }
};
Prepared make_greedy(const KernelInit& i) {
  const bool merge = i.attr<bool>("merge_repeated");
  const auto blank = i.attr<int64_t>("blank_index");
  if (i.type("T") == DType::kFloat) return prepared(Greedy<float>{merge, blank});
  return prepared(Greedy<double>{merge, blank});
}

}  // namespace

std::vector<KernelRow> ctc_kernels() {
  return {{"CTCLoss", "CPU", {}, {}, make_loss, {}, 0, ""},
          {"CTCGreedyDecoder", "CPU", {}, {}, make_greedy, {}, 0, ""}};
}

}  // namespace emplace::cpu
