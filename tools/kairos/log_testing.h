// SPDX-License-Identifier: Apache-2.0
//
// A log service that is killed while clients write: what they were told, and what is there.
#pragma once

#include "kairos/corba/CORBA.h"
#include "kairos/logs/DsLogAdmin.h"

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <set>
#include <string>
#include <sys/types.h>
#include <thread>
#include <vector>

namespace kairos::tools {

inline CORBA::ORB_ptr make_client()
{
    int argc = 1;
    char name[] = "test";
    char* argv[] = {name, nullptr};
    return CORBA::ORB_init(argc, argv);
}

inline DsLogAdmin::Log_var fifth_log(CORBA::ORB_ptr orb, const std::string& factory_reference)
{
    const CORBA::Object_var object = orb->string_to_object(factory_reference.c_str());
    const DsLogAdmin::BasicLogFactory_var factory =
        DsLogAdmin::BasicLogFactory::_narrow(object.in());
    const DsLogAdmin::Log_var found = factory->find_log(5);
    return CORBA::is_nil(found.in())
               ? DsLogAdmin::Log_var(factory->create_with_id(5, DsLogAdmin::halt, 0))
               : found;
}

/// Writes numbers with several threads until so many are acknowledged, and then kills the process
/// while others are under way. Returns those that were acknowledged.
inline std::set<CORBA::Long> write_and_kill(DsLogAdmin::Log_ptr log, pid_t process, unsigned enough,
                                            CORBA::Long from)
{
    std::vector<std::vector<CORBA::Long>> written(3);
    std::atomic<unsigned> count{0};
    std::atomic<bool> is_killed{false};
    std::vector<std::thread> writers;
    for (std::vector<CORBA::Long>& own : written) {
        writers.emplace_back([&, first = from] {
            try {
                for (CORBA::Long number = first; !is_killed; ++number) {
                    DsLogAdmin::Anys anys;
                    anys.length(1);
                    anys[0] <<= number;
                    log->write_records(anys);
                    own.push_back(number);
                    if (++count >= enough && !is_killed.exchange(true)) ::kill(process, SIGKILL);
                }
            } catch (const CORBA::SystemException&) { // it is gone
            }
        });
        from += 100'000;
    }
    for (std::thread& writer : writers)
        writer.join();
    if (!is_killed) ::kill(process, SIGKILL);
    std::set<CORBA::Long> all;
    for (const std::vector<CORBA::Long>& own : written)
        all.insert(own.begin(), own.end());
    return all;
}

/// All numbers that a log has; `last` is the id of the last one. Ids must grow.
inline std::set<CORBA::Long> numbers_in(DsLogAdmin::Log_ptr log, DsLogAdmin::RecordId& last)
{
    DsLogAdmin::Iterator_var rest;
    DsLogAdmin::RecordList_var list = log->query(DsLogAdmin::default_grammar, "", rest.out());
    std::set<CORBA::Long> there;
    last = 0;
    for (CORBA::ULong position = 0; list->length() != 0;) {
        for (CORBA::ULong i = 0; i < list->length(); ++i) {
            CORBA::Long number = -1;
            EXPECT_TRUE(list[i].info >>= number);
            EXPECT_TRUE(there.insert(number).second);
            EXPECT_GT(list[i].id, last);
            last = list[i].id;
        }
        position += list->length();
        if (CORBA::is_nil(rest.in())) break;
        list = rest->get(position, 1000);
    }
    return there;
}

} // namespace kairos::tools
