// SPDX-License-Identifier: Apache-2.0
//
// Kairos and omniORB in `kairos bench modern`: classic C++ mapping alone, so one source is compiled
// against either. Options -ORB… go to the ORB.
#ifdef KAIROS_BENCH_OMNIORB
#include "modern.hh"
#else
#include "modern.h"
#include "modern_skel.h"
#endif

#include "bench/modern/table_peer.h"
#include "bench/orb_program.h"

#include <algorithm>

namespace {

using kairos::bench::reporting;
using kairos::bench::modern::BinStruct;
using kairos::bench::modern::Octets;
using kairos::bench::modern::Structs;

class SubjectServant : public POA_Modern::Subject {
  public:
    void ping() override {}
    CORBA::ULongLong take_octets(const Modern::Octets& data) override
    {
        return kairos::bench::modern::mark_of({data.get_buffer(), data.length()});
    }
    CORBA::ULongLong take_structs(const Modern::Structs& data) override
    {
        const std::span<const Modern::BinStruct> structs(data.get_buffer(), data.length());
        return kairos::bench::modern::mark_of_structs(structs);
    }
    Modern::Octets* octets_back(const Modern::Octets& data) override
    {
        return new Modern::Octets(data);
    }
    Modern::Structs* structs_back(const Modern::Structs& data) override
    {
        return new Modern::Structs(data);
    }
};

class OrbConnection final : public kairos::bench::modern::Connection {
  public:
    OrbConnection(CORBA::ORB_ptr orb, const std::string& reference)
    {
        reporting([&] {
            CORBA::Object_var object = orb->string_to_object(reference.c_str());
            subject_ = Modern::Subject::_narrow(object);
        });
        if (CORBA::is_nil(subject_)) throw std::invalid_argument("no reference: " + reference);
    }

    void ping() override
    {
        reporting([&] { subject_->ping(); });
    }
    void prepare(const Octets& octets) override
    {
        octets_.length(static_cast<CORBA::ULong>(octets.size()));
        std::copy(octets.begin(), octets.end(), octets_.get_buffer());
    }
    void prepare(const Structs& structs) override
    {
        structs_.length(static_cast<CORBA::ULong>(structs.size()));
        for (CORBA::ULong i = 0; i < structs_.length(); ++i) {
            structs_[i].s = structs[i].s;
            structs_[i].c = static_cast<CORBA::Char>(structs[i].c);
            structs_[i].l = structs[i].l;
            structs_[i].o = structs[i].o;
            structs_[i].d = structs[i].d;
        }
    }
    std::uint64_t send_octets() override
    {
        return reporting([&] { return subject_->take_octets(octets_); });
    }
    std::uint64_t send_structs() override
    {
        return reporting([&] { return subject_->take_structs(structs_); });
    }
    Octets octets_back() override
    {
        return reporting([&] {
            Modern::Octets_var back = subject_->octets_back(octets_);
            const CORBA::Octet* data = back->get_buffer();
            return Octets(data, data + back->length());
        });
    }
    Structs structs_back() override
    {
        return reporting([&] {
            Modern::Structs_var back = subject_->structs_back(structs_);
            Structs structs(back->length());
            for (CORBA::ULong i = 0; i < back->length(); ++i)
                structs[i] = {back[i].s, static_cast<char>(back[i].c), back[i].l, back[i].o,
                              back[i].d};
            return structs;
        });
    }

  private:
    Modern::Subject_var subject_;
    Modern::Octets octets_;
    Modern::Structs structs_;
};

int run(CORBA::ORB_ptr orb, const std::vector<std::string>& arguments)
{
    if (arguments.size() == 1 && arguments[0] == "server") {
        SubjectServant servant;
        Modern::Subject_var subject = servant._this();
        return kairos::bench::serve(orb, {subject.in()});
    }
    if (arguments.size() == 2 && arguments[0] == "client") {
        const int status = kairos::bench::modern::serve_orders(
            [&] { return std::make_unique<OrbConnection>(orb, arguments[1]); });
        orb->destroy();
        return status;
    }
    std::cerr << "usage: kairos-bench-modern-… server [-ORB…] | client REFERENCE [-ORB…]\n";
    return 2;
}

} // namespace

int main(int argc, char** argv) { return kairos::bench::orb_main(argc, argv, run); }
