// The command line: `emplace SUBCOMMAND …`. Results go to stdout, everything else to stderr.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>

#include "common.h"
#include "stdout_buffer.h"

namespace cli = emplace::cli;

namespace {

int report(const cli::Context& context, const emplace::Error& e) {
  if (context.json) cli::print({{"error", cli::error_json(e)}});
  std::cerr << "emplace: " << cli::error_text(e) << std::endl;
  return cli::kFailed;
}

std::string names(const CLI::App& app) {
  std::string out;
  for (const CLI::App* sub : app.get_subcommands({}))
    out += (out.empty() ? "" : ", ") + sub->get_name();
  return out;
}

void check_name(const CLI::App& app, const std::string& first) {
  const auto named = app.get_subcommands([&](const CLI::App* s) { return s->get_name() == first; });
  if (!first.starts_with('-') && named.empty())
    throw cli::Usage("there is no subcommand '" + first + "'; there are: " + names(app));
}

int run(int argc, char** argv) {
  CLI::App app("Emplace puts every operation of a graph in its place, and runs it there.", "emplace");
  app.set_version_flag("--version", emplace::version());
  app.footer(
      "Results go to stdout, errors to stderr. Exit status: 0 success; 1 the graph, a file or the\n"
      "machine is at fault; 2 the command line is.\n"
      "`emplace SUBCOMMAND --help` says more about each.");
  cli::Context context;
  cli::add_devices(app, context);
  cli::add_run(app, context);
  cli::add_place(app, context);
  cli::add_plan(app, context);
  cli::add_show(app, context);
  cli::add_doctor(app, context);
  cli::add_serve(app, context);
  cli::add_launch(app, context);
  cli::add_cluster(app, context);
  try {
    if (argc > 1) check_name(app, argv[1]);
    app.parse(argc, argv);
    if (app.get_subcommands().empty()) throw cli::Usage("a subcommand is needed: " + names(app));
    return context.status;
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? cli::kOk : cli::kUsage;
  } catch (const cli::Usage& e) {
    if (context.json) cli::print({{"error", cli::error_json(emplace::invalid_argument(e.what()))}});
    std::cerr << "emplace: " << e.what() << "\nRun with --help for more information.\n";
    return cli::kUsage;
  } catch (const emplace::Error& e) {
    return report(context, e);
  } catch (const std::bad_alloc&) {
    return report(context, emplace::resource_exhausted("Out of memory"));
  } catch (const std::exception& e) {
    return report(context, emplace::internal_error(e.what()));
  }
}

}  // namespace

int main(int argc, char** argv) {
  auto& buffer = *new cli::StdoutBuffer;  // until the process has ended, whoever ends it
  std::cout.rdbuf(&buffer);
  const int status = run(argc, argv);
  std::cout.flush();
  errno = 0;
  std::fflush(stdout);  // where `launch` hands on what others print
  if (!buffer.error() && !std::ferror(stdout)) return status;
  const int error = buffer.error() ? buffer.error() : errno;
  std::cerr << "emplace: what was to be printed could not be written"
            << (error ? std::string(": ") + std::strerror(error) : "") << std::endl;
  return cli::kFailed;
}
