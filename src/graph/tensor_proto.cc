#include "graph/tensor_proto.h"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>

#include <cstring>

#include "base/parse_limits.h"
#include "emplace/error.h"

namespace emplace {
namespace {

constexpr int kRefOffset = 100;

[[noreturn]] void unreadable(const proto::TensorProto& in, std::string_view why) {
  throw invalid_argument(fmt::format(
      "Cannot parse tensor from proto: {} (dtype: {}, shape: {})", why,
      proto::DataType_Name(in.dtype()), from_proto(in.tensor_shape()).str()));
}

bool all_alike(const Tensor& t) {
  const size_t size = dtype_size(t.dtype());
  const char* data = t.data<char>();
  // Each element equals the one before it: compare the whole with itself, one element on.
  return std::memcmp(data, data + size, t.bytes() - size) == 0;
}

// ---- Writing one element in its typed field.
template <class T>
const T& first(const Tensor& t) {
  return t.data<T>()[0];
}

void add_element(const Tensor& t, proto::TensorProto* out) {
  switch (t.dtype()) {
    case DType::kFloat: return out->add_float_val(first<float>(t));
    case DType::kDouble: return out->add_double_val(first<double>(t));
    case DType::kInt32:
    case DType::kQint32: return out->add_int_val(first<int32_t>(t));
    case DType::kInt16:
    case DType::kQint16: return out->add_int_val(first<int16_t>(t));
    case DType::kInt8:
    case DType::kQint8: return out->add_int_val(first<int8_t>(t));
    case DType::kUint8:
    case DType::kQuint8: return out->add_int_val(first<uint8_t>(t));
    case DType::kUint16:
    case DType::kQuint16: return out->add_int_val(first<uint16_t>(t));
    case DType::kInt64: return out->add_int64_val(first<int64_t>(t));
    case DType::kUint32: return out->add_uint32_val(first<uint32_t>(t));
    case DType::kUint64: return out->add_uint64_val(first<uint64_t>(t));
    case DType::kBool: return out->add_bool_val(first<bool>(t));
    case DType::kHalf:
    case DType::kBfloat16: return out->add_half_val(first<uint16_t>(t));
    case DType::kComplex64:
      out->add_scomplex_val(first<Complex64>(t).real());
      return out->add_scomplex_val(first<Complex64>(t).imag());
    case DType::kComplex128:
      out->add_dcomplex_val(first<Complex128>(t).real());
      return out->add_dcomplex_val(first<Complex128>(t).imag());
    default: throw internal_error("not a plain dtype");
  }
}

void add_handles(const Tensor& t, proto::TensorProto* out) {
  for (const ResourceHandle& h : t.values<ResourceHandle>()) {
    auto* p = out->add_resource_handle_val();
    p->set_device(h.device);
    p->set_container(h.container);
    p->set_name(h.name);
    p->set_maybe_type_name(h.type_name);
  }
}

// ---- Reading.
// Converts `field` into `t`, the last value standing for all that follow.
template <class T, class Field>
void read_values(const proto::TensorProto& in, const Field& field, Tensor& t) {
  const int64_t n = t.num_elements();
  if (field.size() > n) unreadable(in, "more values than elements");
  T* out = t.data<T>();
  for (int i = 0; i < field.size(); ++i) out[i] = static_cast<T>(field[i]);
  std::fill(out + field.size(), out + n, field.empty() ? T() : out[field.size() - 1]);
}

// Elements made of two values each.
template <class T, class Field>
void read_pairs(const proto::TensorProto& in, const Field& field, Tensor& t) {
  const int64_t n = t.num_elements();
  if (field.size() % 2 != 0 || field.size() / 2 > n) unreadable(in, "odd number of values");
  const int given = field.size() / 2;
  T* out = t.data<T>();
  for (int i = 0; i < given; ++i) out[i] = T(field[2 * i], field[2 * i + 1]);
  std::fill(out + given, out + n, given == 0 ? T() : out[given - 1]);
}

void read_handles(const proto::TensorProto& in, Tensor& t) {
  if (in.resource_handle_val_size() > t.num_elements()) unreadable(in, "more values than elements");
  for (int i = 0; i < in.resource_handle_val_size(); ++i) {
    const auto& p = in.resource_handle_val(i);
    ResourceHandle& h = t.data<ResourceHandle>()[i];
    h.device = p.device();
    h.container = p.container();
    h.name = p.name();
    h.type_name = p.maybe_type_name();
  }
}

void read_fields(const proto::TensorProto& in, Tensor& t) {
  switch (t.dtype()) {
    case DType::kFloat: return read_values<float>(in, in.float_val(), t);
    case DType::kDouble: return read_values<double>(in, in.double_val(), t);
    case DType::kInt32:
    case DType::kQint32: return read_values<int32_t>(in, in.int_val(), t);
    case DType::kInt16:
    case DType::kQint16: return read_values<int16_t>(in, in.int_val(), t);
    case DType::kInt8:
    case DType::kQint8: return read_values<int8_t>(in, in.int_val(), t);
    case DType::kUint8:
    case DType::kQuint8: return read_values<uint8_t>(in, in.int_val(), t);
    case DType::kUint16:
    case DType::kQuint16: return read_values<uint16_t>(in, in.int_val(), t);
    case DType::kInt64: return read_values<int64_t>(in, in.int64_val(), t);
    case DType::kUint32: return read_values<uint32_t>(in, in.uint32_val(), t);
    case DType::kUint64: return read_values<uint64_t>(in, in.uint64_val(), t);
    case DType::kBool: return read_values<bool>(in, in.bool_val(), t);
    case DType::kHalf:
    case DType::kBfloat16: return read_values<uint16_t>(in, in.half_val(), t);
    case DType::kComplex64: return read_pairs<Complex64>(in, in.scomplex_val(), t);
    case DType::kComplex128: return read_pairs<Complex128>(in, in.dcomplex_val(), t);
    case DType::kString: return read_values<std::string>(in, in.string_val(), t);
    case DType::kResource: return read_handles(in, t);
    default: unreadable(in, "values of this dtype can't be read");
  }
}

// As servers send texts: the lengths of all, then all.
void read_texts(const proto::TensorProto& in, Tensor& t) {
  const std::string& all = in.tensor_content();
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t*>(all.data()),
                                                static_cast<int>(all.size()));
  if (all.size() < static_cast<size_t>(t.num_elements())) unreadable(in, "fewer texts than elements");
  std::vector<uint32_t> sizes(static_cast<size_t>(t.num_elements()));
  for (uint32_t& size : sizes)
    if (!stream.ReadVarint32(&size) || size > INT32_MAX) unreadable(in, "a text's length is missing");
  for (size_t i = 0; i < sizes.size(); ++i)
    if (!stream.ReadString(&t.data<std::string>()[i], static_cast<int>(sizes[i])))
      unreadable(in, "a text is shorter than it says");
}

void read_content(const proto::TensorProto& in, Tensor& t) {
  if (t.dtype() == DType::kString) return read_texts(in, t);
  if (!is_plain(t.dtype())) unreadable(in, "tensor_content of a dtype that is not plain");
  if (in.tensor_content().size() != t.bytes())
    unreadable(in, fmt::format("tensor_content has {} bytes, expected {}",
                               in.tensor_content().size(), t.bytes()));
  std::memcpy(t.raw(), in.tensor_content().data(), t.bytes());
  if (t.dtype() == DType::kBool) {  // a file may hold any byte, a bool must be 0 or 1
    auto* bytes = static_cast<unsigned char*>(t.raw());
    for (size_t i = 0; i < t.bytes(); ++i) bytes[i] = bytes[i] != 0;
  }
}

}  // namespace

DType from_proto(proto::DataType t, bool* is_ref) {
  const int number = static_cast<int>(t);
  if (is_ref != nullptr) *is_ref = number > kRefOffset;
  const int base = number > kRefOffset ? number - kRefOffset : number;
  return base >= 0 && base <= static_cast<int>(DType::kUint64) ? static_cast<DType>(base)
                                                               : DType::kInvalid;
}

void to_proto(const Shape& shape, proto::TensorShapeProto* out) {
  out->Clear();
  if (!shape.has_rank()) return out->set_unknown_rank(true);
  for (int64_t d : shape) out->add_dim()->set_size(d);
}

Shape from_proto(const proto::TensorShapeProto& in) {
  if (in.unknown_rank()) {
    if (in.dim_size() > 0)
      throw invalid_argument("An unknown shape must not have any dimensions set.");
    return Shape::unknown();
  }
  if (in.dim_size() > Shape::kMaxRank)
    throw invalid_argument(fmt::format("Shape has too many dimensions: {}", in.dim_size()));
  Shape out;
  for (const auto& dim : in.dim()) {
    if (dim.size() < -1)
      throw invalid_argument(
          fmt::format("Shape has dimensions with values below -1 (where -1 means unknown): {}",
                      dim.size()));
    out.push_back(dim.size());
  }
  return out;
}

void to_proto(const Tensor& t, proto::TensorProto* out) {
  out->Clear();
  if (!t.has_value()) return;
  if (t.device() != nullptr) throw internal_error("only host tensors are written");
  out->set_dtype(to_proto(t.dtype()));
  to_proto(t.shape(), out->mutable_tensor_shape());
  if (t.num_elements() == 0) return;
  if (t.dtype() == DType::kVariant) throw unimplemented("Variants can't be written");
  if (t.dtype() == DType::kResource) return add_handles(t, out);
  if (t.dtype() == DType::kString) {
    for (const std::string& s : t.values<std::string>()) out->add_string_val(s);
  } else if (t.num_elements() == 1 || all_alike(t)) {
    add_element(t, out);
  } else {
    out->set_tensor_content(t.raw(), t.bytes());
  }
}

void to_whole_proto(const Tensor& t, proto::TensorProto* out) {
  out->Clear();
  out->set_dtype(to_proto(t.dtype()));
  to_proto(t.shape(), out->mutable_tensor_shape());
  if (t.dtype() == DType::kString) {
    for (const std::string& s : t.values<std::string>()) out->add_string_val(s);
  } else if (!is_plain(t.dtype())) {
    throw invalid_argument(fmt::format("A tensor of dtype {} has no form as a message",
                                       dtype_proto_name(t.dtype())));
  } else {
    out->set_tensor_content(t.raw(), t.bytes());
  }
}

Tensor from_proto(const proto::TensorProto& in) {
  const DType dtype = from_proto(in.dtype());
  if (in.dtype() == proto::DT_INVALID) return {};
  if (dtype == DType::kInvalid) unreadable(in, "unknown dtype");
  const Shape shape = from_proto(in.tensor_shape());
  if (!shape.is_fully_known()) unreadable(in, "the shape is not fully known");
  const int64_t n = checked_elements(shape.dims());
  // One value may stand for many; it must not stand for more than anybody can want.
  constexpr int64_t kMaxBytes = int64_t{1} << 36;
  if (n > kMaxBytes / static_cast<int64_t>(dtype_size(dtype))) unreadable(in, "too many elements");
  check_parse_size(static_cast<uint64_t>(n) * dtype_size(dtype), "TensorProto");
  Tensor t(dtype, shape);
  if (n == 0) return t;
  if (!in.tensor_content().empty()) read_content(in, t);
  else read_fields(in, t);
  return t;
}

}  // namespace emplace
