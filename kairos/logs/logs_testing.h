// SPDX-License-Identifier: Apache-2.0
//
// What tests of the log service share: a service with a client over loopback, in memory or in a
// file, at a time that the test says.
#pragma once

#include "kairos/logs/service.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <sqlite3.h>
#include <string>
#include <utility>
#include <vector>

namespace kairos::logs {

inline constexpr std::uint64_t second = 10'000'000;
inline constexpr std::uint64_t minute = 60 * second;
inline constexpr std::uint64_t day = 24 * 60 * minute;
/// A Sunday, at midnight: the first day of that time was a Friday.
inline constexpr std::uint64_t sunday = 7 * 20'000 * day + 2 * day;

inline CORBA::ORB_ptr make_orb()
{
    static int count = 0;
    std::vector<std::string> options{"test", "-ORBListenEndpoints", "iiop://127.0.0.1"};
    std::vector<char*> argv;
    argv.reserve(options.size());
    for (std::string& option : options)
        argv.push_back(option.data());
    int argc = static_cast<int>(argv.size());
    return CORBA::ORB_init(argc, argv.data(), ("logs " + std::to_string(++count)).c_str());
}

inline DsLogAdmin::Anys anys_of(const std::vector<std::string>& texts)
{
    DsLogAdmin::Anys anys;
    anys.length(static_cast<CORBA::ULong>(texts.size()));
    for (CORBA::ULong i = 0; i < anys.length(); ++i)
        anys[i] <<= texts[i].c_str();
    return anys;
}

/// "1:a 2:b": ids and texts.
inline std::string shown(const DsLogAdmin::RecordList& list)
{
    std::string all;
    for (CORBA::ULong i = 0; i < list.length(); ++i) {
        const char* text = "?";
        (void)(list[i].info >>= text);
        all += (all.empty() ? "" : " ") + std::to_string(list[i].id) + ":" + text;
    }
    return all;
}

inline DsLogAdmin::NVList attributes(const std::vector<std::pair<std::string, CORBA::Long>>& pairs)
{
    DsLogAdmin::NVList list;
    list.length(static_cast<CORBA::ULong>(pairs.size()));
    for (CORBA::ULong i = 0; i < list.length(); ++i) {
        list[i].name = pairs[i].first.c_str();
        list[i].value <<= pairs[i].second;
    }
    return list;
}

class TestClock final : public Clock {
  public:
    explicit TestClock(const std::atomic<std::uint64_t>& time) : time_(time) {}
    std::uint64_t now() const noexcept override { return time_; }

  private:
    const std::atomic<std::uint64_t>& time_;
};

/// A log service, and a client of it over loopback.
class LogTest : public ::testing::Test {
  protected:
    explicit LogTest(const ServiceLimits& limits = {})
        : limits_(limits), server_(make_orb()), client_(make_orb())
    {
        begin(nullptr);
    }
    ~LogTest() override
    {
        service_.reset();
        server_->destroy();
        client_->destroy();
    }

    void begin(std::unique_ptr<Store> store)
    {
        service_.reset();
        service_.emplace(server_.in(), std::move(store), limits_,
                         std::make_shared<const TestClock>(time_));
        const DsLogAdmin::BasicLogFactory_var made = service_->basic_logs();
        const CORBA::String_var text = server_->object_to_string(made.in());
        const CORBA::Object_var object = client_->string_to_object(text.in());
        factory_ = DsLogAdmin::BasicLogFactory::_narrow(object.in());
    }
    [[nodiscard]] DsLogAdmin::BasicLog_var
    make(CORBA::ULongLong max_size = 0,
         DsLogAdmin::LogFullActionType action = DsLogAdmin::halt) const
    {
        DsLogAdmin::LogId id = 0;
        return factory_->create(action, max_size, id);
    }
    static void write(DsLogAdmin::Log_ptr log, const std::vector<std::string>& texts)
    {
        log->write_records(anys_of(texts));
    }
    static std::string ask(DsLogAdmin::Log_ptr log, const char* constraint)
    {
        DsLogAdmin::Iterator_var rest;
        const DsLogAdmin::RecordList_var list =
            log->query(DsLogAdmin::default_grammar, constraint, rest.out());
        return shown(list.in()) + (CORBA::is_nil(rest.in()) ? "" : " ...");
    }
    static std::string from(DsLogAdmin::Log_ptr log, std::uint64_t time, CORBA::Long how_many)
    {
        DsLogAdmin::Iterator_var rest;
        const DsLogAdmin::RecordList_var list = log->retrieve(time, how_many, rest.out());
        return shown(list.in()) + (CORBA::is_nil(rest.in()) ? "" : " ...");
    }

    const ServiceLimits limits_;
    std::atomic<std::uint64_t> time_{sunday};
    CORBA::ORB_var server_;
    CORBA::ORB_var client_;
    std::optional<LogService> service_;
    DsLogAdmin::BasicLogFactory_var factory_;
};

/// One whose logs are in a file.
class KeptLogs : public LogTest {
  protected:
    KeptLogs()
    {
        char name[] = "/tmp/kairos-logs-XXXXXX";
        folder_ = mkdtemp(name);
        begin(open());
    }
    ~KeptLogs() override
    {
        service_.reset();
        std::filesystem::remove_all(folder_);
    }
    [[nodiscard]] std::string file() const { return folder_ + "/logs"; }
    [[nodiscard]] std::unique_ptr<Store> open(std::uint32_t pages_max = 0) const
    {
        auto store = open_store({.path = file(), .readers = 2, .pages_max = pages_max});
        return store ? std::move(store).value() : nullptr;
    }
    void begin_again(std::uint32_t pages_max = 0)
    {
        service_.reset();
        begin(open(pages_max));
    }
    void execute(const char* sql) const
    {
        sqlite3* handle = nullptr;
        ASSERT_EQ(SQLITE_OK, sqlite3_open(file().c_str(), &handle));
        EXPECT_EQ(SQLITE_OK, sqlite3_exec(handle, sql, nullptr, nullptr, nullptr));
        sqlite3_close(handle);
    }

    std::string folder_;
};

} // namespace kairos::logs
