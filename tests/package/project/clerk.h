// SPDX-License-Identifier: Apache-2.0
//
// The servant of plain.cpp: it throws an exception of its IDL, and one of the ORB's.
#pragma once

#include "shop_skel.h"

#include <string>

class Clerk : public virtual POA_Shop::Counter {
  public:
    explicit Clerk(CORBA::ORB_ptr orb) : orb_(CORBA::ORB::_duplicate(orb)) {}

    Shop::Articles* offered() override
    {
        Shop::Articles_var articles = new Shop::Articles;
        articles->length(2);
        articles[0].name = "lamp";
        articles[0].price = 12.5;
        articles[1].name = "rope";
        articles[1].price = 3;
        return articles._retn();
    }
    CORBA::Double buy(const char* name, CORBA::Long count) override
    {
        if (std::string(name) == "nothing") throw CORBA::BAD_PARAM(7, CORBA::COMPLETED_NO);
        if (count > 10) throw Shop::OutOfStock(name, 10);
        return 12.5 * count;
    }
    CORBA::Any* describe(const char* name) override
    {
        Shop::Article article;
        article.name = name;
        article.price = 12.5;
        CORBA::Any_var description = new CORBA::Any;
        description.inout() <<= article;
        return description._retn();
    }
    void close() override { orb_->shutdown(false); }

  private:
    const CORBA::ORB_var orb_;
};
