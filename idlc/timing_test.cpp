// SPDX-License-Identifier: Apache-2.0
//
// What annotations and pragmas about timing mean. tests/idl has what is refused.
#include "idlc/frontend.h"

#include <gtest/gtest.h>

#include <string>

namespace kairos::idlc {
namespace {

struct Timings : testing::Test {
    void compile(const std::string& text)
    {
        ASSERT_TRUE(compilation_.compile_text(text, "t.idl"))
            << compilation_.diagnostics().render(false);
    }
    const Timing& of(const std::string& scoped_name)
    {
        static const Timing none;
        for (const Timing& timing : compilation_.timings())
            if (timing.operation->scoped_name == scoped_name) return timing;
        ADD_FAILURE() << scoped_name;
        return none;
    }
    const Options options_;
    Compilation compilation_{options_};
};

TEST_F(Timings, TimesAreNanoseconds)
{
    compile("interface I {"
            "  @period(ms=50) @wcet(us=200) @typical(us=150) @cached(ns=5000) @deadline(s=1)"
            "  @blocking(us=10) @quantum(ms=1) void a();"
            "  @period(hz=20) @wcet(s=31622400) void b();"
            "};");
    EXPECT_EQ(of("I::a").period_ns, 50'000'000);
    EXPECT_EQ(of("I::a").worst_case_ns, 200'000);
    EXPECT_EQ(of("I::a").typical_ns, 150'000);
    EXPECT_EQ(of("I::a").cached_ns, 5'000);
    EXPECT_EQ(of("I::a").deadline_ns, 1'000'000'000);
    EXPECT_EQ(of("I::a").blocking_ns, 10'000);
    EXPECT_EQ(of("I::a").quantum_ns, 1'000'000);
    EXPECT_EQ(of("I::b").period_ns, 50'000'000);
    EXPECT_EQ(of("I::b").worst_case_ns, timing_ns_max);
    EXPECT_FALSE(of("I::b").typical_ns.has_value());
}

TEST_F(Timings, LevelsAndThreads)
{
    compile("interface I {"
            "  @criticality(very_high) @importance(\"low\") @threads(3) void a();"
            "};");
    EXPECT_EQ(of("I::a").criticality, 4);
    EXPECT_EQ(of("I::a").importance, 1);
    EXPECT_EQ(of("I::a").threads, 3u);
    EXPECT_FALSE(of("I::a").period_ns.has_value());
}

TEST_F(Timings, OnlyWhatIsAnnotatedIsThere)
{
    compile("interface I { void a(); @marshal(\"compiled\") void b(); @wcet(us=1) void c(); };");
    ASSERT_EQ(compilation_.timings().size(), 1u);
    EXPECT_EQ(compilation_.timings()[0].operation->scoped_name, "I::c");
}

TEST_F(Timings, CallsAreLookedUpAsNamesAre)
{
    compile("interface Log { oneway void write(in string line); string last(); };"
            "interface Base { void step(); };"
            "module M {"
            "  interface Log { void flush(); };"
            "  interface I : Base {"
            "    @calls(step) @calls(Log::flush, count=7) @calls(::Log::write)"
            "    @calls(\"::Log::last\", kind=oneway) void a();"
            "  };"
            "};");
    const auto& calls = of("M::I::a").calls;
    ASSERT_EQ(calls.size(), 4u);
    EXPECT_EQ(calls[0].callee->scoped_name, "Base::step");
    EXPECT_TRUE(calls[0].waits);
    EXPECT_EQ(calls[1].callee->scoped_name, "M::Log::flush");
    EXPECT_EQ(calls[1].count, 7u);
    EXPECT_EQ(calls[2].callee->scoped_name, "Log::write");
    EXPECT_FALSE(calls[2].waits);
    EXPECT_EQ(calls[3].callee->scoped_name, "Log::last");
    EXPECT_FALSE(calls[3].waits);
}

TEST_F(Timings, PragmasOverrideAnnotations)
{
    compile("interface I { @wcet(us=1) @calls(b) void a(); void b(); };\n"
            "#pragma kairos wcet(us=2, I::a)\n"
            "#pragma kairos period( hz = 10 , I::a )\n"
            "#pragma kairos criticality(high, I::b)\n"
            "#pragma kairos calls(I::b, count=2, I::a)\n");
    EXPECT_EQ(of("I::a").worst_case_ns, 2'000);
    EXPECT_EQ(of("I::a").period_ns, 100'000'000);
    EXPECT_EQ(of("I::a").calls.size(), 2u);
    EXPECT_EQ(of("I::a").calls[1].count, 2u);
    EXPECT_EQ(of("I::b").criticality, 3);
}

TEST_F(Timings, AnnotationsThatTheIdlDeclaresAreTheUsers)
{
    compile(
        "@annotation period { string text; };"
        "interface I { @period(\"of reflection\") void a(); @kairos::period(ms=1) void b(); };");
    ASSERT_EQ(compilation_.timings().size(), 1u);
    EXPECT_EQ(of("I::b").period_ns, 1'000'000);
}

} // namespace
} // namespace kairos::idlc
