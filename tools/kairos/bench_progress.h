// SPDX-License-Identifier: Apache-2.0
//
// How far an experiment is, for who waits for it.
#pragma once

#include <chrono>
#include <string>

namespace kairos::tools {

/// Where the report goes to standard output, progress goes to standard error: on a terminal one
/// line that is written over, elsewhere a line per tenth. An experiment with a name has written its
/// report into files, and all that is said of it is one line on standard output: name, what it
/// does, how far it is, and in the end the seconds it took.
class BenchProgress {
  public:
    /// Without a name the report goes to standard output.
    BenchProgress(std::string name, std::string title);
    void show(double done, const std::string& what);
    void finish();
    void fail(); ///< leaves the line, for what went wrong comes now

  private:
    void begin();
    [[nodiscard]] double seconds() const;

    const std::string name_;
    const std::string title_;
    const bool terminal_;
    bool begun_ = false;
    int tenth_ = -1;
    const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

} // namespace kairos::tools
