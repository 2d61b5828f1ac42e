// A file of scores, whatever it is: JSON of three kinds, AIMER's table or an imatrix in GGUF. What is accepted gives every
// block a finite score for every expert; what is refused is refused as bad input.
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include "carve/external_scores.h"
#include "carve/layout.h"
#include "carve/score.h"
#include "carve/source.h"
#include "profiles/error.h"
#include "tests/fuzz/document_fuzz.h"

namespace {

using namespace kvfit::carve;

Layout two_blocks() {
  Layout out;
  out.experts = 4;
  for (const int layer : {0, 1}) {
    out.blocks.push_back({.prefix = "model.layers." + std::to_string(layer) + ".mlp", .experts = 4, .layer = layer});
  }
  return out;
}

void check_scores(const std::string& path) {
  static const Layout layout = two_blocks();
  const ScoreReport report = external_scores(Source{}, layout, path, nullptr);
  kvfit::fuzz::require(report.blocks.size() == 2);
  for (const BlockScore& block : report.blocks) {
    kvfit::fuzz::require(block.values.size() == 4);
    for (const double value : block.values) kvfit::fuzz::require(std::isfinite(value));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const int file = ::memfd_create("scores", MFD_CLOEXEC);
  kvfit::fuzz::require(file >= 0 && ::write(file, data, size) == static_cast<ssize_t>(size));
  try {
    check_scores("/proc/self/fd/" + std::to_string(file));
  } catch (const kvfit::profiles::Error& error) {
    kvfit::fuzz::require(error.fault() == kvfit::profiles::Fault::input);
    kvfit::fuzz::require(error.text().starts_with("error: "));
  }
  ::close(file);
  return 0;
}
