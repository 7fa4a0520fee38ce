// SPDX-License-Identifier: Apache-2.0
//
// What the tests with TANGO share: an ORB of the test's own, sequences from lists, and what is done
// where TANGO is not installed.
#pragma once

#include "tango_skel.h"

#include "../naming_server.h"

#include <kairos/corba/CORBA.h>

#include <cstdlib>
#include <gtest/gtest.h>
#include <initializer_list>
#include <string>
#include <vector>

namespace interop {

/// Destroyed with the object.
class TangoOrb {
  public:
    explicit TangoOrb(std::vector<std::string> options = {})
    {
        options.insert(options.begin(), {"test", "-ORBDebug", "0"});
        std::vector<char*> argv;
        for (std::string& option : options)
            argv.push_back(option.data());
        int argc = static_cast<int>(argv.size());
        orb_ = CORBA::ORB_init(argc, argv.data());
    }
    TangoOrb(const TangoOrb&) = delete;
    TangoOrb& operator=(const TangoOrb&) = delete;
    ~TangoOrb() { orb_->destroy(); }

    CORBA::ORB_ptr operator->() const { return orb_.in(); }

  private:
    CORBA::ORB_var orb_;
};

template <typename Sequence, typename Element>
Sequence sequence_of(std::initializer_list<Element> elements)
{
    Sequence sequence;
    sequence.length(static_cast<CORBA::ULong>(elements.size()));
    CORBA::ULong index = 0;
    for (const Element& element : elements)
        sequence[index++] = element;
    return sequence;
}

inline Tango::DevVarStringArray names_of(std::initializer_list<const char*> names)
{
    return sequence_of<Tango::DevVarStringArray>(names);
}

/// For assertions, which print it.
template <typename Element, typename Sequence>
std::vector<Element> list_of(const Sequence& sequence)
{
    std::vector<Element> list;
    for (CORBA::ULong i = 0; i < sequence.length(); ++i)
        list.emplace_back(sequence[i]);
    return list;
}

/// A test without what it needs is a failure where CI is set, and skipped elsewhere.
[[nodiscard]] inline bool tango_may_be_missing()
{
    const char* const ci = std::getenv("CI");
    return ci == nullptr || *ci == '\0';
}

} // namespace interop
