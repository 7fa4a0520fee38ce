// SPDX-License-Identifier: Apache-2.0
//
// What the tests of asynchronous calls call. Compiled for omniORB, too (PEER_OMNIORB).
#pragma once

#ifdef PEER_OMNIORB
#include "ami.hh"
#else
#include "ami_skel.h"
#endif

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <string>

namespace kairos::ami_testing {

inline constexpr std::chrono::seconds patience_of_servant{60};

/// Thread-safe, as calls are served by several threads.
class Servant final : public POA_Ami::Target {
  public:
    char* name() override
    {
        const std::lock_guard lock(mutex_);
        return CORBA::string_dup(name_.c_str());
    }
    void name(const char* value) override
    {
        const std::lock_guard lock(mutex_);
        name_ = value;
    }
    Ami::Person* owner() override
    {
        Ami::Person_var person = new Ami::Person;
        person->name = "Ada";
        person->at = {3, 4.5};
        return person._retn();
    }
    CORBA::Long add(CORBA::Long left, CORBA::Long right) override
    {
        ++calls;
        return left + right;
    }
    char* change(char*& text, Ami::Person& who, Ami::Point& where, Ami::Names_out all,
                 Ami::Grid same, CORBA::Any_out anything, Ami::Target_out other,
                 CORBA::Long_out number) override
    {
        const std::string before = text;
        CORBA::string_free(text);
        text = CORBA::string_dup((before + "!").c_str());
        who.at.x = 7;
        where.y = 2.5;
        all = new Ami::Names;
        all->length(2);
        (*all)[0] = "one";
        (*all)[1] = "two";
        for (CORBA::Long i = 0; i < 6; ++i)
            same[i / 3][i % 3] = i;
        anything = new CORBA::Any;
        *anything <<= CORBA::Long{42};
        other = _this();
        number = 9;
        return CORBA::string_dup(before.c_str());
    }
    void refuse(const char* why) override { throw Ami::Refused(why, Ami::Point{3, 4.5}); }
    void fail(CORBA::Long how) override
    {
        if (how == 1) throw CORBA::NO_PERMISSION(17, CORBA::COMPLETED_YES);
        if (how == 2) throw 2;
        throw Ami::Refused(); // which is not listed
    }
    void note(CORBA::Long number) override { release(number); }
    CORBA::Long hold(CORBA::Long number) override
    {
        std::unique_lock lock(mutex_);
        held_.insert(number);
        changed_.notify_all();
        const bool may = changed_.wait_for(lock, patience_of_servant,
                                           [&] { return released_.count(number) != 0; });
        return may ? number : -1;
    }
    Ami::Octets* echo(const Ami::Octets& octets) override { return new Ami::Octets(octets); }

    /// Lets hold(number) return, now or as soon as it is called.
    void release(CORBA::Long number)
    {
        const std::lock_guard lock(mutex_);
        released_.insert(number);
        changed_.notify_all();
    }
    [[nodiscard]] bool wait_for_hold(CORBA::Long number)
    {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, patience_of_servant,
                                 [&] { return held_.count(number) != 0; });
    }
    std::atomic<int> calls{0};

  private:
    std::mutex mutex_; // guards what follows
    std::condition_variable changed_;
    std::set<CORBA::Long> released_;
    std::set<CORBA::Long> held_;
    std::string name_ = "before";
};

} // namespace kairos::ami_testing
