// The checkpoint a carve reads: every shard's header, who the files were when they were opened, and the texts beside them.
// Nothing is ever written here.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models/checkpoint.h"
#include "models/safetensors_header.h"

namespace kvfit::carve {

/// Which file a path was, and whether it has been written since.
struct FileIdentity {
  std::uint64_t device = 0, inode = 0;
  std::int64_t bytes = 0, modified_ns = 0;
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};
/// Follows links. Error when the file is gone.
FileIdentity identify(const std::string& path);

struct Shard {
  std::string path;  ///< full
  std::string name;  ///< file name
  FileIdentity identity;
  models::SafetensorsHeader header;
  std::vector<std::uint32_t> order;  ///< tensors by the place of their data
  std::string metadata;              ///< the value of "__metadata__", byte for byte; "" when there is none
  std::string header_sha256;         ///< of the N bytes
};

struct SourceOptions {
  bool ignore_dangling = false;  ///< the index may name tensors that no file holds
  bool include_orphans = false;  ///< files the index does not name take part
};

struct Source {
  models::Checkpoint files;
  std::vector<Shard> shards;        ///< sorted by name
  std::string config_path, config;  ///< config.json
  FileIdentity config_identity;
  bool counts_parameters = false;     ///< its index states total_parameters, and that is the number of all elements
  bool indexed = false;               ///< it has a model.safetensors.index.json
  std::vector<std::string> findings;  ///< what the index claims and headers deny; one sentence each

  std::int64_t tensor_count() const;
  std::int64_t tensor_bytes() const;
  std::int64_t elements() const;  ///< of all tensors
};

/// 1 for a scalar.
std::int64_t elements_of(std::span<const std::int64_t> shape);

/// Reads headers only. Error when a header is malformed, a tensor is in two files, there is no config.json, the index names
/// tensors no file holds, or an orphan holds experts or a router.
Source open_source(const std::string& path, const SourceOptions& options);

/// Error (Fault::environment) when a file is no longer the one that was opened.
void check_unchanged(const Source& source);

}  // namespace kvfit::carve
