#pragma once
#include <cstdint>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emplace/session.h"

namespace emplace {

// What a user demands of a placement, for tests of one's own model. All that is set must hold.
struct Contract {
  // Where the operations must be: a full or partial device name, "*" for any number or type
  // ("/gpu:*", "/job:worker/device:GPU:0"); empty: anywhere.
  std::string device = {};
  // Which operations, by name: `*` is anything within one scope level, `**` anything across levels,
  // `?` one character: "tower_*/**".
  std::string ops = "**";
  // In one step, of tensors that these operations make for or take from other devices.
  std::optional<int64_t> max_copies = {};
  std::optional<int64_t> max_copied_bytes = {};
  // What any device that runs one of them holds at once.
  std::optional<int64_t> max_peak = {};
  std::string source = {};  // the line that demands it
};

// A demand that is not met: the contract's number, and the node that shows it with the user's line.
struct Violation {
  size_t contract = 0;
  std::string node, op, device, reason, source;
};

// All of them, by contract, then in the order of the report. `peaks` (of Session::forecast) is for
// max_peak, which is not met by what nobody has foretold. Throws InvalidArgument where a contract
// names no device there can be.
EMPLACE_API std::vector<Violation> violations(const Graph& graph, const PlacementReport& report,
                                              std::span<const Contract> contracts,
                                              std::span<const DeviceForecast> peaks = {});

// One violation a line, with the contract it breaks.
EMPLACE_API std::string violations_text(std::span<const Violation> violations,
                                        std::span<const Contract> contracts);

// A contract a line: the device, then what else is demanded; `#` begins a comment:
//   /gpu:*  ops=tower_*/**  max_copies=2  max_copied_bytes=64MiB  max_peak=8GiB
// Throws InvalidArgument with `name` and line. Each contract's source is its line.
EMPLACE_API std::vector<Contract> read_contracts(std::string_view text, std::string_view name);

// "64MiB", "1.5 GB", "4096". Throws InvalidArgument.
EMPLACE_API int64_t byte_size(std::string_view text);

// Every signature that `session` plans from now on is refused with FailedPrecondition, all
// violations in the message, where the placement does not meet the contract.
EMPLACE_API void require(Session& session, Contract contract,
                         const std::source_location& where = std::source_location::current());

}  // namespace emplace
