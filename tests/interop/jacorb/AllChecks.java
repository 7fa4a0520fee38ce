// SPDX-License-Identifier: Apache-2.0
//
// What a client of JacORB may expect of any server of Everything: the checks of ../all_checks.h,
// said in Java.
package interop;

import All.Base;
import All.BaseHolder;
import All.Counter;
import All.CounterHelper;
import All.CounterHolder;
import All.Everything;
import All.EverythingHelper;
import All.Node;
import All.NodeHolder;
import All.Person;
import All.PersonHelper;
import All.PersonHolder;
import All.Person_raised;
import All.Person_raisedHelper;
import All.Titled;
import All.TitledHolder;
import java.io.PrintStream;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Comparator;
import org.omg.CORBA.Any;
import org.omg.CORBA.ORB;
import org.omg.CORBA.TypeCode;

/** Used by one thread. */
final class AllChecks extends Checks {
    private final ORB orb;
    private final Everything server;

    AllChecks(ORB orb, String reference, PrintStream out, String... without) throws Exception {
        super(out, without);
        this.orb = orb;
        server = EverythingHelper.narrow(orb.string_to_object(reference));
        values = new Values(orb, new Everything[] {null, server, AllServant.activate(orb)}, 1);
    }

    @Override
    void run() {
        Method[] operations = Everything.class.getMethods();
        Arrays.sort(operations, Comparator.comparing(Method::getName));
        for (Method operation : operations) {
            if (!operation.getName().startsWith("echo_")) continue;
            String name = operation.getName().substring("echo_".length());
            check("echo_" + name, () -> echo(server, operation, typeOf(name)));
            check("any_" + name, () -> any(name, operation.getReturnType()));
            check("raise_" + name, () -> raise(name, operation.getReturnType()));
            check("raised_" + name, () -> raised(name, operation.getReturnType()));
        }
        check("exception_in_any", this::exceptionInAny);
        check("truncation", this::truncation);
        check("graph", this::graph);
        check("operations", this::operations);
    }

    private static TypeCode typeOf(String name) throws Exception {
        return Values.typeOf("All." + name);
    }
    /** The operation VERB_T of the server. */
    private Object call(String verb, String name, Class<?> form, Object value) throws Exception {
        return Everything.class.getMethod(verb + "_" + name, form).invoke(server, value);
    }

    /** An Any that has been to the server and back. */
    private Any echoAny(Any any) {
        Any back = server.pass_on(any);
        expect(back.type().equivalent(any.type()), "an Any's type");
        return back;
    }
    private void expectInside(String name, String expected, Any any, String what)
            throws Exception {
        expect(any.type().equivalent(typeOf(name)), "the type of " + what);
        expectSame(expected, values.describe(Values.help("All." + name, "extract", any)), what);
    }

    private void any(String name, Class<?> form) throws Exception {
        for (int round = 0; round < ROUNDS; ++round) {
            Object value = makeForAny(name, form);
            String sent = values.describe(value);
            Any any = orb.create_any();
            Values.help("All." + name, "insert", any, value);
            expectInside(name, sent, any, "what was inserted here");
            expectInside(name, sent, echoAny(any), "an echoed Any");
            Any inserted = (Any) call("insert", name, form, value);
            expectInside(name, sent, inserted, "what the server inserted");
            expectSame(sent, values.describe(call("extract", name, Any.class, any)),
                    "what the server extracted");
            expectSame(sent, values.describe(call("extract", name, Any.class, inserted)),
                    "what went three times");
        }
    }

    /** No null: JacORB inserts no nil, but null as a reference of Object. */
    private Object makeForAny(String name, Class<?> form) throws Exception {
        values.inAny = true;
        Object value = null;
        while (value == null)
            value = values.make(typeOf(name), form);
        values.inAny = false;
        return value;
    }

    private Object raisedBy(String name, Class<?> form, Object value) throws Exception {
        Class<? extends Throwable> type =
                Class.forName("All." + name + "_raised").asSubclass(Throwable.class);
        return expectException(type, () -> call("raise", name, form, value));
    }
    private void expectRaised(String sent, Object raised) throws Exception {
        Class<?> type = raised.getClass();
        expectSame(sent, values.describe(type.getField("value").get(raised)), "value");
        expect(type.getField("after").getInt(raised) == 42, "what follows the value");
    }
    private void raise(String name, Class<?> form) throws Exception {
        for (int round = 0; round < ROUNDS; ++round) {
            Object value = values.make(typeOf(name), form);
            String sent = values.describe(value);
            expectRaised(sent, raisedBy(name, form, value));
        }
    }
    private void raised(String name, Class<?> form) throws Exception {
        Object value = makeForAny(name, form);
        String sent = values.describe(value);
        Any any = orb.create_any();
        Values.help("All." + name + "_raised", "insert", any, raisedBy(name, form, value));
        Any back = echoAny(any);
        expectRaised(sent, Values.help("All." + name + "_raised", "extract", back));
    }

    private void exceptionInAny() throws Exception {
        for (int round = 0; round < ROUNDS; ++round) {
            Person person = (Person) values.make(PersonHelper.type(), Person.class);
            Any any = server.insert_raised(person);
            expect(any.type().equivalent(Person_raisedHelper.type()), "the exception's type");
            Person_raised raised = Person_raisedHelper.extract(any);
            expectSame(person, raised.value, "what the server inserted");
            expect(raised.after == 43, "what follows the value");
            PersonHolder back = new PersonHolder();
            expect(server.extract_raised(any, back), "what the server extracted");
            expectSame(person, back.value, "what the server extracted");
        }
    }

    /** A receiver without a factory has the nearest base that it knows, and all of its state. */
    private void truncation() throws Exception {
        for (int round = 0; round < ROUNDS; ++round) {
            All.Derived like = null;
            while (like == null)
                like = (All.Derived) values.make(All.DerivedHelper.type(), All.Derived.class);
            String sent = values.describe(like);
            if (sent.lastIndexOf("value 0 ") > 0) continue; // not of a copy
            expectSame(sent, server.send_deeper(like), "what was truncated here");
            BaseHolder inout = new BaseHolder(Valuetypes.deeper(like));
            BaseHolder out = new BaseHolder();
            Base back = server.echo_Base(inout.value, inout, out);
            expectSame(sent, back, "what the server truncated");
            expect(back == inout.value && back == out.value, "one value is one value");
        }
    }

    /** Sharing between what is passed, cycles through it. */
    private void graph() {
        Node top = new Valuetypes.Node();
        Node leaf = new Valuetypes.Node();
        top.called = "top";
        leaf.called = "leaf";
        top.left = leaf;
        top.right = leaf;
        leaf.left = top;
        NodeHolder inout = new NodeHolder(leaf);
        NodeHolder out = new NodeHolder();
        Node back = server.echo_Node(top, inout, out);
        expect(back == inout.value && back.left == back.right, "sharing");
        expect(back.left == out.value, "sharing with another argument");
        expect(back.left.left == back, "a cycle");
    }

    /** Operations of values run where the value is, those of objects where the object is. */
    private void operations() {
        Counter counter = CounterHelper.begin(orb, 41);
        Counter back = server.echo_Counter(counter, new CounterHolder(), new CounterHolder());
        expect(back.next() == 42 && counter.next() == 42, "a value's operation");
        Valuetypes.Card card = new Valuetypes.Card();
        card.title = "a card";
        TitledHolder right = new TitledHolder();
        Titled value = server.echo_Titled(card, new TitledHolder(server), right);
        expect(value.title_of().equals("a card"), "a value's title");
        expect(right.value.title_of().equals("an object"), "an object's title");
    }
}
