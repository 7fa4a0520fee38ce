// SPDX-License-Identifier: Apache-2.0
//
// What the back end has no code for yet, found before anything is written: never silently missing
// code. Only what the main file declares or uses counts; other constructs of included files are
// the business of whoever compiles those.
#include "idlc/cpp/emitters.h"
#include "idlc/uses.h"

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace kairos::idlc {
namespace {

class Check {
  public:
    explicit Check(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

    void declaration(const Declaration& declaration)
    {
        if (!declaration.generated) return;
        if (as<Native>(&declaration) && in_class(declaration))
            diagnostics_.error(declaration.location,
                               "a program can define a native type in a module only: its C++ name "
                               "would be inside a generated class");
        const auto* composite = as<Struct>(&declaration);
        if (composite != nullptr && composite->base != nullptr)
            refuse(composite->location, "struct inheritance");
        for (const TypeUse& use : uses_of(declaration))
            type(*use.type, use.location);
        for (const Declaration* raised : raised_by(declaration)) {
            const auto* exception = as<Exception>(raised);
            if (exception == nullptr) {
                refuse(declaration.location, "native exceptions");
            } else if (!exception->generated) {
                for (const Member& member : exception->members)
                    type(*member.type, declaration.location);
            }
        }
    }

  private:
    void refuse(Location location, std::string_view what)
    {
        diagnostics_.error(location,
                           "code generation for " + std::string(what) + " is not there yet");
    }

    void type(const Type& type, Location location)
    {
        // What the main file declares is reported where it is declared, once.
        if (type.kind == TypeKind::declared && type.declaration->generated) return;
        const bool fine = all_parts({&type}, [](const Type& part) {
            const auto* composite = as<Struct>(part.declaration);
            return composite == nullptr || composite->base == nullptr;
        });
        if (!fine) refuse(location, "struct inheritance");
    }

    Diagnostics& diagnostics_;
};

/// Names that the mapping makes of others: what is declared under one of them would be a second
/// declaration to the C++ compiler, which explains it badly.
class MadeNames {
  public:
    MadeNames(const Unit& unit, Diagnostics& diagnostics) : diagnostics_(diagnostics)
    {
        for_each(unit.declarations, [this](const Declaration& one) { note(one); });
        for_each(unit.declarations, [this](const Declaration& one) { check(one); });
    }

  private:
    template <typename Function>
    static void for_each(const Declarations& declarations, const Function& function)
    {
        for (const Declaration* declaration : declarations) {
            if (declaration->kind == DeclarationKind::forward ||
                declaration->kind == DeclarationKind::annotation)
                continue;
            function(*declaration);
            if (const auto* enumeration = as<Enum>(declaration))
                for (const Enumerator* enumerator : enumeration->enumerators)
                    function(*enumerator);
            // What is declared within a struct or the like is within a class: it is in nobody's
            // way.
            if (as<Module>(declaration) || as<Interface>(declaration) || as<ValueType>(declaration))
                for_each(within(*declaration), function);
        }
    }

    void note(const Declaration& declaration)
    {
        declared_.try_emplace(declaration.scoped_name, &declaration);
    }

    void check(const Declaration& declaration)
    {
        if (declaration.parent == nullptr) {
            if (as<Module>(&declaration) || as<Interface>(&declaration))
                check(declaration, "POA_" + declaration.name, "skeletons");
            if (as<Module>(&declaration) || as<ValueType>(&declaration))
                check(declaration, "OBV_" + declaration.name, "values");
        }
        for (const std::string_view suffix : suffixes(declaration))
            check(declaration, declaration.scoped_name + std::string(suffix), "C++");
    }

    void check(const Declaration& declaration, const std::string& made, std::string_view what)
    {
        const auto found = declared_.find(made);
        if (found == declared_.end()) return;
        const Declaration& other = *found->second;
        if (!other.generated && !declaration.generated) return;
        const Declaration& wrong = other.generated ? other : declaration;
        const Declaration& right = other.generated ? declaration : other;
        diagnostics_.error(wrong.location, "'" + made + "' is the name that " + std::string(what) +
                                               " of " + std::string(to_string(declaration.kind)) +
                                               " '" + declaration.scoped_name + "' " +
                                               (what == "C++" ? "needs" : "need") +
                                               "; rename one of them");
        diagnostics_.note(right.location, "'" + right.scoped_name + "' is declared here");
    }

    /// Of the names that a type has beside its own: those of the table, and the functions of arrays
    /// and the factories of values.
    static std::vector<std::string_view> suffixes(const Declaration& declaration)
    {
        if (!declares_type(declaration)) return {};
        const Form form = form_of(declaration);
        const auto& suffixes = passing(form).suffixes;
        std::vector<std::string_view> found(suffixes.begin(), std::ranges::find(suffixes, ""));
        if (is_array(form)) found.insert(found.end(), {"_alloc", "_dup", "_copy", "_free"});
        if (as<ValueType>(&declaration)) found.emplace_back("_init");
        return found;
    }

    Diagnostics& diagnostics_;
    std::unordered_map<std::string, const Declaration*> declared_;
};

} // namespace

bool check_supported(const Unit& unit, Diagnostics& diagnostics)
{
    const std::size_t before = diagnostics.error_count();
    Check check(diagnostics);
    for_each(unit.declarations, [&](const Declaration& each) { check.declaration(each); });
    const MadeNames made(unit, diagnostics);
    return diagnostics.error_count() == before;
}

} // namespace kairos::idlc
