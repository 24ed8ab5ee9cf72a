#pragma once
#include <emplace/contract.h>
#include <emplace/what_if.h>

#include "common.h"

namespace emplace::cli {

// Rows with reasons, and what is rejected.
Json rows_json(const PlacementReport& report);
Json outlook_json(const Outlook& outlook);
Json violation_json(const Violation& v, const std::vector<Contract>& contracts);

// The outlook of a placer by its name on the command line. Throws Usage.
const Outlook& outlook_of(const std::vector<Outlook>& all, const std::string& placer);

std::vector<DeviceForecast> peaks_of(const Outlook& outlook);

}  // namespace emplace::cli
