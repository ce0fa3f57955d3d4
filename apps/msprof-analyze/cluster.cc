// SPDX-License-Identifier: Apache-2.0
// `msprof-analyze [cluster] -m RECIPE -d DIR`: analyses over all ranks of a job.
#include "command.h"
#include "mpa/base/error.h"

namespace mpa {

Command AddCluster(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "cluster",
      "Recipes over all ranks of a job (the default command; no recipe is available yet)");
  app->allow_extras();
  return {
      app, [&program, app] {
        const std::vector<std::string> rest = app->remaining();
        if (!rest.empty() && !rest.front().starts_with("-")) FailUnknown(program, *app, rest);
        Fail(ErrorKind::kUsage,
             "the cluster command has no recipes yet; available are 'msprof-analyze compare' and "
             "'msprof-analyze check'");
        return 0;
      }};
}

}  // namespace mpa
