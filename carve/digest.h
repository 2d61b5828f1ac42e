// SHA-256: the one place that knows libcrypto.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace kvfit::carve {

class Sha256 {
 public:
  Sha256();
  void add(std::string_view bytes);
  std::string hex();  ///< 64 digits; nothing may be added afterwards

 private:
  struct State;
  struct Free {
    void operator()(State* state) const;
  };
  std::unique_ptr<State, Free> state_;
};

std::string sha256_hex(std::string_view bytes);
/// Reads the whole file. Throws as models::FileBytes does.
std::string sha256_of_file(const std::string& path);

}  // namespace kvfit::carve
