// SPDX-License-Identifier: Apache-2.0
//
// A measured program as a child process, spoken to line by line. It never outlives its owner: the
// destructor ends it, the kernel kills it when the orchestrator dies, and it ends by itself when
// its standard input does. Owned by the orchestrator's main thread, which must be the one that
// started it (the kernel's rule for the death signal).
#pragma once

#include "kairos/base/result.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <sys/resource.h>
#include <sys/types.h>
#include <vector>

namespace kairos::bench {

struct ProcessOptions {
    std::vector<std::string> command;     ///< the program's path, then its arguments
    std::vector<std::string> environment; ///< "NAME=value", beside what is inherited
    std::optional<int> cpu;               ///< run on this CPU only
    int inherited_descriptor = -1;        ///< kept open in the child under the same number
};

class ChildProcess {
  public:
    static Result<ChildProcess> start(const ProcessOptions& options);

    ChildProcess(ChildProcess&& other) noexcept;
    ChildProcess& operator=(ChildProcess&& other) noexcept;
    ~ChildProcess();

    [[nodiscard]] Result<void> write_line(std::string_view line);

    /// The next line of standard output. A child that ends or stays silent is an error, which
    /// quotes the end of its standard error.
    [[nodiscard]] Result<std::string> read_line(std::chrono::seconds patience);

    /// Closes standard input and waits for the end; kills a child that does not end by itself.
    /// Returns everything it wrote to standard output that was not read, and to standard error.
    struct Remains {
        int exit_status = 0; ///< 128 + the signal for a killed child
        std::string output;
        std::string errors;
        /// How often its threads gave the processor up, and lost it.
        std::int64_t voluntary_switches = 0;
        std::int64_t involuntary_switches = 0;
    };
    Remains finish(std::chrono::seconds patience);

    /// Lets the threads that it has now run on these CPUs only. Without effect where it has ended.
    void run_on(const std::vector<int>& cpus) const;

    /// What its threads have taken of processors so far; 0 when it has ended.
    [[nodiscard]] double cpu_seconds() const noexcept;

    [[nodiscard]] pid_t pid() const noexcept { return pid_; }
    [[nodiscard]] const std::string& name() const noexcept { return name_; }

  private:
    ChildProcess() = default;

    [[nodiscard]] Error failed(std::string what, int system_errno = 0);
    [[nodiscard]] std::string errors_so_far() const;
    bool wait_for_end(std::chrono::milliseconds patience);
    void end() noexcept;

    std::string name_;
    pid_t pid_ = -1;
    int input_ = -1;  ///< the child's standard input
    int output_ = -1; ///< the child's standard output
    int errors_ = -1; ///< a memory file that is the child's standard error
    int exit_status_ = 0;
    rusage usage_{};
    std::string unread_;
};

/// Runs a program to its end with nothing on its standard input.
[[nodiscard]] Result<ChildProcess::Remains> run_to_end(const ProcessOptions& options,
                                                       std::chrono::seconds patience);

/// Where the shell would find a program; empty when it is not installed.
[[nodiscard]] std::string find_program(const std::string& name);

/// The CPUs this process may run on, ascending.
[[nodiscard]] std::vector<int> usable_cpus();

} // namespace kairos::bench
