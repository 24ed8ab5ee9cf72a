#pragma once
#include <google/protobuf/message_lite.h>

#include <span>

#include "cluster/bytes.h"
#include "cluster/peer.h"
#include "emplace/proto/device.pb.h"
#include "emplace/proto/task.pb.h"
#include "emplace/tensor.h"

namespace emplace::cluster {

// ---- Messages alone.
Bytes to_bytes(const google::protobuf::MessageLite& message);
// Throws InvalidArgument.
void parse(const Bytes& bytes, google::protobuf::MessageLite& message);

// ---- Messages with tensors behind them: the message's length (8 bytes), the message, the elements.
void describe(const Tensor& tensor, proto::WireTensor* out);
Bytes to_bytes(const google::protobuf::MessageLite& head, std::span<const Tensor> tensors);
// Reads the head; the reader then stands before the elements.
void parse_head(BytesReader& reader, google::protobuf::MessageLite& head);
// Throws InvalidArgument or DataLoss for what contradicts itself or is longer than the message.
Tensor read_tensor(BytesReader& reader, const proto::WireTensor& in);

// ---- Errors and devices.
void to_proto(const Error& error, proto::WireError* out);
Error from_proto(const proto::WireError& in);
void to_proto(const std::vector<WaitingCall>& calls, proto::WaitingResponse* out);
std::vector<WaitingCall> from_proto(const proto::WaitingResponse& in);
void to_proto(const DeviceAttributes& device, proto::DeviceAttributes* out);
DeviceAttributes from_proto(const proto::DeviceAttributes& in);
void to_proto(const TaskStatus& status, proto::TaskStatus* out);
TaskStatus from_proto(const proto::TaskStatus& in);

}  // namespace emplace::cluster
