// SPDX-License-Identifier: Apache-2.0
//
// What a client of JacORB may expect of a notification channel: structured events that filters let
// through, pulled in the order that mapping filters give them. Its stubs are those of JacORB's
// services.
package interop;

import java.io.PrintStream;
import org.omg.CORBA.Any;
import org.omg.CORBA.AnyHolder;
import org.omg.CORBA.BooleanHolder;
import org.omg.CORBA.IntHolder;
import org.omg.CORBA.ORB;
import org.omg.CosNotification.EventHeader;
import org.omg.CosNotification.EventType;
import org.omg.CosNotification.FixedEventHeader;
import org.omg.CosNotification.Property;
import org.omg.CosNotification.StructuredEvent;
import org.omg.CosNotifyChannelAdmin.ClientType;
import org.omg.CosNotifyChannelAdmin.ConsumerAdmin;
import org.omg.CosNotifyChannelAdmin.EventChannel;
import org.omg.CosNotifyChannelAdmin.EventChannelHelper;
import org.omg.CosNotifyChannelAdmin.StructuredProxyPullSupplier;
import org.omg.CosNotifyChannelAdmin.StructuredProxyPullSupplierHelper;
import org.omg.CosNotifyChannelAdmin.StructuredProxyPushConsumer;
import org.omg.CosNotifyChannelAdmin.StructuredProxyPushConsumerHelper;
import org.omg.CosNotifyFilter.ConstraintExp;
import org.omg.CosNotifyFilter.Filter;
import org.omg.CosNotifyFilter.FilterFactory;
import org.omg.CosNotifyFilter.InvalidConstraint;
import org.omg.CosNotifyFilter.InvalidValue;
import org.omg.CosNotifyFilter.MappingConstraintInfo;
import org.omg.CosNotifyFilter.MappingConstraintPair;
import org.omg.CosNotifyFilter.MappingFilter;

/** Used by one thread. */
final class NotifyChecks extends Checks {
    private final ORB orb;
    private final EventChannel channel;
    private final FilterFactory filters;

    NotifyChecks(ORB orb, String url, PrintStream out) {
        super(out);
        this.orb = orb;
        channel = EventChannelHelper.narrow(orb.string_to_object(url));
        filters = channel.default_filter_factory();
    }

    void run() {
        check("filtered", this::filtered);
        check("mapped", this::mapped);
        check("mapping_filters", this::mappingFilters);
    }

    private Any number(int value) {
        Any any = orb.create_any();
        any.insert_long(value);
        return any;
    }
    private Any priority(int value) {
        Any any = orb.create_any();
        any.insert_short((short) value);
        return any;
    }
    private ConstraintExp constraint(String text) {
        return new ConstraintExp(new EventType[] {new EventType("*", "*")}, text);
    }

    private StructuredProxyPullSupplier consumer() throws Exception {
        ConsumerAdmin admin = channel.default_consumer_admin();
        StructuredProxyPullSupplier proxy = StructuredProxyPullSupplierHelper.narrow(
                admin.obtain_notification_pull_supplier(
                        ClientType.STRUCTURED_EVENT, new IntHolder()));
        return proxy;
    }
    private void push(int... numbers) throws Exception {
        StructuredProxyPushConsumer proxy = StructuredProxyPushConsumerHelper.narrow(
                channel.default_supplier_admin().obtain_notification_push_consumer(
                        ClientType.STRUCTURED_EVENT, new IntHolder()));
        proxy.connect_structured_push_supplier(null);
        for (int value : numbers) {
            FixedEventHeader fixed = new FixedEventHeader(new EventType("Lab", "Reading"), "");
            proxy.push_structured_event(new StructuredEvent(
                    new EventHeader(fixed, new Property[0]),
                    new Property[] {new Property("number", number(value))}, number(value)));
        }
        proxy.disconnect_structured_push_consumer();
    }
    private static String pulled(StructuredProxyPullSupplier proxy) throws Exception {
        StringBuilder all = new StringBuilder();
        BooleanHolder more = new BooleanHolder(true);
        while (true) {
            StructuredEvent event = proxy.try_pull_structured_event(more);
            if (!more.value) return all.toString().trim();
            all.append(event.remainder_of_body.extract_long()).append(' ');
        }
    }

    private void filtered() throws Exception {
        StructuredProxyPullSupplier proxy = consumer();
        Filter filter = filters.create_filter("EXTENDED_TCL");
        filter.add_constraints(new ConstraintExp[] {constraint("$number > 2")});
        proxy.add_filter(filter);
        proxy.connect_structured_pull_consumer(null);
        push(1, 3, 2, 4);
        expectSame("3 4", pulled(proxy), "what the filter lets through");
        proxy.disconnect_structured_pull_supplier();
    }

    private void mapped() throws Exception {
        StructuredProxyPullSupplier proxy = consumer();
        MappingFilter filter = filters.create_mapping_filter("EXTENDED_TCL", priority(0));
        filter.add_mapping_constraints(new MappingConstraintPair[] {
                new MappingConstraintPair(constraint("$number == 2"), priority(9)),
                new MappingConstraintPair(constraint("$number == 3"), priority(-9))});
        proxy.priority_filter(filter);
        expect(proxy.priority_filter()._is_equivalent(filter), "the filter");
        expect(proxy.lifetime_filter() == null, "no other filter");
        proxy.connect_structured_pull_consumer(null);
        push(3, 1, 2, 4);
        expectSame("2 1 4 3", pulled(proxy), "the order");
        proxy.disconnect_structured_pull_supplier();
    }

    private void mappingFilters() throws Exception {
        MappingFilter filter = filters.create_mapping_filter("EXTENDED_TCL", priority(7));
        expect(filter.default_value().extract_short() == 7, "the default value");
        MappingConstraintInfo[] added =
                filter.add_mapping_constraints(new MappingConstraintPair[] {
                        new MappingConstraintPair(constraint("$ > 1"), priority(1)),
                        new MappingConstraintPair(constraint("$ > 2"), priority(2))});
        AnyHolder result = new AnyHolder();
        expect(filter.match(number(3), result) && result.value.extract_short() == 2, "the best");
        expect(!filter.match(number(1), result) && result.value.extract_short() == 7, "the usual");
        filter.modify_mapping_constraints(
                new int[] {added[1].constraint_id}, new MappingConstraintInfo[0]);
        expect(filter.match(number(3), result) && result.value.extract_short() == 1, "the other");
        expect(filter.get_all_mapping_constraints().length == 1, "one is left");
        expectException(InvalidConstraint.class,
                () -> filter.add_mapping_constraints(new MappingConstraintPair[] {
                        new MappingConstraintPair(constraint("$ >"), priority(1))}));
        expectException(InvalidValue.class,
                () -> filter.add_mapping_constraints(new MappingConstraintPair[] {
                        new MappingConstraintPair(constraint("$ > 1"), number(1))}));
        filter.destroy();
    }
}
