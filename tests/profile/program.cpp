// SPDX-License-Identifier: Apache-2.0
//
// Server and client of station.idl, built from plain, instrumented and profiled code. "serve"
// prints the port and the key of its object and ends with its input; "call URL COUNT" makes COUNT
// calls of `send` and one of everything else; "leave URL COUNT" the same, and ends without
// destroying its ORB.
#include "station_skel.h"

#include "kairos/ior/ior.h"
#include "kairos/ior/profile.h"

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

class Station : public POA_Profiled::Station {
  public:
    char* title() override { return CORBA::string_dup(title_.in()); }
    void title(const char* value) override { title_ = value; }
    void send(const Profiled::Sample& one, CORBA::Long_out count) override
    {
        count = static_cast<CORBA::Long>(one.values.length());
    }
    Profiled::Report* collect(const char* title, Profiled::Samples& samples) override
    {
        if (*title == '\0') {
            const Profiled::Refused refused("no title");
            throw refused;
        }
        Profiled::Report_var report = new Profiled::Report;
        report->title = title;
        report->samples = samples;
        samples.length(1);
        return report._retn();
    }
    Profiled::Answer* ask(const Profiled::Small& question, Profiled::Fast_out hint,
                          Profiled::Note* remark) override
    {
        hint = new Profiled::Fast;
        hint->text = remark->text();
        Profiled::Answer_var answer = new Profiled::Answer;
        answer->text(question.text);
        return answer._retn();
    }
    void hint(const char*) override {}
    void idle(const Profiled::Unused&) override {}

  private:
    CORBA::String_var title_ = CORBA::string_dup("");
};

void print_address(CORBA::ORB_ptr orb, CORBA::Object_ptr object)
{
    const CORBA::String_var text = orb->object_to_string(object);
    const auto ior = kairos::ior::from_string(text.in());
    const auto profile = kairos::ior::decode_iiop(ior->profiles.at(0).data);
    std::printf("%u ", static_cast<unsigned>(profile->port));
    for (const auto octet : profile->object_key)
        std::printf("%02x", static_cast<unsigned>(octet));
    std::printf("\n");
    std::fflush(stdout);
}

void serve(CORBA::ORB_ptr orb)
{
    CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
    PortableServer::POA_var poa = PortableServer::POA::_narrow(object.in());
    PortableServer::Servant_var<Station> servant = new Station;
    Profiled::Station_var station = servant->_this();
    PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();
    print_address(orb, station.in());
    char octet;
    while (read(STDIN_FILENO, &octet, 1) > 0) {
    }
}

Profiled::Sample sample(CORBA::ULong length)
{
    Profiled::Sample one;
    one.name = "a sample";
    one.values.length(length);
    for (CORBA::ULong i = 0; i < length; ++i)
        one.values[i] = static_cast<CORBA::Long>(i);
    one.where = {1, 2.5};
    return one;
}

void require(bool good, const char* what)
{
    if (!good) throw std::runtime_error(what);
}

void collect(Profiled::Station_ptr station)
{
    Profiled::Samples samples;
    samples.length(3);
    for (CORBA::ULong i = 0; i < 3; ++i)
        samples[i] = sample(i);
    const Profiled::Report_var report = station->collect("report", samples);
    require(samples.length() == 1 && report->samples.length() == 3, "collect");
    try {
        const Profiled::Report_var none = station->collect("", samples);
        require(false, "not refused");
    } catch (const Profiled::Refused& refused) {
        require(std::string(refused.why.in()) == "no title", "Refused");
    }
}

void ask(Profiled::Station_ptr station)
{
    Profiled::Small question;
    question.text = "question";
    question.where = {3, 4.5};
    Profiled::Note_var remark = new OBV_Profiled::Note("remark");
    Profiled::Fast_var hint;
    const Profiled::Answer_var answer = station->ask(question, hint.out(), remark.in());
    require(answer->_d() && std::string(answer->text()) == "question", "ask");
    require(std::string(hint->text.in()) == "remark", "hint");
}

void call(CORBA::ORB_ptr orb, const char* url, int count)
{
    CORBA::Object_var object = orb->string_to_object(url);
    Profiled::Station_var station = Profiled::Station::_unchecked_narrow(object.in());
    CORBA::Long length = 0;
    const Profiled::Sample one = sample(7);
    for (int i = 0; i < count; ++i)
        station->send(one, length);
    require(length == 7, "send");
    station->title("title");
    const CORBA::String_var title = station->title();
    require(std::string(title.in()) == "title", "title");
    station->hint("hint");
    collect(station.in());
    ask(station.in());
}

} // namespace

int main(int argc, char** argv)
try {
    CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
    const CORBA::ValueFactoryBase_var factory = new Profiled::Note_init;
    const CORBA::ValueFactoryBase_var former =
        orb->register_value_factory(Profiled::Note::_kairos_id, factory.in());
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    if (arguments.size() == 1 && arguments[0] == "serve") {
        serve(orb.in());
    } else if (arguments.size() == 3) {
        call(orb.in(), arguments[1].c_str(), std::stoi(arguments[2]));
        if (arguments[0] == "leave") std::exit(0);
    } else {
        std::cerr << "usage: program serve | call URL COUNT | leave URL COUNT\n";
        return 2;
    }
    orb->destroy();
    return 0;
} catch (const std::exception& exception) {
    std::cerr << "program: " << exception.what() << '\n';
    return 1;
}
