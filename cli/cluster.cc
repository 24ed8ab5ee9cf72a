// `emplace cluster init|token|status`.
#include <fmt/format.h>

#include <iostream>

#include "cluster_text.h"
#include "common.h"

namespace emplace::cli {
namespace {

struct ClusterArguments {
  std::string folder, jobs, clients, client, target;
  int days = 365, token_days = 30;
};

void init(const ClusterArguments& a, Context& context) {
  const auto made =
      make_cluster_keys({a.folder, job_sizes(a.jobs), split_text(a.clients, ','), a.days});
  if (context.json) return print({{"made", made}});
  for (const std::string& folder : made) std::cout << folder << '\n';
  if (made.empty()) std::cout << "Everything that was asked for is there.\n";
  else
    std::cerr << "Bring each task's and client's folder to its machine, by a way that nobody else reads, and name it "
                 "there: EMPLACE_TLS=DIR, or `emplace serve --tls DIR`. Keep authority.key to yourself.\n";
}

void token(const ClusterArguments& a, Context& context) {
  const std::string text = make_client_token(a.folder, a.client, a.token_days);
  if (context.json) print({{"client", a.client}, {"token", text}});
  else std::cout << text << '\n';
}

std::string duration(double seconds) {
  if (seconds < 120) return fmt::format("{:.0f} s", seconds);
  if (seconds < 7'200) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3'600);
}

void status(const ClusterArguments& a, Context& context) {
  const std::vector<TaskStatus> all = cluster_status(target_text(a.target));
  Json json = Json::array();
  std::vector<std::vector<std::string>> rows{
      {"task", "incarnation", "up", "sessions", "steps", "steps/s", "memory", "last error"}};
  for (const TaskStatus& s : all) {
    if (!s.problem.empty()) context.status = kFailed;
    json.push_back({{"task", s.task}, {"problem", s.problem}, {"incarnation", fmt::format("{:016x}", s.incarnation)},
                    {"sessions", s.sessions}, {"steps", s.steps}, {"steps_per_second", s.steps_per_second},
                    {"memory_bytes", s.memory_bytes}, {"uptime_seconds", s.uptime_seconds},
                    {"last_error", s.last_error}});
    if (!s.problem.empty()) rows.push_back({s.task, "-", "-", "-", "-", "-", "-", s.problem});
    else
      rows.push_back({s.task, fmt::format("{:016x}", s.incarnation), duration(s.uptime_seconds),
                      std::to_string(s.sessions), std::to_string(s.steps),
                      fmt::format("{:.1f}", s.steps_per_second), size_text(static_cast<double>(s.memory_bytes)),
                      s.last_error.substr(0, s.last_error.find('\n'))});
  }
  if (context.json) print({{"tasks", json}});
  else print_table(rows);
}

}  // namespace

std::string target_text(const std::string& target) {
  return target.find("://") == target.npos ? "grpc://" + target : target;
}

void add_cluster(CLI::App& app, Context& context) {
  CLI::App* top = app.add_subcommand("cluster", "Certificates of a cluster, and how its tasks are");
  top->require_subcommand(1);
  auto a = std::make_shared<ClusterArguments>();

  CLI::App* made = subcommand(*top, context, "init",
                              "Makes an authority, and certificates for tasks and clients; what is there stays");
  made->add_option("DIR", a->folder, "Where")->required();
  made->add_option("--jobs", a->jobs, "Jobs and how many tasks each has")->type_name("JOB=N,…");
  made->add_option("--clients", a->clients, "Names of clients")->type_name("NAME,…");
  made->add_option("--days", a->days, "How long the certificates are good")->capture_default_str();
  made->footer("Example: emplace cluster init keys --jobs ps=1,worker=2 --clients alice");
  made->callback([a, &context] { init(*a, context); });

  CLI::App* given = subcommand(*top, context, "token",
                               "Makes a token, with which a client needs no certificate but the authority's: "
                               "EMPLACE_TOKEN, beside EMPLACE_TLS=DIR with authority.crt");
  given->add_option("DIR", a->folder, "The authority's folder")->required();
  given->add_option("NAME", a->client, "The client's name")->required();
  given->add_option("--days", a->token_days, "How long it is good")->capture_default_str();
  given->callback([a, &context] { token(*a, context); });

  CLI::App* asked = subcommand(*top, context, "status",
                               "Tasks, incarnations, sessions, memory, steps a second and last errors");
  asked->add_option("TARGET", a->target, "Any server of the cluster: host:port")->required();
  asked->footer("Exit status: 0 when every task has answered, 1 when one has not.");
  asked->callback([a, &context] { status(*a, context); });
}

}  // namespace emplace::cli
