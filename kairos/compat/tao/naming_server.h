// SPDX-License-Identifier: Apache-2.0
//
// TAO_Naming_Server: a naming service within the program. Programs link Kairos::nameserver too.
#pragma once

#include "kairos/base/log.h"
#include "kairos/compat/tao/tao.h"
#include "kairos/corba/portable_server.h"
#include "kairos/nameserver/open_store.h"
#include "kairos/nameserver/service.h"

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <unistd.h>

class TAO_Naming_Server {
  public:
    TAO_Naming_Server() = default;
    TAO_Naming_Server(const TAO_Naming_Server&) = delete;
    TAO_Naming_Server& operator=(const TAO_Naming_Server&) = delete;
    ~TAO_Naming_Server() { fini(); }

    /// Serves, and activates the RootPOA's manager. Heeds -o and -p, files for the reference and
    /// the number of the process, and -f and -u, the file in which names are kept (without one,
    /// they are gone at the end); takes -s, -b, -d, -r, -z and -m 0 as they are. Returns 0; -1, and
    /// the log says why, for others. Throws what the ORB throws.
    int init_with_orb(int argc, char* argv[], CORBA::ORB_ptr orb)
    {
        constexpr std::string_view with_value = "opfusbzm";
        std::string reference_file;
        std::string process_file;
        std::string names_file;
        for (int i = 1; i < argc; ++i) {
            const std::string_view option = argv[i];
            if (option == "-d" || option == "-r") continue;
            const bool is_known = option.size() == 2 && option[0] == '-' &&
                                  with_value.find(option[1]) != std::string_view::npos;
            if (!is_known || i + 1 == argc)
                return refuse("'" + std::string(option) + "' is unknown, or lacks its value");
            const std::string value = argv[++i];
            if (option == "-m" && value != "0") return refuse("-m: nobody is asked by multicast");
            if (option == "-o") reference_file = value;
            if (option == "-p") process_file = value;
            if (option == "-f" || option == "-u") names_file = value;
        }
        const char* const kept = names_file.empty() ? nullptr : names_file.c_str();
        if (init(orb, PortableServer::POA::_nil(), 0, nullptr, 0, kept) != 0) return -1;
        if (!reference_file.empty() &&
            !(std::ofstream(reference_file) << reference_.in() << std::flush))
            return refuse("-o " + reference_file + " cannot be written");
        if (!process_file.empty() && !(std::ofstream(process_file) << ::getpid() << std::flush))
            return refuse("-p " + process_file + " cannot be written");
        return 0;
    }

    /// Serves the names of the file `kept_in`, or of none. The POA, the size and the time are not
    /// needed. With `asks_first`, a naming service that the ORB knows is taken instead. Returns 0;
    /// -1, and the log says why, where the file cannot be used.
    int init(CORBA::ORB_ptr orb, PortableServer::POA_ptr /*poa*/, std::size_t /*context_size*/ = 0,
             void* /*timeout*/ = nullptr, int asks_first = 1, const char* kept_in = nullptr)
    {
        fini();
        orb_ = CORBA::ORB::_duplicate(orb);
        if (asks_first != 0 && takes_known()) return 0;
        std::string file = kept_in == nullptr ? "" : kept_in;
        if (file.empty()) {
            std::string folder = std::filesystem::temp_directory_path() / "kairos-names-XXXXXX";
            if (::mkdtemp(folder.data()) == nullptr) return refuse("there is no temporary folder");
            folder_ = folder;
            file = folder + "/names";
        }
        auto store = kairos::nameserver::open_store(file);
        if (!store) return refuse(store.error().reason);
        service_ =
            std::make_unique<kairos::nameserver::NamingService>(orb, std::move(store).value());
        root_ = service_->root();
        reference_ = orb->object_to_string(root_.in());
        const CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
        const PortableServer::POA_var root = PortableServer::POA::_narrow(object.in());
        const PortableServer::POAManager_var manager = root->the_POAManager();
        manager->activate();
        return 0;
    }
    int run()
    {
        orb_->run();
        return 0;
    }
    /// Serves no more. Not within an upcall.
    int fini()
    {
        root_ = CosNaming::NamingContext::_nil();
        service_.reset();
        std::error_code ignored;
        if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
        folder_.clear();
        return 0;
    }
    /// Owned by the caller.
    [[nodiscard]] char* naming_service_ior() { return CORBA::string_dup(reference_.in()); }
    /// Borrowed.
    CosNaming::NamingContext_ptr operator->() const { return root_.in(); }

  private:
    bool takes_known()
    {
        try {
            const CORBA::Object_var object = orb_->resolve_initial_references("NameService");
            root_ = CosNaming::NamingContext::_narrow(object.in());
        } catch (const CORBA::Exception&) {
            return false;
        }
        if (CORBA::is_nil(root_.in())) return false;
        reference_ = orb_->object_to_string(root_.in());
        return true;
    }
    static int refuse(const std::string& reason)
    {
        kairos::log::error("TAO_Naming_Server: " + reason);
        return -1;
    }

    CORBA::ORB_var orb_;
    std::string folder_; // of names that are not kept
    std::unique_ptr<kairos::nameserver::NamingService> service_;
    CosNaming::NamingContext_var root_;
    CORBA::String_var reference_;
};
