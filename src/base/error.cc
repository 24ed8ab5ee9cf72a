#include "emplace/error.h"

#include <array>

namespace emplace {

std::string_view code_name(Code code) {
  static constexpr std::array<std::string_view, 17> kNames = {
      "OK",           "Cancelled",        "Unknown",           "InvalidArgument",
      "DeadlineExceeded", "NotFound",     "AlreadyExists",     "PermissionDenied",
      "ResourceExhausted", "FailedPrecondition", "Aborted",    "OutOfRange",
      "Unimplemented", "Internal",        "Unavailable",       "DataLoss",
      "Unauthenticated"};
  const auto i = static_cast<size_t>(code);
  return i < kNames.size() ? kNames[i] : "Unknown";
}

Error::Error(Code code, std::string message) : code_(code), message_(std::move(message)) {
  compose();
}

Error& Error::at_node(std::string_view node, std::string_view op) {
  if (node_.empty()) {
    node_ = node;
    op_ = op;
  }
  return *this;
}

Error& Error::on_device(std::string_view device) {
  if (device_.empty()) device_ = device;
  return *this;
}

Error& Error::from_source(std::string_view source) {
  if (source_.empty()) source_ = source;
  return *this;
}

Error& Error::append(std::string_view text) {
  message_ += text;
  compose();
  return *this;
}

void Error::compose() { what_ = std::string(code_name(code_)) + ": " + message_; }

Error invalid_argument(std::string m) { return {Code::kInvalidArgument, std::move(m)}; }
Error not_found(std::string m) { return {Code::kNotFound, std::move(m)}; }
Error failed_precondition(std::string m) { return {Code::kFailedPrecondition, std::move(m)}; }
Error unimplemented(std::string m) { return {Code::kUnimplemented, std::move(m)}; }
Error internal_error(std::string m) { return {Code::kInternal, std::move(m)}; }
Error out_of_range(std::string m) { return {Code::kOutOfRange, std::move(m)}; }
Error resource_exhausted(std::string m) { return {Code::kResourceExhausted, std::move(m)}; }
Error cancelled(std::string m) { return {Code::kCancelled, std::move(m)}; }
Error already_exists(std::string m) { return {Code::kAlreadyExists, std::move(m)}; }

}  // namespace emplace
