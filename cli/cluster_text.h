#pragma once
#include <emplace/cluster.h>

#include <string>
#include <vector>

namespace emplace::cli {

// A cluster as the command line has it: "ps=host:port,host:port" for each job, or a JSON file
// ({"ps": ["host:port"], …}, also as the "cluster" of a TF_CONFIG). Throws Usage.
ClusterSpec cluster_from(const std::vector<std::string>& jobs, const std::string& file);
// "ps=1,worker=2". Throws Usage.
std::map<std::string, int> job_sizes(const std::string& text);
std::vector<std::string> split_text(const std::string& text, char at);

}  // namespace emplace::cli
