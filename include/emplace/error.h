#pragma once
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>

#include "emplace/export.h"

namespace emplace {

// TensorFlow's (and gRPC's) status codes.
enum class Code : uint8_t {
  kOk = 0,
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kAborted = 10,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kDataLoss = 15,
  kUnauthenticated = 16,
};

// "InvalidArgument", "NotFound", …
EMPLACE_API std::string_view code_name(Code code);

// The one exception type of Emplace. Thrown anywhere, carried across threads unchanged.
// `node`, `op`, `device` and `source` are empty until somebody who knows them fills them in;
// the first one to know wins.
class EMPLACE_API Error : public std::exception {
 public:
  Error(Code code, std::string message);

  Code code() const { return code_; }
  const std::string& message() const { return message_; }  // without code and location
  const std::string& node() const { return node_; }
  const std::string& op() const { return op_; }
  const std::string& device() const { return device_; }
  const std::string& source() const { return source_; }  // "file:line" of the user's line

  Error& at_node(std::string_view node, std::string_view op);
  Error& on_device(std::string_view device);
  Error& from_source(std::string_view source);
  Error& append(std::string_view text);  // to the message

  // "InvalidArgument: message"
  const char* what() const noexcept override { return what_.c_str(); }

 private:
  void compose();

  Code code_;
  std::string message_, node_, op_, device_, source_, what_;
};

// Shorthands: `throw invalid_argument(fmt::format(…))`.
EMPLACE_API Error invalid_argument(std::string message);
EMPLACE_API Error not_found(std::string message);
EMPLACE_API Error failed_precondition(std::string message);
EMPLACE_API Error unimplemented(std::string message);
EMPLACE_API Error internal_error(std::string message);
EMPLACE_API Error out_of_range(std::string message);
EMPLACE_API Error resource_exhausted(std::string message);
EMPLACE_API Error cancelled(std::string message);
EMPLACE_API Error already_exists(std::string message);

}  // namespace emplace
