// Walks the tensors of a layout as experts see them: which expert, which projection, what kind of number.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "carve/layout.h"
#include "carve/source.h"
#include "models/file_bytes.h"

namespace kvfit::carve {

/// What a tensor of an expert holds.
enum class Content : std::uint8_t { weight, scale, global_scale, inverse_global_scale, other };

struct ExpertTensor {
  TensorRef ref;
  std::int32_t block = 0;
  std::int32_t expert = -1;     ///< -1: a stack of all experts
  std::string_view projection;  ///< "up_proj", "gate_up_proj", "w1" ...
  Content content = Content::other;
};

/// Every tensor of the blocks' experts, shard by shard in the order of the data. Routers and vectors are left out.
void for_each_expert_tensor(const Source& source, const Layout& layout,
                            const std::function<void(const ExpertTensor&)>& visit);

/// The bytes of one tensor, a piece at a time: pieces are whole experts of a stack, or parts of one expert's tensor.
/// visit(expert, bytes); a piece holds at most 4 MiB unless one row is larger.
class PieceReader {
 public:
  PieceReader(const Source& source, const Layout& layout) : source_(source), layout_(layout) {}
  void read(const ExpertTensor& tensor, const std::function<void(std::int32_t, std::span<const char>)>& visit);
  std::int64_t bytes_read() const { return bytes_read_; }

 private:
  const models::FileBytes& shard_file(std::int32_t shard);  // opened once while reads stay in one shard

  const Source& source_;
  const Layout& layout_;
  std::optional<models::FileBytes> file_;
  std::int32_t open_shard_ = -1;
  std::vector<char> buffer_;
  std::int64_t bytes_read_ = 0;
};

}  // namespace kvfit::carve
