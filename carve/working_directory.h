// DST.kvfit-tmp/: where a carve grows beside its destination until it is whole. It belongs to one process at a time, can be
// left and taken up again, and becomes DST by one rename that never replaces anything.
#pragma once

#include <optional>
#include <string>

#include "carve/file_writer.h"

namespace kvfit::carve {

class WorkingDirectory {
 public:
  /// Error when DST exists, its parent does not, DST lies inside `source` or the other way round, the directory is a link,
  /// or another process works in it. `shared`: parts of a job work side by side. `restart` wipes what is there.
  WorkingDirectory(const std::string& destination, const std::string& source, bool restart, bool shared);

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

  std::optional<std::string> state() const;  ///< state.json, when there is one
  void save_state(const std::string& text) const;

  void wipe() const;  ///< everything but the lock

  /// Syncs, takes the state away and renames to DST.
  void publish();

 private:
  std::string destination_, path_;
  Descriptor lock_;
};

/// The path of the working directory of a destination.
std::string working_path(const std::string& destination);

}  // namespace kvfit::carve
