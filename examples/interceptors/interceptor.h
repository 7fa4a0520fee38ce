// SPDX-License-Identifier: Apache-2.0
//
// Interceptors with points that do nothing, for those that need but a few.
#pragma once

#include <kairos/interceptors/PortableInterceptor.h>

#include <algorithm>
#include <iostream>
#include <string>

class ClientInterceptor : public PortableInterceptor::ClientRequestInterceptor {
  public:
    void destroy() override {}
    void send_request(PortableInterceptor::ClientRequestInfo_ptr) override {}
    void send_poll(PortableInterceptor::ClientRequestInfo_ptr) override {}
    void receive_reply(PortableInterceptor::ClientRequestInfo_ptr) override {}
    void receive_exception(PortableInterceptor::ClientRequestInfo_ptr) override {}
    void receive_other(PortableInterceptor::ClientRequestInfo_ptr) override {}
};

class ServerInterceptor : public PortableInterceptor::ServerRequestInterceptor {
  public:
    void destroy() override {}
    void receive_request_service_contexts(PortableInterceptor::ServerRequestInfo_ptr) override {}
    void receive_request(PortableInterceptor::ServerRequestInfo_ptr) override {}
    void send_reply(PortableInterceptor::ServerRequestInfo_ptr) override {}
    void send_exception(PortableInterceptor::ServerRequestInfo_ptr) override {}
    void send_other(PortableInterceptor::ServerRequestInfo_ptr) override {}
};

/// Numbers of this program's own: the OMG assigns ranges to who asks.
inline constexpr IOP::ServiceId token_id = 0x56415500;
inline constexpr IOP::ServiceId trace_id = 0x56415501;

inline IOP::ServiceContext context_of(IOP::ServiceId id, const std::string& text)
{
    IOP::ServiceContext context;
    context.context_id = id;
    context.context_data.length(static_cast<CORBA::ULong>(text.size()));
    std::copy(text.begin(), text.end(), context.context_data.get_buffer());
    return context;
}

/// Returns the text of a request's context; empty if it has none of this number.
inline std::string text_in(PortableInterceptor::ServerRequestInfo_ptr request, IOP::ServiceId id)
try {
    const IOP::ServiceContext_var context = request->get_request_service_context(id);
    const auto* const octets = context->context_data.get_buffer();
    return {octets, octets + context->context_data.length()};
} catch (const CORBA::BAD_PARAM&) {
    return {};
}

/// In one piece, for others print too.
inline void say(const std::string& line) { std::cout << line + '\n'; }
