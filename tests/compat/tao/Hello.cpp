// SPDX-License-Identifier: Apache-2.0
#include "Hello.h"

Hello::Hello(CORBA::ORB_ptr orb) : orb_(CORBA::ORB::_duplicate(orb)), calls_(0) {}

char* Hello::get_string()
{
    lock_.acquire();
    ++calls_;
    lock_.release();
    return CORBA::string_dup("Hello there!");
}

void Hello::method(CORBA::Long code)
{
    if (code == 1) throw Test::Refused("one");
    if (code == 2) throw CORBA::NO_PERMISSION();
}

CORBA::OctetSeq* Hello::echo(const CORBA::OctetSeq& octets, TimeBase::TimeT)
{
    return new CORBA::OctetSeq(octets);
}

void Hello::twice(const Test::Words& words, Test::Words_out result)
{
    Test::Words_var twice = new Test::Words;
    twice->length(2 * words.length());
    for (CORBA::ULong i = 0; i < words.length(); ++i) {
        twice[2 * i] = words[i];
        twice[2 * i + 1] = CORBA::string_dup(words[i]);
    }
    result = twice._retn();
}

void Hello::shutdown() { orb_->shutdown(false); }
