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
template <class Message>
Message parsed(const Bytes& bytes) {
  Message m;
  parse(bytes, m);
  return m;
}

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
template <class Stats>
void to_proto(const std::vector<NodeStats>& nodes, Stats* out) {  // out: a repeated NodeStat
  for (const NodeStats& n : nodes) {
    auto* const stat = out->Add();
    stat->set_node(n.node);
    stat->set_op(n.op);
    stat->set_device(n.device);
    stat->set_start_ns(n.start_ns);
    stat->set_end_ns(n.end_ns);
    stat->set_bytes(n.bytes);
    stat->set_thread(n.thread);
  }
}
template <class Stats>
std::vector<NodeStats> node_stats(const Stats& in) {
  std::vector<NodeStats> nodes;
  for (const auto& s : in)
    nodes.push_back({s.node(), s.op(), s.device(), s.start_ns(), s.end_ns(), s.bytes(), s.thread()});
  return nodes;
}
void to_proto(const std::vector<WaitingCall>& calls, proto::WaitingResponse* out);
std::vector<WaitingCall> from_proto(const proto::WaitingResponse& in);
void to_proto(const DeviceAttributes& device, proto::DeviceAttributes* out);
DeviceAttributes from_proto(const proto::DeviceAttributes& in);
void to_proto(const TaskStatus& status, proto::TaskStatus* out);
TaskStatus from_proto(const proto::TaskStatus& in);

}  // namespace emplace::cluster
