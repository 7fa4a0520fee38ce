// SPDX-License-Identifier: Apache-2.0
//
// Interceptors that are told of what stays within the process only, or of what leaves it only.
#include "kairos/corba/BiDirPolicy.h"
#include "tests/interceptors/fixture.h"

#include <map>

namespace kairos::orb_testing {
namespace {

constexpr std::pair<const char*, PI::ProcessingMode> modes[] = {
    {"all", PI::LOCAL_AND_REMOTE}, {"remote", PI::REMOTE_ONLY}, {"local", PI::LOCAL_ONLY}};

CORBA::PolicyList policies_of(CORBA::ORB_ptr orb, PI::ProcessingMode mode)
{
    CORBA::Any value;
    value <<= mode;
    CORBA::PolicyList policies;
    policies.length(1);
    policies[0] = orb->create_policy(PI::PROCESSING_MODE_POLICY_TYPE, value);
    return policies;
}

/// Both kinds in every mode, the client's with what they hear in `calls`.
void add_all(PI::ORBInitInfo_ptr info, Record& calls, Record& requests)
{
    const PI::ORBInitInfo_3_1_var more = PI::ORBInitInfo_3_1::_narrow(info);
    const CORBA::ORB_var orb = info->_get_orb();
    for (const auto& [name, mode] : modes) {
        const CORBA::PolicyList policies = policies_of(orb.in(), mode);
        const PI::ClientRequestInterceptor_var client = new ClientProbe(name, &calls);
        const PI::ServerRequestInterceptor_var server = new ServerProbe(name, &requests);
        more->add_client_request_interceptor_with_policy(client.in(), policies);
        more->add_server_request_interceptor_with_policy(server.in(), policies);
    }
}

Lines calls_told(const std::string& first, const std::string& second)
{
    return {first + " send_request", second + " send_request", second + " receive_reply",
            first + " receive_reply"};
}
Lines requests_told(const std::string& first, const std::string& second)
{
    return {first + " arrival",          second + " arrival",    first + " receive_request",
            second + " receive_request", second + " send_reply", first + " send_reply"};
}

TEST(ProcessingMode, SaysOfWhichCallsInterceptorsAreTold)
{
    Record calls;
    Record requests;
    const Plan plan([&](PI::ORBInitInfo_ptr info) { add_all(info, calls, requests); });
    {
        RunningServer server("thread-per-connection");
        const CORBA::Object_var object = server.poa()->id_to_reference(server.id());
        const Probe::Target_var local = Probe::Target::_unchecked_narrow(object);
        EXPECT_EQ(local->add(1, 2), 3);
        EXPECT_EQ(calls.take(), calls_told("all", "local"));
        EXPECT_EQ(requests.take(), requests_told("all", "local"));
        Client client;
        const Probe::Target_var remote = client.target(server.reference());
        EXPECT_EQ(remote->add(1, 2), 3);
        EXPECT_EQ(calls.take(), calls_told("all", "remote"));
        EXPECT_EQ(requests.take(6), requests_told("all", "remote"));
    }
    const Lines destroyed = calls.take(6);
    EXPECT_EQ(std::ranges::count(destroyed, "local destroy"), 2); // of either ORB
    EXPECT_EQ(std::ranges::count(destroyed, "remote destroy"), 2);
}

TEST(ProcessingMode, PoliciesAreChecked)
{
    std::map<std::string, std::string> outcomes;
    const Plan plan([&](PI::ORBInitInfo_ptr info) {
        const PI::ORBInitInfo_3_1_var more = PI::ORBInitInfo_3_1::_narrow(info);
        const CORBA::ORB_var orb = info->_get_orb();
        const PI::ClientRequestInterceptor_var probe = new ClientProbe("one", nullptr);
        const auto add = [&](const CORBA::PolicyList& policies) {
            return standard_outcome(
                [&] { more->add_client_request_interceptor_with_policy(probe.in(), policies); });
        };
        CORBA::PolicyList policies = policies_of(orb.in(), PI::LOCAL_ONLY);
        policies.length(2);
        policies[1] = CORBA::Policy::_duplicate(policies[0]);
        outcomes["two modes"] = add(policies);
        CORBA::Any both;
        both <<= CORBA::UShort{1};
        policies[1] = orb->create_policy(BiDirPolicy::BIDIRECTIONAL_POLICY_TYPE, both);
        outcomes["another policy"] = add(policies);
        policies[1] = CORBA::Policy::_nil();
        outcomes["nil beside"] = add(policies);
        outcomes["the name again"] = add(policies);
        outcomes["no such mode"] =
            standard_outcome([&] { (void)policies_of(orb.in(), PI::LOCAL_ONLY + 1); });
        const PI::IORInterceptor_var none;
        outcomes["nil"] =
            standard_outcome([&] { more->add_ior_interceptor_with_policy(none.in(), policies); });
    });
    Client client;
    EXPECT_EQ(outcomes["two modes"], "INV_POLICY 0");
    EXPECT_EQ(outcomes["another policy"], "PolicyError");
    EXPECT_EQ(outcomes["nil beside"], "ok");
    EXPECT_EQ(outcomes["the name again"], "DuplicateName");
    EXPECT_EQ(outcomes["no such mode"], "PolicyError");
    EXPECT_EQ(outcomes["nil"], "BAD_PARAM 0");
    const CORBA::PolicyList kept = policies_of(client.orb(), PI::REMOTE_ONLY);
    const PI::ProcessingModePolicy_var mode = PI::ProcessingModePolicy::_narrow(kept[0]);
    const CORBA::Policy_var copied = mode->copy();
    const PI::ProcessingModePolicy_var copy = PI::ProcessingModePolicy::_narrow(copied.in());
    EXPECT_EQ(copy->processing_mode(), PI::REMOTE_ONLY);
}

} // namespace
} // namespace kairos::orb_testing
