// kvfit's kernels on fake memory: the arithmetic of runtime/kernel_math.h, exact, in closed form where a range is kept as a
// rule.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/fakes/fake_memory.h"

namespace kvfit::fakes {

/// The parameters of an entry point of the PTX text, as sizes in bytes: {8, 8, 8, 4}; empty when the text has no such entry.
std::vector<std::size_t> parameters_of(const std::string& ptx, const std::string& name);

/// Runs it; `arguments` as cuLaunchKernel takes them. Returns the bytes that went over the memory bus, or -1 when an address
/// is outside every allocation.
std::int64_t run_kernel(FakeMemory& memory, const std::string& name, void** arguments);

}  // namespace kvfit::fakes
