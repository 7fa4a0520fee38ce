// SPDX-License-Identifier: Apache-2.0
//
// What IOR interceptors add to references, as `kairos ior` and omniORB's catior show it.
#include "tests/interceptors/ior_fixture.h"

#include <array>
#include <cstdio>

namespace kairos::orb_testing {
namespace {

/// What a program prints of a reference.
[[nodiscard]] std::string printed_by(const std::string& program, CORBA::ORB_ptr orb,
                                     CORBA::Object_ptr object)
{
    const CORBA::String_var text = orb->object_to_string(object);
    FILE* const out = popen((program + " " + text.in()).c_str(), "r");
    EXPECT_NE(out, nullptr);
    std::string all;
    std::array<char, 4096> part;
    while (const std::size_t size = fread(part.data(), 1, part.size(), out))
        all.append(part.data(), size);
    EXPECT_EQ(pclose(out), 0) << all;
    return all;
}

class ShownByTools : public testing::Test {
  protected:
    [[nodiscard]] std::string shown_by(const std::string& program)
    {
        const Plan plan([&](PI::ORBInitInfo_ptr info) {
            add_ior<OldProbe>(info, "A", &record_,
                              {{"establish", [](PI::IORInfo_ptr ior) {
                                    ior->add_ior_component(component_of(mine, "\x12\x34\x56\x78"));
                                }}});
        });
        const Server server;
        const PortableServer::POA_var root = server.root();
        const CORBA::Object_var object = root->create_reference(target_id);
        return printed_by(program, server.orb(), object.in());
    }

  private:
    Record record_;
};

TEST_F(ShownByTools, KairosIor)
{
    const std::string shown = shown_by(KAIROS_PROGRAM " ior");
    EXPECT_NE(shown.find("4b520200"), std::string::npos) << shown;
    EXPECT_NE(shown.find("12345678"), std::string::npos) << shown;
}

TEST_F(ShownByTools, CatiorOfOmniOrb)
{
    const std::string program = CATIOR;
    if (program.empty()) GTEST_SKIP() << "omniORB's catior is not installed";
    const std::string shown = shown_by(program);
    EXPECT_NE(shown.find("component tag 1263665664"), std::string::npos) << shown; // 0x4b520200
}

} // namespace
} // namespace kairos::orb_testing
