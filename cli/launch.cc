// Processes of one machine as the tasks of a cluster, each told by TF_CONFIG which it is.
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <iostream>
#include <thread>

#include "cluster_text.h"
#include "common.h"

extern char** environ;

namespace emplace::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kGrace = std::chrono::seconds(5);  // between asking a process to end and ending it

struct LaunchArguments {
  int workers = 1, servers = 0, port = 0, restarts = 0;
  std::string jobs;
  std::vector<std::string> program;
};

std::vector<int> free_ports(int count) {
  std::vector<int> sockets, ports;
  for (int i = 0; i < count; ++i) {
    sockets.push_back(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof a;
    if (bind(sockets.back(), reinterpret_cast<sockaddr*>(&a), size) != 0 ||
        getsockname(sockets.back(), reinterpret_cast<sockaddr*>(&a), &size) != 0)
      throw Error(Code::kUnavailable, std::string("no free port: ") + std::strerror(errno));
    ports.push_back(ntohs(a.sin_port));
  }
  for (const int s : sockets) close(s);
  return ports;
}

// One task's process: its output, line by line behind its name.
class Child {
 public:
  Child(std::string job, int task, const Json& cluster) : job_(std::move(job)), task_(task) {
    config_ = "TF_CONFIG=" +
              Json{{"cluster", cluster}, {"task", {{"type", job_}, {"index", task_}}}}.dump();
  }
  std::string name() const { return fmt::format("{} {}", job_, task_); }
  pid_t pid() const { return pid_; }

  void start(const std::vector<std::string>& program) {
    int out[2], err[2];
    if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0)
      throw Error(Code::kUnavailable, std::string("pipe: ") + std::strerror(errno));
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    posix_spawn_file_actions_adddup2(&actions, err[1], 2);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t none;  // we wait for some; the process takes all
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    // A group of its own: Ctrl-C comes to us, and from us to all alike.
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
    std::vector<char*> argv, env;
    for (const std::string& word : program) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    for (char** e = environ; *e; ++e)
      if (!std::string_view(*e).starts_with("TF_CONFIG=")) env.push_back(*e);
    env.push_back(config_.data());
    env.push_back(nullptr);
    const int failed = posix_spawnp(&pid_, argv[0], &actions, &attributes, argv.data(), env.data());
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    close(out[1]);
    close(err[1]);
    if (failed) {
      pid_ = 0;
      close(out[0]);
      close(err[0]);
      throw not_found(fmt::format("{}: {}", program[0], std::strerror(failed)));
    }
    out_ = {out[0], {}};
    err_ = {err[0], {}};
  }
  void add_to(std::vector<pollfd>& polled) const {
    for (const Lines* l : {&out_, &err_})
      if (l->fd >= 0) polled.push_back({l->fd, POLLIN, 0});
  }
  void ready(int fd) {
    if (out_.fd == fd) read(out_, stdout);
    if (err_.fd == fd) read(err_, stderr);
  }
  // What is left of its output; a process that it has left behind may hold the pipe open.
  void finish() {
    for (auto [lines, to] : {std::pair{&out_, stdout}, {&err_, stderr}}) {
      if (lines->fd >= 0) fcntl(lines->fd, F_SETFL, O_NONBLOCK);
      while (lines->fd >= 0 && read(*lines, to)) {
      }
      if (lines->fd >= 0) close(lines->fd);
      if (!lines->begun.empty()) print(to, std::exchange(lines->begun, {}));
      lines->fd = -1;
    }
    pid_ = 0;
  }
  void signal(int number) const {
    if (pid_ > 0) kill(-pid_, number);
  }

 private:
  struct Lines {
    int fd = -1;
    std::string begun;
  };
  void print(std::FILE* to, const std::string& line) const {
    std::fprintf(to, "[%s] %s\n", name().c_str(), line.c_str());
    std::fflush(to);
  }
  // False when there is no more.
  bool read(Lines& lines, std::FILE* to) {
    char some[4096];
    const ssize_t n = ::read(lines.fd, some, sizeof some);
    if (n < 0) return errno == EINTR;
    if (n == 0) {
      close(lines.fd);
      lines.fd = -1;
      return false;
    }
    lines.begun.append(some, static_cast<size_t>(n));
    for (size_t end; (end = lines.begun.find('\n')) != std::string::npos; lines.begun.erase(0, end + 1))
      print(to, lines.begun.substr(0, end));
    return true;
  }

  const std::string job_;
  const int task_;
  std::string config_;
  pid_t pid_ = 0;
  Lines out_, err_;
};

// As a shell tells it.
int exit_status(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

class Launch {
 public:
  Launch(const LaunchArguments& a, const ClusterSpec& cluster) : program_(command(a.program)), restarts_(a.restarts) {
    Json json;
    for (const auto& [job, tasks] : cluster)
      for (const auto& [number, address] : tasks) json[job].push_back(address);
    for (const auto& [job, tasks] : cluster)
      for (const auto& [number, address] : tasks) children_.emplace_back(job, number, json);
  }

  // The status of the first that failed, or of the signal that ended all.
  int run() {
    sigset_t taken;
    sigemptyset(&taken);
    for (const int s : {SIGINT, SIGTERM, SIGCHLD}) sigaddset(&taken, s);
    sigprocmask(SIG_BLOCK, &taken, nullptr);
    try {
      for (Child& c : children_) c.start(program_);
      while (running() > 0) turn(taken);
    } catch (...) {
      for (Child& c : children_) c.signal(SIGKILL);
      throw;
    }
    return status_;
  }

 private:
  // A program in Python runs by the interpreter that there is.
  static std::vector<std::string> command(std::vector<std::string> program) {
    if (!program[0].ends_with(".py")) return program;
    const char* const python = std::getenv("EMPLACE_PYTHON");
    program.insert(program.begin(), {python ? python : "python3", "-u"});
    return program;
  }
  int running() const {
    return static_cast<int>(std::ranges::count_if(children_, [](const Child& c) { return c.pid() > 0; }));
  }

  void turn(const sigset_t& taken) {
    std::vector<pollfd> polled;
    for (const Child& c : children_) c.add_to(polled);
    if (poll(polled.data(), polled.size(), 50) > 0)
      for (const pollfd& p : polled)
        if (p.revents)
          for (Child& c : children_) c.ready(p.fd);
    const timespec now{};
    for (int s; (s = sigtimedwait(&taken, nullptr, &now)) > 0;)
      if (s != SIGCHLD) end_all(s, 128 + s);
    reap();
    if (ending_ && Clock::now() > *ending_ + kGrace)
      for (Child& c : children_) c.signal(SIGKILL);
  }
  void reap() {
    int status = 0;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
      for (Child& c : children_)
        if (c.pid() == pid) ended(c, exit_status(status));
  }
  void ended(Child& c, int status) {
    c.finish();
    if (status == 0 || ending_) return;
    std::cerr << fmt::format("emplace: {} ended with status {}", c.name(), status);
    if (restarts_ > 0) {
      std::cerr << fmt::format("; it is started again ({} more)\n", --restarts_);
      return c.start(program_);
    }
    std::cerr << "; the others are ended\n";
    end_all(SIGTERM, status);
  }
  // Twice Ctrl-C: at once.
  void end_all(int signal, int status) {
    if (!ending_) status_ = status;
    for (const Child& c : children_) c.signal(ending_ ? SIGKILL : signal);
    if (!ending_) ending_ = Clock::now();
  }

  const std::vector<std::string> program_;
  int restarts_;
  std::vector<Child> children_;
  int status_ = 0;
  std::optional<Clock::time_point> ending_;
};

void launch(const LaunchArguments& a, Context& context) {
  std::map<std::string, int> sizes;
  if (!a.jobs.empty()) sizes = job_sizes(a.jobs);
  else {
    sizes["worker"] = a.workers;
    if (a.servers > 0) sizes["ps"] = a.servers;
  }
  int count = 0;
  for (const auto& [job, size] : sizes) count += size;
  if (count < 1 || count > 1'000) throw Usage("from 1 to 1000 processes can be launched");
  std::vector<int> ports = a.port > 0 ? std::vector<int>() : free_ports(count);
  for (int i = 0; static_cast<int>(ports.size()) < count; ++i) ports.push_back(a.port + i);
  ClusterSpec cluster;
  auto next = ports.begin();
  for (const auto& [job, size] : sizes)
    for (int i = 0; i < size; ++i) cluster[job][i] = fmt::format("localhost:{}", *next++);
  context.status = Launch(a, cluster).run();
}

}  // namespace

void add_launch(CLI::App& app, Context& context) {
  CLI::App* sub = app.add_subcommand("launch", "Runs a program as all tasks of a cluster on this machine");
  auto a = std::make_shared<LaunchArguments>();
  sub->add_option("-n,--workers", a->workers, "How many tasks of job 'worker'")->capture_default_str();
  sub->add_option("--ps", a->servers, "How many tasks of job 'ps'");
  sub->add_option("--jobs", a->jobs, "Other jobs, instead of these")->type_name("JOB=N,…");
  sub->add_option("--port", a->port, "The first of their ports (otherwise free ones)");
  sub->add_option("--restarts", a->restarts, "How many times in all a process that fails is started again");
  sub->add_option("PROGRAM", a->program, "What to run; FILE.py runs in Python (EMPLACE_PYTHON, else python3)")
      ->required();
  sub->prefix_command();
  sub->footer("Each process finds in TF_CONFIG which task it is. Output has the task's name before each line.\n"
              "Exit status: the first failing process's; 128 + N when signal N has ended it.\n"
              "Example: emplace launch -n 2 --ps 1 train.py --steps 100");
  sub->callback([a, sub, &context] {
    for (const std::string& word : sub->remaining()) a->program.push_back(word);
    launch(*a, context);
  });
}

}  // namespace emplace::cli
