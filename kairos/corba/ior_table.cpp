// SPDX-License-Identifier: Apache-2.0
#include "kairos/corba/ior_table.h"

#include "kairos/base/limits.h"
#include "kairos/corba/orb_state.h"
#include "kairos/corba/poa_services.h"
#include "kairos/orb/failure.h"

#include <string>

namespace IORTable {

namespace {

using kairos::mapping::omg_minor;

std::string checked_key(const char* object_key)
{
    std::string key = object_key == nullptr ? "" : object_key;
    if (key.empty() || key.size() > kairos::limits::object_key_max)
        throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "not a name for an object key");
    return key;
}

/// What an object URL means, for others than this process.
kairos::ior::Ior reference_of(CORBA::ORB_ptr orb, const char* url)
{
    const CORBA::Object_var object = orb->string_to_object(url);
    if (CORBA::is_nil(object.in()) || !object->_kairos_reference() ||
        object->_kairos_reference()->targets().empty())
        throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "nobody can be sent to this object");
    return object->_kairos_reference()->ior();
}

class ProgramsLocator final : public kairos::poa::ForwardLocator {
  public:
    ProgramsLocator(kairos::orb::Orb& core, Locator_ptr locator)
        : core_(core), locator_(Locator::_duplicate(locator))
    {
    }

    std::optional<kairos::ior::Ior> locate(std::string_view key) override
    {
        const CORBA::ORB_var orb = kairos::corba::orb_of(core_);
        if (CORBA::is_nil(orb.in()) || key.find('\0') != std::string_view::npos)
            return std::nullopt;
        try {
            const CORBA::String_var url = locator_->locate(std::string(key).c_str());
            return reference_of(orb.in(), url.in());
        } catch (const NotFound&) {
            return std::nullopt;
        }
    }

  private:
    kairos::orb::Orb& core_; // owns the table
    const Locator_var locator_;
};

} // namespace

Table::Table(CORBA::ORB_ptr orb)
    : orb_(CORBA::ORB::_duplicate(orb)),
      forwards_(kairos::corba::poa_services_of(*orb)->adapters().forwards())
{
}

bool Table::_kairos_supports(std::string_view repository_id) const
{
    return repository_id == _kairos_id || LocalObject::_kairos_supports(repository_id);
}

kairos::ior::Ior Table::target_of(std::string_view object_key, const char* ior) const
{
    kairos::ior::Ior target = reference_of(orb_.in(), ior);
    const auto reference = orb_->_kairos_core().make_reference(target);
    if (reference->is_local() && kairos::as_text(reference->object_key()) == object_key)
        throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "the name would lead to itself");
    return target;
}

void Table::bind(const char* object_key, const char* ior)
{
    std::string key = checked_key(object_key);
    const kairos::ior::Ior target = target_of(key, ior);
    if (!forwards_.bind(std::move(key), target)) throw AlreadyBound();
}

void Table::rebind(const char* object_key, const char* ior)
{
    std::string key = checked_key(object_key);
    kairos::ior::Ior target = target_of(key, ior);
    forwards_.rebind(std::move(key), std::move(target));
}

void Table::unbind(const char* object_key)
{
    if (!forwards_.unbind(checked_key(object_key))) throw NotFound();
}

void Table::set_locator(Locator_ptr the_locator)
{
    kairos::IntrusivePtr<kairos::poa::ForwardLocator> locator;
    if (!CORBA::is_nil(the_locator))
        locator = kairos::IntrusivePtr<kairos::poa::ForwardLocator>::adopt(
            new ProgramsLocator(orb_->_kairos_core(), the_locator));
    forwards_.set_locator(std::move(locator));
}

} // namespace IORTable

namespace kairos::corba {

CORBA::Object_ptr ior_table_service(CORBA::ORB& orb) { return new IORTable::Table(&orb); }

} // namespace kairos::corba
