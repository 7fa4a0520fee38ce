// SPDX-License-Identifier: Apache-2.0
#include "idlc/outputs.h"

#include "idlc/backend.h"
#include "idlc/provider.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <unistd.h>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace kairos::idlc {
namespace {

namespace fs = std::filesystem;

bool is_same(const fs::path& left, const fs::path& right)
{
    std::error_code ignored;
    return left == right || fs::equivalent(left, right, ignored);
}

/// "a/" for "/idl/a/foo.idl" where the root is "/idl"; empty where the file is elsewhere.
fs::path folder_below(const fs::path& root, const fs::path& file)
{
    std::error_code failed;
    const fs::path from = fs::weakly_canonical(root, failed);
    const fs::path to = failed ? fs::path() : fs::weakly_canonical(file.parent_path(), failed);
    if (failed) return {};
    // Of a file without a folder in its name: where we are.
    const fs::path below =
        (file.has_parent_path() ? to : fs::current_path(failed)).lexically_relative(from);
    return below.empty() || *below.begin() == ".." || below == "." ? fs::path() : below;
}

/// Writes beside the file and renames, so that nobody ever reads half of it.
bool write_file(const fs::path& path, const std::string& text, Diagnostics& diagnostics)
{
    std::error_code failed_folder;
    if (path.has_parent_path()) fs::create_directories(path.parent_path(), failed_folder);
    const fs::path temporary = path.string() + "." + std::to_string(getpid()) + ".tmp";
    errno = 0;
    bool good = false;
    {
        std::ofstream out(temporary, std::ios::binary);
        out << text;
        out.close();
        good = !out.fail();
    }
    std::error_code failed(errno, std::generic_category());
    if (good) {
        fs::rename(temporary, path, failed);
        if (!failed) return true;
    }
    std::error_code ignored;
    fs::remove(temporary, ignored);
    diagnostics.error({.line = 0}, "cannot write '" + path.string() + "': " + failed.message());
    return false;
}

/// As much of a file as says what it was generated from.
std::string beginning_of(const fs::path& path)
{
    std::array<char, 4096> buffer;
    std::ifstream file(path, std::ios::binary);
    file.read(buffer.data(), buffer.size());
    return {buffer.data(), static_cast<std::size_t>(file.gcount())};
}

/// False, and reported, where another IDL file of the same name has its code there.
bool may_write(const fs::path& path, const std::string& idl, const BackEnd& generator,
               Diagnostics& diagnostics)
{
    const std::string other = generator.generated_from(beginning_of(path));
    std::error_code ignored;
    if (other.empty() || !fs::exists(other, ignored) || is_same(other, idl)) return true;
    diagnostics.error({.line = 0}, "'" + path.string() + "' was generated from '" + other +
                                       "'; --root keeps the folders of IDL files apart");
    return false;
}

} // namespace

std::string generated_name(const std::string& idl_path, const OutputOptions& options,
                           std::string_view suffix)
{
    const fs::path stem = fs::path(idl_path).stem();
    const fs::path folder =
        options.root.empty() ? fs::path() : folder_below(options.root, idl_path);
    return (folder / stem).string() + std::string(suffix);
}

std::vector<bool> declaring_files(const Unit& unit)
{
    std::vector<bool> declares(unit.files.size());
    for_each(unit.declarations, [&](const Declaration& declaration) {
        const Declaration* scope = declaration.parent;
        if (as<Module>(&declaration) != nullptr ||
            (scope != nullptr && as<Module>(scope) == nullptr) ||
            provider_of(declaration) != Provider::program)
            return;
        std::uint32_t file = declaration.location.file;
        while (file != 0 && !declares[file]) {
            declares[file] = true;
            file = unit.files[file].includer ? unit.files[file].includer->file : 0;
        }
    });
    return declares;
}

std::string Outputs::name(std::string_view suffix) const
{
    return generated_name(unit_.files[0].path, options_, suffix);
}

std::string Outputs::included_name(const std::string& idl_path, std::string_view suffix) const
{
    const bool with = options_.root_files.empty() ||
                      std::ranges::any_of(options_.root_files, [&](const std::string& file) {
                          return is_same(file, idl_path);
                      });
    if (with) return generated_name(idl_path, options_, suffix);
    return fs::path(idl_path).stem().string() + std::string(suffix);
}

void Outputs::check_names(std::string_view suffix, Diagnostics& diagnostics) const
{
    const std::vector<SourceFile>& files = unit_.files;
    const std::vector<bool> declares = declaring_files(unit_);
    std::unordered_map<std::string, std::string> paths;
    paths.emplace(name({}), files[0].path);
    for (const std::uint32_t index : unit_.direct_includes) {
        if (!declares[index]) continue;
        const std::string& path = files[index].path;
        const std::string included = included_name(path, {});
        const auto [other, fresh] = paths.emplace(included, path);
        if (fresh || is_same(other->second, path)) continue;
        std::string message = "'" + path;
        message.append("' and '").append(other->second).append("' both become \"");
        message.append(included).append(suffix).append("\"; --root keeps their folders apart");
        diagnostics.error(files[index].includer.value_or(Location{}), std::move(message));
    }
}

void Outputs::add(std::string name, std::string text)
{
    files_.push_back({std::move(name), std::move(text)});
}

void Outputs::add_dependency(std::string path) { dependencies_.push_back(std::move(path)); }

bool Outputs::write(const BackEnd& generator, Diagnostics& diagnostics) const
{
    const fs::path directory = options_.directory;
    std::error_code failed;
    fs::create_directories(directory, failed);
    for (const File& file : files_)
        if (!may_write(directory / file.name, unit_.files[0].path, generator, diagnostics))
            return false;
    for (const File& file : files_)
        if (!write_file(directory / file.name, file.text, diagnostics)) return false;
    return options_.depfile.empty() || write_file(options_.depfile, make_rule(), diagnostics);
}

/// The rule by which make and ninja learn what the files were made from.
std::string Outputs::make_rule() const
{
    const auto escaped = [](const std::string& path) {
        std::string text;
        for (const char character : path) {
            if (character == ' ' || character == '#' || character == '\\') text += '\\';
            text += character == '$' ? "$$" : std::string(1, character);
        }
        return text;
    };
    std::string rule;
    for (const File& file : files_)
        rule += escaped((fs::path(options_.directory) / file.name).string()) + " ";
    rule.back() = ':';
    std::unordered_set<std::string> seen;
    const auto add = [&](const std::string& path) {
        if (seen.insert(path).second) rule += " \\\n  " + escaped(path);
    };
    for (const SourceFile& file : unit_.files)
        add(file.path);
    std::ranges::for_each(dependencies_, add);
    return rule + "\n";
}

} // namespace kairos::idlc
