// SPDX-License-Identifier: Apache-2.0
#include "kairos/notification/filter_servants.h"

#include "kairos/notification/CosNotifyFilter_skel.h"

#include <string_view>
#include <type_traits>

namespace kairos::notification {
namespace {

using namespace CosNotifyFilter;
using PortableServer::Servant_var;
using PortableServer::ServantBase;

/// What a typed event is mapped to: its arguments by their names (2.1.5).
CosNotification::StructuredEvent typed_event(const CosNotification::PropertySeq& arguments)
{
    CosNotification::StructuredEvent event;
    event.header.fixed_header.event_type.domain_name = "";
    event.header.fixed_header.event_type.type_name = "%TYPED";
    event.header.fixed_header.event_name = "";
    event.filterable_data = arguments;
    return event;
}

void require_grammar(std::string_view grammar)
{
    if (grammar != "EXTENDED_TCL" && grammar != "ETCL") throw InvalidGrammar();
}

class FilterServant final : public POA_CosNotifyFilter::Filter {
  public:
    FilterServant(const ChannelPtr& channel, FilterPtr filter)
        : channel_(channel), filter_(std::move(filter))
    {
    }
    [[nodiscard]] const FilterPtr& filter() const noexcept { return filter_; }

    char* constraint_grammar() override { return CORBA::string_dup("EXTENDED_TCL"); }
    ConstraintInfoSeq* add_constraints(const ConstraintExpSeq& constraint_list) override
    {
        ConstraintInfoSeq_var added = filter_->add(constraint_list);
        try {
            save();
        } catch (...) {
            take_back(added.in());
            throw;
        }
        return added._retn();
    }
    void modify_constraints(const ConstraintIDSeq& del_list,
                            const ConstraintInfoSeq& modify_list) override
    {
        filter_->modify(del_list, modify_list);
        save();
    }
    ConstraintInfoSeq* get_constraints(const ConstraintIDSeq& id_list) override
    {
        return filter_->infos(id_list);
    }
    ConstraintInfoSeq* get_all_constraints() override { return filter_->infos(); }
    void remove_all_constraints() override
    {
        filter_->clear();
        save();
    }
    void destroy() override
    {
        const ChannelPtr channel = channel_.lock();
        if (channel) channel->forget(*filter_);
        filter_->end();
        if (channel) channel->deactivate(filter_.get());
    }
    CORBA::Boolean match(const CORBA::Any& filterable_data) override
    {
        return filter_->passes(Notification(filterable_data, {}));
    }
    CORBA::Boolean
    match_structured(const CosNotification::StructuredEvent& filterable_data) override
    {
        return filter_->passes(Notification(filterable_data, {}));
    }
    CORBA::Boolean match_typed(const CosNotification::PropertySeq& filterable_data) override
    {
        return filter_->passes(Notification(typed_event(filterable_data), {}));
    }
    CallbackID attach_callback(CosNotifyComm::NotifySubscribe_ptr /*callback*/) override
    {
        throw CORBA::NO_IMPLEMENT(0, CORBA::COMPLETED_NO, "nobody is told of a filter's changes");
    }
    void detach_callback(CallbackID /*callback*/) override { throw CallbackNotFound(); }
    CallbackIDSeq* get_callbacks() override { return new CallbackIDSeq; }

  private:
    /// Nobody is told their ids.
    void take_back(const ConstraintInfoSeq& added)
    {
        ConstraintIDSeq ids;
        ids.length(added.length());
        for (CORBA::ULong i = 0; i < ids.length(); ++i)
            ids[i] = added[i].constraint_id;
        try {
            filter_->modify(ids, {});
        } catch (const ConstraintNotFound&) { // somebody has removed one of them
        }
    }
    void save()
    {
        if (const ChannelPtr channel = channel_.lock()) channel->save(*filter_);
    }

    const std::weak_ptr<Channel> channel_; // which owns this
    const FilterPtr filter_;
};

class MappingFilterServant final : public POA_CosNotifyFilter::MappingFilter {
  public:
    MappingFilterServant(const ChannelPtr& channel, MappingFilterPtr filter)
        : channel_(channel), filter_(std::move(filter))
    {
    }
    [[nodiscard]] const MappingFilterPtr& filter() const noexcept { return filter_; }

    char* constraint_grammar() override { return CORBA::string_dup("EXTENDED_TCL"); }
    CORBA::TypeCode_ptr value_type() override { return filter_->default_value().type(); }
    CORBA::Any* default_value() override { return new CORBA::Any(filter_->default_value()); }
    MappingConstraintInfoSeq*
    add_mapping_constraints(const MappingConstraintPairSeq& pair_list) override
    {
        MappingConstraintInfoSeq_var added = filter_->add(pair_list);
        save();
        return added._retn();
    }
    void modify_mapping_constraints(const ConstraintIDSeq& del_list,
                                    const MappingConstraintInfoSeq& modify_list) override
    {
        filter_->modify(del_list, modify_list);
        save();
    }
    MappingConstraintInfoSeq* get_mapping_constraints(const ConstraintIDSeq& id_list) override
    {
        return filter_->infos(id_list);
    }
    MappingConstraintInfoSeq* get_all_mapping_constraints() override
    {
        return filter_->infos(true);
    }
    void remove_all_mapping_constraints() override
    {
        filter_->clear();
        save();
    }
    void destroy() override
    {
        const ChannelPtr channel = channel_.lock();
        if (channel) channel->forget(*filter_);
        filter_->end();
        if (channel) channel->deactivate(filter_.get());
    }
    CORBA::Boolean match(const CORBA::Any& filterable_data, CORBA::Any_out result_to_set) override
    {
        return match(Notification(filterable_data, {}), result_to_set);
    }
    CORBA::Boolean match_structured(const CosNotification::StructuredEvent& filterable_data,
                                    CORBA::Any_out result_to_set) override
    {
        return match(Notification(filterable_data, {}), result_to_set);
    }
    CORBA::Boolean match_typed(const CosNotification::PropertySeq& filterable_data,
                               CORBA::Any_out result_to_set) override
    {
        return match(Notification(typed_event(filterable_data), {}), result_to_set);
    }

  private:
    [[nodiscard]] bool match(const Notification& event, CORBA::Any_out& result) const
    {
        const auto found = filter_->find(event);
        result = new CORBA::Any(found ? found->value.any : filter_->default_value());
        return found != nullptr;
    }
    void save()
    {
        if (const ChannelPtr channel = channel_.lock()) channel->save(*filter_);
    }

    const std::weak_ptr<Channel> channel_; // which owns this
    const MappingFilterPtr filter_;
};

/// Makes its object, and has the store have it where that has the channel. Owned by the caller.
template <typename Servant, typename Of>
CORBA::Object_ptr make_object(const std::weak_ptr<Channel>& of, const CORBA::Any* default_value)
{
    const ChannelPtr channel = of.lock();
    if (!channel) throw CORBA::OBJECT_NOT_EXIST(mapping::omg_minor(1), CORBA::COMPLETED_NO);
    std::shared_ptr<Of> filter;
    if constexpr (std::is_same_v<Of, notification::MappingFilter>)
        filter = std::make_shared<Of>(channel->filter_budget(), *default_value);
    else
        filter = std::make_shared<Of>(channel->filter_budget());
    const Servant_var<ServantBase> servant = new Servant(channel, filter);
    CORBA::Object_var object = channel->activate(servant, filter.get());
    if (!channel->keeper()) return object._retn();
    filter->set_kept(channel->keeper()->next_key());
    try {
        channel->save(*filter);
    } catch (...) {
        channel->keeper()->forget_later([&filter] { return filter->set_kept(0); });
        channel->deactivate(filter.get());
        throw;
    }
    return object._retn();
}

class FactoryOfFilters final : public POA_CosNotifyFilter::FilterFactory {
  public:
    explicit FactoryOfFilters(const ChannelPtr& channel) : channel_(channel) {}

    Filter_ptr create_filter(const char* constraint_grammar) override
    {
        require_grammar(constraint_grammar);
        const CORBA::Object_var object =
            make_object<FilterServant, notification::Filter>(channel_, nullptr);
        return CosNotifyFilter::Filter::_unchecked_narrow(object.in());
    }
    MappingFilter_ptr create_mapping_filter(const char* constraint_grammar,
                                            const CORBA::Any& default_value) override
    {
        require_grammar(constraint_grammar);
        const CORBA::Object_var object =
            make_object<MappingFilterServant, notification::MappingFilter>(channel_,
                                                                           &default_value);
        return CosNotifyFilter::MappingFilter::_unchecked_narrow(object.in());
    }

  private:
    const std::weak_ptr<Channel> channel_; // which owns this
};

template <typename Servant>
auto found_filter(const events::ServiceAdapters& adapters, CORBA::Object_ptr object)
{
    if (!CORBA::is_nil(object)) {
        try {
            const Servant_var<ServantBase> servant =
                adapters.others()->reference_to_servant(object);
            if (auto* const filter = dynamic_cast<Servant*>(servant.in())) return filter->filter();
        } catch (const CORBA::UserException&) { // of another adapter, or of none any more
        }
    }
    throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "that is no filter of this service");
}

} // namespace

Servant_var<ServantBase> make_filter_factory(const ChannelPtr& channel)
{
    return new FactoryOfFilters(channel);
}

RestoredFilter restore_filter(const ChannelPtr& channel, std::uint64_t key,
                              const KairosNotificationStore::Filter& stored)
{
    RestoredFilter restored{
        .filter = std::make_shared<notification::Filter>(channel->filter_budget()), .object = {}};
    restored.filter->restore(stored.constraints, stored.last_constraint);
    restored.filter->set_kept(key);
    const Servant_var<ServantBase> servant = new FilterServant(channel, restored.filter);
    const PortableServer::ObjectId id = id_of_stored(stored.place);
    const CORBA::Object_var object = channel->activate(servant, restored.filter.get(), &id);
    restored.object = CosNotifyFilter::Filter::_unchecked_narrow(object.in());
    return restored;
}

RestoredMappingFilter restore_mapping_filter(const ChannelPtr& channel, std::uint64_t key,
                                             const KairosNotificationStore::MappingFilter& stored)
{
    RestoredMappingFilter restored{.filter = std::make_shared<notification::MappingFilter>(
                                       channel->filter_budget(), stored.default_value),
                                   .object = {}};
    restored.filter->restore(stored.constraints, stored.last_constraint);
    restored.filter->set_kept(key);
    const Servant_var<ServantBase> servant = new MappingFilterServant(channel, restored.filter);
    const PortableServer::ObjectId id = id_of_stored(stored.place);
    const CORBA::Object_var object = channel->activate(servant, restored.filter.get(), &id);
    restored.object = CosNotifyFilter::MappingFilter::_unchecked_narrow(object.in());
    return restored;
}

FilterPtr filter_of(const events::ServiceAdapters& adapters, CosNotifyFilter::Filter_ptr object)
{
    return found_filter<FilterServant>(adapters, object);
}

MappingFilterPtr mapping_filter_of(const events::ServiceAdapters& adapters,
                                   CosNotifyFilter::MappingFilter_ptr object)
{
    return found_filter<MappingFilterServant>(adapters, object);
}

} // namespace kairos::notification
