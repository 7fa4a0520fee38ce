// SPDX-License-Identifier: Apache-2.0
//
// The calls of a simulation, and a servant that counts the executions of each.
#pragma once

#include "tests/malformed/fixture.h"

#include <array>
#include <atomic>
#include <string>

namespace kairos::orb_testing {

inline constexpr unsigned callers = 3;
inline constexpr unsigned calls_each = 60;
inline constexpr CORBA::ULong large = 40'000;

/// Made up of the number of a call, so that nobody takes it for another's.
[[nodiscard]] inline std::string text_of(unsigned number)
{
    std::string text = std::to_string(number) + ":";
    text.resize(large, static_cast<char>('a' + number % 26));
    return text;
}

/// Counts the executions of each call.
class CountingServant final : public POA_Probe::Target {
  public:
    Probe::Target_var partner; ///< whom `negate` calls, and who calls back
    std::atomic<unsigned> served{0};
    std::array<std::atomic<unsigned>, callers * calls_each> executed{};

    void ping() override { ++served; }
    CORBA::Long add(CORBA::Long number, CORBA::Long refuses) override
    {
        count(number);
        if (refuses != 0) throw CORBA::NO_PERMISSION(7, CORBA::COMPLETED_YES);
        return number + 1'000;
    }
    char* echo(const char* text) override
    {
        count(std::stol(text));
        return CORBA::string_dup(text);
    }
    CORBA::ULong count_octets(const Probe::Octets& octets) override
    {
        const auto number = static_cast<unsigned>(octets[0] + 256 * octets[1]);
        count(number);
        for (CORBA::ULong i = 2; i < octets.length(); ++i)
            if (octets[i] != static_cast<CORBA::Octet>(number + i)) return 0;
        return octets.length() + number;
    }
    Probe::Octets* produce(CORBA::ULong size) override
    {
        count(size - large);
        Probe::Octets_var octets = new Probe::Octets;
        octets->length(size);
        for (CORBA::ULong i = 0; i < size; ++i)
            octets[i] = static_cast<CORBA::Octet>(size + i);
        return octets._retn();
    }
    void note(CORBA::Long number) override { count(number); }
    void act() override { throw Probe::Refused("because"); }
    CORBA::Boolean negate(CORBA::Boolean value) override
    {
        partner->act();
        return !value;
    }
    CORBA::ULong count_strings(const Probe::Strings&) override { return 0; }
    CORBA::ULong count_trees(const Probe::Tree&) override { return 0; }

  private:
    void count(long number)
    {
        EXPECT_LT(static_cast<std::size_t>(number), executed.size());
        ++executed.at(static_cast<std::size_t>(number));
        ++served;
    }
};

/// One call and how it ended.
struct Ended {
    unsigned number = 0;
    bool is_counted = true; ///< by the servant, under the number
    std::string how;
};

/// Returns what the call is known by if it ended as it should when nothing fails.
[[nodiscard]] inline Ended call(Probe::Target_ptr target, unsigned number, unsigned kind)
{
    const auto id = static_cast<CORBA::Long>(number);
    switch (kind) {
    case 0:
        return {number, false, outcome([&] { target->ping(); })};
    case 1:
        return {number, true, outcome([&] { EXPECT_EQ(target->add(id, 0), id + 1'000); })};
    case 2: {
        std::string how = outcome([&] { (void)target->add(id, 1); });
        return {number, true, how == "NO_PERMISSION 0x7 YES" ? "ok" : how};
    }
    case 3: {
        std::string how = outcome([&] { target->act(); });
        return {number, false, how == "Refused" ? "ok" : how == "ok" ? "no exception" : how};
    }
    case 4:
        return {number, true, outcome([&] {
                    const std::string text = text_of(number);
                    const CORBA::String_var echoed = target->echo(text.c_str());
                    EXPECT_EQ(text, echoed.in());
                })};
    case 5:
        return {number, true, outcome([&] {
                    Probe::Octets octets;
                    octets.length(large);
                    octets[0] = static_cast<CORBA::Octet>(number % 256);
                    octets[1] = static_cast<CORBA::Octet>(number / 256);
                    for (CORBA::ULong i = 2; i < large; ++i)
                        octets[i] = static_cast<CORBA::Octet>(number + i);
                    EXPECT_EQ(target->count_octets(octets), large + number);
                })};
    case 6:
        return {number, true, outcome([&] {
                    const Probe::Octets_var octets = target->produce(large + number);
                    ASSERT_EQ(octets->length(), large + number);
                    for (CORBA::ULong i = 0; i < large; ++i)
                        ASSERT_EQ(octets[i], static_cast<CORBA::Octet>(large + number + i));
                })};
    case 7:
        return {number, true, outcome([&] { target->note(id); })};
    default:
        return {number, false, outcome([&] { EXPECT_TRUE(target->negate(false)); })};
    }
}

[[nodiscard]] inline bool is_oneway(unsigned kind) { return kind == 7; }

} // namespace kairos::orb_testing
