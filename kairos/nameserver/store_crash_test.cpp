// SPDX-License-Identifier: Apache-2.0
//
// The store in one file keeps its promise through many crashes (store_crash_testing.h).
#include "kairos/nameserver/store_crash_testing.h"

namespace kairos::nameserver {

using SqliteCrash = Crash<StoreFolder>;

TEST_F(SqliteCrash, EveryAcknowledgedChangeIsThere) { crash_often(crashes(500)); }

TEST_F(SqliteCrash, ABeginningThatWasInterruptedIsBegunAgain)
{
    for (unsigned i = 0; i < 20; ++i) {
        const StoreFolder folder;
        const pid_t child = fork();
        if (child == 0) {
            for (;;) {
                (void)folder.open();
                std::filesystem::remove(folder.file());
            }
        }
        const auto until =
            std::chrono::steady_clock::now() + std::chrono::microseconds(chance_() % 20'000);
        while (std::chrono::steady_clock::now() < until) {
        }
        kill(child, SIGKILL);
        ASSERT_EQ(waitpid(child, nullptr, 0), child);
        const auto store = open_sqlite_store({.path = folder.file(), .readers = 1, .pages_max = 0});
        ASSERT_TRUE(store.ok()) << store.error().reason;
        EXPECT_EQ((*store)->bind(root_context, component("a"), object_entry(1)), StoreStatus::done);
    }
}

} // namespace kairos::nameserver
