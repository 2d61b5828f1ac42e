// Files for a machine without containers: the command line, vLLM's configuration file, a systemd unit.
// Sources: vllm/utils/argparse_utils.py load_config_file; systemd.service(5), systemd.exec(5), systemd.syntax(7).
#include <string>
#include <string_view>

#include "profiles/json.h"
#include "profiles/text.h"
#include "profiles/yaml_text.h"
#include "runtime/emit.h"

namespace kvfit::runtime {
namespace {

using profiles::format;
using profiles::Json;

// Quoted as systemd splits a command: double quotes with backslash escapes; % and $ doubled so that nothing is expanded.
std::string unit_quoted(const std::string& word) {
  const std::string text = replaced(replaced(word, "%", "%%"), "$", "$$");
  if (!text.empty() && text.find_first_of(" \t\"'\\;#") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

}  // namespace

std::string command_file(const ServingUnit& unit) { return "#!/bin/sh\n" + comments(unit) + serve_text(unit) + "\n"; }

std::string vllm_config_file(const ServingUnit& unit) {
  Json out = {{"model", unit.command.model}};
  const Json flags = flag_map(unit, false);
  for (const auto& [name, value] : flags.items()) out[name] = value;
  std::string text = comments(unit);
  text += "# start: vllm serve --config FILE.yaml, as two words: --config=FILE.yaml is not read\n";
  if (!unit.command.environment.empty()) text += "# environment, which this file cannot hold:\n";
  for (const std::string& variable : unit.command.environment) text += format("#   {}\n", variable);
  return text + profiles::yaml_text(out);
}

std::string systemd_file(const ServingUnit& unit) {
  std::string out = comments(unit);
  const std::string root = unit.program.substr(0, unit.program.find("/bin/"));
  out += format("# once: python3 -m venv {} && {}/bin/pip install vllm=={}\n", root, root, unit.engine_version);
  out += "# HF_TOKEN and other secrets belong into the EnvironmentFile, readable by root only.\n";
  out += format("[Unit]\nDescription=vLLM: {}\n", replaced(unit.command.model, "%", "%%"));
  out += "Wants=network-online.target\nAfter=network-online.target\n";
  out += "\n[Service]\nType=exec\n";
  out += format("EnvironmentFile=-/etc/default/{}\n", unit.name);
  for (const std::string& variable : unit.command.environment) out += format("Environment={}\n", unit_quoted(variable));
  if (unit.model_is_directory && !unit.command.model.starts_with('/')) {
    out += "# the directory that holds the model\nWorkingDirectory=/srv/models\n";
  }
  out += format("ExecStart={} serve {}", unit.program, unit_quoted(unit.command.model));
  for (const std::string& word : flag_words(unit)) out += format(" \\\n  {}", unit_quoted(word));
  // Started means: requests are served.
  out += format(
      "\nExecStartPost=/bin/sh -c \"until curl --fail --silent --output /dev/null "
      "http://127.0.0.1:{}{}; do sleep 5; done\"\n",
      unit.port, unit.health);
  out += format("TimeoutStartSec={}\nRestart=on-failure\nRestartSec=10\nLimitMEMLOCK=infinity\n", unit.start.wait_seconds);
  return out + "\n[Install]\nWantedBy=multi-user.target\n";
}

}  // namespace kvfit::runtime
