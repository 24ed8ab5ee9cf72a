// The records of files of comma-separated values.
#include <fmt/format.h>

#include <charconv>
#include <set>

#include "base/stop_scope.h"
#include "data/kernels.h"
#include "data/state.h"
#include "format/file_window.h"

namespace emplace::data {
namespace {

struct CsvKind {
  std::vector<std::string> names;
  std::string compression, missing;
  char delimiter = ',';
  bool header = false, quotes = true;
  std::vector<int64_t> select, exclude;
  std::vector<Tensor> defaults;  // by output; empty: the field must be there
};

[[noreturn]] void bad(const std::string& why) { throw invalid_argument(why); }

// Records of a text one by one: fields between delimiters, in quotes where they hold one, a quote
// or an end of line.
class CsvText {
 public:
  CsvText(const std::string& file, const CsvKind& kind)
      : file_(file, kind.compression), delimiter_(kind.delimiter), quotes_(kind.quotes) {}

  bool at_end() { return !file_.has(1); }
  void skip_line() {
    while (there() && now() != '\n') ++at_;
    if (there()) ++at_;
    leave();
  }
  void read(std::vector<std::string>& fields) {
    fields.clear();
    do fields.push_back(quotes_ && there() && now() == '"' ? quoted() : plain());
    while (more());
    leave();
  }

 private:
  // Is there a character, and which one?
  bool there(size_t further = 0) { return file_.has(at_ + further + 1); }
  char now(size_t further = 0) const { return file_.view()[at_ + further]; }
  void leave() { file_.skip(std::exchange(at_, 0)); }

  bool is_end(char c) const { return c == '\n' || c == '\r'; }

  std::string plain() {
    const size_t from = at_;
    while (there() && now() != delimiter_ && !is_end(now())) {
      if (quotes_ && now() == '"') {
        finish_line();
        bad("Unquoted fields cannot have quotes inside");
      }
      ++at_;
    }
    return std::string(file_.view().substr(from, at_ - from));
  }

  std::string quoted() {
    std::string field;
    for (++at_; there(); ++at_) {
      if (now() != '"') {
        field += now();
      } else if (there(1) && now(1) == '"') {
        field += now(1);
        ++at_;
      } else {
        ++at_;
        if (there() && now() != delimiter_ && !is_end(now())) {
          finish_line();
          bad("Quote inside a string has to be escaped by another quote");
        }
        return field;
      }
    }
    leave();
    bad("Reached end of file without closing quoted field in record");
  }

  // Behind a field: is there another one in this record?
  bool more() {
    if (!there()) return false;
    if (now() == delimiter_) return ++at_, true;
    if (now() == '\r') ++at_;
    if (there() && now() == '\n') ++at_;
    return false;
  }
  void finish_line() {
    while (there() && !is_end(now())) ++at_;
    more();
  }

  FileWindow file_;
  const char delimiter_;
  const bool quotes_;
  size_t at_ = 0;
};

template <class T>
Tensor number(const std::string& field, size_t i, const char* kind) {
  T value{};
  const char* first = field.data();
  const char* last = first + field.size();
  while (first < last && *first == ' ') ++first;
  while (last > first && last[-1] == ' ') --last;
  if (first < last && *first == '+') ++first;
  const auto [end, error] = std::from_chars(first, last, value);
  if (error != std::errc() || end != last || first == last)
    bad(fmt::format("Field {} in record is not a valid {}: {}", i, kind, field));
  return Tensor::scalar(value);
}

Tensor value_of(const std::string& field, DType dtype, size_t i) {
  switch (dtype) {
    case DType::kInt32: return number<int32_t>(field, i, "int32");
    case DType::kInt64: return number<int64_t>(field, i, "int64");
    case DType::kFloat: return number<float>(field, i, "float");
    case DType::kDouble: return number<double>(field, i, "double");
    case DType::kString: return Tensor::string(field);
    default: bad(fmt::format("csv: data type {} not supported", dtype_name(dtype)));
  }
}

class CsvDataset final : public Dataset {
 public:
  CsvDataset(Spec spec, CsvKind kind) : Dataset(std::move(spec)), kind_(std::move(kind)) {}
  int64_t cardinality() const override { return kUnknown; }
  std::unique_ptr<Iterator> make_iterator(Caller&) const override {
    return std::make_unique<Over>(std::static_pointer_cast<const CsvDataset>(shared_from_this()));
  }

 private:
  class Over final : public Iterator {
   public:
    explicit Over(std::shared_ptr<const CsvDataset> self) : self_(std::move(self)) {}
    bool next(Caller&, Element& out) override {
      for (; file_ < self_->kind_.names.size(); StopScope::attend()) {
        if (!text_) open();
        if (!text_->at_end()) {
          ++read_;
          text_->read(fields_);
          out = self_->element(fields_);
          return true;
        }
        text_.reset();
        read_ = 0;
        ++file_;
      }
      return false;
    }
    void save(StateWriter& w) override {
      w.put(static_cast<int64_t>(file_));
      w.put(read_);
    }
    void restore(Caller&, StateReader& r) override {
      file_ = static_cast<size_t>(r.number());
      read_ = r.number();
      if (file_ >= self_->kind_.names.size() || read_ == 0) return;
      open();
      for (int64_t i = 0; i < read_ && !text_->at_end(); ++i) text_->read(fields_);
    }

   private:
    void open() {
      const CsvKind& k = self_->kind_;
      const std::string& name = k.names[file_];
      try {
        text_.emplace(name, k);
      } catch (...) {
        ++file_;
        throw;
      }
      if (!k.header) return;
      if (text_->at_end()) bad(fmt::format("Can't read header of file {}", name));
      text_->skip_line();
    }
    const std::shared_ptr<const CsvDataset> self_;
    size_t file_ = 0;
    int64_t read_ = 0;
    std::optional<CsvText> text_;
    std::vector<std::string> fields_;
  };

  Element element(const std::vector<std::string>& fields) const {
    Element out;
    const size_t outputs = spec().types.size();
    for (size_t f = 0; f < fields.size(); ++f) {
      if (!is_chosen(static_cast<int64_t>(f))) continue;
      if (out.size() == outputs)
        bad(fmt::format("Expect {} fields but have more in record", outputs));
      out.push_back(field(fields[f], out.size(), f));
    }
    if (out.size() < outputs)
      bad(fmt::format("Expect {} fields but have {} in record", outputs, out.size()));
    return out;
  }

  bool is_chosen(int64_t field) const {
    if (!kind_.select.empty()) return std::ranges::binary_search(kind_.select, field);
    return !std::ranges::binary_search(kind_.exclude, field);
  }

  Tensor field(const std::string& text, size_t output, size_t number) const {
    if (!text.empty() && text != kind_.missing) return value_of(text, spec().types[output], number);
    const Tensor& otherwise = kind_.defaults[output];
    if (otherwise.num_elements() == 0)
      bad(fmt::format("Field {} is required but missing in record!", number));
    return otherwise.rank() == 0 ? otherwise : otherwise.slice(0, 1).reshaped(Shape{});
  }

  const CsvKind kind_;
};

std::vector<int64_t> columns_in(KernelContext& c, int i, const char* name) {
  const Tensor& t = c.input(i);
  std::vector<int64_t> columns(t.data<int64_t>(), t.data<int64_t>() + t.num_elements());
  for (size_t k = 0; k < columns.size(); ++k) {
    if (columns[k] < 0) bad(fmt::format("{} must be non-negative indices", name));
    if (k > 0 && columns[k] <= columns[k - 1])
      bad(fmt::format("{} must be strictly increasing indices", name));
  }
  return columns;
}

struct MakeCsv {
  explicit MakeCsv(const KernelInit& init)
      : outputs(static_cast<int>(init.attr<std::vector<DType>>("output_types").size())),
        excludes(init.op->name == "CSVDatasetV2") {}
  std::shared_ptr<Dataset> make(const Dataset::Spec& spec, KernelContext& c) const {
    CsvKind k;
    const Tensor& names = c.input(0);
    k.names.assign(names.data<std::string>(), names.data<std::string>() + names.num_elements());
    k.compression = text(c, 1);
    if (!k.compression.empty() && k.compression != "ZLIB" && k.compression != "GZIP")
      bad(fmt::format("Unsupported compression_type: {}.", k.compression));
    if (int_input(c, 2, "buffer_size") <= 0) bad("buffer_size should be positive");
    k.header = bool_input(c, 3, "header");
    const std::string delimiter = text(c, 4);
    if (delimiter.size() != 1) bad("field_delim should be only 1 char");
    k.delimiter = delimiter[0];
    k.quotes = bool_input(c, 5, "use_quote_delim");
    k.missing = text(c, 6);
    k.select = columns_in(c, 7, "select_cols");
    if (!k.select.empty() && static_cast<int>(k.select.size()) != outputs)
      bad("select_cols should match output size");
    for (int i = 0; i < outputs; ++i) {
      k.defaults.push_back(kept_input(c, 8 + i));
      if (k.defaults.back().num_elements() > 1)
        bad(fmt::format("There should only be 1 default per field but field {} has {}", i,
                        k.defaults.back().num_elements()));
    }
    if (excludes) k.exclude = columns_in(c, 8 + outputs, "exclude_cols");
    if (!k.select.empty() && !k.exclude.empty())
      bad("Either select_cols or exclude_cols should be empty");
    return std::make_shared<CsvDataset>(spec, std::move(k));
  }
  static std::string text(KernelContext& c, int i) {
    if (c.input(i).num_elements() != 1) bad("a scalar text was expected");
    return *c.input(i).data<std::string>();
  }
  int outputs;
  bool excludes;
};

}  // namespace

void add_csv_kernels(KernelList& rows) {
  add_row(rows, "CSVDataset", dataset_kernel<MakeCsv>);
  add_row(rows, "CSVDatasetV2", dataset_kernel<MakeCsv>);
}

}  // namespace emplace::data
