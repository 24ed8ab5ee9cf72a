// The records of files.
#include <fmt/format.h>

#include "base/stop_scope.h"
#include "data/kernels.h"
#include "data/state.h"
#include "format/inflate.h"
#include "format/record_files.h"

namespace emplace::data {
namespace {

using Open = std::function<std::unique_ptr<OpenFile>(const std::string& name, size_t index)>;

class FilesDataset final : public Dataset {
 public:
  FilesDataset(Spec spec, std::vector<std::string> names, Open open)
      : Dataset(std::move(spec)), names_(std::move(names)), open_(std::move(open)) {}
  int64_t cardinality() const override { return names_.empty() ? 0 : kUnknown; }
  std::unique_ptr<Iterator> make_iterator(Caller&) const override {
    return std::make_unique<Over>(std::static_pointer_cast<const FilesDataset>(shared_from_this()));
  }

 private:
  class Over final : public Iterator {
   public:
    explicit Over(std::shared_ptr<const FilesDataset> self) : self_(std::move(self)) {}
    bool next(Caller&, Element& out) override {
      for (; at_ < self_->names_.size(); StopScope::attend()) {
        std::optional<Record> record;
        try {
          if (!file_) file_ = self_->open_(self_->names_[at_], at_);
          record = file_->next();
        } catch (...) {
          next_file();  // what is left of a broken file can't be found
          throw;
        }
        if (record) {
          ++read_;
          out.assign(1, Tensor::string(std::move(record->value)));
          return true;
        }
        next_file();
      }
      return false;
    }
    void save(StateWriter& w) override {
      w.put(static_cast<int64_t>(at_));
      w.put(read_);
    }
    void restore(Caller&, StateReader& r) override {
      at_ = static_cast<size_t>(r.number());
      read_ = r.number();
      if (read_ == 0 || at_ >= self_->names_.size()) return;
      file_ = self_->open_(self_->names_[at_], at_);
      for (int64_t i = 0; i < read_; ++i) file_->next();
    }

   private:
    void next_file() {
      file_.reset();
      read_ = 0;
      ++at_;
    }
    const std::shared_ptr<const FilesDataset> self_;
    size_t at_ = 0;
    int64_t read_ = 0;  // records of this file
    std::unique_ptr<OpenFile> file_;
  };

  const std::vector<std::string> names_;
  const Open open_;
};

std::vector<std::string> names_in(KernelContext& c) {
  const Tensor& t = c.input(0);
  if (t.rank() > 1) throw invalid_argument("`filenames` must be a scalar or a vector.");
  return {t.data<std::string>(), t.data<std::string>() + t.num_elements()};
}

std::string text_input(KernelContext& c, int i, std::string_view name) {
  if (c.input(i).num_elements() != 1)
    throw invalid_argument(fmt::format("`{}` must be a scalar", name));
  return *c.input(i).data<std::string>();
}

void check_compression(const std::string& type) {
  if (!type.empty() && type != "ZLIB" && type != "GZIP")
    throw invalid_argument(fmt::format("Unsupported compression_type: {}.", type));
}

// -1 leaves the size to us.
void check_buffer(KernelContext& c, int i) {
  if (int_input(c, i, "buffer_size") < -1)
    throw invalid_argument("`buffer_size` must be >= 0 (0 == default)");
}

Dataset::Spec of_texts(Dataset::Spec spec) {
  spec.types = {DType::kString};
  spec.shapes = {Shape{}};
  return spec;
}

struct MakeRecords : NoState {
  using NoState::NoState;
  std::shared_ptr<Dataset> make(const Dataset::Spec& spec, KernelContext& c) const {
    const std::string compression = text_input(c, 1, "compression_type");
    check_compression(compression);
    check_buffer(c, 2);
    auto names = names_in(c);
    if (c.num_inputs() > 3 && c.input(3).num_elements() > 0) check_offsets(c, names.size());
    std::vector<int64_t> offsets;
    if (c.num_inputs() > 3)
      offsets.assign(c.input(3).data<int64_t>(),
                     c.input(3).data<int64_t>() + c.input(3).num_elements());
    return std::make_shared<FilesDataset>(
        of_texts(spec), std::move(names),
        [compression, offsets](const std::string& name, size_t k) {
          return open_framed(name, compression, k < offsets.size() ? offsets[k] : 0);
        });
  }
  static void check_offsets(KernelContext& c, size_t files) {
    const auto n = static_cast<size_t>(c.input(3).num_elements());
    if (n != files)
      throw invalid_argument(fmt::format(
          "`byte_offsets` must have as many values as there are files: {}, not {}", files, n));
  }
};

struct MakeLines : NoState {
  using NoState::NoState;
  std::shared_ptr<Dataset> make(const Dataset::Spec& spec, KernelContext& c) const {
    const std::string compression = text_input(c, 1, "compression_type");
    check_compression(compression);
    check_buffer(c, 2);
    return std::make_shared<FilesDataset>(of_texts(spec), names_in(c),
                                          [compression](const std::string& name, size_t) {
                                            return open_lines(name, 0, compression);
                                          });
  }
};

struct MakeFixed : NoState {
  using NoState::NoState;
  std::shared_ptr<Dataset> make(const Dataset::Spec& spec, KernelContext& c) const {
    RecordSizes sizes;
    sizes.header = int_input(c, 1, "header_bytes");
    sizes.record = int_input(c, 2, "record_bytes");
    sizes.footer = int_input(c, 3, "footer_bytes");
    if (sizes.header < 0) throw invalid_argument("`header_bytes` must be a non-negative integer.");
    if (sizes.record <= 0) throw invalid_argument("`record_bytes` must be greater than zero.");
    if (sizes.footer < 0) throw invalid_argument("`footer_bytes` must be a non-negative integer.");
    sizes.hop = sizes.record;
    sizes.exact = true;
    check_buffer(c, 4);
    const std::string compression = c.num_inputs() > 5 ? text_input(c, 5, "compression_type") : "";
    check_compression(compression);
    return std::make_shared<FilesDataset>(of_texts(spec), names_in(c),
                                          [sizes, compression](const std::string& name, size_t) {
                                            return open_fixed(name, sizes, compression);
                                          });
  }
};

}  // namespace

void add_file_kernels(KernelList& rows) {
  add_row(rows, "TFRecordDataset", dataset_kernel<MakeRecords>);
  add_row(rows, "TFRecordDatasetV2", dataset_kernel<MakeRecords>);
  add_row(rows, "TextLineDataset", dataset_kernel<MakeLines>);
  add_row(rows, "FixedLengthRecordDataset", dataset_kernel<MakeFixed>);
  add_row(rows, "FixedLengthRecordDatasetV2", dataset_kernel<MakeFixed>);
}

}  // namespace emplace::data
