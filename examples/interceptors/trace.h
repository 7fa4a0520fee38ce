// SPDX-License-Identifier: Apache-2.0
//
// The W3C's trace context (https://www.w3.org/TR/trace-context/) in a service context: what a
// thread is doing goes with the calls that it makes, through every program on the way. It lies in a
// slot, which becomes that of the thread that serves a request.
#pragma once

#include "interceptor.h"

#include <utility>

/// traceparent: version, the trace's number, the number of who calls, flags.
inline std::string traceparent(const std::string& trace, const std::string& parent)
{
    return "00-" + trace + "-" + parent + "-01";
}

class TraceSender final : public ClientInterceptor {
  public:
    explicit TraceSender(PortableInterceptor::SlotId slot) : slot_(slot) {}
    char* name() override { return CORBA::string_dup("trace"); }
    void send_request(PortableInterceptor::ClientRequestInfo_ptr request) override
    {
        const CORBA::Any_var kept = request->get_slot(slot_); // the caller's
        const char* parent = nullptr;
        if (!(kept.in() >>= parent)) return; // nobody traces
        request->add_request_service_context(context_of(trace_id, parent), false);
    }

  private:
    const PortableInterceptor::SlotId slot_;
};

class TraceReceiver final : public ServerInterceptor {
  public:
    explicit TraceReceiver(PortableInterceptor::SlotId slot) : slot_(slot) {}
    char* name() override { return CORBA::string_dup("trace"); }
    void
    receive_request_service_contexts(PortableInterceptor::ServerRequestInfo_ptr request) override
    {
        const std::string parent = text_in(request, trace_id);
        if (parent.empty()) return;
        CORBA::Any kept;
        kept <<= parent.c_str();
        request->set_slot(slot_, kept); // the servant's thread finds it in PICurrent
    }

  private:
    const PortableInterceptor::SlotId slot_;
};
