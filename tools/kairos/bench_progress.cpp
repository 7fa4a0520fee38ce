// SPDX-License-Identifier: Apache-2.0
#include "tools/kairos/bench_progress.h"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <unistd.h>
#include <utility>

namespace kairos::tools {
namespace {

constexpr const char* rewrite = "\r\x1b[K";
// Together with the seconds a line is at most 100 columns wide.
constexpr int name_width = 16;
constexpr int title_width = 60;
constexpr int tenths = 10;

} // namespace

BenchProgress::BenchProgress(std::string name, std::string title)
    : name_(std::move(name)), title_(std::move(title)),
      terminal_(isatty(name_.empty() ? STDERR_FILENO : STDOUT_FILENO) != 0)
{
}

void BenchProgress::begin()
{
    if (begun_) return;
    begun_ = true;
    if (!name_.empty()) fmt::print("{:<{}} {:<{}} ", name_, name_width, title_, title_width);
}

double BenchProgress::seconds() const
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void BenchProgress::show(double done, const std::string& what)
{
    begin();
    if (name_.empty() && terminal_) {
        fmt::print(stderr, "{}{:3.0f} %  {}", rewrite, done * 100, what);
        std::fflush(stderr);
    } else if (terminal_) {
        fmt::print("{}{:<{}} {:<{}} {:3.0f} % {:6.0f} s", rewrite, name_, name_width, title_,
                   title_width, done * 100, seconds());
        std::fflush(stdout);
    } else if (const int tenth = std::min(static_cast<int>(done * tenths), tenths - 1);
               name_.empty() && tenth != tenth_) {
        fmt::print(stderr, "{:3.0f} %  {}\n", done * 100, what);
        tenth_ = tenth;
    } else if (tenth > tenth_) { // some experiments begin again, with another system
        fmt::print("{}", std::string(static_cast<std::size_t>(tenth - tenth_), '.'));
        std::fflush(stdout);
        tenth_ = tenth;
    }
}

void BenchProgress::finish()
{
    begin();
    if (name_.empty()) {
        if (terminal_) fmt::print(stderr, "{}", rewrite);
        return;
    }
    if (terminal_)
        fmt::print("{}{:<{}} {:<{}} {:8.1f} s\n", rewrite, name_, name_width, title_, title_width,
                   seconds());
    else
        fmt::print("{} {:.1f} s\n",
                   std::string(static_cast<std::size_t>(std::max(tenths - tenth_ - 1, 0)), '.'),
                   seconds());
    std::fflush(stdout);
}

void BenchProgress::fail()
{
    if (!begun_) return;
    if (name_.empty())
        finish();
    else
        fmt::print("\n");
    std::fflush(stdout);
}

} // namespace kairos::tools
