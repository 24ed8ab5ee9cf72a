#pragma once
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/message.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/text_format.h>

#include <cstdint>
#include <string_view>

#include "base/parse_limits.h"

namespace emplace {

// Reads a message within parse_limits(); false where the bytes are none. What the library would say on stderr is
// left to the caller's error.
inline bool parse_message(google::protobuf::Message& m, std::string_view bytes) {
  const google::protobuf::LogSilencer quiet;
  check_parse_size(bytes.size(), m.GetDescriptor()->name());
  if (bytes.size() > INT32_MAX) return false;
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const uint8_t*>(bytes.data()),
                                            static_cast<int>(bytes.size()));
  in.SetRecursionLimit(parse_limits().depth);
  return m.ParseFromCodedStream(&in) && in.ConsumedEntireMessage();
}

// The same of its text; `parser` keeps what is wrong with it.
inline bool parse_message_text(google::protobuf::Message& m, std::string_view text,
                               google::protobuf::TextFormat::Parser& parser) {
  check_parse_size(text.size(), m.GetDescriptor()->name());
  parser.SetRecursionLimit(parse_limits().depth);
  return parser.ParseFromString(std::string(text), &m);
}

}  // namespace emplace
