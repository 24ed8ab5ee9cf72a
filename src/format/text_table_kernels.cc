#include "format/text_table_kernels.h"

#include <fmt/format.h>

#include <charconv>

#include "base/file.h"
#include "kernel/lookup_table.h"

namespace emplace {
namespace {

constexpr int64_t kLineNumber = -1, kWholeLine = -2;  // what an index below 0 stands for

template <class T>
bool parse(std::string_view text, T& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc{} && end == text.data() + text.size();
}

struct Initialize {
  int64_t key_index, value_index, vocab_size, offset;
  char delimiter;

  void operator()(KernelContext& c) const {
    const auto table = c.resource<LookupTable>(0);
    if (c.input(1).num_elements() != 1)
      throw invalid_argument("filename should be a single string, but got " +
                             c.input(1).shape().str());
    const std::string& name = c.input(1).item<std::string>();
    if (!table->options().fixed)
      throw invalid_argument(
          fmt::format("Table {} {} is not initializable", c.handle(0).container, c.handle(0).name));
    check_index(key_index, table->options().key_dtype, "Key", "key");
    check_index(value_index, table->options().value_dtype, "Value", "value");
    fill(*table, name, read_file(name));
  }

  static void check_index(int64_t index, DType dtype, const char* what, const char* small) {
    if (index == kLineNumber && dtype != DType::kInt64)
      throw invalid_argument(
          fmt::format("{} index for line number requires table {} dtype of int64,"
                      " got {}",
                      what, small, dtype_name(dtype)));
    const bool text = dtype == DType::kString;
    if (index == kWholeLine && !text && dtype != DType::kInt64)
      throw invalid_argument(
          fmt::format("{} index for whole line requires string or integer table "
                      "{}, got {}",
                      what, small, dtype_name(dtype)));
  }

  void fill(LookupTable& table, const std::string& name, std::string_view text) const {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      std::string_view line = text.substr(0, end);
      if (line.ends_with('\r')) line.remove_suffix(1);
      lines.push_back(line);
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    const auto count = static_cast<int64_t>(lines.size());
    if (vocab_size > count)
      throw invalid_argument(
          fmt::format("Invalid vocab_size in {}: expected {} but got {}", name, vocab_size, count));
    if (vocab_size >= 0) lines.resize(static_cast<size_t>(vocab_size));
    const Shape shape{static_cast<int64_t>(lines.size())};
    Tensor keys(table.options().key_dtype, shape), values(table.options().value_dtype, shape);
    for (size_t i = 0; i < lines.size(); ++i) {
      set(keys, static_cast<int64_t>(i), field(name, lines[i], i, key_index));
      set(values, static_cast<int64_t>(i), field(name, lines[i], i, value_index));
    }
    table.initialize(keys, values);
  }

  // The part of a line that an index stands for.
  std::string field(const std::string& name, std::string_view line, size_t number,
                    int64_t index) const {
    if (index == kLineNumber) return std::to_string(static_cast<int64_t>(number) + offset);
    if (index == kWholeLine) return std::string(line);
    int64_t at = 0;
    for (std::string_view rest = line;; ++at) {
      const size_t end = rest.find(delimiter);
      if (at == index) return std::string(rest.substr(0, end));
      if (end == std::string_view::npos) break;
      rest.remove_prefix(end + 1);
    }
    throw invalid_argument(
        fmt::format("Invalid number of columns in {} line {} ({}) : expected at "
                    "least {} got {}",
                    name, number, line, std::max(key_index, value_index) + 1, at + 1));
  }

  static void set(Tensor& t, int64_t i, const std::string& text) {
    bool good = true;
    switch (t.dtype()) {
      case DType::kString:
        t.data<std::string>()[i] = text;
        break;
      case DType::kInt32:
        good = parse(text, t.data<int32_t>()[i]);
        break;
      case DType::kInt64:
        good = parse(text, t.data<int64_t>()[i]);
        break;
      case DType::kFloat:
        good = parse(text, t.data<float>()[i]);
        break;
      case DType::kDouble:
        good = parse(text, t.data<double>()[i]);
        break;
      default:
        throw invalid_argument(fmt::format("Data type {} not supported.", dtype_name(t.dtype())));
    }
    if (!good)
      throw invalid_argument(
          fmt::format("Field {} in line {} is not a valid {}.", text, i, dtype_name(t.dtype())));
  }
};

Prepared make(const KernelInit& init) {
  const auto& delimiter = init.attr<std::string>("delimiter");
  if (delimiter.size() != 1) throw invalid_argument("delimiter should be only 1 char");
  return prepared(Initialize{init.attr<int64_t>("key_index"), init.attr<int64_t>("value_index"),
                             init.attr<int64_t>("vocab_size"), init.attr<int64_t>("offset"),
                             delimiter[0]});
}

}  // namespace

void register_text_table_kernels(KernelRegistry& r) {
  for (const char* op : {"InitializeTableFromTextFile", "InitializeTableFromTextFileV2"}) {
    KernelRow row{op, "CPU", {}, {}, make, {}, 0, {}};
    row.traits.blocks = true;  // a disk's
    r.add(std::move(row));
  }
}

}  // namespace emplace
