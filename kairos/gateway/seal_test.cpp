// SPDX-License-Identifier: Apache-2.0
//
// Ids of a gateway's objects: which open, and which do not.
#include "kairos/gateway/seal.h"

#include "kairos/mapping/exception.h"

#include <gtest/gtest.h>

namespace kairos::gateway {
namespace {

ior::Ior reference(std::size_t size)
{
    return {.type_id = "IDL:A:1.0", .profiles = {{0, ior::OctetVector(size, std::byte{7})}}};
}

TEST(Seal, OpensWhatItHasMade)
{
    const Seal seal(as_bytes("secret"));
    const auto id = seal.id_of(reference(100));
    EXPECT_EQ(reference(100), seal.open(id));
    EXPECT_EQ(id, seal.id_of(reference(100))) << "ids of equal references are equal";
    const Seal same(as_bytes("secret"));
    EXPECT_EQ(reference(100), same.open(id)) << "also in another run";
}

TEST(Seal, OpensNothingElse)
{
    const Seal seal(as_bytes("secret"));
    const auto id = seal.id_of(reference(100));
    for (std::size_t i = 0; i < id.size(); ++i) {
        auto changed = id;
        changed[i] ^= std::byte{1};
        EXPECT_FALSE(seal.open(changed)) << "octet " << i;
    }
    for (std::size_t size = 0; size < id.size(); ++size)
        EXPECT_FALSE(seal.open(Bytes(id).first(size))) << size << " octets";
    auto longer = id;
    longer.push_back(std::byte{0});
    EXPECT_FALSE(seal.open(longer));
    EXPECT_FALSE(Seal(as_bytes("other")).open(id));
}

TEST(Seal, DrawsASecretWhereThereIsNone)
{
    const Seal one({});
    const Seal other({});
    EXPECT_EQ(reference(10), one.open(one.id_of(reference(10))));
    EXPECT_FALSE(other.open(one.id_of(reference(10))));
}

TEST(Seal, RefusesWhatIsTooLong)
{
    const Seal seal(as_bytes("secret"));
    EXPECT_NO_THROW((void)seal.id_of(reference(Seal::id_size_max - 100)));
    EXPECT_THROW((void)seal.id_of(reference(Seal::id_size_max)), CORBA::IMP_LIMIT);
}

} // namespace
} // namespace kairos::gateway
