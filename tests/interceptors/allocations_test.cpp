// SPDX-License-Identifier: Apache-2.0
//
// What interceptors cost that do nothing: no allocation a call, at either side.
#include "kairos/base/heap_testing.h"
#include "tests/interceptors/fixture.h"

namespace kairos::orb_testing {
namespace {

namespace heap = heap_testing;

/// Returns how many allocations the process makes within `work`.
template <typename Work>
[[nodiscard]] std::uint64_t allocations_of(Work&& work)
{
    constexpr std::uint64_t many = 1'000'000'000;
    heap::allocations_until_failure = many;
    work();
    return many - heap::allocations_until_failure.exchange(0);
}

class Empty final : public PI::ClientRequestInterceptor, public PI::ServerRequestInterceptor {
  public:
    /// Both bases say what they are.
    bool _kairos_supports(std::string_view id) const override
    {
        return ClientRequestInterceptor::_kairos_supports(id) ||
               ServerRequestInterceptor::_kairos_supports(id);
    }
    char* name() override { return CORBA::string_dup(""); }
    void destroy() override {}
    void send_request(PI::ClientRequestInfo_ptr) override {}
    void send_poll(PI::ClientRequestInfo_ptr) override {}
    void receive_reply(PI::ClientRequestInfo_ptr) override {}
    void receive_exception(PI::ClientRequestInfo_ptr) override {}
    void receive_other(PI::ClientRequestInfo_ptr) override {}
    void receive_request_service_contexts(PI::ServerRequestInfo_ptr) override {}
    void receive_request(PI::ServerRequestInfo_ptr) override {}
    void send_reply(PI::ServerRequestInfo_ptr) override {}
    void send_exception(PI::ServerRequestInfo_ptr) override {}
    void send_other(PI::ServerRequestInfo_ptr) override {}
};

class Allocations : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Interceptors, Allocations, ::testing::Values(1, 4));

TEST_P(Allocations, NoneACall)
{
    const Plan plan([](PI::ORBInitInfo_ptr info) {
        for (int i = 0; i < GetParam(); ++i) {
            const kairos::mapping::ObjectVar<Empty> empty = new Empty;
            info->add_client_request_interceptor(empty.in());
            info->add_server_request_interceptor(empty.in());
        }
    });
    RunningServer server("thread-per-connection");
    Client client;
    const Probe::Target_var target = client.target(server.reference());
    const auto call = [&](int times) {
        for (int i = 0; i < times; ++i)
            (void)target->add(i, 1);
    };
    call(10);
    EXPECT_EQ(allocations_of([&] { call(100); }), 0u);
    const CORBA::Object_var object = server.poa()->id_to_reference(server.id());
    const Probe::Target_var local = Probe::Target::_unchecked_narrow(object);
    for (int i = 0; i < 10; ++i)
        (void)local->add(i, 1);
    EXPECT_EQ(allocations_of([&] {
                  for (int i = 0; i < 100; ++i)
                      (void)local->add(i, 1);
              }),
              0u);
}

} // namespace
} // namespace kairos::orb_testing
