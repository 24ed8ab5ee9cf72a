#pragma once
#include "emplace/proto/tensor.pb.h"
#include "emplace/tensor.h"

namespace emplace {

// Host tensors to messages and back. Of several elements that are all alike one is written; other
// plain values are written as bytes. Reading takes every form TensorFlow writes: bytes, lists of
// values, lists whose last value stands for all that follow. Throws InvalidArgument for what
// contradicts itself or claims more elements than memory can hold.
void to_proto(const Tensor& tensor, proto::TensorProto* out);
// The bytes of all elements, even of one; texts one by one. InvalidArgument where there is no such form.
void to_whole_proto(const Tensor& tensor, proto::TensorProto* out);
Tensor from_proto(const proto::TensorProto& in);

void to_proto(const Shape& shape, proto::TensorShapeProto* out);
Shape from_proto(const proto::TensorShapeProto& in);

inline proto::DataType to_proto(DType t) {
  return static_cast<proto::DataType>(t);
}
// kInvalid for what this engine does not hold. `is_ref` is set for the ref types, if given.
DType from_proto(proto::DataType t, bool* is_ref = nullptr);

}  // namespace emplace
