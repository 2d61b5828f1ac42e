#include "carve/digest.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/file_bytes.h"
#include "profiles/error.h"
#include "profiles/text.h"

namespace kvfit::carve {
namespace {

void check(int worked) {
  if (worked != 1) throw profiles::Error(profiles::Fault::environment, "libcrypto cannot compute SHA-256");
}

}  // namespace

struct Sha256::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
};

void Sha256::Free::operator()(State* state) const {
  EVP_MD_CTX_free(state->context);
  delete state;
}

Sha256::Sha256() : state_(new State) { check(EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr)); }

void Sha256::add(std::string_view bytes) { check(EVP_DigestUpdate(state_->context, bytes.data(), bytes.size())); }

std::string Sha256::hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  check(EVP_DigestFinal_ex(state_->context, digest.data(), &size));
  std::string out;
  for (unsigned int i = 0; i < size; ++i) out += profiles::format("{:02x}", digest[i]);
  return out;
}

std::string sha256_hex(std::string_view bytes) {
  Sha256 sum;
  sum.add(bytes);
  return sum.hex();
}

std::string sha256_of_file(const std::string& path) {
  constexpr std::int64_t kPiece = 1 << 20;
  const models::FileBytes file(path);
  std::vector<char> buffer(static_cast<std::size_t>(kPiece));
  Sha256 sum;
  for (std::int64_t at = 0; at < file.size(); at += kPiece) {
    const std::span<char> piece = std::span(buffer).first(static_cast<std::size_t>(std::min(kPiece, file.size() - at)));
    file.read(piece, at);
    sum.add(std::string_view(piece.data(), piece.size()));
  }
  return sum.hex();
}

}  // namespace kvfit::carve
