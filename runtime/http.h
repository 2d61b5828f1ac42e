// One request to a server on this machine: just enough HTTP to ask an engine whether it is well and to send it a prompt. The
// one place that knows Boost.Beast.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace kvfit::runtime {

struct HttpAnswer {
  int status = 0;
  std::string body;  ///< at most 64 MiB
};

/// nullopt when nobody listens, the answer is cut short or `seconds` pass.
std::optional<HttpAnswer> http_get(std::uint16_t port, const std::string& path, double seconds);
std::optional<HttpAnswer> http_post_json(std::uint16_t port, const std::string& path, const std::string& json,
                                         double seconds);

}  // namespace kvfit::runtime
