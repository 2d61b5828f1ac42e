// DST.kvfit-tmp/: where a carve grows beside its destination until it is whole. It belongs to one process at a time, can be
// left and taken up again, and gives DST by one rename that never replaces anything.
//
//   .lock        held while somebody works here
//   state.json   what was chosen; without it nothing here is worth going on with
//   parts/       receipts of a job's parts, hashes of each output's tensors
//   files/       the checkpoint as it grows; becomes DST
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "carve/file_writer.h"

namespace kvfit::carve {

class WorkingDirectory {
 public:
  /// Error when DST exists, its parent does not, DST lies inside `source` or the other way round, the directory is a link,
  /// or another process works in it. `shared`: parts of a job work side by side. `restart` wipes what is there.
  WorkingDirectory(const std::string& destination, const std::string& source, bool restart, bool shared);
  WorkingDirectory(const WorkingDirectory&) = delete;
  WorkingDirectory& operator=(const WorkingDirectory&) = delete;
  /// A directory without a state is removed: a run that was refused leaves nothing behind.
  ~WorkingDirectory();

  const std::string& path() const { return path_; }
  std::string files() const { return path_ + "/files"; }
  std::string operator/(const std::string& name) const { return files() + "/" + name; }
  std::string receipt(std::size_t part) const;          ///< of a job's part; its directory exists
  std::string hashes(const std::string& output) const;  ///< of an output's tensors, as copying found them

  std::optional<std::string> state() const;  ///< state.json, when there is one
  std::string state_path() const { return path_ + "/state.json"; }
  void save_state(const std::string& text) const;

  void wipe() const;  ///< everything but the lock

  /// Syncs, renames files/ to DST and takes the rest away.
  void publish();

 private:
  void lock(bool shared);
  std::string destination_, path_;
  Descriptor lock_;
  bool shared_;
};

}  // namespace kvfit::carve
