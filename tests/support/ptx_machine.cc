#include "tests/support/ptx_machine.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <sstream>
#include <stdexcept>

namespace kvfit::tests {
namespace {

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\n");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

std::string without_comments(const std::string& text) {
  std::string out, line;
  for (std::istringstream lines(text); std::getline(lines, line);) out += line.substr(0, line.find("//")) + "\n";
  return out;
}

std::vector<std::string> split(const std::string& text, char by) {
  std::vector<std::string> out;
  std::string piece;
  for (std::istringstream pieces(text); std::getline(pieces, piece, by);) out.push_back(trimmed(piece));
  return out;
}

// At commas outside braces.
std::vector<std::string> operands_of(const std::string& text) {
  std::vector<std::string> out(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '{' ? 1 : c == '}' ? -1 : 0;
    if (c == ',' && depth == 0) {
      out.emplace_back();
    } else if (c != ' ') {
      out.back() += c;
    }
  }
  return out;
}

unsigned bytes_of(const std::string& type) { return static_cast<unsigned>(std::stoul(type.substr(1))) / 8; }

std::uint64_t cut(std::uint64_t word, unsigned bytes) {
  return bytes == 8 ? word : word & ((std::uint64_t{1} << (8 * bytes)) - 1);
}

float as_float(std::uint64_t word) { return std::bit_cast<float>(static_cast<std::uint32_t>(word)); }
std::uint64_t as_word(float value) { return std::bit_cast<std::uint32_t>(value); }

[[noreturn]] void unknown(const std::vector<std::string>& operation) {
  std::string text;
  for (const std::string& part : operation) text += (text.empty() ? "" : ".") + part;
  throw std::runtime_error("the PTX machine does not know " + text);
}

}  // namespace

PtxMachine::PtxMachine(const std::string& text) {
  const std::string code = without_comments(text);
  for (std::size_t at = code.find(".entry "); at != std::string::npos; at = code.find(".entry ", at + 1)) {
    const std::size_t open = code.find('(', at), close = code.find(')', at), begin = code.find('{', close);
    Entry& entry = entries_[trimmed(code.substr(at + 7, open - at - 7))];
    for (const std::string& parameter : split(code.substr(open + 1, close - open - 1), ',')) {
      entry.parameters.push_back(trimmed(parameter.substr(parameter.rfind(' '))));
    }
    const std::string body = code.substr(begin + 1, code.find("\n}", begin) - begin - 1);
    for (std::string statement : split(body, ';')) {
      for (std::size_t colon = statement.find(':'); colon != std::string::npos; colon = statement.find(':')) {
        entry.labels[trimmed(statement.substr(0, colon))] = entry.code.size();
        statement = trimmed(statement.substr(colon + 1));
      }
      if (statement.empty() || statement.starts_with(".reg")) continue;
      Instruction instruction;
      if (statement.front() == '@') {
        instruction.guard = statement.substr(1, statement.find(' ') - 1);
        statement = trimmed(statement.substr(statement.find(' ')));
      }
      const std::size_t blank = std::min(statement.find(' '), statement.size());
      instruction.operation = split(statement.substr(0, blank), '.');
      if (blank < statement.size()) instruction.operands = operands_of(statement.substr(blank));
      entry.code.push_back(std::move(instruction));
    }
  }
}

void PtxMachine::launch(const std::string& name, unsigned blocks, unsigned threads,
                        const std::vector<std::uint64_t>& arguments) {
  const Entry& entry = entries_.at(name);
  if (entry.parameters.size() != arguments.size()) throw std::runtime_error(name + ": wrong number of arguments");
  for (unsigned block = 0; block < blocks; ++block) {
    for (unsigned index = 0; index < threads; ++index) {
      Thread thread{.registers = {}, .block = block, .blocks = blocks, .thread = index, .threads = threads};
      run(entry, thread, arguments);
    }
  }
}

void PtxMachine::run(const Entry& entry, Thread& thread, const std::vector<std::uint64_t>& arguments) {
  for (std::size_t at = 0; at < entry.code.size(); ++at) {
    const Instruction& instruction = entry.code[at];
    if (!instruction.guard.empty() && thread.registers.at(instruction.guard) == 0) continue;
    if (instruction.operation[0] == "ret") return;
    if (instruction.operation[0] == "bra") {
      at = entry.labels.at(instruction.operands[0]) - 1;
    } else {
      step(entry, instruction, thread, arguments);
    }
  }
  throw std::runtime_error("a kernel ends without ret");
}

void PtxMachine::step(const Entry& entry, const Instruction& instruction, Thread& thread,
                      const std::vector<std::uint64_t>& arguments) {
  const std::string& name = instruction.operation[0];
  if (name == "ld" || name == "st" || name == "red") {
    access(entry, instruction, thread, arguments);
  } else {
    compute(instruction, thread);
  }
}

// Registers only.
void PtxMachine::compute(const Instruction& instruction, Thread& thread) {
  const std::vector<std::string>& op = instruction.operation;
  const std::vector<std::string>& names = instruction.operands;
  const auto operand = [&](std::size_t i) { return value(names.at(i), thread); };
  const std::string& type = op.back();
  const unsigned bytes = bytes_of(type);
  const std::uint64_t a = operand(1), b = names.size() > 2 ? operand(2) : 0, c = names.size() > 3 ? operand(3) : 0;
  std::uint64_t result = 0;
  if (op[0] == "mov" || op[0] == "cvta") {
    result = a;
  } else if (op[0] == "cvt") {
    result = cut(a, std::min(bytes, bytes_of(op[1])));
    thread.registers[names[0]] = result;
    return;
  } else if (op[0] == "add" && type != "f32") {
    result = a + b;
  } else if (op[0] == "mul" && op[1] == "rn") {
    result = as_word(as_float(a) * as_float(b));
  } else if (op[0] == "fma" && op[1] == "rn") {
    result = as_word(std::fma(as_float(a), as_float(b), as_float(c)));
  } else if ((op[0] == "mul" || op[0] == "mad") && op[1] == "wide") {
    thread.registers[names[0]] = cut(a, 4) * cut(b, 4) + c;  // 32 x 32 into 64 bits
    return;
  } else if ((op[0] == "mul" || op[0] == "mad") && op[1] == "lo") {
    result = a * b + c;
  } else if (op[0] == "shl") {
    result = b >= 8 * bytes ? 0 : a << b;
  } else if (op[0] == "shr" && type[0] == 'u') {
    result = b >= 8 * bytes ? 0 : cut(a, bytes) >> b;
  } else if (op[0] == "and") {
    result = a & b;
  } else if (op[0] == "or") {
    result = a | b;
  } else if (op[0] == "xor") {
    result = a ^ b;
  } else if (op[0] == "not") {
    result = ~a;
  } else if (op[0] == "min" && type[0] == 'u') {
    result = std::min(cut(a, bytes), cut(b, bytes));
  } else if (op[0] == "setp") {
    const std::uint64_t x = cut(a, bytes), y = cut(b, bytes);
    if (op[1] != "ge" && op[1] != "eq" && op[1] != "lt") unknown(op);
    result = op[1] == "ge" ? x >= y : op[1] == "eq" ? x == y : x < y;
  } else {
    unknown(op);
  }
  thread.registers[names[0]] = cut(result, bytes);
}

void PtxMachine::access(const Entry& entry, const Instruction& instruction, Thread& thread,
                        const std::vector<std::uint64_t>& arguments) {
  const std::vector<std::string>& op = instruction.operation;
  const std::vector<std::string>& names = instruction.operands;
  const unsigned bytes = bytes_of(op.back());
  const bool pair = op[2] == "v2";
  const auto halves = [](const std::string& text) { return split(text.substr(1, text.size() - 2), ','); };
  if (op[0] == "ld" && op[1] == "param") {
    const std::string name = names[1].substr(1, names[1].size() - 2);
    const auto found = std::find(entry.parameters.begin(), entry.parameters.end(), name);
    if (found == entry.parameters.end()) throw std::runtime_error("no parameter " + name);
    thread.registers[names[0]] = cut(arguments[static_cast<std::size_t>(found - entry.parameters.begin())], bytes);
  } else if (op[0] == "ld") {
    const std::uint64_t at = address(names[1], thread);
    if (pair && at % (2 * bytes) != 0) throw std::runtime_error("a pair at an odd address");
    const std::vector<std::string> targets = pair ? halves(names[0]) : std::vector<std::string>{names[0]};
    for (std::size_t i = 0; i < targets.size(); ++i) thread.registers[targets[i]] = load(at + i * bytes, bytes);
  } else if (op[0] == "st") {
    const std::uint64_t at = address(names[0], thread);
    if (pair && at % (2 * bytes) != 0) throw std::runtime_error("a pair at an odd address");
    const std::vector<std::string> sources = pair ? halves(names[1]) : std::vector<std::string>{names[1]};
    for (std::size_t i = 0; i < sources.size(); ++i) store(at + i * bytes, bytes, value(sources[i], thread));
  } else {
    const std::uint64_t at = address(names[0], thread), old = load(at, bytes), next = value(names[1], thread);
    if (op[2] != "add" && op[2] != "max") unknown(op);
    store(at, bytes, op[2] == "add" ? old + next : std::max(old, next));
  }
}

std::uint64_t PtxMachine::value(const std::string& operand, const Thread& thread) const {
  if (operand == "%ctaid.x") return thread.block;
  if (operand == "%nctaid.x") return thread.blocks;
  if (operand == "%tid.x") return thread.thread;
  if (operand == "%ntid.x") return thread.threads;
  if (operand.front() == '%') return thread.registers.at(operand);
  if (operand.starts_with("0f")) return std::stoull(operand.substr(2), nullptr, 16);
  if (operand.front() == '-') return static_cast<std::uint64_t>(std::stoll(operand));
  return std::stoull(operand, nullptr, 0);
}

std::uint64_t PtxMachine::address(const std::string& operand, const Thread& thread) const {
  const std::string inside = operand.substr(1, operand.size() - 2);
  const std::size_t plus = inside.find('+');
  const std::uint64_t base = value(inside.substr(0, plus), thread);
  return base + (plus == std::string::npos ? 0 : std::stoull(inside.substr(plus + 1)));
}

std::uint64_t PtxMachine::load(std::uint64_t at, unsigned bytes) const {
  if (at < kBase || at - kBase + bytes > memory.size()) throw std::runtime_error("a read outside the memory");
  if (at % bytes != 0) throw std::runtime_error("a misaligned read");
  std::uint64_t out = 0;
  std::memcpy(&out, memory.data() + (at - kBase), bytes);
  return out;
}

void PtxMachine::store(std::uint64_t at, unsigned bytes, std::uint64_t word) {
  if (at < kBase || at - kBase + bytes > memory.size()) throw std::runtime_error("a write outside the memory");
  if (at % bytes != 0) throw std::runtime_error("a misaligned write");
  std::memcpy(memory.data() + (at - kBase), &word, bytes);
}

}  // namespace kvfit::tests
