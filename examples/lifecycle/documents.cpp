// SPDX-License-Identifier: Apache-2.0
//
// Documents that are created, copied, moved from one site to another, and removed. The sites are
// two object adapters of one program here; in programs of their own nothing would change but where
// the references come from.
#include "document_skel.h"

#include <kairos/corba/CORBA.h>
#include <kairos/lifecycle/criteria.h>
#include <kairos/lifecycle/factory_finder.h>
#include <kairos/lifecycle/generic_factory.h>
#include <kairos/lifecycle/life_cycle_object.h>
#include <kairos/naming/name.h>

#include <iostream>
#include <string>

using kairos::lifecycle::Home;

namespace {

const char* const document_key = "document.factory";

class DocumentServant : public POA_Document, public kairos::lifecycle::LifeCycleObject {
  public:
    DocumentServant(Home& home, std::string place, std::string text)
        : LifeCycleObject(home), place_(std::move(place)), text_(std::move(text))
    {
    }

    char* text() override { return CORBA::string_dup(text_.c_str()); }
    void text(const char* text) override { text_ = text; }
    char* place() override { return CORBA::string_dup(place_.c_str()); }

  protected:
    CosLifeCycle::Key factory_key() override { return kairos::naming::to_name(document_key); }
    CosLifeCycle::Criteria state() override
    {
        CosLifeCycle::Criteria state;
        kairos::lifecycle::add(state, "text", text_.c_str());
        return state;
    }

  private:
    const std::string place_;
    std::string text_;
};

/// Where documents live, and the factory that makes them there.
class Site {
  public:
    Site(PortableServer::POA_ptr root, const char* place)
        : home_(root, place), factory_(new kairos::lifecycle::GenericFactory),
          finder_(new kairos::lifecycle::FactoryFinder)
    {
        factory_->offer(kairos::naming::to_name(document_key),
                        [this, name = std::string(place)](const CosLifeCycle::Criteria& state) {
                            const PortableServer::Servant_var<DocumentServant> document =
                                new DocumentServant(home_, name,
                                                    kairos::lifecycle::text_of(state, "text"));
                            return home_.activate(document);
                        });
        const CosLifeCycle::GenericFactory_var factory = factory_->_this();
        finder_->add(factory);
    }

    [[nodiscard]] CosLifeCycle::GenericFactory_var factory() { return factory_->_this(); }
    [[nodiscard]] CosLifeCycle::FactoryFinder_var finder() { return finder_->_this(); }

  private:
    Home home_;
    PortableServer::Servant_var<kairos::lifecycle::GenericFactory> factory_;
    PortableServer::Servant_var<kairos::lifecycle::FactoryFinder> finder_;
};

void show(const char* what, Document_ptr document)
{
    const CORBA::String_var text = document->text();
    const CORBA::String_var place = document->place();
    std::cout << what << ": \"" << text << "\" in " << place << '\n';
}

void run(PortableServer::POA_ptr root)
{
    Site paris(root, "Paris");
    Site rome(root, "Rome");

    CosLifeCycle::Criteria state;
    kairos::lifecycle::add(state, "text", "a plan");
    CosLifeCycle::Criteria criteria;
    kairos::lifecycle::add(criteria, "initialization", state);
    const CORBA::Object_var created =
        paris.factory()->create_object(kairos::naming::to_name(document_key), criteria);
    const Document_var plan = Document::_narrow(created);
    show("created", plan);

    const CosLifeCycle::FactoryFinder_var in_rome = rome.finder();
    const CosLifeCycle::LifeCycleObject_var copied = plan->copy(in_rome, {});
    const Document_var draft = Document::_narrow(copied);
    draft->text("a draft");
    show("copied and changed", draft);

    plan->move(in_rome, {});
    show("moved, by the same reference", plan);

    draft->remove();
    std::cout << "removed: " << (draft->_non_existent() ? "gone" : "still there") << '\n';
}

} // namespace

int main(int argc, char** argv)
{
    try {
        const CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
        const CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
        const PortableServer::POA_var root = PortableServer::POA::_narrow(object);
        const PortableServer::POAManager_var manager = root->the_POAManager();
        manager->activate();
        run(root);
        orb->destroy();
        return 0;
    } catch (const CORBA::Exception& exception) {
        std::cerr << exception.what() << '\n';
        return 1;
    }
}
