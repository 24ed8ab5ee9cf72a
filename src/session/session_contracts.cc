// What users demand of a session's placement, asked whenever a signature is planned.
#include <algorithm>

#include "graph/source_line.h"
#include "placement/contract/check_contract.h"
#include "session/session_impl.h"

namespace emplace {

void Session::Impl::check_contracts(const Signature& signature) {
  const std::vector<Node*> nodes = graph.nodes();
  std::vector<DeviceForecast> peaks;
  if (std::ranges::any_of(contracts, [](const Contract& c) { return c.max_peak.has_value(); }))
    peaks = forecast(signature).devices;
  const auto broken = violations(graph, report_on(nodes), contracts, peaks);
  if (broken.empty()) return;
  std::string text = violations_text(broken, contracts);
  text.pop_back();
  throw failed_precondition("The placement is not what is demanded of it:\n" + text);
}

void require(Session& session, Contract contract, const std::source_location& where) {
  if (contract.source.empty()) contract.source = source_line(where);
  check_contract(contract);
  Session::Impl& impl = session.impl();
  const std::lock_guard lock(impl.place_mutex);
  impl.contracts.push_back(std::move(contract));
}

}  // namespace emplace
