// SPDX-License-Identifier: Apache-2.0
//
// What the tests of stores share: folders, entries, and a model of what a store does.
#pragma once

#include "kairos/base/log.h"
#include "kairos/ior/object_url.h"
#include "kairos/nameserver/sqlite_store.h"

#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <stdlib.h>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

namespace kairos::nameserver {

inline void PrintTo(StoreStatus status, std::ostream* out)
{
    constexpr const char* names[] = {"done",       "not_bound", "already_bound", "wrong_type",
                                     "no_context", "not_empty", "foreign",       "full",
                                     "broken",     "uncertain", "unreachable"};
    *out << names[static_cast<std::size_t>(status)];
}

/// What is logged while there is one.
class LoggedLines {
  public:
    LoggedLines()
    {
        of_process().lines.clear();
        log::set_sink([](log::Level, std::string_view line) {
            const std::lock_guard lock(of_process().mutex);
            of_process().lines.emplace_back(line);
        });
    }
    LoggedLines(const LoggedLines&) = delete;
    LoggedLines& operator=(const LoggedLines&) = delete;
    ~LoggedLines() { log::set_sink(nullptr); }
    [[nodiscard]] static bool say(const std::string& part)
    {
        const std::lock_guard lock(of_process().mutex);
        return std::ranges::any_of(of_process().lines, [&](const std::string& line) {
            return line.find(part) != std::string::npos;
        });
    }

  private:
    struct OfProcess {
        std::mutex mutex; // guards lines
        std::vector<std::string> lines;
    };
    static OfProcess& of_process()
    {
        static OfProcess one;
        return one;
    }
};

/// Gone, with what is in it, at the end.
class StoreFolder {
  public:
    StoreFolder()
    {
        // Where there is a file system in memory nothing waits for a disk; what the tests kill is
        // the process, not the machine.
        const std::filesystem::path memory = "/dev/shm";
        const auto root =
            access(memory.c_str(), W_OK) == 0 ? memory : std::filesystem::temp_directory_path();
        std::string path = root / "kairos_store_XXXXXX";
        if (mkdtemp(path.data()) == nullptr) throw std::runtime_error("no temporary folder");
        folder_ = path;
    }
    StoreFolder(const StoreFolder&) = delete;
    StoreFolder& operator=(const StoreFolder&) = delete;
    ~StoreFolder()
    {
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }
    [[nodiscard]] std::string file() const { return folder_ / "names"; }
    [[nodiscard]] const std::filesystem::path& path() const { return folder_; }
    [[nodiscard]] std::unique_ptr<Store> open(std::uint32_t pages_max = 0) const
    {
        auto store = open_sqlite_store({.path = file(), .readers = 2, .pages_max = pages_max});
        if (!store) throw std::runtime_error(store.error().reason);
        return std::move(store).value();
    }
    /// Nothing goes on when a process is gone.
    void settle() const {}

  private:
    std::filesystem::path folder_;
};

inline ior::NameComponent component(std::string id, std::string kind = "")
{
    return {std::move(id), std::move(kind)};
}
inline Entry object_entry(int number)
{
    const auto url = ior::parse_object_url("corbaloc::host/" + std::to_string(number));
    return {.kind = Entry::Kind::object, .context = 0, .reference = url->reference};
}
inline Entry context_entry(ContextId context)
{
    return {.kind = Entry::Kind::context, .context = context, .reference = {}};
}
inline Entry foreign_entry(int number)
{
    Entry entry = object_entry(number);
    entry.kind = Entry::Kind::foreign_context;
    return entry;
}

inline StoreStatus resolve(Store& store, ContextId context, const ior::Name& name,
                           Resolution& resolution)
{
    return store.resolve(context, name, resolution);
}
/// Of one component, for what must be bound.
inline Entry bound(Store& store, ContextId context, const ior::NameComponent& name)
{
    Resolution resolution;
    EXPECT_EQ(store.resolve(context, {&name, 1}, resolution), StoreStatus::done) << name.id;
    return resolution.entry;
}

/// Every binding, listed in portions.
inline std::vector<Listed> list_all(Store& store, ContextId context, std::size_t portion)
{
    std::vector<Listed> all;
    Portion some;
    do {
        const ior::NameComponent* after = all.empty() ? nullptr : &all.back().component;
        const ior::NameComponent last = after == nullptr ? ior::NameComponent() : *after;
        EXPECT_EQ(store.list(context, after == nullptr ? nullptr : &last, {.count = portion}, some),
                  StoreStatus::done);
        EXPECT_LE(some.bindings.size(), portion);
        all.insert(all.end(), some.bindings.begin(), some.bindings.end());
    } while (some.more);
    return all;
}

/// What a store has to answer, kept in memory.
class StoreModel {
  public:
    using Context = std::map<std::pair<std::string, std::string>, Entry>;

    StoreStatus bind(ContextId context, const ior::NameComponent& name, const Entry& entry)
    {
        if (!contexts.contains(context)) return StoreStatus::no_context;
        Context& in = contexts[context];
        if (in.contains({name.id, name.kind})) return StoreStatus::already_bound;
        if (entry.kind == Entry::Kind::context && !contexts.contains(entry.context))
            return StoreStatus::no_context;
        in[{name.id, name.kind}] = entry;
        return StoreStatus::done;
    }
    StoreStatus rebind(ContextId context, const ior::NameComponent& name, const Entry& entry)
    {
        if (!contexts.contains(context)) return StoreStatus::no_context;
        Context& in = contexts[context];
        const auto old = in.find({name.id, name.kind});
        if (old != in.end() && old->second.is_context() != entry.is_context())
            return StoreStatus::wrong_type;
        if (entry.kind == Entry::Kind::context && !contexts.contains(entry.context))
            return StoreStatus::no_context;
        in[{name.id, name.kind}] = entry;
        return StoreStatus::done;
    }
    StoreStatus unbind(ContextId context, const ior::NameComponent& name)
    {
        if (!contexts.contains(context)) return StoreStatus::no_context;
        return contexts[context].erase({name.id, name.kind}) == 1 ? StoreStatus::done
                                                                  : StoreStatus::not_bound;
    }
    StoreStatus destroy_context(ContextId context)
    {
        if (!contexts.contains(context)) return StoreStatus::no_context;
        if (!contexts[context].empty()) return StoreStatus::not_empty;
        contexts.erase(context);
        return StoreStatus::done;
    }
    void make(ContextId context) { contexts[context]; }

    std::map<ContextId, Context> contexts{{root_context, {}}};
};

/// Whether the store has exactly what the model has.
inline void expect_same(Store& store, const StoreModel& model)
{
    for (const auto& [context, bindings] : model.contexts) {
        EXPECT_EQ(store.find_context(context), StoreStatus::done) << context;
        const std::vector<Listed> listed = list_all(store, context, 7);
        ASSERT_EQ(listed.size(), bindings.size()) << context;
        std::size_t at = 0;
        for (const auto& [name, entry] : bindings) {
            const Listed expected{{name.first, name.second}, entry.is_context()};
            EXPECT_EQ(listed[at++], expected);
            EXPECT_EQ(bound(store, context, expected.component), entry);
        }
    }
}

} // namespace kairos::nameserver
