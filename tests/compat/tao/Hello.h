// SPDX-License-Identifier: Apache-2.0
//
// The servant of server.cpp.
#pragma once

#include "TestS.h"

class Hello : public virtual POA_Test::Hello {
  public:
    explicit Hello(CORBA::ORB_ptr orb);
    virtual char* get_string();
    virtual void method(CORBA::Long code);
    virtual CORBA::OctetSeq* echo(const CORBA::OctetSeq& octets, TimeBase::TimeT time);
    virtual void twice(const Test::Words& words, Test::Words_out result);
    virtual void shutdown();

  private:
    CORBA::ORB_var orb_;
    TAO_SYNCH_MUTEX lock_;
    CORBA::ULong calls_;
};
