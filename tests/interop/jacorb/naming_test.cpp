// SPDX-License-Identifier: Apache-2.0
//
// JacORB's clients and tools on our naming service, and our tool on JacORB's.
#include "jacorb.h"
#include "naming_server.h"

#include "kairos/ior/object_url.h"

using namespace interop;

namespace {

constexpr int checks_of_names = 11;

/// What `program` prints, if it succeeds.
std::string output_of(Command command)
{
    const Remains remains =
        kairos::bench::run_to_end(process_options(std::move(command)), patience).value();
    EXPECT_EQ(remains.exit_status, 0) << remains.errors;
    EXPECT_EQ(remains.errors, "");
    return remains.output;
}

class JacorbAndNames : public WithJacorb {
  protected:
    /// Ours. Each has its own store.
    [[nodiscard]] Command kairos_naming(const std::string& store = "names") const
    {
        return {KAIROS_TOOL, "naming",          "--store", folder_.path() / store,
                "--listen",  "iiop://127.0.0.1"};
    }
    static std::string names(const NamingServer& server, const Arguments& arguments)
    {
        return output_of(Command{KAIROS_TOOL, "names", "--service", server.reference} + arguments);
    }
    /// The URL of the root for clients of a GIOP version.
    static std::string url(const NamingServer& server, const std::string& version)
    {
        const auto ior = kairos::ior::from_string(server.reference).value();
        return "corbaloc:iiop:" + version + '@' +
               kairos::ior::to_string(kairos::ior::targets(ior).front().address) + "/NameService";
    }

    const TemporaryFolder folder_;
};

} // namespace

TEST_F(JacorbAndNames, ClientOfJacorb)
{
    for (const char* version : {"1.0", "1.1", "1.2"}) {
        const NamingServer server(kairos_naming(version));
        (void)names(server, {"bind", "-p", "dev/echo.obj", jacorb().echo});
        jacorb().expect_checks("names", version, url(server, version), checks_of_names);
        EXPECT_EQ(names(server, {"tree"}), "Größe.naïf/\n  übrig\ndev/\n  echo.obj\n") << version;
    }
}

TEST_F(JacorbAndNames, ListerOfJacorb)
{
    const NamingServer server(kairos_naming());
    (void)names(server, {"bind", "-p", "dev/robot/arm.motor", jacorb().echo});
    (void)names(server, {"bind", "dev/echo", jacorb().echo});
    EXPECT_EQ(
        output_of(java("org.jacorb.naming.ContextLister") + Arguments{"-url", url(server, "1.2")}),
        "   dev/\n   \techo\n   \trobot/\n   \t\tarm.motor\n");
}

TEST_F(JacorbAndNames, OurToolOnJacorbsServer)
{
    const NamingServer server(java("org.jacorb.naming.NameServer") +
                              Arguments{"-Djacorb.naming.print_ior=on",
                                        "-Djacorb.naming.db_dir=" + folder_.path().string()});
    (void)names(server, {"bind", "-p", "dev/echo.obj", jacorb().echo});
    EXPECT_EQ(names(server, {"tree"}), "dev/\n  echo.obj\n");
    EXPECT_EQ(names(server, {"ls", "dev", "--portion", "1"}), "echo.obj\n");
    EXPECT_TRUE(names(server, {"resolve", "dev/echo.obj"}).starts_with("IOR:"));
    EXPECT_EQ(names(server, {"unbind", "dev/echo.obj"}), "unbound dev/echo.obj\n");
    EXPECT_EQ(names(server, {"unbind", "--destroy", "dev"}), "unbound dev\n");
    EXPECT_EQ(names(server, {"ls"}), "");
}
