// Which task of which cluster a process is, as those who start processes say it.
#include "cluster/environment.h"

#include <fmt/format.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <charconv>
#include <cstdlib>
#include <optional>

namespace emplace::cluster {
namespace {

constexpr int kMostTasks = 100'000;
constexpr const char* kJob = "worker";  // of those who are started alike

Error not_understood(const std::string& what, const std::string& why) {
  return invalid_argument(fmt::format("{}: {}", what, why));
}

int number(std::string_view text, const std::string& what) {
  int value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || value < 0)
    throw not_understood(what, fmt::format("'{}' is no number", text));
  return value;
}

std::string text_of(const Variables& v, const char* name) {
  const char* const value = v(name);
  return value ? value : "";
}

std::optional<int> number_of(const Variables& v, const char* name) {
  const std::string text = text_of(v, name);
  if (text.empty()) return {};
  return number(text, name);
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(at, begin), text.size());
    if (end > begin) parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// ---- TF_CONFIG.

using Json = google::protobuf::Value;

const Json* member(const google::protobuf::Struct& of, const char* name) {
  const auto it = of.fields().find(name);
  return it == of.fields().end() ? nullptr : &it->second;
}

std::map<int, std::string> addresses(const Json& tasks, const std::string& job) {
  std::map<int, std::string> found;
  if (tasks.has_list_value()) {
    for (const Json& address : tasks.list_value().values())
      found[static_cast<int>(found.size())] = address.string_value();
  } else if (tasks.has_struct_value()) {
    for (const auto& [index, address] : tasks.struct_value().fields())
      found[number(index, "TF_CONFIG")] = address.string_value();
  } else {
    throw not_understood("TF_CONFIG", fmt::format("the tasks of \"{}\" are no list", job));
  }
  return found;
}

std::optional<FoundTask> of_tf_config(const Variables& v) {
  const std::string text = text_of(v, "TF_CONFIG");
  if (text.empty()) return {};
  google::protobuf::Struct all;
  if (const auto read = google::protobuf::util::JsonStringToMessage(text, &all); !read.ok())
    throw not_understood("TF_CONFIG", read.ToString());
  const Json* const cluster = member(all, "cluster");
  const Json* const task = member(all, "task");
  if (!cluster || !task) return {};
  FoundTask found{"TF_CONFIG", {}, {}, 0};
  for (const auto& [job, tasks] : cluster->struct_value().fields()) found.cluster[job] = addresses(tasks, job);
  if (const Json* type = member(task->struct_value(), "type")) found.job = type->string_value();
  if (const Json* index = member(task->struct_value(), "index"))
    found.task = index->has_string_value() ? number(index->string_value(), "TF_CONFIG")
                                           : static_cast<int>(index->number_value());
  return found;
}

// ---- Processes started alike: each knows its number, how many there are, and its number on its machine.

struct Ranks {
  const char* by;
  int rank, size;
};

// Where processes that are started alike are: on this machine, or on those of EMPLACE_HOSTS, as many on each.
FoundTask spread(const Ranks& r, const std::vector<std::string>& hosts, int local_size, int port) {
  if (r.size < 1 || r.size > kMostTasks || r.rank >= r.size)
    throw not_understood(r.by, fmt::format("process {} of {}", r.rank, r.size));
  FoundTask found{r.by, {}, kJob, r.rank};
  for (int i = 0; i < r.size; ++i) {
    const auto host = static_cast<size_t>(i / local_size);
    if (host >= hosts.size())
      throw failed_precondition(
          fmt::format("{} does not say on which machines its processes are: set EMPLACE_HOSTS to their names, "
                      "one for every {} processes, in the order of their numbers (host1,host2,…).",
                      r.by, local_size));
    found.cluster[kJob][i] = fmt::format("{}:{}", hosts[host], port + i % local_size);
  }
  return found;
}

std::optional<FoundTask> of_ranks(const Variables& v, const char* by, const char* rank, const char* size,
                                  const char* local_size, int port) {
  const auto r = number_of(v, rank), n = number_of(v, size);
  if (!r || !n) return {};
  const int here = std::max(1, number_of(v, local_size).value_or(*n));
  std::vector<std::string> hosts = split(text_of(v, "EMPLACE_HOSTS"), ',');
  if (hosts.empty() && here >= *n) hosts = {"localhost"};
  return spread({by, *r, *n}, hosts, here, port);
}

std::vector<std::string> hosts_of(const std::string& list) {
  std::vector<std::string> hosts;
  for (size_t at = 0; at < list.size();) {
    const size_t open = list.find('[', at), comma = std::min(list.find(',', at), list.size());
    if (open >= comma) {
      if (comma > at) hosts.push_back(list.substr(at, comma - at));
      at = comma + 1;
      continue;
    }
    const size_t close = list.find(']', open);
    if (close == list.npos) throw not_understood("Slurm", fmt::format("'{}' has no end", list));
    const size_t end = std::min(list.find(',', close), list.size());
    const std::string before = list.substr(at, open - at), behind = list.substr(close + 1, end - close - 1);
    for (const std::string& range : split(list.substr(open + 1, close - open - 1), ',')) {
      const size_t dash = range.find('-');
      const std::string first = range.substr(0, dash), last = dash == range.npos ? first : range.substr(dash + 1);
      const int from = number(first, "Slurm"), to = number(last, "Slurm");
      if (to - from > kMostTasks) throw not_understood("Slurm", fmt::format("'{}' is too long", list));
      for (int i = from; i <= to; ++i) hosts.push_back(fmt::format("{}{:0{}}{}", before, i, first.size(), behind));
    }
    at = end + 1;
  }
  return hosts;
}

std::vector<int> counts_of(const std::string& text) {
  std::vector<int> counts;
  for (const std::string& part : split(text, ',')) {
    const size_t open = part.find("(x");
    const bool repeats = open != part.npos && part.ends_with(')');
    if (repeats != (part.find('(') != part.npos)) throw not_understood("Slurm", text);
    const int count = number(part.substr(0, open), "Slurm");
    const int times = repeats ? number(part.substr(open + 2, part.size() - open - 3), "Slurm") : 1;
    if (times > kMostTasks || count > kMostTasks) throw not_understood("Slurm", text);
    counts.insert(counts.end(), static_cast<size_t>(times), count);
  }
  return counts;
}

std::optional<FoundTask> of_slurm(const Variables& v, int port) {
  const auto rank = number_of(v, "SLURM_PROCID");
  const auto size = number_of(v, "SLURM_STEP_NUM_TASKS");
  if (!rank || !size) return {};
  const auto either = [&](const char* one, const char* other) {
    const std::string text = text_of(v, one);
    return text.empty() ? text_of(v, other) : text;
  };
  const auto hosts = hosts_of(either("SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST"));
  const auto counts = counts_of(either("SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE"));
  FoundTask found{"Slurm", {}, kJob, *rank};
  for (size_t h = 0; h < hosts.size() && h < counts.size(); ++h)
    for (int i = 0; i < counts[h]; ++i) {
      auto& tasks = found.cluster[kJob];
      tasks[static_cast<int>(tasks.size())] = fmt::format("{}:{}", hosts[h], port + i);
    }
  if (static_cast<int>(found.cluster[kJob].size()) != *size || *rank >= *size)
    throw not_understood("Slurm", fmt::format("{} processes on {} machines are not {}",
                                              found.cluster[kJob].size(), hosts.size(), *size));
  return found;
}

// "train-3" of "train": pods of an indexed job are called by job and number, and found by that name where
// the job has a service.
std::optional<FoundTask> of_kubernetes(const Variables& v, int port) {
  const auto rank = number_of(v, "JOB_COMPLETION_INDEX");
  if (!rank) return {};
  const auto size = number_of(v, "EMPLACE_TASKS");
  if (!size)
    throw failed_precondition("Kubernetes does not say how many pods an indexed job has: set EMPLACE_TASKS to the "
                              "job's completions, and EMPLACE_SERVICE to the service that gives its pods names.");
  const std::string host = text_of(v, "HOSTNAME"), ending = fmt::format("-{}", *rank);
  const std::string service = text_of(v, "EMPLACE_SERVICE");
  if (!host.ends_with(ending))
    throw not_understood("Kubernetes", fmt::format("the pod's name '{}' does not end in {}", host, ending));
  const std::string job = host.substr(0, host.size() - ending.size());
  std::vector<std::string> hosts;
  for (int i = 0; i < std::min(*size, kMostTasks); ++i)
    hosts.push_back(fmt::format("{}-{}{}{}", job, i, service.empty() ? "" : ".", service));
  return spread({"Kubernetes", *rank, *size}, hosts, 1, port);
}

}  // namespace

// What is said in so many words comes first; whoever starts processes inside another's job, before that.
std::optional<FoundTask> find_task(const Variables& v, int port) {
  if (auto found = of_tf_config(v)) return found;
  if (auto found = of_ranks(v, "Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
                            "OMPI_COMM_WORLD_LOCAL_SIZE", port))
    return found;
  if (v("TORCHELASTIC_RUN_ID") || v("MASTER_ADDR"))
    if (auto found = of_ranks(v, "torchrun", "RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", port)) return found;
  if (auto found = of_slurm(v, port)) return found;
  return of_kubernetes(v, port);
}

}  // namespace emplace::cluster

namespace emplace {

std::vector<std::string> slurm_host_names(const std::string& list) { return cluster::hosts_of(list); }
std::vector<int> slurm_task_counts(const std::string& text) { return cluster::counts_of(text); }

std::optional<FoundTask> find_task(int port) {
  const auto variable = [](const char* name) -> const char* { return std::getenv(name); };
  if (port <= 0) {
    const char* const text = variable("EMPLACE_PORT");
    port = text ? std::atoi(text) : 0;
  }
  return cluster::find_task(variable, port > 0 && port < 65'536 ? port : 2222);
}

std::string FoundTask::str() const {
  size_t tasks = 0;
  for (const auto& [name, addresses] : cluster) tasks += addresses.size();
  std::string where;
  if (const auto it = cluster.find(job); it != cluster.end())
    if (const auto own = it->second.find(task); own != it->second.end()) where = " at " + own->second;
  return fmt::format("{}: /job:{}/task:{} of {} tasks{}", by, job, task, tasks, where);
}

}  // namespace emplace
