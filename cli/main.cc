// The command line: `emplace SUBCOMMAND …`. Results go to stdout, everything else to stderr.
#include <cstdio>
#include <iostream>

#include "common.h"

namespace cli = emplace::cli;

namespace {

int report(const cli::Context& context, const emplace::Error& e) {
  if (context.json) cli::print({{"error", cli::error_json(e)}});
  std::cerr << "emplace: " << cli::error_text(e) << std::endl;
  return cli::kFailed;
}

int run(int argc, char** argv) {
  CLI::App app("Emplace puts every operation of a graph in its place, and runs it there.", "emplace");
  app.set_version_flag("--version", emplace::version());
  app.footer(
      "Results go to stdout, errors to stderr. Exit status: 0 success; 1 the graph, a file or the\n"
      "machine is at fault; 2 the command line is.\n"
      "`emplace SUBCOMMAND --help` says more about each.");
  app.require_subcommand(1);
  cli::Context context;
  cli::add_devices(app, context);
  cli::add_run(app, context);
  cli::add_place(app, context);
  cli::add_show(app, context);
  cli::add_doctor(app, context);
  try {
    app.parse(argc, argv);
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

int main(int argc, char** argv) { return run(argc, argv); }
