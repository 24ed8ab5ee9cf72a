#include "cluster_text.h"

#include "common.h"

namespace emplace::cli {
namespace {

std::pair<std::string, std::string> named(const std::string& text) {
  const size_t at = text.find('=');
  if (at == text.npos || at == 0 || at + 1 == text.size())
    throw Usage("'" + text + "' is not of the form JOB=…");
  return {text.substr(0, at), text.substr(at + 1)};
}

ClusterSpec cluster_of(const Json& all, const std::string& file) {
  const Json& jobs = all.contains("cluster") ? all["cluster"] : all;
  ClusterSpec cluster;
  if (!jobs.is_object()) throw Usage(file + " holds no jobs");
  for (const auto& [job, tasks] : jobs.items()) {
    if (!tasks.is_array() && !tasks.is_object()) throw Usage(file + ": the tasks of '" + job + "' are no list");
    int next = 0;
    for (const auto& [number, address] : tasks.items()) {
      if (!address.is_string()) throw Usage(file + ": an address of '" + job + "' is no text");
      cluster[job][tasks.is_object() ? std::atoi(number.c_str()) : next++] = address.get<std::string>();
    }
  }
  return cluster;
}

}  // namespace

std::vector<std::string> split_text(const std::string& text, char at) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(at, begin), text.size());
    if (end > begin) parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

ClusterSpec cluster_from(const std::vector<std::string>& jobs, const std::string& file) {
  if (!jobs.empty() && !file.empty()) throw Usage("--cluster or --cluster-file, not both");
  if (!file.empty()) {
    const Json all = Json::parse(read_text(file), nullptr, false);
    if (all.is_discarded()) throw Usage(file + " is no JSON");
    return cluster_of(all, file);
  }
  ClusterSpec cluster;
  for (const std::string& text : jobs) {
    const auto [job, addresses] = named(text);
    auto& tasks = cluster[job];
    for (const std::string& address : split_text(addresses, ',')) tasks[static_cast<int>(tasks.size())] = address;
  }
  return cluster;
}

std::map<std::string, int> job_sizes(const std::string& text) {
  std::map<std::string, int> sizes;
  for (const std::string& part : split_text(text, ',')) {
    const auto [job, count] = named(part);
    const int n = std::atoi(count.c_str());
    if (n < 1 || n > 100'000) throw Usage("'" + part + "': how many tasks?");
    sizes[job] = n;
  }
  return sizes;
}

}  // namespace emplace::cli
