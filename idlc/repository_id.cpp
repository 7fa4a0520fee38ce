// SPDX-License-Identifier: Apache-2.0
//
// Bookkeeping of prefixes, versions and explicit ids.
#include "idlc/repository_id.h"

#include <algorithm>

namespace kairos::idlc {
namespace {

std::string joined(std::string_view path, std::string_view name)
{
    std::string out(path);
    if (!out.empty()) out += '/';
    out += name;
    return out;
}

bool is_digits(std::string_view text) noexcept
{
    return !text.empty() && text.size() <= 5 &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

const Declaration& canonical(const Declaration& declaration) noexcept
{
    if (const auto* module = as<Module>(&declaration)) return *module->first;
    return declaration;
}

} // namespace

RepositoryIds::RepositoryIds(Diagnostics& diagnostics) : diagnostics_(diagnostics)
{
    frames_.emplace_back();
}

std::string& RepositoryIds::Frame::path(std::uint32_t file)
{
    // Newest first: the file being read is the last that came.
    for (auto at = paths.rbegin(); at != paths.rend(); ++at)
        if (at->first == file) return at->second;
    paths.emplace_back(file, names);
    return paths.back().second;
}

void RepositoryIds::open_scope(std::string_view name, std::uint32_t file)
{
    Frame frame;
    frame.names = joined(frames_.back().names, name);
    frame.paths.emplace_back(file, joined(frames_.back().path(file), name));
    frames_.push_back(std::move(frame));
}

void RepositoryIds::close_scope() { frames_.pop_back(); }

std::string RepositoryIds::default_id(std::string_view name, std::uint32_t file)
{
    return "IDL:" + joined(frames_.back().path(file), name) + ":1.0";
}

void RepositoryIds::add(Declaration& declaration, std::uint32_t file)
{
    const auto [at, fresh] = index_.try_emplace(&declaration, states_.size());
    if (fresh) states_.emplace_back();
    State& state = states_[at->second];
    state.declaration = &declaration;
    state.path = joined(frames_.back().path(file), declaration.name);
}

void RepositoryIds::add_same(Declaration& declaration, const Declaration& original)
{
    State state;
    state.declaration = &declaration;
    state.same_as = &original;
    states_.push_back(std::move(state));
}

RepositoryIds::State* RepositoryIds::find(const Declaration& declaration)
{
    const auto found = index_.find(&canonical(declaration));
    return found == index_.end() ? nullptr : &states_[found->second];
}

const RepositoryIds::State* RepositoryIds::find(const Declaration& declaration) const
{
    const auto found = index_.find(&canonical(declaration));
    return found == index_.end() ? nullptr : &states_[found->second];
}

void RepositoryIds::set_prefix(std::string_view prefix, std::uint32_t file)
{
    frames_.back().path(file) = prefix;
}

void RepositoryIds::set_id(const Declaration& declaration, std::string_view id, Location location)
{
    State* state = find(declaration);
    if (state == nullptr) {
        diagnostics_.error(location, "'" + declaration.name + "' has no repository id");
        return;
    }
    if (id.find(':') == std::string_view::npos || id.front() == ':') {
        diagnostics_.error(location, "a repository id has the form \"format:text\"");
        return;
    }
    const bool conflict = (!state->explicit_id.empty() && state->explicit_id != id) ||
                          (state->version_set && id != current_id(declaration));
    if (conflict) {
        diagnostics_.error(location, "'" + declaration.name + "' already has the repository id \"" +
                                         current_id(declaration) + "\"");
        diagnostics_.note(state->explicit_location, "it is set here");
        return;
    }
    state->explicit_id = id;
    state->explicit_location = location;
}

void RepositoryIds::set_version(const Declaration& declaration, std::string_view version,
                                Location location)
{
    State* state = find(declaration);
    const std::size_t point = version.find('.');
    if (point == std::string_view::npos || !is_digits(version.substr(0, point)) ||
        !is_digits(version.substr(point + 1))) {
        diagnostics_.error(location, "a version has the form major.minor");
        return;
    }
    if (state == nullptr) {
        diagnostics_.error(location, "'" + declaration.name + "' has no repository id");
        return;
    }
    if (!state->explicit_id.empty()) {
        const std::string& id = state->explicit_id;
        if (id.starts_with("IDL:") && id.ends_with(':' + std::string(version))) return;
    }
    if (!state->explicit_id.empty() || (state->version_set && state->version != version)) {
        diagnostics_.error(location, "'" + declaration.name + "' already has the repository id \"" +
                                         current_id(declaration) + "\"");
        diagnostics_.note(state->explicit_location, "it is set here");
        return;
    }
    state->version = version;
    state->version_set = true;
    state->explicit_location = location;
}

void RepositoryIds::set_type_prefix(const Declaration& scope, std::string_view prefix,
                                    Location location)
{
    State* state = find(scope);
    if (state == nullptr) {
        diagnostics_.error(location, "'" + scope.name + "' is not a scope");
        return;
    }
    if (!state->type_prefix.empty() && state->type_prefix != prefix) {
        diagnostics_.error(location, "'" + scope.name + "' already has the type prefix \"" +
                                         state->type_prefix + "\"");
        return;
    }
    state->type_prefix = prefix;
}

std::string RepositoryIds::final_id(const State& state) const
{
    if (!state.explicit_id.empty()) return state.explicit_id;
    std::string path = state.path;
    std::string prefix = file_type_prefix_;
    for (const Declaration* at = state.declaration; at != nullptr; at = at->parent)
        if (const State* scope = find(*at); scope != nullptr && !scope->type_prefix.empty()) {
            prefix = scope->type_prefix;
            break;
        }
    if (!prefix.empty()) {
        path = prefix + '/';
        const std::string& name = state.declaration->scoped_name;
        for (std::size_t i = 0; i < name.size(); ++i) {
            path += name[i] == ':' ? '/' : name[i];
            if (name[i] == ':') ++i;
        }
    }
    return "IDL:" + path + ':' + state.version;
}

std::string RepositoryIds::current_id(const Declaration& declaration) const
{
    const State* state = find(declaration);
    return state == nullptr ? std::string() : final_id(*state);
}

void RepositoryIds::finish()
{
    for (const State& state : states_)
        if (state.same_as == nullptr) state.declaration->repository_id = final_id(state);
    for (const State& state : states_)
        if (state.same_as != nullptr)
            state.declaration->repository_id = state.same_as->repository_id;
}

} // namespace kairos::idlc
