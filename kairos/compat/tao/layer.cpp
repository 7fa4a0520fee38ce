// SPDX-License-Identifier: Apache-2.0
#include "kairos/compat/tao/layer.h"

#include "kairos/base/log.h"
#include "kairos/compat/tao/options.h"
#include "kairos/mapping/exception.h"
#include "kairos/orb/failure.h"

#include <cstdio>
#include <mutex>
#include <string_view>
#include <utility>

unsigned int TAO_debug_level = 0;

namespace kairos::corba {
namespace {

/// The file of -ORBLogFile, of the whole process. Never closed: what ends late may log late.
struct LogFile {
    std::mutex mutex; // guards what follows
    std::FILE* file = nullptr;
};

LogFile& log_file()
{
    static LogFile& one = *new LogFile;
    return one;
}

void write_to_file(log::Level, std::string_view line)
{
    LogFile& to = log_file();
    const std::lock_guard lock(to.mutex);
    (void)std::fwrite(line.data(), 1, line.size(), to.file);
    (void)std::fputc('\n', to.file);
    (void)std::fflush(to.file);
}

/// A second -ORBLogFile of a process has its lines from then on; the first file stays open.
void log_to(const std::string& path)
{
    std::FILE* const file = std::fopen(path.c_str(), "ae");
    if (file == nullptr)
        orb::raise<CORBA::BAD_PARAM>(orb::minor_code::bad_option, CORBA::COMPLETED_NO,
                                     "-ORBLogFile: cannot write " + path);
    {
        LogFile& to = log_file();
        const std::lock_guard lock(to.mutex);
        to.file = file;
    }
    log::set_sink(&write_to_file);
}

} // namespace

std::string translate_tao_options(std::vector<std::string>& arguments)
{
    compat::tao::Translated translated = compat::tao::translate(arguments);
    if (translated.debug_level >= 0)
        TAO_debug_level = static_cast<unsigned int>(translated.debug_level);
    if (!translated.log_file.empty()) log_to(translated.log_file);
    arguments = std::move(translated.arguments);
    if (translated.ignored.empty()) return {};
    std::string line = "options of TAO that mean nothing here: ";
    for (const std::string& each : translated.ignored)
        line.append(&each == &translated.ignored.front() ? "" : "; ").append(each);
    return line;
}

} // namespace kairos::corba
