// The strings of a dataset as a file of records.
#include <fmt/format.h>

#include <fstream>

#include "base/file.h"
#include "base/stop_scope.h"
#include "data/iterator.h"
#include "data/kernels.h"
#include "emplace/session.h"
#include "format/inflate.h"

namespace emplace::data {
namespace {

constexpr size_t kPiece = size_t{1} << 20;  // compressed on its own: a file may have several

const std::string& text_in(const Tensor& t, const char* name) {
  if (t.num_elements() != 1) throw invalid_argument(fmt::format("{} must be a scalar", name));
  return *t.data<std::string>();
}

void write_records(KernelContext& c) {
  const std::string& name = text_in(c.input(1), "filename");
  const std::string& compression = text_in(c.input(2), "compression_type");
  check_compression(compression);
  Walk walk(dataset_in(c.input(0)));
  KernelScope scope(c.cancellation());
  std::ofstream file(name, std::ios::binary | std::ios::trunc);
  if (!file) throw_errno(name);
  std::string piece;
  const auto flush = [&] {
    file << pack(piece, compression);
    piece.clear();
    if (!file) throw resource_exhausted("no room for " + name);
  };
  for (Element e; walk.next(scope.calls(), e); StopScope::attend()) {
    if (e.size() != 1 || e[0].dtype() != DType::kString)
      throw invalid_argument("A file of records is made of a dataset of strings.");
    piece += framed_record(text_in(e[0], "a record"));
    if (piece.size() >= kPiece) flush();
  }
  if (!piece.empty() || file.tellp() == 0) flush();
}

}  // namespace

void add_record_writer_kernels(KernelList& rows) {
  add_row(rows, "DatasetToTFRecord", stateless<write_records>);
  add_row(rows, "ExperimentalDatasetToTFRecord", stateless<write_records>);
}

}  // namespace emplace::data
