// SPDX-License-Identifier: Apache-2.0
#include "kairos/naming/listing.h"

namespace kairos::naming {
namespace {

/// The server keeps an iterator until it is told not to.
class IteratorOwner {
  public:
    explicit IteratorOwner(CosNaming::BindingIterator_ptr iterator) : iterator_(iterator) {}
    IteratorOwner(const IteratorOwner&) = delete;
    IteratorOwner& operator=(const IteratorOwner&) = delete;
    ~IteratorOwner()
    {
        try {
            iterator_->destroy();
        } catch (const CORBA::Exception&) {
            // Gone already, by itself or with its server: that is what was wanted.
        }
    }

  private:
    const CosNaming::BindingIterator_ptr iterator_;
};

} // namespace

void for_each_binding(CosNaming::NamingContext_ptr context,
                      const std::function<void(const CosNaming::Binding&)>& each,
                      CORBA::ULong portion)
{
    const auto pass_on = [&each](const CosNaming::BindingList& bindings) {
        for (CORBA::ULong i = 0; i < bindings.length(); ++i)
            each(bindings[i]);
    };
    CosNaming::BindingList_var bindings;
    CosNaming::BindingIterator_var iterator;
    context->list(portion, bindings.out(), iterator.out());
    if (CORBA::is_nil(iterator.in())) return pass_on(bindings.in());
    const IteratorOwner owner(iterator.in());
    pass_on(bindings.in());
    // Some servers say "no more" with the last bindings, others with none.
    for (bool more = true; more;) {
        more = iterator->next_n(portion, bindings.out());
        pass_on(bindings.in());
    }
}

} // namespace kairos::naming
