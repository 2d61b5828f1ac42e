#include "runtime/dynamic_library.h"

#include <dlfcn.h>

#include <span>
#include <string>

namespace kvfit::runtime {

DynamicLibrary::DynamicLibrary(std::span<const char* const> names) {
  for (const char* name : names) {
    handle_ = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) {
      name_ = name;
      return;
    }
    const char* reason = ::dlerror();
    if (why_.empty() && reason != nullptr) why_ = reason;
  }
}

DynamicLibrary::~DynamicLibrary() {
  if (handle_ != nullptr) ::dlclose(handle_);
}

void* DynamicLibrary::symbol(const char* name) const { return handle_ == nullptr ? nullptr : ::dlsym(handle_, name); }

}  // namespace kvfit::runtime
