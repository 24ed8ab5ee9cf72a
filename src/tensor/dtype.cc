#include "emplace/dtype.h"

#include <array>

#include "emplace/tensor.h"

namespace emplace {
namespace {

enum class Kind : uint8_t { kOther, kSigned, kUnsigned };

struct Row {
  uint8_t size;
  Kind kind;
  std::string_view name, enum_name, proto_name;
};

// Indexed by the number of the dtype.
constexpr std::array<Row, 24> kRows = {{
    {0, Kind::kOther, "invalid", "DT_INVALID", "invalid"},
    {4, Kind::kOther, "float32", "DT_FLOAT", "float"},
    {8, Kind::kOther, "float64", "DT_DOUBLE", "double"},
    {4, Kind::kSigned, "int32", "DT_INT32", "int32"},
    {1, Kind::kUnsigned, "uint8", "DT_UINT8", "uint8"},
    {2, Kind::kSigned, "int16", "DT_INT16", "int16"},
    {1, Kind::kSigned, "int8", "DT_INT8", "int8"},
    {sizeof(std::string), Kind::kOther, "string", "DT_STRING", "string"},
    {8, Kind::kOther, "complex64", "DT_COMPLEX64", "complex64"},
    {8, Kind::kSigned, "int64", "DT_INT64", "int64"},
    {1, Kind::kOther, "bool", "DT_BOOL", "bool"},
    {1, Kind::kOther, "qint8", "DT_QINT8", "qint8"},
    {1, Kind::kOther, "quint8", "DT_QUINT8", "quint8"},
    {4, Kind::kOther, "qint32", "DT_QINT32", "qint32"},
    {2, Kind::kOther, "bfloat16", "DT_BFLOAT16", "bfloat16"},
    {2, Kind::kOther, "qint16", "DT_QINT16", "qint16"},
    {2, Kind::kOther, "quint16", "DT_QUINT16", "quint16"},
    {2, Kind::kUnsigned, "uint16", "DT_UINT16", "uint16"},
    {16, Kind::kOther, "complex128", "DT_COMPLEX128", "complex128"},
    {2, Kind::kOther, "float16", "DT_HALF", "half"},
    {sizeof(ResourceHandle), Kind::kOther, "resource", "DT_RESOURCE", "resource"},
    {sizeof(Variant), Kind::kOther, "variant", "DT_VARIANT", "variant"},
    {4, Kind::kUnsigned, "uint32", "DT_UINT32", "uint32"},
    {8, Kind::kUnsigned, "uint64", "DT_UINT64", "uint64"},
}};

// A number read from a file may be any; what is not a dtype reads as kInvalid.
const Row& row(DType t) {
  const auto i = static_cast<size_t>(t);
  return kRows[i < kRows.size() ? i : 0];
}

}  // namespace

size_t dtype_size(DType t) { return row(t).size; }
std::string_view dtype_name(DType t) { return row(t).name; }
std::string_view dtype_enum_name(DType t) { return row(t).enum_name; }
std::string_view dtype_proto_name(DType t) { return row(t).proto_name; }
bool is_integer(DType t) { return row(t).kind != Kind::kOther; }
bool is_unsigned(DType t) { return row(t).kind == Kind::kUnsigned; }

DType dtype_from_name(std::string_view name) {
  for (size_t i = 1; i < kRows.size(); ++i) {
    const Row& r = kRows[i];
    if (name == r.name || name == r.proto_name || name == r.enum_name) return static_cast<DType>(i);
  }
  return DType::kInvalid;
}

}  // namespace emplace
