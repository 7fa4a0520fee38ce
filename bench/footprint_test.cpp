// SPDX-License-Identifier: Apache-2.0
//
// Object files read, and the footprint of Param_Test: what a compiler makes of the same code is the
// same each time, so the bars are gates here, for the compiler that they were set with.
#include "bench/experiment.h"
#include "bench/object_file.h"

#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>
#include <utility>
#include <vector>

namespace kairos::bench {
namespace {

[[gnu::noinline, gnu::used]] int a_function_to_be_found(int i) { return 3 * i; }

TEST(ObjectFile, NamesItsFunctions)
{
    const auto self = read_object_file("/proc/self/exe");
    ASSERT_TRUE(self.ok()) << self.error().reason;
    const auto found =
        std::find_if(self->symbols.begin(), self->symbols.end(), [](const ObjectSymbol& symbol) {
            return symbol.name.find("a_function_to_be_found(int)") != std::string::npos;
        });
    ASSERT_NE(found, self->symbols.end());
    EXPECT_TRUE(found->code);
    EXPECT_GT(found->bytes, 0u);
    EXPECT_GT(self->unwind_bytes, 0u);
    EXPECT_EQ(a_function_to_be_found(2), 6);
}

TEST(ObjectFile, RefusesWhatIsNone)
{
    EXPECT_FALSE(read_object_file("/no/such/file").ok());
    EXPECT_FALSE(read_object_file("/proc/self/cmdline").ok());
}

TEST(ObjectFile, RefusesACutOne)
{
    std::ifstream whole("/proc/self/exe", std::ios::binary);
    std::vector<char> head(80);
    whole.read(head.data(), static_cast<std::streamsize>(head.size()));
    const std::string path = testing::TempDir() + "kairos_cut_object";
    std::ofstream(path, std::ios::binary).write(head.data(), 80);
    EXPECT_FALSE(read_object_file(path).ok());
    std::remove(path.c_str());
}

const Row* find_row(const Report& report, const std::string& variant, const std::string& subject,
                    const std::string& side, const std::string& system = "kairos")
{
    for (const Row& row : report.rows)
        if (row.system == system && row.variant == variant && row.payload_type == subject &&
            row.side == side)
            return &row;
    return nullptr;
}

TEST(Footprint, OfParamTestReachesItsBars)
{
    FootprintOptions options;
    options.program_directory = KAIROS_PROGRAM_DIRECTORY;
    options.levels = {"-O2"};
    options.services = options.programs = false;
    const auto report = run_footprint(options);
    ASSERT_TRUE(report.ok()) << report.error().reason;
    for (const char* side : {"stub", "skeleton"})
        for (const char* operation :
             {"test_short", "test_ubstring", "test_fixed_struct", "test_strseq", "test_var_struct",
              "test_nested_struct", "test_struct_seq", "all operations"}) {
            const Row* row = find_row(*report, "compiled, -O2", operation, side);
            ASSERT_NE(row, nullptr) << operation << side;
            EXPECT_GT(row->figure("code_bytes").value(), 0) << operation << side;
        }
    const Row* everything = find_row(*report, "compiled, -O2", "everything", "both");
    ASSERT_NE(everything, nullptr);
    const Row* stubs = find_row(*report, "compiled, -O2", "all operations", "stub");
    EXPECT_GT(everything->figure("total_bytes").value(), stubs->figure("total_bytes").value());
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ == 12
    for (const auto& [side, limit] : {std::pair{"stub", 0.40}, std::pair{"skeleton", 0.60}}) {
        const Row* row = find_row(*report, "interpretive, -O2", "all operations", side);
        ASSERT_NE(row, nullptr);
        EXPECT_LE(row->figure("ratio_to_compiled").value(), limit) << side;
    }
    EXPECT_LE(everything->figure("ratio_to_omniorb").value_or(0), 0.70);
#endif
}

TEST(Footprint, WithoutItsFilesSaysWhichIsMissing)
{
    FootprintOptions options;
    options.program_directory = "/no/such/directory";
    const auto report = run_footprint(options);
    ASSERT_FALSE(report.ok());
    EXPECT_NE(report.error().reason.find("/no/such/directory/paths.txt"), std::string::npos);
}

} // namespace
} // namespace kairos::bench
