// SPDX-License-Identifier: Apache-2.0
//
// TLS as programs for omniORB ask for it (docs/from-omniorb.md): by an endpoint, by options and by
// sslContext.
#include "kairos/corba/portable_server.h"
#include "omniORB4/CORBA_sysdep.h"
#include "omniORB4/omniORB.h"
#include "omniORB4/sslContext.h"
#include "tests/tls/certificates.h"

#include <fstream>
#include <gtest/gtest.h>

namespace kairos::tls_testing {
namespace {

/// A file with a certificate and its key, as omniORB wants it.
std::string both_of(const std::string& name)
{
    const Certificates& all = Certificates::get();
    std::string path = all.path(name + "-both.pem");
    std::ofstream both(path);
    for (const char* part : {".pem", "-key.pem"})
        both << std::ifstream(all.path(name + part)).rdbuf();
    return path;
}

CORBA::ORB_ptr make_omni_orb(const char* id, const char* options[][2] = nullptr)
{
    int argc = 0;
    return CORBA::ORB_init(argc, nullptr, id, options);
}

TEST(OmniOrb, ServesWhoShowsACertificateUnlessToldOtherwise)
{
    const std::string server_file = both_of("server");
    const std::string client_file = both_of("client");
    const std::string authority = Certificates::get().path("ca.pem");
    const char* options[][2] = {{"endPoint", "giop:ssl:127.0.0.1:"},
                                {"sslKeyFile", server_file.c_str()},
                                {"sslCAFile", authority.c_str()},
                                {nullptr, nullptr}};
    CORBA::ORB_var server = make_omni_orb("omniORB4", options);
    CORBA::Object_var object = server->resolve_initial_references("RootPOA");
    PortableServer::POA_var root = PortableServer::POA::_narrow(object.in());
    root->the_POAManager()->activate();
    object = root->create_reference("IDL:Nothing:1.0");
    CORBA::String_var text = server->object_to_string(object.in());

    sslContext::certificate_authority_file = authority.c_str();
    CORBA::ORB_var stranger = make_omni_orb("stranger");
    object = stranger->string_to_object(text.in());
    EXPECT_THROW(static_cast<void>(object->_non_existent()), CORBA::SystemException);
    stranger->destroy();

    omni::sslContext::key_file = client_file.c_str();
    CORBA::ORB_var client = make_omni_orb("known");
    object = client->string_to_object(text.in());
    EXPECT_TRUE(object->_non_existent()); // the server has answered
    client->destroy();

    sslContext::key_file_password = "secret";
    EXPECT_THROW(static_cast<void>(make_omni_orb("locked")), CORBA::INITIALIZE);
    sslContext::certificate_authority_file = nullptr;
    sslContext::key_file = nullptr;
    sslContext::key_file_password = nullptr;
    server->destroy();
}

} // namespace
} // namespace kairos::tls_testing
