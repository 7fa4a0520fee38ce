// SPDX-License-Identifier: Apache-2.0
//
// IDL into a repository and out again: what is printed declares the same.
#include "idlc/frontend.h"
#include "kairos/orb/upcall_observer.h"
#include "kairos/repository/repository.h"
#include "tools/kairos/repository_load.h"
#include "tools/kairos/repository_text.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace kairos::tools {
namespace {

namespace fs = std::filesystem;
using repository::Definition;
using repository::Key;
using repository::Model;

/// Refuses to describe all that a container holds, as JacORB's repository does.
class DescribesNothingAtOnce final : public orb::UpcallObserver {
  public:
    explicit DescribesNothingAtOnce(std::atomic<int>* refused) : refused_(refused) {}
    void receive_request(orb::ObservedUpcall& upcall) override
    {
        if (upcall.operation() != "describe_contents") return;
        ++*refused_;
        throw CORBA::UNKNOWN();
    }

  private:
    std::atomic<int>* const refused_;
};

/// A repository in an ORB of its own.
struct Place {
    explicit Place(std::unique_ptr<orb::UpcallObserver> observer = nullptr)
    {
        static int places = 0; // each ORB of its own
        int count = 0;
        char* none[] = {nullptr};
        orb = CORBA::ORB_init(count, none, fmt::format("place-{}", ++places).c_str());
        if (observer) orb->_kairos_add_upcall_observer(std::move(observer));
        service = std::make_unique<repository::InterfaceRepository>(orb.in());
        root = service->reference();
    }
    ~Place()
    {
        service.reset();
        orb->destroy();
    }
    [[nodiscard]] std::string printed() const
    {
        return idl_of(RepositoryContents(root.in()), orb.in());
    }

    CORBA::ORB_var orb;
    std::unique_ptr<repository::InterfaceRepository> service;
    CORBA::Repository_var root;
};

/// Adds a file; what the compiler or the repository says of one that cannot be added.
std::string add_file(Place& place, const fs::path& path, const std::vector<std::string>& folders)
{
    idlc::Options options;
    options.include_directories = folders;
    idlc::Compilation compilation(options);
    if (!compilation.compile_file(path.string())) return compilation.diagnostics().render(false);
    try {
        load(compilation.unit(), place.root.in(), place.orb.in());
    } catch (const std::exception& failure) {
        return failure.what();
    }
    return {};
}

std::string add_text(Place& place, const std::string& text)
{
    idlc::Options options;
    idlc::Compilation compilation(options);
    if (!compilation.compile_text(text, "printed.idl"))
        return compilation.diagnostics().render(false);
    try {
        load(compilation.unit(), place.root.in(), place.orb.in());
    } catch (const std::exception& failure) {
        return failure.what();
    }
    return {};
}

/// A type as a text: by its id, or what it is made of.
std::string type_text(const Model& model, Key key)
{
    const Definition* const type = model.find(key);
    if (type == nullptr) return "-";
    if (!repository::is_anonymous(type->kind))
        return type->id.empty() ? std::to_string(key) : type->id;
    return fmt::format("{}<{},{},{},{}>", static_cast<int>(type->kind), type->bound, type->digits,
                       type->scale, type_text(model, type->type));
}

/// Everything that a definition says, without the numbers.
std::string outline_of(const Model& model, const Definition& definition)
{
    std::string text = fmt::format(
        "{} {} in {} version {} type {} value {} {}{}{}{}{}{}", static_cast<int>(definition.kind),
        model.absolute_name(definition.key), type_text(model, definition.container),
        definition.version, type_text(model, definition.type), definition.value,
        definition.is_oneway, definition.is_readonly, definition.is_public, definition.is_abstract,
        definition.is_custom, definition.is_truncatable);
    const auto members = [&](const std::vector<repository::Member>& list) {
        for (const repository::Member& member : list)
            text += fmt::format("\n  {} {} {} {}", member.name, type_text(model, member.type),
                                member.label, member.is_default);
    };
    const auto keys = [&](const char* what, const std::vector<Key>& list) {
        for (const Key key : list)
            text += fmt::format("\n  {} {}", what, type_text(model, key));
    };
    members(definition.members);
    for (const repository::Parameter& parameter : definition.parameters)
        text += fmt::format("\n  {} {} {}", parameter.name, type_text(model, parameter.type),
                            static_cast<int>(parameter.direction));
    for (const std::string& context : definition.contexts)
        text += "\n  context " + context;
    keys("raises", definition.exceptions);
    keys("setraises", definition.set_exceptions);
    keys("base", definition.bases);
    keys("supports", definition.supported);
    text += "\n  base value " + type_text(model, definition.base_value);
    for (const repository::Initializer& initializer : definition.initializers) {
        text += "\n  factory " + initializer.name;
        members(initializer.members);
        keys("raises", initializer.exceptions);
    }
    return text;
}

/// What IDL does not declare: pseudo objects that it knows, modules without anything else.
bool is_implied(const Model& model, const Definition& definition)
{
    if (definition.kind == repository::Kind::native)
        return model.absolute_name(definition.key).starts_with("::CORBA::");
    if (definition.kind != repository::Kind::module) return false;
    const std::vector<Key> within = model.contents(definition.key, repository::Kind::all, false);
    return std::ranges::all_of(within,
                               [&](Key key) { return is_implied(model, *model.find(key)); });
}

std::map<std::string, std::string> outline(const Model& model)
{
    std::map<std::string, std::string> all;
    std::vector<Key> open{repository::root};
    for (std::size_t i = 0; i < open.size(); ++i)
        for (const Key key : model.contents(open[i], repository::Kind::all, false)) {
            open.push_back(key);
            if (is_implied(model, *model.find(key))) continue;
            all.emplace(model.find(key)->id, outline_of(model, *model.find(key)));
        }
    return all;
}

/// Prints what one has, and puts it into another: both have the same.
void expect_again(const Place& place, const std::string& what)
{
    const std::string text = place.printed();
    Place other;
    ASSERT_EQ(add_text(other, text), "") << what << '\n' << text;
    const auto expected = outline(place.service->model());
    const auto again = outline(other.service->model());
    for (const auto& [id, definition] : expected) {
        const auto found = again.find(id);
        ASSERT_NE(found, again.end()) << what << ": " << id << '\n' << text;
        ASSERT_EQ(found->second, definition) << what << '\n' << text;
    }
    ASSERT_EQ(again.size(), expected.size()) << what << '\n' << text;
}

std::vector<fs::path> idl_files(const fs::path& folder)
{
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder))
        if (entry.path().extension() == ".idl") files.push_back(entry.path());
    std::ranges::sort(files);
    return files;
}

TEST(Repository, PrintsWhatOurTestIdlDeclares)
{
    const fs::path project = PROJECT_DIRECTORY;
    for (const fs::path& file : idl_files(project / "tests/idl/accept")) {
        // It declares anew what it has used of module CORBA before: two things of one name.
        if (file.filename() == "locality_constrained.idl") continue;
        Place place;
        const std::string said = add_file(
            place, file, {project / "tests/idl/include", project / "tests/idl", project / "idl"});
        EXPECT_EQ(said, "") << file;
        if (said.empty()) expect_again(place, file.string());
    }
}

TEST(Repository, PrintsOurOwnIdl)
{
    const fs::path project = PROJECT_DIRECTORY;
    for (const fs::path& file : idl_files(project / "idl")) {
        Place place;
        ASSERT_EQ(add_file(place, file, {project / "idl"}), "") << file;
        expect_again(place, file.string());
    }
}

TEST(Repository, PrintsAllTypes)
{
    const fs::path project = PROJECT_DIRECTORY;
    for (const fs::path& file : idl_files(project / "tests/interop")) {
        Place place;
        ASSERT_EQ(add_file(place, file, {project / "idl", project / "tests/interop"}), "") << file;
        expect_again(place, file.string());
    }
}

/// Each by itself, and all of them in one repository, as far as they do not contradict each other.
/// Of how many files one is printed alone: with sanitizers each takes seconds.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t printed_of = 8;
#else
constexpr std::size_t printed_of = 1;
#endif

TEST(Repository, PrintsOmniorbsIdl)
{
    const fs::path folder = "/usr/share/idl/omniORB";
    if (!fs::exists(folder)) GTEST_SKIP() << "omniorb-idl is not installed";
    // SECIOP.idl and others include IOP.idl, which omniORB does not have.
    const std::vector<std::string> folders{folder, folder / "COS",
                                           fs::path(PROJECT_DIRECTORY) / "idl"};
    Place all;
    std::size_t loaded = 0;
    for (const fs::path& file : idl_files(folder)) {
        Place place;
        const std::string said = add_file(place, file, folders);
        if (!said.empty()) {
            fmt::print("not loaded: {}: {}\n", file.string(), said.substr(0, 300));
            continue;
        }
        ++loaded;
        if (loaded % printed_of == 0) expect_again(place, file.string());
        if (const std::string why = add_file(all, file, folders); !why.empty())
            fmt::print("not beside the others: {}: {}\n", file.string(), why);
    }
    fmt::print("{} files, {} definitions\n", loaded, all.service->model().size());
    EXPECT_GT(loaded, 70U);
    expect_again(all, "all of them");
}

TEST(Repository, IsReadOneByOneWhereItCannotBeDescribedAtOnce)
{
    const std::string text = "module A { const long most = 3; exception Full { long value; }; "
                             "interface I { readonly attribute long size; void put(in any it) "
                             "raises (Full); }; module B { enum E { one, two }; }; };";
    Place usual;
    ASSERT_EQ(add_text(usual, text), "");
    std::atomic<int> refused = 0;
    Place other(std::make_unique<DescribesNothingAtOnce>(&refused));
    ASSERT_EQ(add_text(other, text), "");
    EXPECT_EQ(other.printed(), usual.printed());
    EXPECT_EQ(refused, 5); // the repository, A, Full, I and B
}

TEST(Repository, ShowsOneDefinitionWithWhatItNeeds)
{
    Place place;
    ASSERT_EQ(add_text(place,
                       "module A { struct S { long value; }; typedef sequence<S> Ss; interface I "
                       "{ Ss get(); }; interface Other {}; };"),
              "");
    const RepositoryContents contents(place.root.in());
    const Described* const wanted = contents.find_named("A::I");
    ASSERT_NE(wanted, nullptr);
    EXPECT_EQ(idl_of(contents, *wanted, place.orb.in()), "module A {\n"
                                                         "    struct S {\n"
                                                         "        long value;\n"
                                                         "    };\n"
                                                         "    typedef sequence<A::S> Ss;\n"
                                                         "    interface I {\n"
                                                         "        A::Ss get();\n"
                                                         "    };\n"
                                                         "};\n");
}

} // namespace
} // namespace kairos::tools
