// SPDX-License-Identifier: Apache-2.0
//
// A management agent: this host and its network interfaces as objects, for `kairos browse` and
// every other CORBA client. It has an Interface Repository, so that clients need no IDL, and binds
// its objects in the Naming Service: that of -ORBInitRef, or else one of its own, whose address it
// prints. With --walk it prints what a client sees, and ends.
#include "definitions.h"
#include "figures.h"
#include "mib_skel.h"

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <kairos/nameserver/open_store.h>
#include <kairos/nameserver/service.h>
#include <kairos/naming/CosNaming.h>
#include <kairos/naming/name.h>
#include <kairos/repository/repository.h>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

MIB::Status status_of(bool is_up) { return is_up ? MIB::up : MIB::down; }

class SystemServant : public POA_MIB::System {
  public:
    char* sysDescr() override { return CORBA::string_dup(description_of_host().c_str()); }
    char* sysObjectID() override { return CORBA::string_dup("0.0"); } // no vendor's
    MIB::TimeTicks sysUpTime() override { return static_cast<MIB::TimeTicks>(uptime_of_host()); }
    char* sysContact() override { return copy_of(contact_); }
    void sysContact(const char* contact) override { set(contact_, contact); }
    char* sysName() override { return CORBA::string_dup(name_of_host().c_str()); }
    char* sysLocation() override { return copy_of(location_); }
    void sysLocation(const char* location) override { set(location_, location); }
    CORBA::Long sysServices() override { return 72; } // end-to-end and applications

  private:
    char* copy_of(const std::string& text)
    {
        const std::lock_guard lock(mutex_);
        return CORBA::string_dup(text.c_str());
    }
    void set(std::string& text, const char* to)
    {
        constexpr std::size_t length_max = 255; // of a DisplayString
        if (std::string(to).size() > length_max) throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO);
        const std::lock_guard lock(mutex_);
        text = to;
    }

    std::mutex mutex_; // guards contact_ and location_
    std::string contact_ = "unknown";
    std::string location_ = "unknown";
};

/// All interfaces: which one is called says the object's id, its index.
class InterfaceServant : public POA_MIB::NetworkInterface {
  public:
    explicit InterfaceServant(PortableServer::Current_ptr current)
        : current_(PortableServer::Current::_duplicate(current))
    {
    }
    CORBA::Long ifIndex() override { return figures().index; }
    char* ifDescr() override { return CORBA::string_dup(figures().name.c_str()); }
    CORBA::Long ifType() override { return figures().type; }
    CORBA::Long ifMtu() override { return figures().mtu; }
    CORBA::ULongLong ifSpeed() override { return figures().bits_per_second; }
    char* ifPhysAddress() override { return CORBA::string_dup(figures().address.c_str()); }
    MIB::Status ifAdminStatus() override { return status_of(figures().is_wanted); }
    void ifAdminStatus(MIB::Status) override
    {
        throw CORBA::NO_PERMISSION(0, CORBA::COMPLETED_NO); // the agent only reads
    }
    MIB::Status ifOperStatus() override { return status_of(figures().is_up); }
    MIB::Counter ifInOctets() override { return figures().in_octets; }
    MIB::Counter ifInPkts() override { return figures().in_packets; }
    MIB::Counter ifInDiscards() override { return figures().in_discards; }
    MIB::Counter ifInErrors() override { return figures().in_errors; }
    MIB::Counter ifOutOctets() override { return figures().out_octets; }
    MIB::Counter ifOutPkts() override { return figures().out_packets; }
    MIB::Counter ifOutDiscards() override { return figures().out_discards; }
    MIB::Counter ifOutErrors() override { return figures().out_errors; }

  private:
    /// Interfaces come and go, and their objects with them.
    InterfaceFigures figures()
    {
        PortableServer::ObjectId_var id = current_->get_object_id();
        CORBA::String_var index = PortableServer::ObjectId_to_string(id);
        std::optional<InterfaceFigures> found = interface_of_host(std::atoi(index));
        if (!found) throw CORBA::OBJECT_NOT_EXIST(0, CORBA::COMPLETED_NO);
        return *found;
    }

    PortableServer::Current_var current_;
};

class InterfacesServant : public POA_MIB::Interfaces {
  public:
    explicit InterfacesServant(PortableServer::POA_ptr poa)
        : poa_(PortableServer::POA::_duplicate(poa))
    {
    }
    CORBA::Long ifNumber() override
    {
        return static_cast<CORBA::Long>(interfaces_of_host().size());
    }
    MIB::IfTable* ifTable() override
    {
        MIB::IfTable_var table = new MIB::IfTable;
        for (const InterfaceFigures& one : interfaces_of_host()) {
            table->length(table->length() + 1);
            MIB::IfEntry& entry = table[table->length() - 1];
            entry.ifIndex = one.index;
            entry.ifDescr = one.name.c_str();
            entry.ifType = one.type;
            entry.ifMtu = one.mtu;
            entry.ifSpeed = one.bits_per_second;
            entry.ifPhysAddress = one.address.c_str();
            entry.ifAdminStatus = status_of(one.is_wanted);
            entry.ifOperStatus = status_of(one.is_up);
            entry.ifInOctets = one.in_octets;
            entry.ifOutOctets = one.out_octets;
        }
        return table._retn();
    }
    MIB::NetworkInterface_ptr find(CORBA::Long index) override
    {
        if (!interface_of_host(index))
            throw MIB::NoSuchInterface(index, "the host has no interface with this index");
        PortableServer::ObjectId_var id =
            PortableServer::string_to_ObjectId(std::to_string(index).c_str());
        CORBA::Object_var object =
            poa_->create_reference_with_id(id, MIB::NetworkInterface::_kairos_id);
        return MIB::NetworkInterface::_unchecked_narrow(object);
    }

  private:
    PortableServer::POA_var poa_; ///< of the interfaces
};

// --- Names ---------------------------------------------------------------------------------------

/// A name server of the agent's own, for as long as it runs: its names are in a file that goes with
/// it.
class OwnNames {
  public:
    explicit OwnNames(CORBA::ORB_ptr orb)
    {
        std::string name = std::filesystem::temp_directory_path() / "mib_names_XXXXXX";
        if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
        folder_ = name;
        auto store = kairos::nameserver::open_store(folder_ + "/names");
        if (!store) throw std::runtime_error(store.error().reason);
        service_.emplace(orb, std::move(store).value());
    }
    OwnNames(const OwnNames&) = delete;
    OwnNames& operator=(const OwnNames&) = delete;
    ~OwnNames()
    {
        service_.reset();
        std::error_code none;
        std::filesystem::remove_all(folder_, none);
    }
    CosNaming::NamingContextExt_ptr root() const { return service_->root(); }

  private:
    std::string folder_;
    std::optional<kairos::nameserver::NamingService> service_;
};

/// What -ORBInitRef NameService=… names; nil where nothing does.
CosNaming::NamingContext_var names_of_options(CORBA::ORB_ptr orb)
try {
    CORBA::Object_var object = orb->resolve_initial_references("NameService");
    return CosNaming::NamingContext::_narrow(object);
} catch (const CORBA::ORB::InvalidName&) {
    return CosNaming::NamingContext::_nil();
}

void make_context(CosNaming::NamingContext_ptr root, const char* name)
try {
    CosNaming::NamingContext_var made = root->bind_new_context(kairos::naming::to_name(name));
} catch (const CosNaming::NamingContext::AlreadyBound&) { // an earlier run's
}

void bind_all(CosNaming::NamingContext_ptr root, MIB::System_ptr system,
              MIB::Interfaces_ptr interfaces)
{
    using kairos::naming::to_name;
    make_context(root, "mib");
    make_context(root, "mib/interface");
    root->rebind(to_name("mib/system"), system);
    root->rebind(to_name("mib/interfaces"), interfaces);
    MIB::IfTable_var table = interfaces->ifTable();
    for (CORBA::ULong i = 0; i < table->length(); ++i) {
        MIB::NetworkInterface_var one = interfaces->find(table[i].ifIndex);
        const CosNaming::Name context = to_name("mib/interface");
        CosNaming::Name name = context;
        name.length(3);
        name[2].id = table[i].ifDescr; // which may have dots
        root->rebind(name, one);
    }
}

void walk(CosNaming::NamingContext_ptr root)
{
    CORBA::Object_var object = root->resolve(kairos::naming::to_name("mib/system"));
    MIB::System_var system = MIB::System::_narrow(object);
    CORBA::String_var name = system->sysName();
    CORBA::String_var description = system->sysDescr();
    std::cout << "sysName = " << name << "\nsysDescr = " << description
              << "\nsysUpTime = " << system->sysUpTime() << '\n';
    object = root->resolve(kairos::naming::to_name("mib/interfaces"));
    MIB::Interfaces_var interfaces = MIB::Interfaces::_narrow(object);
    MIB::IfTable_var table = interfaces->ifTable();
    for (CORBA::ULong i = 0; i < table->length(); ++i) {
        MIB::NetworkInterface_var one = interfaces->find(table[i].ifIndex);
        CORBA::InterfaceDef_var type = one->_get_interface();
        CORBA::String_var id = type->id();
        CORBA::String_var called = one->ifDescr();
        std::cout << "ifDescr." << one->ifIndex() << " = " << called << ", " << id << '\n';
    }
    try {
        MIB::NetworkInterface_var none = interfaces->find(-1);
    } catch (const MIB::NoSuchInterface& missing) {
        std::cout << missing.ifIndex << ": " << missing.reason << '\n';
    }
}

// --- The agent -----------------------------------------------------------------------------------

PortableServer::POA_var make_interfaces_poa(PortableServer::POA_ptr root)
{
    PortableServer::POAManager_var manager = root->the_POAManager();
    CORBA::PolicyList policies;
    policies.length(4);
    policies[0] = root->create_id_assignment_policy(PortableServer::USER_ID);
    policies[1] = root->create_id_uniqueness_policy(PortableServer::MULTIPLE_ID);
    policies[2] = root->create_servant_retention_policy(PortableServer::NON_RETAIN);
    policies[3] = root->create_request_processing_policy(PortableServer::USE_DEFAULT_SERVANT);
    PortableServer::POA_var poa = root->create_POA("interfaces", manager, policies);
    for (CORBA::ULong i = 0; i < policies.length(); ++i)
        policies[i]->destroy();
    return poa;
}

/// Ends the agent when it is told to.
class EndBySignal {
  public:
    EndBySignal() // before there is another thread to get them
    {
        sigemptyset(&signals_);
        sigaddset(&signals_, SIGINT);
        sigaddset(&signals_, SIGTERM);
        pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
    }
    void run(CORBA::ORB_ptr orb)
    {
        std::thread waiting([&] {
            int received = 0;
            sigwait(&signals_, &received);
            orb->shutdown(false);
        });
        orb->run();
        waiting.join();
    }

  private:
    sigset_t signals_;
};

} // namespace

int main(int argc, char** argv)
try {
    EndBySignal end;
    CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
    {
        kairos::repository::InterfaceRepository types(orb);
        CORBA::Repository_var repository = types.reference();
        define_mib(repository);
        orb->register_initial_reference("InterfaceRepository", repository);

        CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
        PortableServer::POA_var root = PortableServer::POA::_narrow(object);
        PortableServer::POAManager_var manager = root->the_POAManager();
        manager->activate();
        PortableServer::POA_var poa = make_interfaces_poa(root);
        object = orb->resolve_initial_references("POACurrent");
        PortableServer::Current_var current = PortableServer::Current::_narrow(object);
        PortableServer::Servant_var<InterfaceServant> each = new InterfaceServant(current);
        poa->set_servant(each);

        PortableServer::Servant_var<SystemServant> system_servant = new SystemServant;
        PortableServer::Servant_var<InterfacesServant> interfaces_servant =
            new InterfacesServant(poa);
        MIB::System_var system = system_servant->_this();
        MIB::Interfaces_var interfaces = interfaces_servant->_this();

        CosNaming::NamingContext_var names = names_of_options(orb);
        std::optional<OwnNames> own_names;
        if (CORBA::is_nil(names)) {
            own_names.emplace(orb);
            names = own_names->root();
        }
        bind_all(names, system, interfaces);
        if (argc > 1 && std::string(argv[1]) == "--walk") {
            walk(names);
        } else {
            CORBA::String_var reference = orb->object_to_string(names);
            std::cout << reference << std::endl;
            end.run(orb);
        }
    }
    orb->destroy();
} catch (const std::exception& exception) {
    std::cerr << "mib_agent: " << exception.what() << '\n';
    return 1;
}
