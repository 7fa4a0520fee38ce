// SPDX-License-Identifier: Apache-2.0
//
// `kairos users FILE NAME`: sets the password of a user in a file that servers read by -ORBCsi, or
// takes the user out of it. The file is replaced at once, and is whole whenever somebody reads it.
#include "kairos/csi/context.h"
#include "tools/kairos/commands.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <crypt.h>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <iostream>
#include <memory>
#include <openssl/crypto.h>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

namespace kairos::tools {
namespace {

struct UsersArguments {
    std::string file;
    std::string name;
    bool removes = false;
};

[[noreturn]] void fail_at(const std::string& file)
{
    throw std::runtime_error(file + ": " + std::strerror(errno));
}

/// Text that is wiped when it goes.
class Secret {
  public:
    Secret() = default;
    Secret(Secret&&) = default;
    Secret& operator=(Secret&&) = delete;
    ~Secret() { OPENSSL_cleanse(text_.data(), text_.size()); }

    /// Reads a line; nothing is shown of it where that is a terminal.
    [[nodiscard]] static Secret read(const char* prompt)
    {
        Secret secret;
        secret.text_.reserve(size_max + 1); // so that it stays where it is
        termios before{};
        const bool is_shown = ::tcgetattr(STDIN_FILENO, &before) == 0;
        if (is_shown) {
            termios silent = before;
            silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
            (void)::tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent);
            std::cerr << prompt << std::flush;
        }
        char octet = 0;
        while (secret.text_.size() <= size_max && ::read(STDIN_FILENO, &octet, 1) == 1 &&
               octet != '\n')
            secret.text_ += octet;
        if (is_shown) {
            (void)::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
            std::cerr << '\n';
        }
        return secret;
    }
    [[nodiscard]] const std::string& text() const noexcept { return text_; }
    /// Returns it as servers want it: by yescrypt, with salt, at libcrypt's own cost.
    [[nodiscard]] std::string hashed() const
    {
        if (text_.empty() || text_.size() > size_max || text_.find('\0') != std::string::npos)
            throw std::runtime_error("a password has 1 to " + std::to_string(size_max) + " octets");
        const auto place = std::make_unique<crypt_data>();
        std::string salt(CRYPT_GENSALT_OUTPUT_SIZE, '\0');
        const char* made = nullptr;
        if (::crypt_gensalt_rn("$y$", 0, nullptr, 0, salt.data(), static_cast<int>(salt.size())) !=
            nullptr)
            made = ::crypt_rn(text_.c_str(), salt.c_str(), place.get(), sizeof *place);
        const std::string hash = made == nullptr ? "" : made;
        OPENSSL_cleanse(place.get(), sizeof *place);
        if (hash.empty()) throw std::runtime_error("libcrypt cannot hash the password");
        return hash;
    }

  private:
    static constexpr std::size_t size_max = 511; // as libcrypt has it

    std::string text_;
};

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

/// Returns what the file says; nothing if there is none. `mode` becomes its own.
std::string contents_of(const std::string& file, mode_t& mode)
{
    const File opened(std::fopen(file.c_str(), "re"), &std::fclose);
    if (opened == nullptr && errno == ENOENT) return {};
    if (opened == nullptr) fail_at(file);
    struct stat found {};
    if (::fstat(::fileno(opened.get()), &found) == 0) mode = found.st_mode & 07777;
    std::string text;
    char part[4096];
    while (const std::size_t size = std::fread(part, 1, sizeof part, opened.get()))
        text.append(part, size);
    if (std::ferror(opened.get()) != 0) fail_at(file);
    return text;
}

void replace(const std::string& file, std::string_view text, mode_t mode)
{
    const std::string next = file + ".new";
    const int descriptor = ::open(next.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (descriptor < 0 && errno == EEXIST)
        throw std::runtime_error(next + ": somebody else is writing it, or was cut off");
    if (descriptor < 0) fail_at(next);
    bool done = ::fchmod(descriptor, mode) == 0;
    while (done && !text.empty()) {
        const ssize_t written = ::write(descriptor, text.data(), text.size());
        done = written > 0;
        if (done) text.remove_prefix(static_cast<std::size_t>(written));
    }
    done = done && ::fsync(descriptor) == 0;
    const int reason = errno;
    (void)::close(descriptor);
    if (done && std::rename(next.c_str(), file.c_str()) == 0) return;
    if (!done) errno = reason;
    const int why = errno;
    (void)std::remove(next.c_str());
    errno = why;
    fail_at(file);
}

/// Takes the lines of this user out; returns whether there was one.
bool take_out(std::string& text, const std::string& name)
{
    bool was_there = false;
    std::string others;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
        const std::string_view line = std::string_view(text).substr(begin, end - begin);
        if (line.starts_with(name + ':'))
            was_there = true;
        else
            others += line;
        begin = end;
    }
    if (!others.empty() && !others.ends_with('\n')) others += '\n';
    text = std::move(others);
    return was_there;
}

void run(const UsersArguments& arguments)
{
    // Of a line that begins so nothing is read.
    if (!csi::is_name(arguments.name) || arguments.name.starts_with('#') ||
        arguments.name.find(':') != std::string::npos)
        throw std::runtime_error(
            "no name of a user: 1 to 1024 octets of UTF-8 without ':', where '@' stands once, "
            "between user and scope, or is '\\@'");
    mode_t mode = 0600;
    std::string hash;
    if (!arguments.removes) {
        const Secret password = Secret::read("password: ");
        if (::isatty(STDIN_FILENO) == 1 && Secret::read("once more: ").text() != password.text())
            throw std::runtime_error("the two are not the same");
        hash = password.hashed();
    }
    std::string text = contents_of(arguments.file, mode);
    if (!take_out(text, arguments.name) && arguments.removes)
        throw std::runtime_error(arguments.file + ": there is no such user");
    if (!arguments.removes) text += arguments.name + ':' + hash + '\n';
    replace(arguments.file, text, mode);
}

} // namespace

void add_users_command(CLI::App& app, int& status)
{
    auto arguments = std::make_shared<UsersArguments>();
    CLI::App* command =
        app.add_subcommand("users", "Set the password of a user in a file of users, for -ORBCsi");
    command->add_option("file", arguments->file, "It is made if it is not there, for you alone")
        ->required()
        ->type_name("FILE");
    command->add_option("name", arguments->name, "alice, or alice@plant")
        ->required()
        ->type_name("NAME");
    command->add_flag("--remove", arguments->removes, "Take the user out of the file instead");
    command->footer("The password is asked for, or is the first line of standard input. Servers "
                    "read the new file when the next password is to be checked.");
    command->callback([arguments, &status] {
        try {
            run(*arguments);
        } catch (const std::runtime_error& failure) {
            fmt::print(stderr, "kairos users: {}\n", failure.what());
            status = 1;
        }
    });
}

} // namespace kairos::tools
