// SPDX-License-Identifier: Apache-2.0
#include "kairos/events/forwarding_adapters.h"

#include "kairos/ior/profile.h"
#include "kairos/orb/reference.h"

#include <algorithm>
#include <charconv>
#include <mutex>
#include <set>
#include <utility>

namespace kairos::events {
namespace {

constexpr const char* objects_name = "Objects";

[[noreturn]] void raise_on_its_way()
{
    throw CORBA::TRANSIENT(0, CORBA::COMPLETED_NO, "nobody has this share of the service now");
}

[[noreturn]] void raise_bad_address()
{
    throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO,
                           "what others are to find a process at is host:port");
}

/// The first IIOP profile; null where there is none.
const ior::TaggedProfile* iiop_profile(const ior::Ior& reference)
{
    for (const ior::TaggedProfile& profile : reference.profiles)
        if (profile.tag == ior::tag_internet_iop) return &profile;
    return nullptr;
}

PortableServer::POA_var make_share_poa(PortableServer::POA_ptr parent, const char* name,
                                       PortableServer::POAManager_ptr manager,
                                       PortableServer::ServantLocator_ptr locator)
{
    CORBA::PolicyList policies;
    policies.length(locator == nullptr ? 2 : 4);
    policies[0] = parent->create_lifespan_policy(PortableServer::PERSISTENT);
    policies[1] = parent->create_id_assignment_policy(PortableServer::USER_ID);
    if (locator != nullptr) {
        policies[2] = parent->create_servant_retention_policy(PortableServer::NON_RETAIN);
        policies[3] = parent->create_request_processing_policy(PortableServer::USE_SERVANT_MANAGER);
    }
    PortableServer::POA_var poa = parent->create_POA(name, manager, policies);
    if (locator != nullptr) poa->set_servant_manager(locator);
    return poa;
}

} // namespace

/// Asked for each object of a share that is elsewhere.
class ForwardingAdapters::Locator final : public virtual PortableServer::ServantLocator {
  public:
    Locator(CORBA::ORB_ptr orb, unsigned share, AddressOf address_of)
        : orb_(orb), share_(share), address_of_(std::move(address_of))
    {
    }
    PortableServer::Servant preinvoke(const PortableServer::ObjectId& oid,
                                      PortableServer::POA_ptr adapter, const char*,
                                      Cookie&) override
    {
        const std::string address = address_of_(share_);
        if (address.empty()) raise_on_its_way();
        const CORBA::Object_var here = adapter->create_reference_with_id(oid, "");
        forward_to(orb_, address, here.in());
    }
    void postinvoke(const PortableServer::ObjectId&, PortableServer::POA_ptr, const char*, Cookie,
                    PortableServer::Servant) override
    {
    }

  private:
    const CORBA::ORB_ptr orb_; // which outlives its POAs
    const unsigned share_;
    const AddressOf address_of_;
};

/// Makes none. With it who asks for what is below a POA that just ends is told to try again.
class NoActivator final : public virtual PortableServer::AdapterActivator {
  public:
    CORBA::Boolean unknown_adapter(PortableServer::POA_ptr, const char*) override { return false; }
};

/// Makes the POAs of a share where there are none: those that are to be, or ones that send callers
/// elsewhere. Others who ask for the share meanwhile wait until both of them are there.
class ForwardingAdapters::Activator final : public virtual PortableServer::AdapterActivator {
  public:
    Activator(CORBA::ORB_ptr orb, unsigned count, AddressOf address_of)
        : orb_(orb), count_(count), address_of_(std::move(address_of))
    {
    }
    void set_ours(unsigned share, bool is_ours)
    {
        const std::lock_guard lock(mutex_);
        if (is_ours)
            ours_.insert(share);
        else
            ours_.erase(share);
    }
    CORBA::Boolean unknown_adapter(PortableServer::POA_ptr parent, const char* name) override
    {
        const std::string_view text = name;
        unsigned share = 0;
        const auto read = std::from_chars(text.data(), text.data() + text.size(), share);
        if (read.ec != std::errc() || share == 0 || share > count_ || text != std::to_string(share))
            return false;
        bool is_ours = false;
        {
            const std::lock_guard lock(mutex_);
            is_ours = ours_.erase(share) != 0; // once: after their end it is elsewhere
        }
        PortableServer::ServantLocator_var locator;
        if (!is_ours) locator = new Locator(orb_, share, address_of_);
        const PortableServer::POAManager_var forwarding = parent->the_POAManager();
        const PortableServer::POA_var named =
            make_share_poa(parent, name, is_ours ? nullptr : forwarding.in(), locator.in());
        const PortableServer::AdapterActivator_var none = new NoActivator;
        named->the_activator(none.in());
        const PortableServer::POAManager_var manager = named->the_POAManager();
        const PortableServer::POA_var others =
            make_share_poa(named.in(), objects_name, manager.in(), locator.in());
        return true;
    }

  private:
    const CORBA::ORB_ptr orb_; // which outlives its POAs
    const unsigned count_;
    const AddressOf address_of_;
    std::mutex mutex_;        // guards ours_; inside nobody's
    std::set<unsigned> ours_; // which are to be made
};

ForwardingAdapters::ForwardingAdapters(CORBA::ORB_ptr orb, PortableServer::POA_ptr parent,
                                       unsigned count, AddressOf address_of)
    : orb_(CORBA::ORB::_duplicate(orb)),
      shares_(make_share_poa(parent, "Shares", PortableServer::POAManager::_nil(), nullptr))
{
    const PortableServer::AdapterActivator_var activator = activator_ =
        new Activator(orb, count, std::move(address_of));
    shares_->the_activator(activator.in());
}

void ForwardingAdapters::serve() const
{
    const PortableServer::POAManager_var manager = shares_->the_POAManager();
    manager->activate();
}

ForwardingAdapters::~ForwardingAdapters()
{
    try {
        shares_->destroy(true, true);
    } catch (const CORBA::Exception&) {
        // The ORB was destroyed before, or the POA above it.
    }
}

PortableServer::POA_ptr ForwardingAdapters::find(unsigned share) const
{
    return shares_->find_POA(std::to_string(share).c_str(), true);
}

ForwardingAdapters::Pair ForwardingAdapters::take(unsigned share)
{
    const PortableServer::POA_var forwarding = find(share);
    activator_->set_ours(share, true);
    try {
        forwarding->destroy(true, true);
        Pair made;
        made.named = find(share);
        made.others = made.named->find_POA(objects_name, false);
        return made;
    } catch (...) {
        activator_->set_ours(share, false);
        throw;
    }
}

CORBA::Object_ptr ForwardingAdapters::reference(unsigned share, bool is_named,
                                                const PortableServer::ObjectId& id,
                                                const char* repository_id) const
{
    try {
        PortableServer::POA_var poa = find(share);
        if (!is_named) poa = poa->find_POA(objects_name, false);
        return poa->create_reference_with_id(id, repository_id);
    } catch (const PortableServer::POA::AdapterNonExistent&) {
        raise_on_its_way();
    } catch (const CORBA::OBJECT_NOT_EXIST&) { // it has just ended
        raise_on_its_way();
    }
}

std::string address_for_others(CORBA::Object_ptr object, const std::string& host_and_port)
{
    if (CORBA::is_nil(object) || !object->_kairos_reference()) raise_bad_address();
    const ior::Ior reference = object->_kairos_reference()->ior();
    const ior::TaggedProfile* const tagged = iiop_profile(reference);
    if (tagged == nullptr) raise_bad_address();
    if (host_and_port.empty()) return ior::to_string(reference);
    const std::size_t colon = host_and_port.rfind(':');
    std::uint16_t port = 0;
    const char* const end = host_and_port.data() + host_and_port.size();
    if (colon == std::string::npos || colon == 0) raise_bad_address();
    const bool is_host =
        std::all_of(host_and_port.begin(),
                    host_and_port.begin() + static_cast<std::ptrdiff_t>(colon), [](char octet) {
                        return (octet >= 'a' && octet <= 'z') || (octet >= 'A' && octet <= 'Z') ||
                               (octet >= '0' && octet <= '9') ||
                               std::string_view(".-_:[]").find(octet) != std::string_view::npos;
                    });
    if (!is_host) raise_bad_address();
    const auto read = std::from_chars(host_and_port.data() + colon + 1, end, port);
    if (read.ec != std::errc() || read.ptr != end || port == 0) raise_bad_address();
    auto profile = ior::decode_iiop(tagged->data);
    if (!profile) raise_bad_address();
    for (const ior::TaggedComponent& component : profile->components)
        if (component.tag == ior::tag_ssl_sec_trans || component.tag == ior::tag_tls_sec_trans ||
            component.tag == ior::tag_csi_sec_mech_list)
            throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO,
                                   "a process that is called by TLS is where its references say");
    profile->host = host_and_port.substr(0, colon);
    if (profile->host.front() == '[' && profile->host.back() == ']') // IPv6
        profile->host = profile->host.substr(1, colon - 2);
    profile->port = port;
    // Of those that the reference says.
    std::erase_if(profile->components, [](const ior::TaggedComponent& component) {
        return component.tag == ior::tag_alternate_iiop_address ||
               component.tag == ior::tag_local_addresses ||
               component.tag == ior::tag_priority_addresses ||
               component.tag == ior::tag_secure_priority_addresses ||
               component.tag == ior::tag_tao_endpoints;
    });
    return ior::to_string({.type_id = "", .profiles = {ior::encode_iiop(*profile)}});
}

void forward_to(CORBA::ORB_ptr orb, const std::string& address, CORBA::Object_ptr object)
{
    auto there = ior::from_string(address);
    const ior::Ior here = object->_kairos_reference()->ior();
    const ior::TaggedProfile* const own = iiop_profile(here);
    if (!there || own == nullptr) raise_on_its_way();
    const auto keyed = ior::decode_iiop(own->data);
    if (!keyed) raise_on_its_way();
    there->type_id.clear();
    std::erase_if(there->profiles, [](const ior::TaggedProfile& profile) {
        return profile.tag != ior::tag_internet_iop; // which have another object's key
    });
    for (ior::TaggedProfile& tagged : there->profiles) {
        auto profile = ior::decode_iiop(tagged.data);
        if (!profile) raise_on_its_way();
        profile->object_key = keyed->object_key;
        tagged = ior::encode_iiop(*profile);
    }
    const CORBA::Object_var target = orb->string_to_object(ior::to_string(*there).c_str());
    throw PortableServer::ForwardRequest(target.in());
}

} // namespace kairos::events
