// SPDX-License-Identifier: Apache-2.0
//
// Which operations a servant of the same process is called for without a message: those whose
// arguments it can be given as the caller has them, and nobody sees a difference.
#include "idlc/cpp/emitters.h"
#include "idlc/frontend.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace kairos::idlc {
namespace {

/// The operations of the interface I that can share their arguments.
std::set<std::string> shared_by(const std::string& declarations, const std::string& operations)
{
    const Options options;
    Compilation compilation{options};
    const std::string text = declarations + " interface I { " + operations + " };";
    EXPECT_TRUE(compilation.compile_text(text, "t.idl")) << compilation.diagnostics().render(false);
    const CppOptions cpp_options;
    const OutputOptions output_options;
    const Outputs outputs(output_options, compilation.unit());
    const Source source{compilation.unit(), cpp_options, outputs};
    std::set<std::string> names;
    for (const Interface* interface : all_of<Interface>(source.unit))
        for (const Call& call : calls_in(source, interface->declarations))
            if (can_share_arguments(call)) names.insert(call.wire_name);
    return names;
}

using Names = std::set<std::string>;

TEST(SharedArguments, OfWhatACopyCannotBeToldFrom)
{
    const std::string types =
        "enum Kind { x, y }; typedef sequence<long> Numbers; typedef fixed<5, 2> Money;"
        "struct Tree { string name; Kind kind; sequence<Tree> children; Money price; };"
        "union Choice switch (boolean) { case TRUE: Tree t; case FALSE: long n; };"
        "typedef Tree Trees[3]; exception Bad { Tree why; };";
    EXPECT_EQ(shared_by(types, "void a(in string s); Numbers b(in Numbers n); Tree c();"
                               "void d(in Tree t) raises (Bad); void e(in Choice c);"
                               "void f(out Trees t); oneway void g(in Money m);"
                               "attribute long double h;"),
              (Names{"a", "b", "c", "d", "e", "f", "g", "_get_h", "_set_h"}));
}

TEST(SharedArguments, NotOfWhatIsOneObjectForBothSides)
{
    const std::string types = "valuetype V { public long n; }; valuetype Box string;"
                              "abstract interface Abstract {}; interface Other {};"
                              "struct Holder { any a; }; struct Deep { sequence<Holder> h; };"
                              "struct Knows { Other o; }; exception Bad { any why; };";
    EXPECT_EQ(shared_by(types, "void a(in V v); void b(in Box b); void c(in Abstract p); any d();"
                               "void e(in Deep d); void f(in Other o); Object g();"
                               "void h(in Knows k); void l() raises (Bad); void j(in ValueBase v);"
                               "void fine();"),
              Names{"fine"});
}

TEST(SharedArguments, NotOfWhatEncodingMayRefuse)
{
    EXPECT_EQ(shared_by("typedef sequence<long, 3> Few; struct S { string<4> s; };",
                        "void a(in string<9> s); void b(in Few f); void c(out S s);"
                        "void d(in wstring w); wchar e(); void f(inout Few f); void fine();"),
              Names{"fine"});
    EXPECT_EQ(shared_by("", "void a(in long l) context (\"x\"); void fine();"), Names{"fine"});
}

/// The caller may give one variable twice.
TEST(SharedArguments, NotWhereOneIsReadWhileAnotherIsWritten)
{
    EXPECT_EQ(shared_by("struct S { long n; }; typedef sequence<long> Q; typedef long G[2];",
                        "void a(in S s, inout S t); void b(in S s, out long n);"
                        "void c(in string s, inout string t); void d(in G g, out G h);"
                        "void fine(in long n, inout S s, out S t); void made(in S s, out Q q);"),
              (Names{"fine", "made"}));
}

TEST(SharedArguments, NotOfInterfacesWithoutServants)
{
    EXPECT_EQ(
        shared_by("abstract interface Abstract { void a(); }; local interface Local { void b(); };",
                  "void fine();"),
        Names{"fine"});
}

} // namespace
} // namespace kairos::idlc
