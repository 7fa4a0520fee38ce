// SPDX-License-Identifier: Apache-2.0
//
// JacORB's stubs on our Interface Repository, and our tool on JacORB's.
#include "jacorb.h"

#include <set>
#include <sstream>

namespace interop {
namespace {

constexpr int checks_of_repository = 20;

/// What the tool prints, line by line.
std::set<std::string> lines_of(const Arguments& arguments)
{
    calls::Process tool(Arguments{KAIROS_TOOL} + arguments);
    std::istringstream text(tool.read_all());
    EXPECT_EQ(0, tool.wait());
    std::set<std::string> lines;
    for (std::string line; std::getline(text, line);)
        lines.insert(line);
    return lines;
}

class JacorbAndRepositories : public WithJacorb {};

TEST_F(JacorbAndRepositories, OursIsReadAndChangedByJacorb)
{
    calls::Process server({KAIROS_TOOL, "ifr", "serve", "-l", "iiop://127.0.0.1:0", KINDS_IDL});
    jacorb().expect_checks("repository", "1.2", server.read_line(), checks_of_repository);
}

// JacORB's knows what its compiler's classes say, in no order that it promises. What it gets wrong
// (docs/interop.md) is not looked at.
TEST_F(JacorbAndRepositories, JacorbsIsReadByOurTool)
{
    const std::string put = "long long put(in Kinds::Names books, inout Kinds::Choice which, "
                            "out Kinds::Grid where) raises(Kinds::Full);";
    const Arguments repository{"-r", jacorb().repository};
    EXPECT_EQ((std::set<std::string>{
                  "module Kinds", "  const most", "  const greeting", "  enum Mood",
                  "  typedef Names", "  typedef Grid", "  typedef Price", "  struct Point",
                  "  struct Loan", "  union Choice", "  exception Full", "  interface Base",
                  "    attribute title", "  interface Shelf", "    attribute used",
                  "    operation put", "    operation note", "    operation neighbour"}),
              lines_of(Arguments{"ifr", "ls"} + repository));

    const auto shelf = lines_of(Arguments{"ifr", "show", "Kinds::Shelf"} + repository);
    for (const char* line :
         {"        case -3: Kinds::Names several;", "        case 4: Kinds::Point where;",
          "        default: string one;", "    typedef sequence<string, 8> Names;",
          "    typedef long Grid[2][3];", "    exception Full {",
          "        readonly attribute long used;", "        oneway void note(in any what);",
          "        Kinds::Base neighbour(in Kinds::Shelf of);"})
        EXPECT_TRUE(shelf.contains(line)) << line;
    EXPECT_TRUE(shelf.contains("        " + put));
    const auto others = lines_of(Arguments{"ifr", "dump"} + repository);
    for (const char* line : {"    const long most = 42;", "    const string greeting = \"hello\";",
                             "    typedef fixed<7,2> Price;", "    struct Loan {",
                             "        Kinds::Mood how;", "        attribute string title;"})
        EXPECT_TRUE(others.contains(line)) << line;

    const auto described = lines_of({"describe", "IDL:Kinds/Shelf:1.0", "-ORBInitRef",
                                     "InterfaceRepository=" + jacorb().repository});
    for (const char* line :
         {"    // of Kinds::Base", "    attribute string title;",
          "    readonly attribute long used;", "    oneway void note(in any what);"})
        EXPECT_TRUE(described.contains(line)) << line;
    EXPECT_TRUE(described.contains("    " + put));
}

} // namespace
} // namespace interop
