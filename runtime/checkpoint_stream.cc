#include "runtime/checkpoint_stream.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "models/file_bytes.h"
#include "models/safetensors_header.h"
#include "runtime/cuda_kernels.h"
#include "runtime/cuda_session.h"
#include "runtime/expert_matrix.h"
#include "runtime/kernel_math.h"
#include "runtime/stopwatch.h"

namespace kvfit::runtime {
namespace {

using models::HeaderTensor;
using models::SafetensorsHeader;

constexpr std::int64_t kMargin = 64 * profiles::kMiB;  // left free when all files are kept on the device

std::vector<SafetensorsHeader> headers_of(const models::Checkpoint& checkpoint) {
  std::vector<SafetensorsHeader> out;
  for (const std::string& file : checkpoint.files) out.push_back(models::read_safetensors_header(file));
  return out;
}

std::int64_t data_bytes(const SafetensorsHeader& file) { return file.file_bytes - file.data_begin(); }

class Streamer {
 public:
  Streamer(CudaSession& session, StreamMeasurement& out, Bytes all, const BootProgress& progress)
      : session_(session),
        out_(out),
        all_(all),
        progress_(progress),
        kernels_(session),
        streams_{CudaStream(session), CudaStream(session)},
        buffers_{PinnedMemory(session, kStagingBytes), PinnedMemory(session, kStagingBytes)} {}

  bool ready() const { return kernels_.ready(); }
  /// False when the device has no memory for it.
  bool stream(const SafetensorsHeader& file);
  void release() {
    while (!held_.empty()) held_.pop_back();
  }
  StreamedMatrix multiply(const ExpertMatrix& matrix);

 private:
  std::uint64_t send(const models::FileBytes& bytes, const SafetensorsHeader& file, std::int64_t at, std::size_t buffer);
  void find_damage(const models::FileBytes& bytes, const SafetensorsHeader& file);

  CudaSession& session_;
  StreamMeasurement& out_;
  Bytes all_;
  const BootProgress& progress_;
  CudaKernels kernels_;
  std::array<CudaStream, 2> streams_;
  std::array<PinnedMemory, 2> buffers_;
  std::vector<DeviceMemory> held_;
};

std::int64_t piece_at(const SafetensorsHeader& file, std::int64_t at) {
  return std::min(kStagingBytes, data_bytes(file) - at);
}

// One piece through one buffer: read once what it sent before has arrived, then copied and hashed while the next is read.
// Returns the hash of the file's bytes.
std::uint64_t Streamer::send(const models::FileBytes& bytes, const SafetensorsHeader& file, std::int64_t at,
                             std::size_t buffer) {
  const std::int64_t length = piece_at(file, at);
  const std::int64_t padded = profiles::round_up(length, 8);
  const cuda::DevicePointer to = held_.back().pointer() + static_cast<std::uint64_t>(at);
  const std::uint64_t base = static_cast<std::uint64_t>(at / 8);
  char* const staging = buffers_[buffer].data();
  streams_[buffer].wait();
  bytes.read(std::span(staging, static_cast<std::size_t>(length)), file.data_begin() + at);
  std::memset(staging + length, 0, static_cast<std::size_t>(padded - length));
  streams_[buffer].copy_to_device(to, staging, static_cast<std::size_t>(padded));
  kernels_.hash(streams_[buffer], to, static_cast<std::uint64_t>(padded / 8), base);
  return hash_words(std::string_view(staging, static_cast<std::size_t>(padded)), base);
}

bool Streamer::stream(const SafetensorsHeader& file) {
  const std::int64_t all = data_bytes(file);
  if (all == 0) return true;
  held_.emplace_back(session_, static_cast<std::size_t>(profiles::round_up(all, 16)));
  if (held_.back().empty()) {
    held_.pop_back();
    return false;
  }
  const models::FileBytes bytes(file.file);
  kernels_.clear_results();
  std::uint64_t wanted = 0;
  std::size_t buffer = 0;
  for (std::int64_t at = 0; at < all; at += kStagingBytes) {
    progress_("streaming", out_.bytes, all_);
    wanted += send(bytes, file, at, buffer);
    out_.bytes += Bytes(piece_at(file, at));
    buffer = 1 - buffer;
  }
  streams_[0].wait();
  const bool same = kernels_.hashed(streams_[1]) == wanted;
  if (!same && out_.damaged_file.empty()) find_damage(bytes, file);
  return true;
}

// Once more, piece by piece, over what lies on the device.
void Streamer::find_damage(const models::FileBytes& bytes, const SafetensorsHeader& file) {
  out_.damaged_file = file.file;
  for (std::int64_t at = 0; at < data_bytes(file); at += kStagingBytes) {
    const std::int64_t length = piece_at(file, at), words = profiles::cdiv(length, 8);
    const std::uint64_t base = static_cast<std::uint64_t>(at / 8);
    bytes.read(std::span(buffers_[0].data(), static_cast<std::size_t>(length)), file.data_begin() + at);
    kernels_.clear_results();
    kernels_.hash(streams_[0], held_.back().pointer() + static_cast<std::uint64_t>(at), static_cast<std::uint64_t>(words),
                  base);
    const std::string_view read(buffers_[0].data(), static_cast<std::size_t>(length));
    if (kernels_.hashed(streams_[0]) == hash_words(read, base)) continue;
    out_.damaged_at = Bytes(file.data_begin() + at);
    for (const HeaderTensor& tensor : file.tensors) {
      const bool here = tensor.begin < at + length && tensor.end > at;
      if (here && out_.damaged_tensor.empty()) out_.damaged_tensor = std::string(tensor.name);
    }
    return;
  }
}

// Inputs that exercise signs and sizes: -1, -0.875 ... 0.875, over and over.
std::vector<float> inputs_for(std::uint32_t columns) {
  std::vector<float> out;
  out.reserve(columns);
  for (std::uint32_t i = 0; i < columns; ++i) out.push_back(static_cast<float>(static_cast<int>(i * 5 % 16) - 8) / 8.0F);
  return out;
}

// What the CPU alone can say: how large the weights are, and scales that are no number.
void describe(const ExpertMatrix& matrix, StreamedMatrix& out) {
  double squares = 0;
  for (std::size_t i = 0; i < matrix.scales.size(); ++i) {
    const unsigned code = static_cast<unsigned char>(matrix.scales[i]);
    if ((code & 127U) == 127U) ++out.not_numbers;
    const double scale = static_cast<double>(decode_e4m3(code)) * static_cast<double>(matrix.global);
    for (std::size_t b = i * 8; b < i * 8 + 8; ++b) {
      const unsigned pair = static_cast<unsigned char>(matrix.weights[b]);
      for (const unsigned value : {pair & 15U, pair >> 4}) {
        const double weight = static_cast<double>(decode_e2m1(value)) * scale;
        squares += weight * weight;
      }
    }
  }
  out.rms = std::sqrt(squares / (static_cast<double>(matrix.rows) * matrix.columns));
}

StreamedMatrix Streamer::multiply(const ExpertMatrix& matrix) {
  StreamedMatrix out{.tensor = matrix.tensor, .rows = matrix.rows, .columns = matrix.columns};
  const std::vector<float> inputs = inputs_for(matrix.columns);
  std::vector<float> outputs(matrix.rows, 0.0F);
  const std::string_view x(reinterpret_cast<const char*>(inputs.data()), inputs.size() * sizeof(float));
  const std::size_t y_bytes = outputs.size() * sizeof(float);
  std::array<DeviceMemory, 4> memory;
  const std::array<std::size_t, 4> sizes = {matrix.weights.size(), matrix.scales.size(), x.size(), y_bytes};
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = DeviceMemory(session_, sizes[i]);
  if (std::any_of(memory.begin(), memory.end(), [](const DeviceMemory& m) { return m.empty(); })) {
    out.not_numbers = matrix.rows;
    return out;
  }
  streams_[0].copy_to_device(memory[0].pointer(), matrix.weights.data(), matrix.weights.size());
  streams_[0].copy_to_device(memory[1].pointer(), matrix.scales.data(), matrix.scales.size());
  streams_[0].copy_to_device(memory[2].pointer(), x.data(), x.size());
  kernels_.gemv_nvfp4(streams_[0], memory[0].pointer(), memory[1].pointer(), memory[2].pointer(), memory[3].pointer(),
                      matrix.rows, matrix.columns, matrix.global);
  streams_[0].wait();
  copy_from_device(session_, outputs.data(), memory[3].pointer(), y_bytes);
  const std::vector<float> wanted = gemv_nvfp4(matrix.view(), inputs);
  for (std::size_t row = 0; row < wanted.size(); ++row) {
    if (!std::isfinite(outputs[row])) ++out.not_numbers;
    const double off = std::fabs(static_cast<double>(outputs[row]) - static_cast<double>(wanted[row]));
    out.largest_difference = std::max(out.largest_difference, off);
  }
  describe(matrix, out);
  return out;
}

void stream_all(Streamer& streamer, const std::vector<SafetensorsHeader>& files, StreamMeasurement& out) {
  const Stopwatch watch;
  for (const SafetensorsHeader& file : files) {
    if (!out.resident) streamer.release();
    if (streamer.stream(file)) continue;
    out.refused = MeasuredEntry{.entry = {.label = file.file, .text = file.file, .bytes = Bytes(data_bytes(file))},
                                .state = EntryState::refused};
    break;
  }
  out.seconds = watch.seconds();
  streamer.release();
}

}  // namespace

StreamMeasurement stream_checkpoint(const CudaDriver& driver, const CudaDevice& device, const models::Checkpoint& checkpoint,
                                    const BootProgress& progress) {
  const std::vector<SafetensorsHeader> files = headers_of(checkpoint);
  StreamMeasurement out;
  Bytes all;
  for (const SafetensorsHeader& file : files) {
    all += Bytes(data_bytes(file));
    out.tensors += static_cast<std::int64_t>(file.tensors.size());
  }
  CudaSession session(driver, device);
  out.resident = all + Bytes(kMargin) <= session.memory().free;
  {
    Streamer streamer(session, out, all, progress);
    if (streamer.ready()) {
      stream_all(streamer, files, out);
    } else {
      out.refused = MeasuredEntry{.entry = {.label = "results",
                                            .text = "what the kernels find",
                                            .bytes = Bytes(static_cast<std::int64_t>(kResultBytes))},
                                  .state = EntryState::refused};
    }
    const std::optional<ExpertMatrix> matrix = find_expert_matrix(files);
    if (matrix && !out.refused) out.matrix = streamer.multiply(*matrix);
  }
  session.end();
  return out;
}

}  // namespace kvfit::runtime
