#pragma once
#include <emplace/emplace.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

// What the subcommands share. Each add_* function adds one subcommand to the command line; its
// callback does the work, throws emplace::Error or Usage, and leaves the exit status in `status`.
namespace emplace::cli {

using Json = nlohmann::ordered_json;

// Exit statuses.
constexpr int kOk = 0;
constexpr int kFailed = 1;  // the graph, a file or the machine is at fault
constexpr int kUsage = 2;   // the command line is

// The command line contradicts itself.
struct Usage : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Context {
  bool json = false;
  int status = kOk;
};

void add_devices(CLI::App& app, Context& context);
void add_run(CLI::App& app, Context& context);
void add_place(CLI::App& app, Context& context);
void add_plan(CLI::App& app, Context& context);
void add_show(CLI::App& app, Context& context);
void add_doctor(CLI::App& app, Context& context);
void add_serve(CLI::App& app, Context& context);
void add_launch(CLI::App& app, Context& context);
void add_cluster(CLI::App& app, Context& context);

// A subcommand with --json.
CLI::App* subcommand(CLI::App& app, Context& context, const std::string& name,
                     const std::string& what);
// --config FILE, if given.
SessionOptions options_from(const std::string& config_file);
std::string read_text(const std::string& path);
void write_text(const std::string& path, const std::string& text);
void print(const Json& json);
// Columns of equal width; the last is left ragged.
void print_table(const std::vector<std::vector<std::string>>& rows);
std::string size_text(double bytes);       // "1.5 GiB"
std::string time_text(double nanoseconds);  // "12.3 µs"
std::string target_text(const std::string& target);  // "host:port" -> "grpc://host:port"
Json error_json(const Error& e);
std::string error_text(const Error& e);

}  // namespace emplace::cli
