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
        settings().change_qos(qos);
        qos_changed();
    }
    void validate_qos(const CosNotification::QoSProperties& required_qos,
                      CosNotification::NamedPropertyRangeSeq_out available_qos) override
    {
        available_qos = settings().validate(required_qos);
    }

    CosNotifyFilter::FilterID add_filter(CosNotifyFilter::Filter_ptr new_filter) override
    {
        return settings().filters().add(filter_of(adapters(), new_filter), new_filter);
    }
    void remove_filter(CosNotifyFilter::FilterID filter) override
    {
        settings().filters().remove(filter);
    }
    CosNotifyFilter::Filter_ptr get_filter(CosNotifyFilter::FilterID filter) override
    {
        return settings().filters().find(filter);
    }
    CosNotifyFilter::FilterIDSeq* get_all_filters() override { return settings().filters().ids(); }
    void remove_all_filters() override { settings().filters().clear(); }

  private:
    [[nodiscard]] virtual Settings& settings() = 0;
    [[nodiscard]] virtual const events::ServiceAdapters& adapters() = 0;
    virtual void qos_changed() {}
};

} // namespace kairos::notification
