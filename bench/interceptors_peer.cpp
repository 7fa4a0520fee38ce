// SPDX-License-Identifier: Apache-2.0
//
// Linked with orb_peer.cpp: the same program, whose ORB has as many empty interceptors of each kind
// as its name says, "interceptors-4".
#include <kairos/interceptors/PortableInterceptor.h>

#include <cstdlib>
#include <string_view>

namespace {

class EmptyClient final : public PortableInterceptor::ClientRequestInterceptor {
  public:
    char* name() override { return CORBA::string_dup(""); }
    void destroy() override {}
    void send_request(PortableInterceptor::ClientRequestInfo_ptr) override {}
    void send_poll(PortableInterceptor::ClientRequestInfo_ptr) override {}
    void receive_reply(PortableInterceptor::ClientRequestInfo_ptr) override {}
    void receive_exception(PortableInterceptor::ClientRequestInfo_ptr) override {}
    void receive_other(PortableInterceptor::ClientRequestInfo_ptr) override {}
};

class EmptyServer final : public PortableInterceptor::ServerRequestInterceptor {
  public:
    char* name() override { return CORBA::string_dup(""); }
    void destroy() override {}
    void receive_request_service_contexts(PortableInterceptor::ServerRequestInfo_ptr) override {}
    void receive_request(PortableInterceptor::ServerRequestInfo_ptr) override {}
    void send_reply(PortableInterceptor::ServerRequestInfo_ptr) override {}
    void send_exception(PortableInterceptor::ServerRequestInfo_ptr) override {}
    void send_other(PortableInterceptor::ServerRequestInfo_ptr) override {}
};

class Initializer final : public PortableInterceptor::ORBInitializer {
  public:
    void pre_init(PortableInterceptor::ORBInitInfo_ptr info) override
    {
        constexpr std::string_view prefix = "interceptors-";
        const CORBA::String_var id = info->orb_id();
        if (!std::string_view(id.in()).starts_with(prefix)) return;
        for (long count = std::strtol(id.in() + prefix.size(), nullptr, 10); count > 0; --count) {
            const PortableInterceptor::ClientRequestInterceptor_var client = new EmptyClient;
            info->add_client_request_interceptor(client.in());
            const PortableInterceptor::ServerRequestInterceptor_var server = new EmptyServer;
            info->add_server_request_interceptor(server.in());
        }
    }
    void post_init(PortableInterceptor::ORBInitInfo_ptr) override {}
};

/// Before main makes the ORB.
[[maybe_unused]] const bool is_registered = [] {
    const PortableInterceptor::ORBInitializer_var initializer = new Initializer;
    PortableInterceptor::register_orb_initializer(initializer.in());
    return true;
}();

} // namespace
