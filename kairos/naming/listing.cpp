// SPDX-License-Identifier: Apache-2.0
#include "kairos/naming/listing.h"

#include "kairos/naming/call_time.h"

namespace kairos::naming {
namespace {

/// The server keeps an iterator until it is told not to.
class IteratorOwner {
  public:
    IteratorOwner(CosNaming::BindingIterator_ptr iterator, CallTime& time)
        : iterator_(iterator), time_(time)
    {
    }
    IteratorOwner(const IteratorOwner&) = delete;
    IteratorOwner& operator=(const IteratorOwner&) = delete;
    ~IteratorOwner()
    {
        try {
            time_.limited(iterator_)->destroy();
        } catch (const CORBA::Exception&) {
            // Gone already, by itself or with its server: that is what was wanted.
        }
    }

  private:
    const CosNaming::BindingIterator_ptr iterator_;
    CallTime& time_;
};

void list_all(CosNaming::NamingContext_ptr context,
              const std::function<void(const CosNaming::Binding&)>& each, CORBA::ULong portion,
              CallTime& time)
{
    const auto pass_on = [&each](const CosNaming::BindingList& bindings) {
        for (CORBA::ULong i = 0; i < bindings.length(); ++i)
            each(bindings[i]);
    };
    CosNaming::BindingList_var bindings;
    CosNaming::BindingIterator_var iterator;
    time.limited(context)->list(portion, bindings.out(), iterator.out());
    if (CORBA::is_nil(iterator.in())) return pass_on(bindings.in());
    const IteratorOwner owner(iterator.in(), time);
    pass_on(bindings.in());
    // Some servers say "no more" with the last bindings, others with none. One that says "more" and
    // has none would do so for ever.
    for (bool more = true; more;) {
        more = time.limited(iterator.in())->next_n(portion, bindings.out());
        more = more && bindings->length() != 0;
        pass_on(bindings.in());
    }
}

} // namespace

void for_each_binding(CosNaming::NamingContext_ptr context,
                      const std::function<void(const CosNaming::Binding&)>& each,
                      CORBA::ULong portion)
{
    CallTime time(CosNaming::NamingContext::_nil()); // the caller's own
    list_all(context, each, portion, time);
}

void for_each_binding(CosNaming::NamingContext_ptr context,
                      const std::function<void(const CosNaming::Binding&)>& each, CallTime& time)
{
    list_all(context, each, portion_default, time);
}

} // namespace kairos::naming
