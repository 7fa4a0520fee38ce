// SPDX-License-Identifier: Apache-2.0
#include "kairos/ior/policies.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace kairos::ior {
namespace {

TaggedComponent component(std::initializer_list<int> octets)
{
    TaggedComponent component{tag_policies, {}};
    for (const int octet : octets)
        component.data.push_back(static_cast<std::byte>(octet));
    return component;
}

/// As TAO writes it, big-endian: one policy, 40, SERVER_DECLARED 42.
const TaggedComponent tao_server_declared =
    component({0, 0, 0, 0,  0, 0, 0, 1,           // byte order, count
               0, 0, 0, 40, 0, 0, 0, 10,          // type, octets
               0, 0, 0, 0,  0, 0, 0, 1,  0, 42}); // byte order, model, priority

TEST(Policies, OfAnotherOrbAreUnderstood)
{
    const auto policies = decode_policies(tao_server_declared);
    ASSERT_TRUE(policies);
    EXPECT_EQ(policies->priority_model, (PriorityModel{false, 42}));
    EXPECT_TRUE(policies->bands.empty());
}

TEST(Policies, SurviveTheirEncoding)
{
    ExposedPolicies policies;
    EXPECT_EQ(decode_policies(make_policies(policies)), policies);
    policies.priority_model = PriorityModel{true, 32767};
    EXPECT_EQ(decode_policies(make_policies(policies)), policies);
    policies.bands = {{0, 9}, {10, 10}, {20, 32767}};
    EXPECT_EQ(decode_policies(make_policies(policies)), policies);
    policies.priority_model.reset();
    EXPECT_EQ(decode_policies(make_policies(policies)), policies);
    policies.tcp = TcpProperties{.send_queue_bytes = 20'000,
                                 .receive_queue_bytes = 30'000,
                                 .keep_alive = true,
                                 .dont_route = true,
                                 .no_delay = false,
                                 .network_priority = true};
    EXPECT_EQ(decode_policies(make_policies(policies)), policies);
    policies = {.priority_model = {}, .bands = {}, .tcp = TcpProperties{}};
    EXPECT_FALSE(policies.is_empty());
    EXPECT_EQ(decode_policies(make_policies(policies)), policies);
}

/// Client protocols as TAO writes them, big-endian: IIOP with 1, 2, keep-alive and no delay.
TaggedComponent tao_protocols(std::initializer_list<int> rest, int count = 1)
{
    const int size = 4 + 4 + 4 + 4 + 4 + static_cast<int>(rest.size());
    TaggedComponent all = component({0, 0, 0, 0,  0, 0, 0, 1,     // byte order, count
                                     0, 0, 0, 43, 0, 0, 0, size,  // type, octets
                                     0, 0, 0, 0,  0, 0, 0, count, // byte order, protocols
                                     0, 0, 0, 0,  0, 0, 0, 1,     // IIOP, to send
                                     0, 0, 0, 2});                // to receive
    for (const int octet : rest)
        all.data.push_back(static_cast<std::byte>(octet));
    return all;
}

TEST(Policies, ProtocolsOfAnotherOrbAreUnderstood)
{
    TcpProperties expected{.send_queue_bytes = 1,
                           .receive_queue_bytes = 2,
                           .keep_alive = true,
                           .dont_route = false,
                           .no_delay = true};
    const auto tcp_of = [](const TaggedComponent& said) {
        const auto policies = decode_policies(said);
        EXPECT_TRUE(policies);
        return policies ? policies->tcp : std::nullopt;
    };
    EXPECT_EQ(tcp_of(tao_protocols({1, 0, 1})), expected);
    EXPECT_EQ(tcp_of(tao_protocols({1, 0, 1, 0, 1, 2, 3, 4, 5}, 2)), expected); // and another
    expected.network_priority = true;                                           // of later versions
    EXPECT_EQ(tcp_of(tao_protocols({1, 0, 1, 1})), expected);
    EXPECT_EQ(tcp_of(tao_protocols({1, 0, 1}, 0)), std::nullopt);
    EXPECT_FALSE(decode_policies(tao_protocols({1, 0})));
    EXPECT_FALSE(decode_policies(tao_protocols({1, 0, 2})));
    EXPECT_FALSE(decode_policies(tao_protocols({1, 0, 1, 2})));
    TaggedComponent other = tao_protocols({1, 0, 1});
    other.data[27] = std::byte{1}; // not IIOP
    EXPECT_EQ(tcp_of(other), std::nullopt);
    other = tao_protocols({1, 0, 1});
    other.data[28] = std::byte{0x80}; // a negative size
    EXPECT_FALSE(decode_policies(other));
    other.data[23] = std::byte{200}; // more protocols than there is room for
    EXPECT_FALSE(decode_policies(other));
}

TEST(Policies, OfUnknownTypesArePassedOver)
{
    const auto policies =
        decode_policies(component({0, 0, 0, 0,  0, 0, 0, 2,        //
                                   0, 0, 0, 99, 0, 0, 0, 2,  7, 7, // no encapsulation
                                   0, 0,                           // padding
                                   0, 0, 0, 40, 0, 0, 0, 10,       //
                                   0, 0, 0, 0,  0, 0, 0, 0,  0, 7}));
    ASSERT_TRUE(policies);
    EXPECT_EQ(policies->priority_model, (PriorityModel{true, 7}));
}

TEST(Policies, ThatAreMalformedAreNone)
{
    for (std::size_t size = 0; size < tao_server_declared.data.size(); ++size) {
        TaggedComponent cut = tao_server_declared;
        cut.data.resize(size);
        EXPECT_FALSE(decode_policies(cut)) << size;
    }
    const auto changed = [](std::size_t at, int octet) {
        TaggedComponent other = tao_server_declared;
        other.data[at] = static_cast<std::byte>(octet);
        return decode_policies(other);
    };
    EXPECT_FALSE(changed(0, 2));     // no byte order
    EXPECT_FALSE(changed(4, 0xFF));  // more policies than there is room for
    EXPECT_FALSE(changed(12, 0xFF)); // more octets
    EXPECT_FALSE(changed(23, 2));    // no model
    EXPECT_FALSE(changed(24, 0x80)); // a negative priority
    EXPECT_TRUE(changed(24, 0x7F));
}

TEST(Policies, BandsGoUpwardsAndDoNotOverlap)
{
    EXPECT_TRUE(are_bands(std::vector<PriorityBand>{}));
    EXPECT_TRUE(are_bands(std::vector<PriorityBand>{{10, 20}, {0, 9}, {21, 21}}));
    EXPECT_FALSE(are_bands(std::vector<PriorityBand>{{20, 10}}));
    EXPECT_FALSE(are_bands(std::vector<PriorityBand>{{-1, 10}}));
    EXPECT_FALSE(are_bands(std::vector<PriorityBand>{{0, 10}, {10, 20}}));
    EXPECT_FALSE(are_bands(std::vector<PriorityBand>{{5, 6}, {0, 10}}));
    ExposedPolicies overlapping;
    overlapping.bands = {{0, 10}, {10, 20}};
    EXPECT_FALSE(decode_policies(make_policies(overlapping)));
}

} // namespace
} // namespace kairos::ior
