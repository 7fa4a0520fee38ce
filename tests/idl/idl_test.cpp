// SPDX-License-Identifier: Apache-2.0
//
// The IDL files of this folder through the front end. accept/ holds what must be taken, with facts
// about the model in comments; reject/ what must be refused, with every diagnostic in comments;
// golden/ whole reports, carets included, beside their files. Debian's IDL of the OMG is read too.
//
//   // id: A::B IDL:A/B:1.0        the repository id
//   // type: A::T sequence<long>   what the typedef stands for
//   // value: A::c 5               the value of the constant
//   // warning: 3:5: text          a diagnostic, by its beginning (accept/)
//   // expect: 3:5: error: text    a diagnostic, whole; "file.idl:" before it in included files
#include "idlc/frontend.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/wait.h>
#include <vector>

namespace kairos::idlc {
namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<fs::path> idl_files(const fs::path& directory)
{
    std::vector<fs::path> out;
    for (const auto& entry : fs::directory_iterator(directory))
        if (entry.path().extension() == ".idl") out.push_back(entry.path());
    std::sort(out.begin(), out.end());
    return out;
}

/// What follows `// tag: ` in the file, in order.
std::vector<std::string> comments(const std::string& text, const std::string& tag)
{
    std::vector<std::string> out;
    const std::string lead = "// " + tag + ": ";
    for (std::size_t at = text.find(lead); at != std::string::npos; at = text.find(lead, at)) {
        at += lead.size();
        std::string line = text.substr(at, text.find('\n', at) - at);
        if (line.ends_with('\r')) line.pop_back();
        out.push_back(std::move(line));
    }
    return out;
}

Options test_options()
{
    Options options;
    options.include_directories = {"include"};
    return options;
}

/// The declaration of this scoped name; modules have several openings.
const Declaration* find(const Declarations& list, const std::string& name)
{
    for (const Declaration* declaration : list) {
        if (declaration->kind == DeclarationKind::forward) continue;
        if (declaration->scoped_name == name) return declaration;
        const Declarations* inner = nullptr;
        if (const auto* module = as<Module>(declaration)) inner = &module->declarations;
        if (const auto* interface = as<Interface>(declaration)) inner = &interface->declarations;
        if (const auto* structure = as<Struct>(declaration)) inner = &structure->declarations;
        if (const auto* exception = as<Exception>(declaration)) inner = &exception->declarations;
        if (inner == nullptr) continue;
        if (const Declaration* found = find(*inner, name)) return found;
    }
    return nullptr;
}

/// "3:5: error: text", with the file's name before it where it is not the main file.
std::vector<std::string> listed(Compilation& compilation)
{
    static constexpr const char* names[] = {"error", "warning", "note"};
    std::vector<std::string> out;
    for (const Diagnostic& one : compilation.diagnostics().list()) {
        std::string place = compilation.diagnostics().place(one.location);
        const std::string& file = compilation.unit().files[one.location.file].path;
        place = place.substr(std::min(file.size() + 1, place.size()));
        if (one.location.file != 0) place = fs::path(file).filename().string() + ':' + place;
        out.push_back(place + ": " + names[static_cast<int>(one.severity)] + ": " + one.message);
    }
    return out;
}

struct IdlFiles : testing::Test {
    // Paths in messages are relative to the folder.
    void SetUp() override { fs::current_path(KAIROS_IDL_TEST_DIR); }
};

void check_facts(const Unit& unit, const std::string& text)
{
    const auto check = [&](const std::string& tag, auto&& actual) {
        for (const std::string& fact : comments(text, tag)) {
            const std::size_t blank = fact.find(' ');
            const Declaration* declaration = find(unit.declarations, fact.substr(0, blank));
            ASSERT_NE(declaration, nullptr) << tag << ' ' << fact;
            EXPECT_EQ(actual(*declaration), fact.substr(blank + 1)) << tag << ' ' << fact;
        }
    };
    check("id", [](const Declaration& declaration) { return declaration.repository_id; });
    check("type", [](const Declaration& declaration) {
        const auto* alias = as<Alias>(&declaration);
        return alias == nullptr ? std::string("no typedef") : to_string(*alias->type);
    });
    check("value", [](const Declaration& declaration) {
        const auto* constant = as<Constant>(&declaration);
        return constant == nullptr ? std::string("no constant") : to_string(constant->value);
    });
}

TEST_F(IdlFiles, AreAccepted)
{
    const auto files = idl_files("accept");
    ASSERT_GE(files.size(), 25u);
    const Options options = test_options();
    for (const fs::path& path : files) {
        SCOPED_TRACE(path.string());
        Compilation compilation(options);
        EXPECT_TRUE(compilation.compile_file(path.string()))
            << compilation.diagnostics().render(false);
        const std::string text = read_file(path);
        const auto warnings = comments(text, "warning");
        const auto actual = listed(compilation);
        ASSERT_EQ(actual.size(), warnings.size()) << compilation.diagnostics().render(false);
        for (std::size_t i = 0; i < actual.size(); ++i) {
            const std::size_t colon = warnings[i].find(": ");
            EXPECT_TRUE(actual[i].starts_with(warnings[i].substr(0, colon))) << actual[i];
            EXPECT_NE(actual[i].find(warnings[i].substr(colon + 2)), std::string::npos)
                << actual[i];
        }
        check_facts(compilation.unit(), text);
    }
}

TEST_F(IdlFiles, AreRejectedWithTheseDiagnostics)
{
    const auto files = idl_files("reject");
    ASSERT_GE(files.size(), 40u);
    const Options options = test_options();
    for (const fs::path& path : files) {
        SCOPED_TRACE(path.string());
        Compilation compilation(options);
        EXPECT_FALSE(compilation.compile_file(path.string()));
        EXPECT_EQ(listed(compilation), comments(read_file(path), "expect"));
    }
}

/// What editors would not keep in a file of reject/.
TEST_F(IdlFiles, AreRejectedWhereThePreprocessorWouldLeaveSomethingOut)
{
    const Options options = test_options();
    const fs::path directory = fs::path(testing::TempDir()) / "kairos-idl-left-out";
    fs::create_directories(directory);
    const auto diagnostics_of = [&](const std::string& text) {
        const fs::path path = directory / "main.idl";
        std::ofstream(path, std::ios::binary) << text;
        Compilation compilation(options);
        EXPECT_FALSE(compilation.compile_file(path.string())) << text;
        return listed(compilation);
    };
    using List = std::vector<std::string>;
    const std::string null(1, '\0');
    EXPECT_EQ(diagnostics_of("struct A { long x; }; " + null + " struct B { long y; };\n" + null),
              (List{"1:23: error: null character"}));
    std::ofstream(directory / "other.idl", std::ios::binary) << "typedef long T;\n" + null;
    EXPECT_EQ(diagnostics_of("#include \"other.idl\"\n#include \"other.idl\"\n"),
              (List{"other.idl:2:1: error: null character"}));
    const std::string itself = directory / "main.idl";
    const List endless = diagnostics_of("#include \"main.idl\"\n");
    ASSERT_EQ(endless.size(), 1u);
    EXPECT_EQ(endless.front(),
              "main.idl:1:10: error: '" + itself + "' includes itself without end");
    // Doubles itself 64 times.
    std::string bomb = "#define A0 x x\n";
    for (int i = 1; i < 64; ++i) {
        const std::string before = "A" + std::to_string(i - 1);
        bomb += "#define A" + std::to_string(i) + " " + before + " " + before + "\n";
    }
    EXPECT_EQ(diagnostics_of(bomb + "A63\n"), (List{"65:1: error: too large after preprocessing"}));
    std::string nested = "f(1)";
    for (int i = 0; i < 300; ++i)
        nested = "f(" + nested + ")";
    EXPECT_EQ(diagnostics_of("#define f(x) x\nconst long n = " + nested + ";\n"),
              (List{"2:416: error: calls of macros are nested too deeply"}));
    EXPECT_EQ(
        diagnostics_of("#if " + std::string(300, '(') + "1" + std::string(300, ')') + "\n#endif\n"),
        (List{"1:205: error: the condition is nested too deeply"}));
    fs::remove_all(directory);
}

/// Nothing has a limit that a generator of IDL could meet.
TEST_F(IdlFiles, MayBeOfAnySize)
{
    const fs::path directory = fs::path(testing::TempDir()) / "kairos-idl-any-size";
    fs::create_directories(directory);
    const auto write = [&](const std::string& name, const std::string& text) {
        std::ofstream(directory / name, std::ios::binary) << text;
        return (directory / name).string();
    };
    const Options options;
    const auto check = [&](const std::string& path) {
        Compilation compilation(options);
        EXPECT_TRUE(compilation.compile_file(path)) << compilation.diagnostics().render(false);
        EXPECT_EQ(compilation.diagnostics().list().size(), 0u);
        return compilation.unit().declarations.size();
    };
    constexpr std::size_t large = 200'000;
    EXPECT_EQ(check(write("comment.idl", "/* " + std::string(large, 'x') + " */ typedef long T;")),
              1u);
    std::string lines = "/*\n";
    for (std::size_t i = 0; i < large / 10; ++i)
        lines += " * a line of text\n";
    EXPECT_EQ(check(write("comment_lines.idl", lines + "*/ typedef long T;")), 1u);
    EXPECT_EQ(check(write("slashes.idl", "typedef long T; //" + std::string(large, '/'))), 1u);
    EXPECT_EQ(check(write("name.idl", "typedef long " + std::string(large, 'n') + ";")), 1u);
    std::string line;
    std::string macro = "#define BODY";
    for (int i = 0; i < 5000; ++i) {
        const std::string one =
            "struct S" + std::to_string(i) + " { long a" + std::to_string(i) + "; };";
        line += ' ' + one;
        macro += " \\\n" + one;
    }
    EXPECT_EQ(check(write("line.idl", line)), 5000u);
    EXPECT_EQ(check(write("macro.idl", macro + "\nBODY\n")), 5000u);
    EXPECT_EQ(check(write("macro_argument.idl", "#define ALL(x) x\nALL(" + line + ")")), 5000u);
    EXPECT_EQ(check(write("macro_before.idl", "#define A typedef long Longer;\nA " + line)), 5001u);

    const std::string text(large, 'y');
    Compilation literal(options);
    ASSERT_TRUE(
        literal.compile_file(write("text.idl", "const string s = \"" + text + "\" \"z\";")));
    const auto* constant = as<Constant>(find(literal.unit().declarations, "s"));
    ASSERT_NE(constant, nullptr);
    EXPECT_EQ(std::get<std::string>(constant->value), text + "z");

    constexpr int depth = 400;
    for (int i = 0; i < depth; ++i)
        write("n" + std::to_string(i) + ".idl", "#include \"n" + std::to_string(i + 1) +
                                                    ".idl\"\ntypedef long T" + std::to_string(i) +
                                                    ";\n");
    const std::string last = "n" + std::to_string(depth) + ".idl";
    const std::string first = (directory / "n0.idl").string();
    write(last, "typedef long T;\n");
    EXPECT_EQ(check(first), static_cast<std::size_t>(depth) + 1);
    write(last, "typedef nonsense T;\n");
    Compilation deep(options);
    EXPECT_FALSE(deep.compile_file(first));
    EXPECT_NE(deep.diagnostics().render(false).find("and others"), std::string::npos);
    fs::remove_all(directory);
}

TEST_F(IdlFiles, HaveTheseWholeReports)
{
    const Options options = test_options();
    std::size_t count = 0;
    for (const fs::path& path : idl_files("golden")) {
        SCOPED_TRACE(path.string());
        Compilation compilation(options);
        EXPECT_FALSE(compilation.compile_file(path.string()));
        EXPECT_EQ(compilation.diagnostics().render(false),
                  read_file(fs::path(path).replace_extension(".txt")));
        ++count;
    }
    EXPECT_GE(count, 3u);
}

TEST_F(IdlFiles, OneAfterTheOtherDoNotDisturbEachOther)
{
    // An error and a macro of one run must not reach the next.
    Options defining = test_options();
    defining.defines = {"MISSING=1"};
    const Options plain = test_options();
    for (int i = 0; i < 3; ++i) {
        Compilation failing(defining);
        EXPECT_FALSE(failing.compile_file("accept/preprocessor.idl"));
        Compilation broken(plain);
        EXPECT_FALSE(broken.compile_file("reject/missing_include.idl"));
        Compilation good(plain);
        EXPECT_TRUE(good.compile_file("accept/preprocessor.idl"));
    }
}

TEST_F(IdlFiles, KnowWhereTheyCameFrom)
{
    const Options options = test_options();
    Compilation compilation(options);
    ASSERT_TRUE(compilation.compile_file("accept/pragma_include.idl"));
    const Unit& unit = compilation.unit();
    ASSERT_EQ(unit.direct_includes.size(), 2u);
    const SourceFile& first = unit.files[unit.direct_includes[0]];
    EXPECT_EQ(first.include_spelling, "\"prefixed.idl\"");
    EXPECT_EQ(first.path, "include/prefixed.idl");
    EXPECT_EQ(unit.files[unit.direct_includes[1]].include_spelling, "<plain.idl>");
    EXPECT_TRUE(find(unit.declarations, "Before")->in_main_file);
    const Declaration* included = find(unit.declarations, "Prefixed::T");
    ASSERT_NE(included, nullptr);
    EXPECT_FALSE(included->in_main_file);
    EXPECT_EQ(included->location.file, unit.direct_includes[0]);
    EXPECT_EQ(included->location.line, 3u);
}

TEST_F(IdlFiles, ThatAreMissingAreReported)
{
    const Options options;
    Compilation missing(options);
    EXPECT_FALSE(missing.compile_file("nowhere.idl"));
    EXPECT_EQ(missing.diagnostics().render(false), "nowhere.idl: error: no such file\n");
    Compilation directory(options);
    EXPECT_FALSE(directory.compile_file("accept"));
    EXPECT_EQ(directory.diagnostics().render(false), "accept: error: is a directory\n");
}

TEST_F(IdlFiles, CanBePreprocessedOnly)
{
    const Options options = test_options();
    Compilation compilation(options);
    std::string text;
    ASSERT_TRUE(compilation.preprocess_file("accept/pragma_include.idl", text));
    EXPECT_NE(text.find("#line 2 \"include/prefixed.idl\"\n#pragma prefix \"theirs\"\n"),
              std::string::npos)
        << text;
    EXPECT_EQ(text.find("#include"), std::string::npos);
}

TEST_F(IdlFiles, HaveNoMacrosThatTheUserTakesAway)
{
    Options options = test_options();
    options.undefines = {"__KAIROS_IDL"};
    Compilation without(options);
    ASSERT_TRUE(without.compile_file("accept/preprocessor.idl"));
    EXPECT_EQ(find(without.unit().declarations, "array_size"), nullptr);
    options.undefines = {"SOMETHING_ELSE"};
    Compilation with(options);
    ASSERT_TRUE(with.compile_file("accept/preprocessor.idl"));
    EXPECT_NE(find(with.unit().declarations, "array_size"), nullptr);
}

/// The exit status of kairos-idl with these arguments, its output dropped.
int run_program(const std::string& arguments)
{
    const std::string command =
        std::string("'") + KAIROS_IDL_PROGRAM + "' " + arguments + " >/dev/null 2>&1";
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(IdlFiles, GiveTheProgramItsExitStatus)
{
    EXPECT_EQ(run_program("--check accept/enums.idl accept/structs.idl"), 0);
    EXPECT_EQ(run_program("--check -I include -DX=1 -UY accept/pragma_include.idl"), 0);
    EXPECT_EQ(run_program("--version"), 0);
    EXPECT_EQ(run_program("--check reject/enums.idl accept/enums.idl"), 1);
    EXPECT_EQ(run_program("--check accept/enums.idl nowhere.idl"), 1);
    EXPECT_EQ(run_program("-E reject/missing_include.idl"), 1);
    EXPECT_EQ(run_program(""), 2);
    EXPECT_EQ(run_program("--frobnicate accept/enums.idl"), 2);
    EXPECT_EQ(run_program("-D9x accept/enums.idl"), 2);
}

/// Debian's package omniorb-idl: 71 files of the OMG's services.
TEST_F(IdlFiles, OfDebiansOmniorbIdlAreAccepted)
{
    const fs::path root = "/usr/share/idl/omniORB";
    if (!fs::exists(root / "COS/CosNaming.idl"))
        GTEST_SKIP() << "the Debian package omniorb-idl is not installed";
    Options options;
    // IOP.idl, which three of them include, is not in the package; ours is.
    options.include_directories = {root.string(), (root / "COS").string(), KAIROS_IDL_DIR};
    std::size_t count = 0;
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
        if (entry.path().extension() != ".idl") continue;
        SCOPED_TRACE(entry.path().string());
        Compilation compilation(options);
        EXPECT_TRUE(compilation.compile_file(entry.path().string()))
            << compilation.diagnostics().render(false);
        EXPECT_FALSE(compilation.unit().declarations.empty());
        ++count;
    }
    EXPECT_GE(count, 71u);
}

} // namespace
} // namespace kairos::idlc
