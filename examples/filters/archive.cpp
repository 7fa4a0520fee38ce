// SPDX-License-Identifier: Apache-2.0
//
// An archive behind a chain of filters (filters.h) with two pools of one thread each, and clients
// that meet them: what is forbidden is refused, a search is served while the index is rebuilt, and
// who comes when two calls are under way is sent away.
#include "archive_skel.h"
#include "filters.h"

#include <kairos/corba/CORBA.h>

#include <cstdlib>
#include <latch>
#include <memory>
#include <pthread.h>
#include <thread>
#include <vector>

namespace {

/// Its first two calls stay until they are let go: so both are certainly under way at once.
class ArchiveServant final : public POA_Archive {
  public:
    char* find(const char*) override { return serve(); }
    char* rebuild_index() override { return serve(); }
    char* erase_all() override { return serve(); }

    void wait_for_two() { two_are_inside_.wait(); }
    void let_go() { may_go_.count_down(); }

  private:
    char* serve()
    {
        two_are_inside_.count_down();
        may_go_.wait();
        char thread[16] = "";
        ::pthread_getname_np(::pthread_self(), thread, sizeof thread);
        return CORBA::string_dup(thread);
    }
    std::latch two_are_inside_{2};
    std::latch may_go_{1};
};

CORBA::ORB_ptr make_server()
{
    std::vector<std::string> options{
        "server", "-ORBConcurrency",     "filter-chain",    "-ORBPools", "2", "-ORBThreads",
        "1",      "-ORBListenEndpoints", "iiop://127.0.0.1"};
    std::vector<char*> arguments;
    for (std::string& option : options)
        arguments.push_back(option.data());
    arguments.push_back(nullptr);
    int count = static_cast<int>(options.size());
    return CORBA::ORB_init(count, arguments.data(), "server");
}

/// Before the first POAManager is activated. Requests pass the filters in this order.
void add_filters(CORBA::ORB_ptr server)
{
    server->_kairos_add_request_filter(std::make_unique<Journal>());
    server->_kairos_add_request_filter(
        std::make_unique<PoolByOperation>(std::set<std::string, std::less<>>{"rebuild_index"}));
    server->_kairos_add_request_filter(std::make_unique<Admission>(2, "erase_all"));
}

/// Makes the call and says what became of it.
template <typename Call>
void report(const std::string& operation, Call call)
{
    std::string end;
    try {
        const CORBA::String_var thread = call();
        end = std::string("served by ") + thread.in();
    } catch (const CORBA::SystemException& exception) {
        end = exception._name();
    }
    std::cout << operation + ": " + end + '\n';
}

void run(CORBA::ORB_ptr server, CORBA::ORB_ptr client)
{
    add_filters(server);
    const CORBA::Object_var root = server->resolve_initial_references("RootPOA");
    const PortableServer::POA_var poa = PortableServer::POA::_narrow(root);
    const PortableServer::Servant_var<ArchiveServant> servant = new ArchiveServant;
    const PortableServer::ObjectId_var id = poa->activate_object(servant);
    const CORBA::Object_var reference = poa->id_to_reference(id);
    const CORBA::String_var text = server->object_to_string(reference);
    const PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();

    const CORBA::Object_var object = client->string_to_object(text);
    const Archive_var archive = Archive::_unchecked_narrow(object);
    const auto find = [&] { return archive->find("Odyssey"); };

    report("erase_all", [&] { return archive->erase_all(); });
    std::thread rebuilding(
        [&] { report("rebuild_index", [&] { return archive->rebuild_index(); }); });
    std::thread searching([&] { report("find", find); });
    servant->wait_for_two();
    report("find", find);
    servant->let_go();
    searching.join();
    rebuilding.join();
}

} // namespace

int main(int argc, char** argv)
try {
    const CORBA::ORB_var client = CORBA::ORB_init(argc, argv);
    const CORBA::ORB_var server = make_server();
    run(server, client);
    client->destroy();
    server->destroy();
    return EXIT_SUCCESS;
} catch (const CORBA::Exception& exception) {
    std::cerr << "archive: " << exception.what() << '\n';
    return EXIT_FAILURE;
}
