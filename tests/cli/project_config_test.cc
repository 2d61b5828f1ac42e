#include "cli/project_config.h"

#include <doctest/doctest.h>

#include <string>

#include "tests/support/temp_directory.h"

using namespace kvfit;
using namespace kvfit::cli;

TEST_CASE("a star stops at a slash, two do not") {
  CHECK(matches("deploy/*.yaml", "deploy/a.yaml"));
  CHECK_FALSE(matches("deploy/*.yaml", "deploy/x/a.yaml"));
  CHECK(matches("deploy/**/*.yaml", "deploy/x/y/a.yaml"));
  CHECK(matches("deploy/**/*.yaml", "deploy/a.yaml"));
  CHECK(matches("**", "any/thing"));
  CHECK(matches("a?c", "abc"));
  CHECK_FALSE(matches("abc", "abcd"));
}

TEST_CASE("the nearest kvfit.yaml upward holds, and paths count from it") {
  const tests::TempDirectory folder;
  folder.write("kvfit.yaml", "gpu: l4\n");
  folder.write("a/b/x.yaml", "");
  const std::string found = find_project_config(folder / "a/b");
  CHECK(std::filesystem::equivalent(found, folder / "kvfit.yaml"));
  ProjectConfig config;
  config.file = found;
  CHECK(path_from(config, folder / "a/b/x.yaml") == "a/b/x.yaml");
}

TEST_CASE("all keys of kvfit.yaml are read") {
  const ProjectConfig config = read_project_config(profiles::parse_yaml(
      "gpu: l4\nsystem: wsl2\ngpus: 2\nengine_version: 0.24\nmargin: 5%\nfail_on: warning\nused_elsewhere: 1GiB\n"
      "deployments:\n  - {path: a/*, gpu: h100-sxm, model: b/c}\nallow:\n  - {id: kvf007, path: a/*, reason: why, until: "
      "2027-03-31}\n",
      "kvfit.yaml"));
  CHECK(config.settings.gpu == "l4");
  CHECK(config.settings.system == "wsl2");
  CHECK(config.settings.gpus == 2);
  CHECK(config.settings.engine_version == "0.24");
  CHECK(config.settings.used_elsewhere == profiles::gib(1));
  CHECK(config.margin == "5%");
  CHECK(config.fail_on == "warning");
  REQUIRE(config.deployments.size() == 1);
  CHECK(config.deployments[0].settings.model == "b/c");
  REQUIRE(config.allow.size() == 1);
  CHECK(config.allow[0].id == "KVF007");
  CHECK(config.allow[0].until == "2027-03-31");
}
