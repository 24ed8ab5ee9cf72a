#include "cluster/wire.h"

#include <fmt/format.h>

#include <limits>

#include "graph/tensor_proto.h"

namespace emplace::cluster {
namespace {

constexpr uint64_t kMostHead = uint64_t{1} << 30;

// Pieces as protobuf reads them.
std::string joined(const Bytes& bytes) {
  BytesReader reader(bytes);
  return reader.text(bytes.size());
}

void parse_from(const char* data, size_t size, google::protobuf::MessageLite& message) {
  if (size > std::numeric_limits<int>::max() ||
      !message.ParseFromArray(data, static_cast<int>(size)))
    throw invalid_argument("A message can't be parsed.");
}

uint64_t text_bytes(const Tensor& t) {
  uint64_t bytes = 0;
  for (const std::string& s : t.values<std::string>()) bytes += 8 + s.size();
  return bytes;
}

std::string packed_texts(const Tensor& t) {
  std::string packed;
  packed.reserve(text_bytes(t));
  for (const std::string& s : t.values<std::string>()) {
    const uint64_t size = s.size();
    packed.append(reinterpret_cast<const char*>(&size), sizeof size);
    packed += s;
  }
  return packed;
}

Shape shape_of(const proto::WireTensor& in) {
  int64_t elements = 1;
  std::vector<int64_t> dims;
  for (const int64_t d : in.dim()) {
    if (d < 0 || (d > 0 && elements > (int64_t{1} << 40) / d))
      throw invalid_argument("A tensor that was sent has a shape that can't be.");
    elements *= d;
    dims.push_back(d);
  }
  return Shape(std::span<const int64_t>(dims));
}

// What came in memory of its own stays there.
Tensor read_plain(BytesReader& reader, DType dtype, const Shape& shape, uint64_t bytes) {
  if (const Bytes::Piece* const piece = reader.whole_piece(bytes))
    return Tensor::borrow(dtype, shape, const_cast<char*>(piece->data), [owner = piece->owner] {});
  Tensor t(dtype, shape);
  reader.read(t.raw(), t.bytes());
  return t;
}

}  // namespace

Bytes to_bytes(const google::protobuf::MessageLite& message) {
  return Bytes(message.SerializeAsString());
}

void parse(const Bytes& bytes, google::protobuf::MessageLite& message) {
  if (bytes.pieces().size() == 1)
    return parse_from(bytes.pieces()[0].data, bytes.size(), message);
  const std::string all = joined(bytes);
  parse_from(all.data(), all.size(), message);
}

void describe(const Tensor& t, proto::WireTensor* out) {
  if (!is_plain(t.dtype()) && t.dtype() != DType::kString)
    throw invalid_argument(fmt::format("A value of type {} can't be sent to another task.",
                                       dtype_name(t.dtype())));
  out->set_dtype(static_cast<int>(emplace::to_proto(t.dtype())));
  for (int i = 0; i < t.rank(); ++i) out->add_dim(t.dim(i));
  out->set_bytes(t.dtype() == DType::kString ? text_bytes(t) : t.bytes());
}

Bytes to_bytes(const google::protobuf::MessageLite& head, std::span<const Tensor> tensors) {
  const uint64_t size = head.ByteSizeLong();
  std::string first(reinterpret_cast<const char*>(&size), sizeof size);
  head.AppendToString(&first);
  Bytes bytes(std::move(first));
  for (const Tensor& t : tensors) {
    if (t.dtype() == DType::kString) {
      bytes.add(packed_texts(t));
    } else {
      auto owner = std::make_shared<const Tensor>(t);
      bytes.add({static_cast<const char*>(owner->raw()), owner->bytes(), owner});
    }
  }
  return bytes;
}

void parse_head(BytesReader& reader, google::protobuf::MessageLite& head) {
  uint64_t size = 0;
  reader.read(&size, sizeof size);
  if (size > kMostHead) throw invalid_argument("A message can't be parsed.");
  const std::string text = reader.text(size);
  parse_from(text.data(), text.size(), head);
}

Tensor read_tensor(BytesReader& reader, const proto::WireTensor& in) {
  const DType dtype = emplace::from_proto(static_cast<proto::DataType>(in.dtype()));
  const bool texts = dtype == DType::kString;
  if (!texts && !is_plain(dtype)) throw invalid_argument("A tensor of an unknown type was sent.");
  const Shape shape = shape_of(in);
  const auto elements = static_cast<uint64_t>(shape.num_elements());
  if (in.bytes() > reader.left() || (texts ? elements > in.bytes() / 8
                                           : elements * dtype_size(dtype) != in.bytes()))
    throw Error(Code::kDataLoss, "A tensor that was sent is not as long as it says.");
  if (!texts) {
    Tensor t = read_plain(reader, dtype, shape, in.bytes());
    if (dtype == DType::kBool)  // whatever comes, a bool must be 0 or 1
      for (uint64_t i = 0; i < elements; ++i) t.data<uint8_t>()[i] = t.data<uint8_t>()[i] != 0;
    return t;
  }
  Tensor t(dtype, shape);
  for (uint64_t i = 0; i < elements; ++i) {
    uint64_t size = 0;
    reader.read(&size, sizeof size);
    t.data<std::string>()[i] = reader.text(size);
  }
  return t;
}

void to_proto(const Error& e, proto::WireError* out) {
  out->set_code(static_cast<int>(e.code()));
  out->set_message(e.message());
  out->set_node(e.node());
  out->set_op(e.op());
  out->set_device(e.device());
  out->set_source(e.source());
}

Error from_proto(const proto::WireError& in) {
  const bool known = in.code() > 0 && in.code() <= static_cast<int>(Code::kUnauthenticated);
  Error e(known ? static_cast<Code>(in.code()) : Code::kUnknown, in.message());
  e.at_node(in.node(), in.op()).on_device(in.device()).from_source(in.source());
  return e;
}

void to_proto(const std::vector<WaitingCall>& calls, proto::WaitingResponse* out) {
  for (const WaitingCall& c : calls) {
    auto* const call = out->add_call();
    call->set_node(c.node);
    call->set_op(c.op);
    call->set_device(c.device);
    call->set_source(c.source);
    call->set_awaits(c.awaits);
    call->set_from(c.from);
    call->set_seconds(c.seconds);
  }
}

std::vector<WaitingCall> from_proto(const proto::WaitingResponse& in) {
  std::vector<WaitingCall> calls;
  for (const auto& c : in.call())
    calls.push_back({c.node(), c.op(), c.device(), c.source(), c.awaits(), c.from(), c.seconds()});
  return calls;
}

void to_proto(const DeviceAttributes& d, proto::DeviceAttributes* out) {
  out->set_name(d.name);
  out->set_device_type(d.type);
  out->set_memory_limit(d.memory_limit);
  out->set_incarnation(d.incarnation);
  out->set_physical_device_desc(d.description);
}

DeviceAttributes from_proto(const proto::DeviceAttributes& in) {
  return {in.name(), in.device_type(), in.physical_device_desc(), in.memory_limit(),
          in.incarnation()};
}

void to_proto(const TaskStatus& s, proto::TaskStatus* out) {
  out->set_task(s.task);
  out->set_problem(s.problem);
  out->set_incarnation(s.incarnation);
  out->set_sessions(s.sessions);
  out->set_steps(s.steps);
  out->set_steps_per_second(s.steps_per_second);
  out->set_memory_bytes(s.memory_bytes);
  out->set_uptime_seconds(s.uptime_seconds);
  out->set_last_error(s.last_error);
}

TaskStatus from_proto(const proto::TaskStatus& in) {
  return {in.task(), in.problem(), in.incarnation(), in.sessions(), in.steps(), in.steps_per_second(),
          in.memory_bytes(), in.uptime_seconds(), in.last_error()};
}

}  // namespace emplace::cluster
