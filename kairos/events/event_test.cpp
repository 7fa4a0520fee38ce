// SPDX-License-Identifier: Apache-2.0
//
// Events alone: what is kept of one, that its octets are written as they came, and what a full
// queue forgets.
#include "kairos/events/event.h"

#include "kairos/cdr/environment.h"
#include "kairos/corba/CORBA.h"

#include <gtest/gtest.h>

namespace kairos::events {
namespace {

EventPtr event_of_size(CORBA::ULong octets)
{
    CORBA::Any any;
    CORBA::OctetSeq value;
    value.length(octets);
    any <<= value;
    return std::make_shared<const Event>(any);
}

std::vector<std::byte> encoded(const Event& event)
{
    cdr::Buffer buffer;
    cdr::Writer out(buffer);
    const cdr::Writer::CopyAll copies(out);
    event.encode(out);
    const Bytes bytes = out.contiguous();
    return {bytes.begin(), bytes.end()};
}

TEST(Event, IsWrittenAsTheAnyIs)
{
    CORBA::Any any;
    any <<= "text";
    cdr::Buffer buffer;
    cdr::Writer out(buffer);
    mapping::encode(out, any);
    const Bytes bytes = out.contiguous();
    EXPECT_EQ(std::vector<std::byte>(bytes.begin(), bytes.end()), encoded(Event(any)));
}

TEST(Event, SharesWhatWasReceived)
{
    const EventPtr sent = event_of_size(100);
    const std::vector<std::byte> wire = encoded(*sent);
    cdr::Reader in(wire, native_little_endian);
    CORBA::Any received;
    mapping::decode(in, received);
    ASSERT_TRUE(in.ok());
    EXPECT_EQ(wire, encoded(Event(received)));
}

TEST(Event, CountsItsOctetsAsLongAsItLives)
{
    const auto octets = std::make_shared<Allowance>(1000);
    CORBA::Any any;
    any <<= "text";
    auto first = std::make_unique<Event>(any);
    ASSERT_TRUE(first->charge(octets));
    EXPECT_TRUE(octets->take(1000 - first->octets()));
    EXPECT_FALSE(Event(any).charge(octets));
    EXPECT_TRUE(octets->is_spent());
    first.reset();
    EXPECT_TRUE(Event(any).charge(octets));
}

TEST(Event, CountsWhatItKeepsTwice)
{
    const std::vector<std::byte> wire = encoded(*event_of_size(100));
    cdr::Reader in(wire, native_little_endian);
    CORBA::Any received;
    mapping::decode(in, received);
    const Event event(received);
    EXPECT_EQ(wire.size(), event.encoded_octets());
    EXPECT_LT(wire.size() + 100, event.octets());
}

TEST(Allowance, GivesAllToOneThatNeedsMore)
{
    Allowance octets(10);
    EXPECT_TRUE(octets.take(20));
    EXPECT_FALSE(octets.take(1));
    octets.give_back(20);
    EXPECT_TRUE(octets.take(10));
    EXPECT_FALSE(octets.take(1));
}

TEST(EventQueue, ForgetsTheOldestWhenItIsFull)
{
    EventQueue queue(2, 1000);
    const EventPtr first = event_of_size(1);
    const EventPtr second = event_of_size(2);
    EXPECT_EQ(0U, queue.push(first));
    EXPECT_EQ(0U, queue.push(second));
    EXPECT_EQ(1U, queue.push(first));
    EXPECT_EQ(second, queue.pop());
    EXPECT_EQ(first, queue.pop());
    EXPECT_TRUE(queue.empty());
}

TEST(EventQueue, CountsOctets)
{
    EventQueue queue(100, 1000);
    for (int i = 0; i < 4; ++i)
        EXPECT_EQ(0U, queue.push(event_of_size(150)));
    EXPECT_EQ(3U, queue.push(event_of_size(600)));
    EXPECT_EQ(2U, queue.push(event_of_size(5000))); // one alone may have more
    EXPECT_EQ(1U, queue.push(event_of_size(1)));
    EXPECT_EQ(1U, queue.clear());
    EXPECT_TRUE(queue.empty());
}

} // namespace
} // namespace kairos::events
