// Runs a PTX entry point on the CPU, thread after thread: the subset of instructions that runtime/kernels.ptx uses, by the
// PTX ISA's definitions. An instruction it does not know is an error, so that the text cannot outgrow it unnoticed.
//
// Source: docs.nvidia.com/cuda/parallel-thread-execution, sections 9.7.1 to 9.7.13.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace kvfit::tests {

class PtxMachine {
 public:
  /// Memory is one flat piece of bytes; pointers are offsets into it plus kBase.
  static constexpr std::uint64_t kBase = 4096;

  explicit PtxMachine(const std::string& text);

  std::vector<unsigned char> memory;

  /// `arguments` in the order of the parameters, each as 64 bits (32-bit ones in the low half). Throws std::runtime_error on
  /// an unknown instruction, a misaligned address or one outside the memory.
  void launch(const std::string& entry, unsigned blocks, unsigned threads, const std::vector<std::uint64_t>& arguments);

 private:
  struct Instruction {
    std::string guard;                   ///< predicate register, "" = always
    std::vector<std::string> operation;  ///< "ld", "global", "v2", "u64"
    std::vector<std::string> operands;   ///< "{a,b}" and "[a+8]" as one each
  };
  struct Entry {
    std::vector<std::string> parameters;
    std::vector<Instruction> code;
    std::map<std::string, std::size_t> labels;
  };
  struct Thread {
    std::map<std::string, std::uint64_t> registers;
    unsigned block, blocks, thread, threads;
  };

  void run(const Entry& entry, Thread& thread, const std::vector<std::uint64_t>& arguments);
  void step(const Entry& entry, const Instruction& instruction, Thread& thread, const std::vector<std::uint64_t>& arguments);
  void compute(const Instruction& instruction, Thread& thread);
  void access(const Entry& entry, const Instruction& instruction, Thread& thread,
              const std::vector<std::uint64_t>& arguments);
  std::uint64_t value(const std::string& operand, const Thread& thread) const;
  std::uint64_t address(const std::string& operand, const Thread& thread) const;
  std::uint64_t load(std::uint64_t at, unsigned bytes) const;
  void store(std::uint64_t at, unsigned bytes, std::uint64_t word);

  std::map<std::string, Entry> entries_;
};

}  // namespace kvfit::tests
