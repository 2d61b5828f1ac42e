#include "hardware/facts.h"

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/text.h"

namespace kvfit::hardware {
namespace {

using profiles::Fields;
using profiles::format;

struct Unit {
  std::string_view key;
  double scale;  // to the value's own unit: bytes, bytes per second, watts ...
};
constexpr Unit kByteUnits[] = {
    {"bytes", 1}, {"mib", static_cast<double>(profiles::kMiB)}, {"gib", static_cast<double>(profiles::kGiB)}};
constexpr Unit kCountUnits[] = {{"count", 1}};
constexpr Unit kRateUnits[] = {{"gb_s", 1e9}};
constexpr Unit kWattUnits[] = {{"watts", 1}};
constexpr Unit kRatioUnits[] = {{"ratio", 1}};

struct Range {
  double low = 0, likely = 0, high = 0;
};

// One number, checked against limits that are given in the scaled unit and reported in the written one.
double read_number(const profiles::Node& node, const Unit& unit, double least, double most) {
  const double written = node.number();
  const double value = written * unit.scale;
  if (value < least || value > most) {
    node.fail(format("{} is out of range: {:.10g} to {:.10g} {} is allowed", node.scalar_text(), least / unit.scale,
                     most / unit.scale, unit.key));
  }
  return value;
}

Range read_range(const profiles::Node& node, const Unit& unit, double least, double most) {
  if (!node.is_list()) {
    const double only = read_number(node, unit, least, most);
    return {only, only, only};
  }
  const std::vector<profiles::Node>& items = node.list();
  if (items.size() != 3) node.fail(format("expected [low, likely, high], found {} values", items.size()));
  const Range out{read_number(items[0], unit, least, most), read_number(items[1], unit, least, most),
                  read_number(items[2], unit, least, most)};
  if (out.low > out.likely || out.likely > out.high) node.fail("expected [low, likely, high] in rising order");
  return out;
}

template <typename T>
void read_source(Fields& fields, const profiles::Node& node, Fact<T>& out) {
  const profiles::Node* source = fields.find("source");
  const profiles::Node* sourced = fields.find("sourced");
  const profiles::Node* how = fields.find("how");
  const std::string remedy = "give `source: \"where it was read\"`, or say `sourced: false`";
  if (source && sourced) sourced->fail("`source` and `sourced` exclude each other", remedy);
  if (!source && (!sourced || sourced->boolean())) node.fail("a value without a source", remedy);
  if (how && how->string() != "derived") {
    how->fail(format("unknown value '{}'", how->string()), "leave `how` out for a reading, or say `how: derived`");
  }
  if (how && !source) node.fail("a derived value without its rule", "say the rule in `source`");
  if (source && source->string().empty()) source->fail("the source is empty", remedy);
  out.sourced = source != nullptr;
  out.derived = how != nullptr;
  if (source) out.source = source->string();
}

// The one unit key a fact must hold, and which unit it is.
const profiles::Node& read_value(Fields& fields, const profiles::Node& node, std::span<const Unit> units,
                                 const Unit*& unit) {
  const profiles::Node* found = nullptr;
  std::vector<std::string> keys;
  for (const Unit& candidate : units) {
    keys.emplace_back(candidate.key);
    const profiles::Node* value = fields.find(candidate.key);
    if (!value) continue;
    if (found) value->fail(format("two values: `{}` and `{}`", unit->key, candidate.key), "keep one");
    found = value;
    unit = &candidate;
  }
  if (!found) node.fail("a fact without a value", format("give `{}: ...`", profiles::join(keys, ": ...` or `")));
  return *found;
}

template <typename T, typename Convert>
Fact<T> read_fact(const profiles::Node& node, std::span<const Unit> units, double least, double most, bool range,
                  Convert convert) {
  Fields fields(node);
  const Unit* unit = nullptr;
  const profiles::Node& value = read_value(fields, node, units, unit);
  Fact<T> out;
  out.value = convert(range ? read_range(value, *unit, least, most) : Range{read_number(value, *unit, least, most), 0, 0});
  read_source(fields, node, out);
  fields.finish();
  return out;
}

Bytes nearest_byte(double value) { return Bytes(static_cast<std::int64_t>(std::llround(value))); }

double as_real(Bytes bytes) { return static_cast<double>(bytes.count); }

}  // namespace

Fact<Bytes> read_bytes(const profiles::Node& fact, Bytes least, Bytes most) {
  return read_fact<Bytes>(fact, kByteUnits, as_real(least), as_real(most), false,
                          [](const Range& range) { return nearest_byte(range.low); });
}

Fact<ByteRange> read_byte_range(const profiles::Node& fact, Bytes least, Bytes most) {
  return read_fact<ByteRange>(fact, kByteUnits, as_real(least), as_real(most), true, [](const Range& range) {
    return ByteRange{nearest_byte(range.low), nearest_byte(range.likely), nearest_byte(range.high)};
  });
}

Fact<RatioRange> read_ratio_range(const profiles::Node& fact) {
  return read_fact<RatioRange>(fact, kRatioUnits, 0, 1, true,
                               [](const Range& range) { return RatioRange{range.low, range.likely, range.high}; });
}

Fact<int> read_count(const profiles::Node& fact, int most) {
  return read_fact<int>(fact, kCountUnits, 1, most, false, [](const Range& range) { return static_cast<int>(range.low); });
}

Fact<double> read_rate(const profiles::Node& fact) {
  return read_fact<double>(fact, kRateUnits, 1e9, 1e14, false, [](const Range& range) { return range.low; });
}

Fact<double> read_watts(const profiles::Node& fact) {
  return read_fact<double>(fact, kWattUnits, 1, 1e5, false, [](const Range& range) { return range.low; });
}

}  // namespace kvfit::hardware
