// SPDX-License-Identifier: Apache-2.0
#include "all_valuetypes.h"

#include <mutex>
#include <string>
#include <unordered_set>

namespace all {

namespace {

template <typename V>
class Factory : public CORBA::ValueFactoryBase {
    CORBA::ValueBase* create_for_unmarshal() override { return new_value<V>(); }
};

class CounterFactory : public All::Counter_init {
  public:
    All::Counter* begin(CORBA::Long count) override
    {
        auto* counter = new CounterImpl;
        counter->count(count);
        return counter;
    }

  private:
    CORBA::ValueBase* create_for_unmarshal() override { return new CounterImpl; }
};

template <typename Of>
void register_factory(CORBA::ORB_ptr orb, const char* name)
{
    const std::string id = std::string("IDL:kairos.test/All/") + name + ":1.0";
    CORBA::ValueFactoryBase* factory = new Of;
    CORBA::ValueFactoryBase* former = orb->register_value_factory(id.c_str(), factory);
    if (former != nullptr) former->_remove_ref();
    factory->_remove_ref();
}

std::mutex nodes_mutex;
std::unordered_set<NodeImpl*> nodes; // guarded by nodes_mutex

} // namespace

NodeImpl::NodeImpl()
{
    const std::lock_guard lock(nodes_mutex);
    nodes.insert(this);
}

NodeImpl::~NodeImpl()
{
    const std::lock_guard lock(nodes_mutex);
    nodes.erase(this);
}

void NodeImpl::cut_all()
{
    for (;;) {
        All::Node_var node;
        {
            const std::lock_guard lock(nodes_mutex);
            if (nodes.empty()) return;
            node = share(static_cast<All::Node*>(*nodes.begin()));
            nodes.erase(nodes.begin());
        }
        node->left(nullptr);
        node->right(nullptr);
    }
}

#ifndef NO_CUSTOM
void RouteImpl::marshal(CORBA::DataOutputStream* out)
{
    out->write_string(from());
    out->write_long(stops());
    out->write_Value(last());
}

void RouteImpl::unmarshal(CORBA::DataInputStream* in)
{
    from(in->read_string());
    stops(in->read_long());
    const CORBA::ValueBase_var value = in->read_Value();
    last(All::Base::_downcast(value.in()));
}
#endif

void register_factories(CORBA::ORB_ptr orb)
{
    register_factory<CounterFactory>(orb, "Counter");
#define FACTORY(V) register_factory<Factory<All::V>>(orb, #V);
    FACTORY(Node)
    FACTORY(Base)
    FACTORY(Derived)
    FACTORY(Card)
    FACTORY(NumberBox)
    FACTORY(NameBox)
    FACTORY(ProseBox)
    FACTORY(PointBox)
    FACTORY(NamesBox)
    FACTORY(ReferenceBox)
#ifndef NO_CUSTOM
    FACTORY(Route)
#endif
#undef FACTORY
}

} // namespace all
