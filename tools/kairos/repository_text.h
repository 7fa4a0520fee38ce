// SPDX-License-Identifier: Apache-2.0
//
// An Interface Repository as IDL, ours or another ORB's: it is read by the calls that CORBA has for
// that.
#pragma once

#include "kairos/ir/ir.h"

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace kairos::tools {

/// One definition that a repository described, with what is within it.
struct Described {
    CORBA::DefinitionKind kind = CORBA::dk_none;
    std::string id;
    std::string name;
    std::string version;
    const Described* container = nullptr; ///< null in the repository itself
    CORBA::Any value{};                   ///< of CORBA::Contained::Description
    CORBA::Contained_var object{};
    std::vector<std::unique_ptr<Described>> contents{};
    CORBA::ExcDescriptionSeq get_exceptions{}; ///< of an attribute
    CORBA::ExcDescriptionSeq set_exceptions{};
    CORBA::ExtInitializerSeq initializers{}; ///< of a valuetype
};

/// Everything that a repository holds, read at once. Throws CORBA's exceptions, IMP_LIMIT for one
/// that has more than a million definitions or containers deeper than 64.
class RepositoryContents {
  public:
    explicit RepositoryContents(CORBA::Repository_ptr repository);

    [[nodiscard]] const std::vector<std::unique_ptr<Described>>& top() const { return top_; }
    /// Null for none.
    [[nodiscard]] const Described* find(const std::string& id) const;
    /// The same by id, or by its name with or without "::" in front.
    [[nodiscard]] const Described* find_named(const std::string& id_or_name) const;

  private:
    void read(CORBA::Container_ptr from, const Described* container,
              std::vector<std::unique_ptr<Described>>& to, std::size_t depth);

    std::vector<std::unique_ptr<Described>> top_;
    std::map<std::string, const Described*> by_id_;
};

/// Returns "Demo::Echo".
[[nodiscard]] std::string scoped_name(const Described& described);
/// Returns the word for a kind of definition: "interface", "struct".
[[nodiscard]] std::string word_of(CORBA::DefinitionKind kind);

/// Returns IDL that declares everything, each behind what it needs, with the same ids: loaded into
/// an empty repository it makes the same one.
[[nodiscard]] std::string idl_of(const RepositoryContents& contents, CORBA::ORB_ptr orb);
/// Returns IDL that declares one definition with all that it needs.
[[nodiscard]] std::string idl_of(const RepositoryContents& contents, const Described& wanted,
                                 CORBA::ORB_ptr orb);

} // namespace kairos::tools
