// SPDX-License-Identifier: Apache-2.0
//
// The measured program for the Naming Service: a server that has one embedded, with a store in a
// file and a name of three components, and an object that does nothing; and a client that resolves
// the name, or calls the object.
#include "bench.h"
#include "bench_skel.h"

// These speak the ORB's names.
#include "bench/latency_servant.h"
#include "bench/orb_program.h"

#include "kairos/nameserver/service.h"
#include "kairos/nameserver/sqlite_store.h"
#include "kairos/naming/name.h"

#include <filesystem>
#include <iostream>
#include <stdlib.h>

namespace {

using kairos::bench::Exercise;
using kairos::bench::LatencySummary;
using kairos::bench::reporting;

constexpr const char* contexts[] = {"plant", "plant/line"};
constexpr const char* bound_name = "plant/line/arm.motor";

/// Gone, with what is in it, at the end.
class Folder {
  public:
    Folder()
    {
        std::string path = std::filesystem::temp_directory_path() / "kairos_bench_XXXXXX";
        if (mkdtemp(path.data()) == nullptr) throw std::runtime_error("no temporary folder");
        path_ = path;
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder()
    {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

int serve(CORBA::ORB_ptr orb)
{
    const Folder folder;
    auto store = kairos::nameserver::open_sqlite_store({.path = folder.path() / "names"});
    if (!store) throw std::runtime_error(store.error().reason);
    const kairos::nameserver::NamingService service(orb, std::move(store).value());
    const CosNaming::NamingContextExt_var root = service.root();
    kairos::bench::LatencyServant servant;
    const Bench::Latency_var object = servant._this();
    for (const char* context : contexts)
        (void)CosNaming::NamingContext_var(
            root->bind_new_context(kairos::naming::to_name(context)));
    root->bind(kairos::naming::to_name(bound_name), object.in());
    return kairos::bench::serve(orb, {object.in(), root.in()});
}

/// An order's request_bytes say what is called: 0 the object, 1 the root context.
class NamingClient final : public kairos::bench::Client {
  public:
    NamingClient(CORBA::ORB_ptr orb, const std::string& object, const std::string& root)
        : name_(kairos::naming::to_name(bound_name))
    {
        const CORBA::Object_var first = orb->string_to_object(object.c_str());
        object_ = Bench::Latency::_narrow(first.in());
        const CORBA::Object_var second = orb->string_to_object(root.c_str());
        root_ = CosNaming::NamingContext::_narrow(second.in());
        if (CORBA::is_nil(object_.in()) || CORBA::is_nil(root_.in()))
            throw std::invalid_argument("not the references of the benchmark's server");
    }

    LatencySummary latency(const Exercise& exercise) override
    {
        return reporting([&] {
            if (exercise.request_bytes == 0) return time([&] { object_->ping(); }, exercise);
            return time([&] { (void)CORBA::Object_var(root_->resolve(name_)); }, exercise);
        });
    }
    void call(const Exercise& exercise) override
    {
        reporting([&] {
            kairos::bench::repeat(exercise.calls, [&] {
                if (exercise.request_bytes == 0)
                    object_->ping();
                else
                    (void)CORBA::Object_var(root_->resolve(name_));
            });
        });
    }

    double ttcp_seconds(const Exercise&) override { return refuse(); }
    kairos::bench::MessageBytes message_bytes(const Exercise&) override
    {
        refuse();
        return {};
    }

  private:
    template <typename Once>
    static LatencySummary time(Once&& once, const Exercise& exercise)
    {
        kairos::bench::repeat(kairos::bench::warm_up_calls, once);
        return kairos::bench::time_each(exercise.calls, once);
    }
    static double refuse() { throw std::invalid_argument("this program measures latency only"); }

    const CosNaming::Name name_;
    Bench::Latency_var object_;
    CosNaming::NamingContext_var root_;
};

int run(CORBA::ORB_ptr orb, const std::vector<std::string>& arguments)
{
    if (arguments.size() == 1 && arguments[0] == "server") return serve(orb);
    if (arguments.size() == 3 && arguments[0] == "client") {
        int status = 0;
        {
            NamingClient client(orb, arguments[1], arguments[2]);
            status = kairos::bench::serve_orders(client);
        }
        orb->destroy();
        return status;
    }
    std::cerr << "usage: kairos-bench-naming server [-ORB…]\n"
              << "       kairos-bench-naming client OBJECT ROOT [-ORB…]\n";
    return 2;
}

} // namespace

int main(int argc, char** argv) { return kairos::bench::orb_main(argc, argv, run); }
