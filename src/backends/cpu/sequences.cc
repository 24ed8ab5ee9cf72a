// Distances between sequences, runs of words, lines of tables.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "backends/cpu/indices.h"
#include "backends/cpu/imported_kernels.h"
#include "backends/cpu/rows.h"
#include "backends/cpu/sparse.h"
#include "backends/cpu/stop.h"
#include "base/stop_scope.h"

namespace emplace::cpu {
namespace {

// ---- Edit distance. Sequences are the last dimension of sparse tensors.

using Place = std::vector<int64_t>;
using Words = std::vector<std::string>;  // elements as bytes

std::map<Place, Words> sequences(const Sparse& s) {
  std::map<Place, Words> found;
  const size_t size = dtype_size(s.values.dtype());
  for (const int64_t i : paced(s.count())) {
    Place place = s.place(i);
    place.pop_back();
    found[place].push_back(
        s.values.dtype() == DType::kString
            ? s.values.data<std::string>()[i]
            : std::string(static_cast<const char*>(s.values.raw()) + static_cast<size_t>(i) * size,
                          size));
  }
  return found;
}

int64_t changes(KernelContext& c, const Words& a, const Words& b) {
  std::vector<int64_t> line(b.size() + 1);
  for (size_t j = 0; j < line.size(); ++j) line[j] = static_cast<int64_t>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    stop_if_cancelled(c);
    int64_t corner = std::exchange(line[0], static_cast<int64_t>(i));
    for (size_t j = 1; j < line.size(); ++j) {
      const int64_t replaced = corner + (a[i - 1] == b[j - 1] ? 0 : 1);
      corner = line[j];
      line[j] = std::min({replaced, line[j] + 1, line[j - 1] + 1});
    }
  }
  return line.back();
}

struct EditDistance {
  bool normalize;
  void operator()(KernelContext& c) const {
    const Sparse hypothesis(c, 0), truth(c, 3);
    if (hypothesis.rank() != truth.rank() || truth.rank() < 1)
      throw invalid_argument(
          "Expected hypothesis_shape and truth_shape to have the same number of "
          "elements, at least one");
    Place dims;
    for (size_t d = 0; d + 1 < truth.rank(); ++d)
      dims.push_back(std::max(hypothesis.dims[d], truth.dims[d]));
    Tensor& out = c.output(0, Shape(std::span<const int64_t>(dims)));
    std::fill_n(out.data<float>(), out.num_elements(), 0.0f);
    const auto guesses = sequences(hypothesis), truths = sequences(truth);
    auto put = [&](const Place& place, const Words& a, const Words& b) {
      int64_t at = 0;
      for (size_t d = 0; d < dims.size(); ++d) at = at * dims[d] + place[d];
      auto distance = static_cast<float>(changes(c, a, b));
      if (normalize) distance /= static_cast<float>(b.size());  // of nothing: infinite
      out.data<float>()[at] = distance;
    };
    for (const auto& [place, b] : truths) {
      const auto it = guesses.find(place);
      put(place, it == guesses.end() ? Words{} : it->second, b);
    }
    for (const auto& [place, a] : guesses)
      if (!truths.contains(place)) put(place, a, {});
  }
};
Prepared make_edit_distance(const KernelInit& i) {
  return prepared(EditDistance{i.attr<bool>("normalize")});
}

// ---- Runs of words.

struct Ngrams {
  std::string separator, left, right;
  std::vector<int64_t> widths;
  int64_t pad_width;
  bool preserve_short;

  int64_t pad(int64_t width) const {
    return std::min(pad_width < 0 ? width - 1 : pad_width, width - 1);
  }

  void add(const std::string* words, int64_t count, int64_t width, std::vector<std::string>& out,
           int64_t padding) const {
    const int64_t runs = std::max<int64_t>(0, count + 2 * padding - width + 1);
    for (const int64_t i : paced(runs)) {
      std::string text;
      for (int64_t k = i; k < i + width; ++k) {
        if (k > i) text += separator;
        const int64_t word = k - padding;
        text += word < 0 ? left : word >= count ? right : words[word];
      }
      out.push_back(std::move(text));
    }
  }

  void operator()(KernelContext& c) const {
    const Tensor &data = c.input(0), &splits = c.input(1);
    if (data.rank() != 1 || splits.rank() != 1)
      throw invalid_argument("data and splits must be vectors");
    const int64_t rows = std::max<int64_t>(splits.num_elements() - 1, 0);
    for (const int64_t r : paced(splits.num_elements())) {
      const int64_t at = index_at(splits, r), before = r > 0 ? index_at(splits, r - 1) : 0;
      if (at < before || at > data.dim(0) || (r == 0 && at != 0) ||
          (r == rows && splits.num_elements() > 1 && at != data.dim(0)))
        throw invalid_argument(
            fmt::format("Invalid split value {}, must be in [{}, {}]", at, before, data.dim(0)));
    }
    std::vector<std::string> all;
    Tensor& ends = c.output(1, splits.shape());
    if (splits.num_elements() > 0) put_int(ends, 0, 0);
    for (const int64_t r : paced(rows)) {
      const int64_t begin = index_at(splits, r), count = index_at(splits, r + 1) - begin;
      const std::string* words = data.data<std::string>() + begin;
      const size_t before = all.size();
      for (int64_t width : widths) add(words, count, width, all, pad(width));
      // A row too short for any run is one run itself.
      if (preserve_short && all.size() == before && count > 0 && pad_width >= 0)
        add(words, count, count + 2 * pad_width, all, pad_width);
      put_int(ends, r + 1, static_cast<int64_t>(all.size()));
    }
    Tensor& out = c.output(0, Shape{static_cast<int64_t>(all.size())});
    std::move(all.begin(), all.end(), out.data<std::string>());
  }
};
Prepared make_ngrams(const KernelInit& i) {
  Ngrams n{i.attr<std::string>("separator"), i.attr<std::string>("left_pad"),
           i.attr<std::string>("right_pad"), i.attr<std::vector<int64_t>>("ngram_widths"),
           i.attr<int64_t>("pad_width"),     i.attr<bool>("preserve_short_sequences")};
  for (int64_t w : n.widths)
    if (w < 1 || w > 1 << 20)
      throw invalid_argument(fmt::format("ngram_widths must be positive, got {}", w));
  n.pad_width = std::min<int64_t>(n.pad_width, 1 << 20);
  return prepared(std::move(n));
}

// ---- Lines of tables.

struct Csv {
  char delimiter;
  bool quotes;
  std::string missing;
  std::vector<int64_t> columns;  // empty: all

  std::vector<std::string> fields(const std::string& line) const {
    std::vector<std::string> found;
    size_t at = 0;
    for (;;) {
      std::string field;
      if (quotes && at < line.size() && line[at] == '"') {
        at = quoted(line, at + 1, field);
        if (at < line.size() && line[at] != delimiter)
          throw invalid_argument("Quote inside a string has to be escaped by another quote");
      } else {
        const size_t end = std::min(line.find(delimiter, at), line.size());
        field = line.substr(at, end - at);
        if (quotes && field.find('"') != std::string::npos)
          throw invalid_argument("Unquoted fields cannot have quotes inside");
        at = end;
      }
      found.push_back(std::move(field));
      if (at >= line.size()) break;
      ++at;
    }
    return found;
  }

  // What stands between quotes; returns where it is over.
  static size_t quoted(const std::string& line, size_t at, std::string& field) {
    for (; at < line.size(); ++at) {
      if (line[at] != '"') {
        field += line[at];
      } else if (at + 1 < line.size() && line[at + 1] == '"') {
        field += line[at++];
      } else {
        return at + 1;
      }
    }
    throw invalid_argument("Quoted field has to end with quote followed by delim or end");
  }

  void operator()(KernelContext& c) const {
    const Tensor& records = c.input(0);
    const int outputs = c.num_outputs();
    for (int i = 0; i < outputs; ++i) {
      if (c.input(i + 1).num_elements() > 1)
        throw invalid_argument(
            fmt::format("There should only be 1 default per field but field {} has {}", i,
                        c.input(i + 1).num_elements()));
      c.output(i, records.shape());
    }
    for (const int64_t r : paced(records.num_elements())) {
      std::vector<std::string> all = fields(records.data<std::string>()[r]), own;
      if (columns.empty()) own = std::move(all);
      for (int64_t k : columns)
        if (k < static_cast<int64_t>(all.size()))
          own.push_back(std::move(all[static_cast<size_t>(k)]));
      if (static_cast<int>(own.size()) != outputs)
        throw invalid_argument(
            fmt::format("Expect {} fields but have {} in record {}", outputs, own.size(), r));
      for (int i = 0; i < outputs; ++i) set(c, i, r, own[static_cast<size_t>(i)]);
    }
  }

  void set(KernelContext& c, int i, int64_t record, const std::string& text) const {
    Tensor& out = c.output_slot(i);
    const Tensor& rest = c.input(i + 1);
    if (text.empty() || text == missing) {
      if (rest.num_elements() != 1)
        throw invalid_argument(
            fmt::format("Field {} is required but missing in record {}!", i, record));
      return Mover(out.dtype()).copy(out, record, rest, 0, 1);
    }
    bool good = true;
    switch (out.dtype()) {
      case DType::kString:
        out.data<std::string>()[record] = text;
        break;
      case DType::kInt32:
        good = parse(text, out.data<int32_t>()[record]);
        break;
      case DType::kInt64:
        good = parse(text, out.data<int64_t>()[record]);
        break;
      case DType::kFloat:
        good = parse(text, out.data<float>()[record]);
        break;
      default:
        good = parse(text, out.data<double>()[record]);
    }
    if (!good)
      throw invalid_argument(fmt::format("Field {} in record {} is not a valid {}: {}", i, record,
                                         dtype_proto_name(out.dtype()), text));
  }

  template <class T>
  static bool parse(std::string_view text, T& out) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    if (text.starts_with('+')) text.remove_prefix(1);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    return error == std::errc{} && end == text.data() + text.size();
  }
};
Prepared make_csv(const KernelInit& i) {
  const auto& delimiter = i.attr<std::string>("field_delim");
  if (delimiter.size() != 1) throw invalid_argument("field_delim should be only 1 char");
  const auto& columns = i.attr<std::vector<int64_t>>("select_cols");
  if (!columns.empty() && columns.size() != i.attr<std::vector<DType>>("OUT_TYPE").size())
    throw invalid_argument("select_cols should match output size");
  for (size_t k = 0; k < columns.size(); ++k) {
    if (columns[k] < 0) throw invalid_argument("select_cols should be non-negative indices");
    if (k > 0 && columns[k] <= columns[k - 1])
      throw invalid_argument("select_cols should be strictly increasing indices");
  }
  return prepared(Csv{delimiter[0], i.attr<bool>("use_quote_delim"),
                      i.attr<std::string>("na_value"), columns});
}

}  // namespace

std::vector<KernelRow> sequence_kernels() {
  return {row("EditDistance", make_edit_distance), row("StringNGrams", make_ngrams),
          row("DecodeCSV", make_csv)};
}

}  // namespace emplace::cpu
