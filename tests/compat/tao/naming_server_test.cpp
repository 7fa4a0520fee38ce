// SPDX-License-Identifier: Apache-2.0
//
// TAO_Naming_Server (kairos/compat/tao/naming_server.h), as programs written for TAO use it.
#include "orbsvcs/Naming/Naming_Client.h"
#include "orbsvcs/Naming/Naming_Server.h"

#include <fstream>
#include <gtest/gtest.h>

namespace {

CORBA::ORB_ptr make_orb(const char* id)
{
    std::string words[] = {"test", "-ORBListenEndpoints", "iiop://127.0.0.1:0"};
    char* argv[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
    int argc = 3;
    return CORBA::ORB_init(argc, argv, id);
}

TEST(TaoNamingServer, ServesNamesAndSaysWhereItIs)
{
    std::string folder = std::filesystem::temp_directory_path() / "tao-names-XXXXXX";
    ASSERT_NE(::mkdtemp(folder.data()), nullptr);
    CORBA::ORB_var orb = make_orb("tao names");
    TAO_Naming_Server server;
    std::string file = folder + "/ior";
    std::string option = "-o";
    std::string program = "test";
    char* argv[] = {program.data(), option.data(), file.data(), nullptr};
    ASSERT_EQ(server.init_with_orb(3, argv, orb.in()), 0);
    std::string written;
    std::ifstream(file) >> written;
    const CORBA::String_var reference = server.naming_service_ior();
    EXPECT_EQ(written, reference.in());

    CORBA::ORB_var client = make_orb("tao client");
    CORBA::Object_var object = client->string_to_object(written.c_str());
    CosNaming::NamingContext_var far = CosNaming::NamingContext::_narrow(object.in());
    CosNaming::Name name;
    name.length(1);
    name[0].id = "self";
    far->bind(name, object.in());
    object = server->resolve(name);
    EXPECT_FALSE(CORBA::is_nil(object.in()));
    EXPECT_EQ(server.fini(), 0);
    EXPECT_THROW(static_cast<void>(far->resolve(name)), CORBA::SystemException);
    client->destroy();
    orb->destroy();
    std::filesystem::remove_all(folder);
}

TEST(TaoNamingServer, RefusesWhatItCannotDo)
{
    CORBA::ORB_var orb = make_orb("tao refuses");
    for (const char* wrong : {"-m", "-x", "-o"}) {
        TAO_Naming_Server server;
        std::string words[] = {"test", wrong, "1"};
        char* argv[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
        const bool lacks = std::string_view(wrong) == "-o";
        EXPECT_EQ(server.init_with_orb(lacks ? 2 : 3, argv, orb.in()), -1) << wrong;
    }
    orb->destroy();
}

} // namespace
