// SPDX-License-Identifier: Apache-2.0
//
// Counting what a running program does between two moments at which it rests: the orchestrator's
// side of kairos/base/count_page.h. One page per counted process, shared by descriptor, without a
// name in any file system.
#pragma once

#include "kairos/base/count_page.h"
#include "kairos/base/result.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace kairos::bench {

struct Counts {
    std::int64_t allocations = 0;
    std::int64_t locks = 0;
    std::int64_t condition_actions = 0;
    std::int64_t requests_served = 0;
    std::array<std::int64_t, syscall_numbers_max> syscalls{}; ///< without `looks`
    std::int64_t looks = 0; ///< at connections that were idle (CountPage::looks)

    Counts& operator-=(const Counts& other);
};

class CountedPage {
  public:
    static Result<CountedPage> create();
    CountedPage(CountedPage&& other) noexcept;
    CountedPage& operator=(CountedPage&&) = delete;
    ~CountedPage();

    [[nodiscard]] int descriptor() const { return descriptor_; }
    [[nodiscard]] std::string environment() const; ///< "KAIROS_COUNT_FD=…"
    [[nodiscard]] Counts read() const;

  private:
    CountedPage() = default;
    int descriptor_ = -1;
    CountPage* page_ = nullptr;
};

/// Returns once every thread of the process and of its children sleeps in the kernel: what the last
/// call left to do after its reply is done then. False when the patience ends before.
[[nodiscard]] bool wait_until_at_rest(pid_t process, std::chrono::seconds patience);

/// "recvfrom"; "syscall 999" for a number this table does not name.
[[nodiscard]] std::string syscall_name(std::size_t number);

/// The instructions that callgrind says it has counted; from its last words on standard error.
[[nodiscard]] Result<std::int64_t> collected_instructions(std::string_view callgrind_output);

} // namespace kairos::bench
