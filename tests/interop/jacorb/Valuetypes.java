// SPDX-License-Identifier: Apache-2.0
//
// The classes behind the valuetypes of ../all_types, and their factories.
package interop;

import All.Base;
import java.io.Serializable;
import org.omg.CORBA.portable.StreamableValue;
import org.omg.CORBA.portable.ValueFactory;
import org.omg.CORBA_2_3.ORB;
import org.omg.CORBA_2_3.portable.InputStream;

final class Valuetypes {
    private Valuetypes() {}

    public static final class Node extends All.Node {}
    public static final class BaseImpl extends Base {}
    public static final class Derived extends All.Derived {}
    public static final class Deeper extends All.Deeper {}
    public static final class Counter extends All.Counter {
        @Override
        public int next() {
            return ++count;
        }
    }
    public static final class Card extends All.Card {
        @Override
        public String title_of() {
            return title;
        }
    }
    public static final class Route extends All.Route {
        @Override
        public void marshal(org.omg.CORBA.DataOutputStream out) {
            out.write_string(from);
            out.write_long(stops);
            out.write_Value(last);
        }
        @Override
        public void unmarshal(org.omg.CORBA.DataInputStream in) {
            from = in.read_string();
            stops = in.read_long();
            last = (Base) in.read_Value();
        }
    }

    private static final class CounterFactory implements All.CounterValueFactory {
        @Override
        public All.Counter begin(int count) {
            Counter counter = new Counter();
            counter.count = count;
            return counter;
        }
        @Override
        public Serializable read_value(org.omg.CORBA_2_3.portable.InputStream in) {
            return in.read_value(new Counter());
        }
    }

    private interface Maker {
        Serializable make();
    }
    private static void register(ORB orb, String name, Maker maker) {
        ValueFactory factory = (InputStream in) -> in.read_value(maker.make());
        orb.register_value_factory("IDL:kairos.test/All/" + name + ":1.0", factory);
    }
    /** Values of each type but Deeper can be received. */
    static void register(org.omg.CORBA.ORB plain) {
        ORB orb = (ORB) plain;
        register(orb, "Node", Node::new);
        register(orb, "Base", BaseImpl::new);
        register(orb, "Derived", Derived::new);
        register(orb, "Card", Card::new);
        register(orb, "Route", Route::new);
        orb.register_value_factory(All.CounterHelper.id(), new CounterFactory());
    }

    /** An empty value of this generated class. */
    static Object make(Class<?> form) throws ReflectiveOperationException {
        if (form == Base.class) return new BaseImpl();
        return Class.forName("interop.Valuetypes$" + form.getSimpleName()).getConstructor()
                .newInstance();
    }

    /** A value that nobody has a factory for, with the state of this one. */
    static Base deeper(All.Derived like) {
        Deeper deeper = new Deeper();
        deeper.small = like.small;
        deeper.number = like.number;
        deeper.text = like.text;
        deeper.inner = like.inner;
        deeper.data = like.data;
        deeper.where = like.where;
        deeper.thing = like.thing;
        deeper.last = like.last;
        deeper.sign = 'd';
        deeper.more = new Base[] {like.inner, like};
        deeper.end = -1;
        return deeper;
    }
}
