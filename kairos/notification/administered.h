// SPDX-License-Identifier: Apache-2.0
//
// What servants of admins and proxies answer alike: quality of service and filters, which are their
// settings'.
#pragma once

#include "kairos/notification/filter_servants.h"
#include "kairos/notification/settings.h"

namespace kairos::notification {

/// `Skeleton` is that of an interface that inherits QoSAdmin and FilterAdmin.
template <typename Skeleton>
class Administered : public Skeleton {
  public:
    CosNotification::QoSProperties* get_qos() override { return settings().properties(); }
    void set_qos(const CosNotification::QoSProperties& qos) override
    {
        if (settings().kept() == 0 && asks_to_be_kept(qos) && settings().qos().may_persist &&
            !settings().are_filters_kept())
            throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO,
                                   "a filter is attached that is not kept, as this is to be");
        settings().change_qos(qos);
        qos_changed();
        save();
    }
    void validate_qos(const CosNotification::QoSProperties& required_qos,
                      CosNotification::NamedPropertyRangeSeq_out available_qos) override
    {
        available_qos = settings().validate(required_qos);
    }

    CosNotifyFilter::FilterID add_filter(CosNotifyFilter::Filter_ptr new_filter) override
    {
        const FilterPtr filter = filter_of(adapters(), new_filter);
        if (settings().kept() != 0 && filter->kept() == 0)
            throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO,
                                   "that filter is of a channel that is not kept, as this one is");
        const CosNotifyFilter::FilterID id = settings().filters().add(filter, new_filter);
        try {
            save();
        } catch (...) { // nobody is told its id
            try {
                settings().filters().remove(id);
            } catch (const CosNotifyFilter::FilterNotFound&) { // nor has it
            }
            throw;
        }
        return id;
    }
    /// It is there until the store has forgotten it.
    void remove_filter(CosNotifyFilter::FilterID filter) override
    {
        if (settings().kept() == 0) return settings().filters().remove(filter);
        settings().filters().set_leaving(filter, true);
        try {
            save();
        } catch (...) {
            try {
                settings().filters().set_leaving(filter, false);
            } catch (const CosNotifyFilter::FilterNotFound&) { // all were removed meanwhile
            }
            throw;
        }
        try {
            settings().filters().remove(filter);
        } catch (const CosNotifyFilter::FilterNotFound&) { // as above
        }
    }
    CosNotifyFilter::Filter_ptr get_filter(CosNotifyFilter::FilterID filter) override
    {
        return settings().filters().find(filter);
    }
    CosNotifyFilter::FilterIDSeq* get_all_filters() override { return settings().filters().ids(); }
    void remove_all_filters() override
    {
        settings().filters().clear();
        save();
    }

  protected:
    // What ConsumerAdmin and ProxySupplier say by attributes.
    [[nodiscard]] CosNotifyFilter::MappingFilter_ptr mapping_filter(MappedProperty property)
    {
        return settings().mapping_object(property);
    }
    void set_mapping_filter(MappedProperty property, CosNotifyFilter::MappingFilter_ptr object)
    {
        MappingFilterPtr filter;
        if (!CORBA::is_nil(object)) filter = mapping_filter_of(adapters(), object);
        if (filter && !filter->is_for(property))
            throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO,
                                   "the values of that mapping filter are no such property's");
        if (filter && settings().kept() != 0 && filter->kept() == 0)
            throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO,
                                   "that filter is of a channel that is not kept, as this one is");
        settings().set_mapping(property, std::move(filter), object);
        save();
    }

  private:
    [[nodiscard]] virtual Settings& settings() = 0;
    [[nodiscard]] virtual const events::ServiceAdapters& adapters() = 0;
    virtual void qos_changed() {}
    /// Has the store have what has changed, if it has it. Throws what Keeper::save throws.
    virtual void save() = 0;
};

} // namespace kairos::notification
