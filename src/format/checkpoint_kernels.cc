#include "format/checkpoint_kernels.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/file.h"
#include "format/bundle.h"
#include "graph/parse_message.h"
#include "graph/tensor_proto.h"

namespace emplace {
namespace {

const std::string& text_input(KernelContext& c, int i, const char* what) {
  if (c.input(i).num_elements() != 1)
    throw invalid_argument(fmt::format("Input {} ({}) should be a scalar, but has shape {}", i, what,
                                       c.input(i).shape().str()));
  return c.input(i).item<std::string>();
}

// Names and slices belong to each other, one by one.
void check_lists(KernelContext& c, int tensors) {
  for (int i : {1, 2})
    if (c.input(i).rank() != 1 || c.input(i).num_elements() != tensors)
      throw invalid_argument(fmt::format(
          "Input {} ({}) should be a vector of {} elements, but has shape {}", i,
          i == 1 ? "tensor_names" : "shape_and_slices", tensors, c.input(i).shape().str()));
}

void save_v2(KernelContext& c) {
  const int tensors = c.num_inputs() - 3;
  check_lists(c, tensors);
  const auto names = c.input(1).values<std::string>();
  const auto slices = c.input(2).values<std::string>();
  std::vector<BundleItem> items;
  for (int i = 0; i < tensors; ++i) {
    const auto at = static_cast<size_t>(i);
    BundleItem item{names[at], c.input(i + 3)};
    if (!slices[at].empty()) {
      std::tie(item.full, item.slice) = parse_shape_and_slice(slices[at]);
      item.sliced = true;
      const Shape expected = item.slice.within(item.full).shape();
      if (!(expected == item.value.shape()))
        throw invalid_argument(fmt::format("Slice spec {} of '{}' has shape {}, but the tensor has "
                                           "{}",
                                           slices[at], names[at], expected.str(),
                                           item.value.shape().str()));
    }
    items.push_back(std::move(item));
  }
  write_bundle(text_input(c, 0, "prefix"), items);
}

void restore_v2(KernelContext& c) {
  const int tensors = c.num_outputs();
  check_lists(c, tensors);
  const auto names = c.input(1).values<std::string>();
  const auto slices = c.input(2).values<std::string>();
  const BundleReader reader(text_input(c, 0, "prefix"));
  for (int i = 0; i < tensors; ++i) {
    const auto at = static_cast<size_t>(i);
    const BundleReader::Entry& e = reader.find(names[at]);
    if (e.dtype != c.output_type(i))
      throw invalid_argument(fmt::format("tensor_name = {}; expected dtype {} does not equal "
                                         "original dtype {}",
                                         names[at], dtype_proto_name(c.output_type(i)),
                                         dtype_proto_name(e.dtype)));
    if (slices[at].empty()) {
      c.set_output(i, reader.read(names[at]));
    } else {
      const auto [full, slice] = parse_shape_and_slice(slices[at]);
      c.set_output(i, reader.read_slice(names[at], full, slice));
    }
  }
}

struct Merge {
  bool delete_old_dirs, allow_missing_files;
  void operator()(KernelContext& c) const {
    const auto prefixes = c.input(0).values<std::string>();
    merge_bundles(prefixes, text_input(c, 1, "destination_prefix"), delete_old_dirs,
                  allow_missing_files);
  }
};

Prepared make_merge(const KernelInit& init) {
  return prepared(Merge{init.attr<bool>("delete_old_dirs"), init.attr<bool>("allow_missing_files")});
}

int32_t number_input(KernelContext& c, int i) {
  if (c.input(i).num_elements() != 1)
    throw invalid_argument(fmt::format("Input {} should be a scalar, but has shape {}", i,
                                       c.input(i).shape().str()));
  return c.input(i).item<int32_t>();
}

void sharded_filename(KernelContext& c) {
  c.set_output(0, Tensor::string(fmt::format("{}-{:05}-of-{:05}", text_input(c, 0, "basename"),
                                             number_input(c, 1), number_input(c, 2))));
}

void sharded_filespec(KernelContext& c) {
  c.set_output(0, Tensor::string(fmt::format("{}-?????-of-{:05}", text_input(c, 0, "basename"),
                                             number_input(c, 1))));
}

void nothing(KernelContext&) {}

void read_file_kernel(KernelContext& c) {
  c.set_output(0, Tensor::string(read_file(text_input(c, 0, "filename"))));
}

struct CheckedPath {
  std::vector<std::string> folders;
  void operator()(KernelContext& c) const {
    const Tensor& paths = c.input(0);
    for (int64_t i = 0; i < paths.num_elements(); ++i) check_below(paths.data<std::string>()[i], folders);
    c.set_output(0, paths);
  }
};
Prepared make_checked_path(const KernelInit& init) {
  return prepared(CheckedPath{init.attr<std::vector<std::string>>("folders")});
}

void write_file_kernel(KernelContext& c) {
  const std::string& name = text_input(c, 0, "filename");
  make_folders(parent_folder(name));
  write_file(name, text_input(c, 1, "contents"));
}

// Every value as it is, were they all alike: files that others read depend on it.
void serialize_tensor(KernelContext& c) {
  const Tensor& in = c.input(0);
  proto::TensorProto message;
  to_whole_proto(in, &message);
  c.set_output(0, Tensor::string(message.SerializeAsString()));
}

void parse_tensor(KernelContext& c) {
  proto::TensorProto message;
  if (!parse_message(message, text_input(c, 0, "serialized")))
    throw invalid_argument("Could not parse the serialized tensor");
  Tensor value = from_proto(message);
  if (value.dtype() != c.output_type(0))
    throw invalid_argument(fmt::format("Type mismatch between parsed tensor ({}) and dtype ({})",
                                       dtype_proto_name(value.dtype()),
                                       dtype_proto_name(c.output_type(0))));
  c.set_output(0, std::move(value));
}

// Of several patterns all files once, in order.
void put_matching_files(KernelContext& c) {
  const std::vector<std::string> found = matching_files(c.input(0).values<std::string>());
  Tensor& out = c.output(0, Shape{static_cast<int64_t>(found.size())});
  std::copy(found.begin(), found.end(), out.data<std::string>());
}

}  // namespace

void register_file_kernels(KernelRegistry& r) {
  const auto add = [&](const char* op, KernelFactory make, bool slow = true) {
    KernelRow row{op, "CPU", {}, {}, make, {}, 0, {}};
    row.traits.blocks = slow;  // others need not wait in line for a disk
    r.add(std::move(row));
  };
  add("SaveV2", stateless<save_v2>);
  add("RestoreV2", stateless<restore_v2>);
  add("MergeV2Checkpoints", make_merge);
  add("ShardedFilename", stateless<sharded_filename>, false);
  add("ShardedFilespec", stateless<sharded_filespec>, false);
  add("DisableCopyOnRead", stateless<nothing>, false);
  add("SerializeTensor", stateless<serialize_tensor>, false);
  add("ParseTensor", stateless<parse_tensor>, false);
  add("MatchingFiles", stateless<put_matching_files>);
  add("ReadFile", stateless<read_file_kernel>);
  add("WriteFile", stateless<write_file_kernel>);
  add("_CheckedPath", make_checked_path);
}

}  // namespace emplace
