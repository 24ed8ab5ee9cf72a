// One task of a cluster, until a signal ends it.
#include <fmt/format.h>

#include <csignal>
#include <iostream>

#include "cluster_text.h"
#include "common.h"

namespace emplace::cli {
namespace {

struct ServeArguments {
  std::vector<std::string> cluster;
  std::string file, job, config;
  int task = -1, virtual_gpus = -1;
  ServerOptions server;
};

// What the command line says; for the rest, what is found in the environment.
void find_place(const ServeArguments& a, ServerOptions& o) {
  o.cluster = cluster_from(a.cluster, a.file);
  o.job = a.job;
  o.task = std::max(a.task, 0);
  if (!o.cluster.empty() && (!a.job.empty() || a.task >= 0)) return;
  const auto found = find_task();
  if (!found && o.cluster.empty())
    throw Usage("which cluster? --cluster JOB=HOST:PORT,…, --cluster-file FILE, or TF_CONFIG (Slurm, Open MPI, "
                "torchrun and Kubernetes are found by themselves)");
  if (!found) return;
  std::cerr << "Found " << found->str() << std::endl;
  if (o.cluster.empty()) o.cluster = found->cluster;
  if (a.job.empty()) o.job = found->job;
  if (a.task < 0) o.task = found->task;
}

void serve(const ServeArguments& a, Context& context) {
  ServerOptions o = a.server;
  o.session = options_from(a.config);
  if (a.virtual_gpus >= 0) o.session.virtual_gpus = a.virtual_gpus;
  find_place(a, o);
  // Signals are waited for here: no thread that is made from now on takes them.
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  Server server(o);
  if (context.json) print({{"target", server.target()}, {"job", o.job}, {"task", o.task}});
  else std::cout << fmt::format("/job:{}/task:{} serves at {}\n", o.job, o.task, server.target());
  std::cout.flush();
  timespec often{0, 500'000'000};
  while (!server.join_for(0) && sigtimedwait(&ends, nullptr, &often) < 0) {
  }
  server.stop();
}

}  // namespace

void add_serve(CLI::App& app, Context& context) {
  CLI::App* sub = subcommand(app, context, "serve", "Runs a task of a cluster, until Ctrl-C or SIGTERM");
  auto a = std::make_shared<ServeArguments>();
  ServerOptions& s = a->server;
  sub->add_option("--cluster", a->cluster, "A job and the addresses of its tasks; once for each job")
      ->type_name("JOB=HOST:PORT,…");
  sub->add_option("--cluster-file", a->file, "The same as JSON: {\"ps\": [\"host:port\"], …}, or a TF_CONFIG")
      ->type_name("FILE");
  sub->add_option("--job", a->job, "This task's job (may be left out where there is one)");
  sub->add_option("--task", a->task, "This task's number in its job");
  sub->add_option("--port", s.port, "Listen there, not where the cluster says");
  sub->add_option("--tls", s.tls, "Certificates, as `emplace cluster init` makes them (EMPLACE_TLS)")
      ->type_name("DIR");
  sub->add_option("--files", s.files,
                  "Clients from elsewhere may read and write files below this folder; may be repeated")
      ->type_name("DIR");
  sub->add_option("--allow", s.allow,
                  "… and use this operation, which runs code of the server's process (PyFunc); may be repeated")
      ->type_name("OP");
  sub->add_option("--max-message", s.max_message_bytes, "The longest message that is taken, in bytes");
  sub->add_option("--max-calls-per-second", s.max_calls_per_second, "Of each peer's from elsewhere");
  sub->add_option("--longest-call-ms", s.longest_call_ms, "… after which a call is ended");
  sub->add_flag("--insecure-for-everyone", s.insecure_for_everyone,
                "Without certificates, serve whoever reaches the address, unencrypted: any of them may run "
                "programs here");
  sub->add_option("--config", a->config, "ConfigProto of the devices, in text form")->type_name("FILE.pbtxt");
  sub->add_option("--virtual-gpus", a->virtual_gpus, "GPUs in host memory")->type_name("N");
  sub->footer("Example: emplace serve --cluster worker=localhost:2222,localhost:2223 --task 0");
  sub->callback([a, &context] { serve(*a, context); });
}

}  // namespace emplace::cli
