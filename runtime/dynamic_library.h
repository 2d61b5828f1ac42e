// A shared library opened at run time: kvfit links neither CUDA nor NVML, so that it builds and plans on machines without.
#pragma once

#include <span>
#include <string>

namespace kvfit::runtime {

class DynamicLibrary {
 public:
  /// Tries each name in turn, as dlopen reads them (LD_LIBRARY_PATH included). `loaded()` is false when none opens.
  explicit DynamicLibrary(std::span<const char* const> names);
  DynamicLibrary(const DynamicLibrary&) = delete;
  DynamicLibrary& operator=(const DynamicLibrary&) = delete;
  ~DynamicLibrary();

  bool loaded() const { return handle_ != nullptr; }
  const std::string& name() const { return name_; }  ///< the one that opened; "" when none did
  const std::string& why() const { return why_; }    ///< the loader's words on the first name when none opened

  /// nullptr when the library has no such symbol.
  void* symbol(const char* name) const;
  /// Sets a typed function pointer; false when the library has no such symbol.
  template <typename Function>
  bool resolve(Function*& slot, const char* name) const {
    slot = reinterpret_cast<Function*>(symbol(name));
    return slot != nullptr;
  }

 private:
  void* handle_ = nullptr;
  std::string name_, why_;
};

}  // namespace kvfit::runtime
