// When vLLM's releases were cut, so that "nightly May 2026" reads as the release that month's main became.
// Source: release branches and tags of github.com/vllm-project/vllm; from v0.25 on inferred from the two-week cadence.
#pragma once

namespace kvfit::accuracy {

struct Release {
  int year, month, day;  ///< cut of the release branch
  const char* version;
};

inline constexpr Release kReleases[] = {
    {2025, 4, 28, "0.8.5"},   {2025, 6, 9, "0.9.1"},    {2025, 7, 6, "0.9.2"},   {2025, 7, 24, "0.10.0"},
    {2025, 8, 17, "0.10.1"},  {2025, 9, 12, "0.10.2"},  {2025, 10, 2, "0.11.0"}, {2025, 11, 17, "0.11.1"},
    {2025, 12, 2, "0.12.0"},  {2025, 12, 18, "0.13.0"}, {2026, 1, 19, "0.14.0"}, {2026, 1, 28, "0.15.0"},
    {2026, 2, 9, "0.16.0"},   {2026, 3, 6, "0.17.0"},   {2026, 3, 19, "0.18.0"}, {2026, 3, 29, "0.19.0"},
    {2026, 4, 20, "0.20.0"},  {2026, 5, 6, "0.21.0"},   {2026, 5, 22, "0.22.0"}, {2026, 6, 7, "0.23.0"},
    {2026, 6, 23, "0.24.0"},  {2026, 7, 7, "0.25.0"},   {2026, 7, 22, "0.26.0"}, {2026, 8, 5, "0.27.0"},
    {2026, 8, 19, "0.28.0"},  {2026, 9, 3, "0.29.0"},   {2026, 9, 17, "0.30.0"}, {2026, 10, 1, "0.31.0"},
    {2026, 10, 15, "0.32.0"}, {2026, 10, 29, "0.33.0"},
};

}  // namespace kvfit::accuracy
