// The scanner of safetensors headers: what it reads, and each malformed file it refuses, as whole text.
#include "models/safetensors_header.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/error.h"
#include "profiles/json.h"
#include "tests/support/synthetic_checkpoint.h"
#include "tests/support/temp_directory.h"

namespace kvfit::models {
namespace {

using profiles::DType;

SafetensorsHeader parse(std::string_view header, std::int64_t data) {
  return parse_safetensors_header(std::vector<char>(header.begin(), header.end()),
                                  8 + static_cast<std::int64_t>(header.size()) + data, "x.safetensors");
}

// The whole error for a header over `data` bytes, or "" when it is accepted.
std::string refusal(std::string_view header, std::int64_t data = 0) {
  try {
    parse(header, data);
  } catch (const profiles::Error& error) {
    return error.text();
  }
  return {};
}

std::string file_refusal(const std::string& bytes) {
  const tests::TempDirectory directory;
  const std::string path = directory.write("x.safetensors", bytes);
  try {
    read_safetensors_header(path);
  } catch (const profiles::Error& error) {
    CHECK(error.where().file == path);
    return error.message() + (error.hint().empty() ? "" : " | " + error.hint());
  }
  return {};
}

constexpr const char* kFetchAgain = "\n  --> x.safetensors\n  help: the file is damaged; fetch it again";
constexpr const char* kPlace = "\n  --> x.safetensors";

TEST_CASE("a header yields names, dtypes, shapes, offsets and metadata in its own order") {
  const SafetensorsHeader header = parse(R"({"__metadata__":{"format":"pt","by":"a test"},)"
                                         R"("b.weight":{"dtype":"BF16","shape":[2,3],"data_offsets":[4,16]},)"
                                         R"("a.scale":{"dtype":"F32","shape":[],"data_offsets":[0,4]},)"
                                         R"("c.empty":{"dtype":"U8","shape":[0,7],"data_offsets":[16,16]}}   )",
                                         16);
  REQUIRE(header.tensors.size() == 3);
  CHECK(header.tensors[0].name == "b.weight");
  CHECK(header.tensors[0].dtype == DType::bf16);
  CHECK(header.tensors[0].begin == 4);
  CHECK(header.tensors[0].end == 16);
  const std::span<const std::int64_t> shape = header.shape(header.tensors[0]);
  CHECK(std::vector<std::int64_t>(shape.begin(), shape.end()) == std::vector<std::int64_t>{2, 3});
  CHECK(header.shape(header.tensors[1]).empty());
  CHECK(header.tensors[2].bytes() == 0);
  REQUIRE(header.metadata.size() == 2);
  CHECK(header.metadata[0].second == "pt");
  CHECK(header.metadata[1].first == "by");
}

TEST_CASE("escaped names are decoded, and white space may stand anywhere JSON allows it") {
  const SafetensorsHeader header = parse(
      "{ \"a\\u00e9\\n\\ud83d\\ude00\\/\" :\t{\r\n\"shape\" : [ 1 ] , \"data_offsets\":[ 0 , 1 ],\"dtype\":\"\\u00558\" } } "
      "\n",
      1);
  REQUIRE(header.tensors.size() == 1);
  CHECK(header.tensors[0].name == "a\xC3\xA9\n\xF0\x9F\x98\x80/");
  CHECK(header.tensors[0].dtype == DType::u8);
}

TEST_CASE("a header without tensors over no data is legal") { CHECK(parse("{}", 0).tensors.empty()); }

TEST_CASE("what the scanner reads is what a JSON library reads") {
  const tests::TempDirectory directory;
  std::vector<tests::SyntheticTensor> tensors;
  for (int i = 0; i < 200; ++i) {
    tensors.push_back({"model.layers." + std::to_string(i) + ".mlp.up_proj.weight",
                       i % 3 == 0 ? DType::f32 : DType::u8,
                       {i % 7, 3, 1 + i % 2}});
  }
  const std::string path = directory / "model.safetensors";
  tests::write_safetensors(path, tensors);
  const SafetensorsHeader header = read_safetensors_header(path);
  const profiles::Json json = profiles::Json::parse(header.text);
  REQUIRE(json.size() == header.tensors.size() + 1);
  std::size_t i = 0;
  for (const auto& [name, entry] : json.items()) {
    if (name == "__metadata__") continue;
    const HeaderTensor& tensor = header.tensors[i++];
    CHECK(tensor.name == name);
    CHECK(profiles::safetensors_name(tensor.dtype) == entry["dtype"].get<std::string>());
    CHECK(std::vector<std::int64_t>(header.shape(tensor).begin(), header.shape(tensor).end()) ==
          entry["shape"].get<std::vector<std::int64_t>>());
    CHECK(tensor.begin == entry["data_offsets"][0].get<std::int64_t>());
    CHECK(tensor.end == entry["data_offsets"][1].get<std::int64_t>());
  }
}

TEST_CASE("a file that is cut short says so, wherever the cut lies") {
  CHECK(file_refusal("12345") ==
        "5 bytes are too few for a safetensors file | the download is not complete; fetch the file again");
  CHECK(file_refusal("") ==
        "0 bytes are too few for a safetensors file | the download is not complete; fetch the file again");
  const std::string header = R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})";
  const std::string whole = tests::safetensors_bytes(header, 4);
  CHECK(file_refusal(whole).empty());
  CHECK(file_refusal(whole.substr(0, 18)) ==
        "the file ends inside its header: 10 bytes of 53 | the download is not complete; fetch the file again");
  CHECK(file_refusal(whole.substr(0, whole.size() - 1)) ==
        "the file is cut short: its tensors need 4 bytes of data, it holds 3 | the download is not complete; fetch the file "
        "again");
  CHECK(file_refusal(whole + "xy") == "2 bytes after the last tensor belong to no tensor");
}

TEST_CASE("a header longer than the format allows is refused before a byte of it is read") {
  std::string bytes = tests::safetensors_bytes("{}", 0);
  bytes[4] = '\x01';  // N = 2^32 + 2
  CHECK(file_refusal(bytes) ==
        "the header claims 4294967298 bytes; the format allows at most 100000000 | this is not a safetensors file, or it is "
        "damaged");
  bytes.assign(16, '\xff');
  CHECK(file_refusal(bytes) ==
        "the header claims 18446744073709551615 bytes; the format allows at most 100000000 | this is not a safetensors "
        "file, or it "
        "is damaged");
}

TEST_CASE("files that are missing or no files at all") {
  const tests::TempDirectory directory;
  CHECK_THROWS_WITH_AS(read_safetensors_header(directory / "none"),
                       ("error: cannot open the file: No such file or directory\n  --> " + directory / "none").c_str(),
                       profiles::Error);
  CHECK_THROWS_WITH_AS(read_safetensors_header(directory.path().string()),
                       ("error: not a regular file\n  --> " + directory.path().string()).c_str(), profiles::Error);
}

TEST_CASE("text that is no header") {
  CHECK(refusal("") ==
        std::string("error: the header does not begin with '{'") + kPlace + "\n  help: this is not a safetensors file");
  CHECK(refusal("[]") ==
        std::string("error: the header does not begin with '{'") + kPlace + "\n  help: this is not a safetensors file");
  CHECK(refusal("{\"a\xff\":1}") == std::string("error: the header is not UTF-8 at byte 11") + kPlace);
  CHECK(refusal("{") == std::string("error: the header is not valid: expected a string at byte 9") + kFetchAgain);
  CHECK(refusal("{}x") ==
        std::string("error: the header is not valid: expected the end of the header at byte 10") + kFetchAgain);
  CHECK(refusal("{\"a\"}") == std::string("error: the header is not valid: expected ':' at byte 12") + kFetchAgain);
  CHECK(refusal("{\"a") ==
        std::string("error: the header is not valid: expected the end of a string at byte 11") + kFetchAgain);
  CHECK(refusal("{\"a\n\"") ==
        std::string("error: the header is not valid: expected no control character inside a string at byte 11") +
            kFetchAgain);
  CHECK(refusal(R"({"\q":1})") ==
        std::string("error: the header is not valid: expected a known escape at byte 12") + kFetchAgain);
  CHECK(refusal(R"({"\ud800x":1})") ==
        std::string("error: the header is not valid: expected the second half of a surrogate pair at byte 16") +
            kFetchAgain);
  CHECK(refusal(R"({"a":[[[[[[[[]]]]]]]]})") ==
        std::string("error: the header is not valid: expected '{' at byte 13") + kFetchAgain);
  CHECK(refusal(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},})", 1) ==
        std::string("error: the header is not valid: expected a string at byte 61") + kFetchAgain);
}

TEST_CASE("numbers that are no offsets") {
  const auto with = [](const std::string& shape) {
    return refusal("{\"a\":{\"shape\":[" + shape + "],\"dtype\":\"U8\",\"data_offsets\":[0,1]}}", 1);
  };
  CHECK(with("-1") ==
        std::string("error: the header is not valid: expected a whole number of zero or more at byte 23") + kFetchAgain);
  CHECK(with("1.5") == std::string("error: the header is not valid: expected a whole number at byte 24") + kFetchAgain);
  CHECK(with("1e3") == std::string("error: the header is not valid: expected a whole number at byte 24") + kFetchAgain);
  CHECK(with("01") ==
        std::string("error: the header is not valid: expected a number without leading zeros at byte 25") + kFetchAgain);
  CHECK(with("9223372036854775808") ==
        std::string("error: the header is not valid: expected a number below 2^63 at byte 41") + kFetchAgain);
  CHECK(with("9223372036854775807,2") ==
        std::string("error: tensor 'a' is absurdly large: U8 [9223372036854775807,2] does not fit in 63 bits") + kPlace);
  CHECK(with("2") == std::string("error: tensor 'a' is U8 [2], that is 2 bytes, but its data_offsets span 1") + kPlace);
}

TEST_CASE("a product that wraps to zero is not an empty tensor") {
  // 2^32 x 2^32 = 2^64, which is 0 in 64 bits.
  CHECK(refusal(R"({"a":{"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,0]}})") ==
        std::string("error: tensor 'a' is absurdly large: U8 [4294967296,4294967296] does not fit in 63 bits") + kPlace);
}

TEST_CASE("entries must hold dtype, shape and data_offsets, once each, and nothing else") {
  CHECK(refusal(R"({"a":{"dtype":"U9","shape":[1],"data_offsets":[0,1]}})", 1) ==
        std::string("error: tensor 'a' has the unknown dtype 'U9'") + kPlace);
  CHECK(refusal(R"({"a":{"dtype":"U8","data_offsets":[0,1]}})", 1) ==
        std::string("error: tensor 'a' lacks its shape") + kPlace);
  CHECK(refusal(R"({"a":{}})") == std::string("error: tensor 'a' lacks its dtype") + kPlace);
  CHECK(refusal(R"({"a":{"dtype":"U8","dtype":"U8"}})") == std::string("error: tensor 'a' states its dtype twice") + kPlace);
  CHECK(refusal(R"({"a":{"stride":[1]}})") == std::string("error: tensor 'a' has the unknown key 'stride'") + kPlace);
  CHECK(refusal(R"({"a":{"dtype":"F4","shape":[3],"data_offsets":[0,1]}})", 1) ==
        std::string("error: tensor 'a' is F4 [3], which is not a whole number of bytes") + kPlace);
  CHECK(refusal(R"({"__metadata__":{"step":3}})") ==
        std::string("error: the header is not valid: expected a string at byte 32") + kFetchAgain);
  CHECK(refusal(R"({"__metadata__":{"a":"1","a":"2"}})") ==
        std::string("error: 'a' appears twice in '__metadata__'") + kPlace);
  CHECK(refusal(R"({"__metadata__":{},"__metadata__":{}})") == std::string("error: '__metadata__' appears twice") + kPlace);
}

TEST_CASE("tensors cover the data once: no duplicate, overlap, hole or backward range") {
  const auto two = [](const std::string& a, const std::string& b, std::int64_t data, const std::string& second = "b") {
    return refusal("{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":" + a + "},\"" + second +
                       "\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":" + b + "}}",
                   data);
  };
  CHECK(two("[0,2]", "[2,4]", 4).empty());
  CHECK(two("[2,4]", "[0,2]", 4).empty());
  CHECK(two("[0,2]", "[2,4]", 4, "a") == std::string("error: tensor 'a' appears twice") + kPlace);
  CHECK(two("[0,2]", "[2,4]", 4, "\\u0061") == std::string("error: tensor 'a' appears twice") + kPlace);
  CHECK(two("[0,2]", "[1,3]", 3) ==
        std::string("error: tensors 'a' and 'b' overlap: one ends at 2, the other begins at 1") + kPlace);
  CHECK(two("[0,2]", "[3,5]", 5) == std::string("error: bytes 2 to 3 belong to no tensor: a hole before 'b'") + kPlace);
  CHECK(two("[0,2]", "[4,2]", 4) == std::string("error: tensor 'b' ends at 2, before it begins at 4") + kPlace);
  CHECK(two("[0,2]", "[2,4]", 3) ==
        std::string("error: the file is cut short: its tensors need 4 bytes of data, it holds 3") + kPlace +
            "\n  help: the download is not complete; fetch the file again");
}

TEST_CASE("a name cannot write to the terminal through a message") {
  CHECK(refusal(R"({"\u001b[31mred":{}})") == std::string("error: tensor '\\x1b[31mred' lacks its dtype") + kPlace);
}

}  // namespace
}  // namespace kvfit::models
