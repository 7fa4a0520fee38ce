// SPDX-License-Identifier: Apache-2.0
//
// Repository ids: default ones from prefix and scope, and what #pragma prefix, ID and version,
// typeid and typeprefix change about them. CORBA 3.3 part 1, 14.7.5 and 7.15. Ids are final only
// after the last line was read: pragmas may follow far behind the declaration.
#pragma once

#include "idlc/diagnostics.h"
#include "idlc/model.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kairos::idlc {

class RepositoryIds {
  public:
    explicit RepositoryIds(Diagnostics& diagnostics);

    /// Between these, declarations belong to the named scope. `file` is where the scope opens.
    void open_scope(std::string_view name, std::uint32_t file);
    void close_scope();

    /// Gives the declaration its default id, from the prefix in force in its file and scope.
    void add(Declaration& declaration, std::uint32_t file);
    /// Another declaration of the same thing: it takes over the id.
    void add_same(Declaration& declaration, const Declaration& original);

    /// #pragma prefix: for the rest of the current scope of the current file.
    void set_prefix(std::string_view prefix, std::uint32_t file);
    void set_id(const Declaration& declaration, std::string_view id, Location location);
    void set_version(const Declaration& declaration, std::string_view version, Location location);
    void set_type_prefix(const Declaration& scope, std::string_view prefix, Location location);
    /// typeprefix of the file scope, "::".
    void set_file_type_prefix(std::string_view prefix) { file_type_prefix_ = prefix; }

    /// What a declaration in `file` here would get: "IDL:prefix/scopes/name:1.0".
    [[nodiscard]] std::string default_id(std::string_view name, std::uint32_t file);
    [[nodiscard]] std::string current_id(const Declaration& declaration) const;

    /// Writes the final ids into the declarations.
    void finish();

  private:
    struct State {
        Declaration* declaration = nullptr;
        const Declaration* same_as = nullptr;
        std::string path; ///< prefix, scopes and name, joined with '/'
        std::string version = "1.0";
        bool version_set = false;
        std::string explicit_id;
        std::string type_prefix;
        Location explicit_location{};
    };
    /// One open scope. Each file has its own prefix in it, so an #include cannot change ours.
    struct Frame {
        std::string names; ///< of the scopes, without any prefix
        std::vector<std::pair<std::uint32_t, std::string>> paths;
        std::string& path(std::uint32_t file);
    };
    State* find(const Declaration& declaration);
    [[nodiscard]] const State* find(const Declaration& declaration) const;
    [[nodiscard]] std::string final_id(const State& state) const;

    Diagnostics& diagnostics_;
    std::vector<Frame> frames_;
    std::vector<State> states_;
    std::unordered_map<const Declaration*, std::size_t> index_;
    std::string file_type_prefix_;
};

} // namespace kairos::idlc
