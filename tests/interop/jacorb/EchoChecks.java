// SPDX-License-Identifier: Apache-2.0
//
// What a client of JacORB may expect of any server of Echo: the checks of tests/calls/checks.h,
// said in Java.
package interop;

import Types.Color;
import Types.Echo;
import Types.EchoHelper;
import Types.Full;
import Types.Person;
import Types.PersonHelper;
import Types.Person_sHolder;
import Types.Plain;
import Types.Point;
import Types.Point_sHolder;
import Types.Root;
import Types.RootPackage.Refused;
import Types.Sequences;
import Types.SequencesHelper;
import Types.Shape;
import java.io.PrintStream;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Comparator;
import org.omg.CORBA.BooleanHolder;
import org.omg.CORBA.ByteHolder;
import org.omg.CORBA.CompletionStatus;
import org.omg.CORBA.DoubleHolder;
import org.omg.CORBA.OBJECT_NOT_EXIST;
import org.omg.CORBA.ORB;
import org.omg.CORBA.StringHolder;
import org.omg.CORBA.SystemException;
import org.omg.CORBA.UNKNOWN;

/** Used by one thread. */
final class EchoChecks extends Checks {
    private final ORB orb;
    private final Echo server;
    private final Echo[] pool; // nil, the server, an object of this process, another of the server's

    EchoChecks(ORB orb, String reference, PrintStream out, String... without) throws Exception {
        super(out, without);
        this.orb = orb;
        server = EchoHelper.narrow(orb.string_to_object(reference));
        pool = new Echo[] {null, server, EchoServant.activate(orb), server.make_object()};
        values = new Values(orb, pool, 1);
    }

    void run() {
        Method[] operations = server.getClass().getMethods();
        Arrays.sort(operations, Comparator.comparing(Method::getName));
        for (Method operation : operations)
            if (operation.getName().startsWith("echo_"))
                check(operation.getName(), () -> echo(operation));
        check("attribute_basic", this::attributeBasic);
        for (String[] attribute : new String[][] {{"number", "I32"}, {"figure", "Shape"},
                {"title", "Name"}, {"owner", "Person"}, {"vector", "I32_3"}, {"names", "Name_3"},
                {"neighbour", "Echo"}, {"points", "Point_s"}})
            check("attribute_" + attribute[0], () -> attribute(attribute[0], attribute[1]));
        check("nothing", this::nothing);
        check("mixed_alignments", this::mixedAlignments);
        check("oneways", this::oneways);
        check("diamond", this::diamond);
        check("exception_without_members", this::exceptionWithoutMembers);
        check("exception_with_members", this::exceptionWithMembers);
        check("exception_of_base_interface", this::exceptionOfBaseInterface);
        check("exception_not_in_raises",
                () -> expectException(UNKNOWN.class, server::throw_unlisted));
        check("exception_foreign", this::exceptionForeign);
        check("exception_system", this::exceptionSystem);
        check("objects_that_come_and_go", this::objectsThatComeAndGo);
        check("call_back", this::callBack);
        check("identity", this::identity);
        check("standard_operations", this::standardOperations);
        check("references_as_text", this::referencesAsText);
        check("large_messages", this::largeMessages);
        check("large_strings", this::largeStrings);
        check("many_values", this::manyValues);
    }

    // --- values ----------------------------------------------------------------------------------

    private Object make(String type, Class<?> form) throws Exception {
        return values.make(Values.typeOf("Types." + type), form);
    }
    private Person makePerson() throws Exception {
        return (Person) values.make(PersonHelper.type(), Person.class);
    }

    private void echo(Method operation) throws Exception {
        String type = operation.getName().substring("echo_".length());
        echo(server, operation, Values.typeOf("Types." + type));
    }

    private void attributeBasic() {
        expect(server.mood() == Color.blue, "mood");
        expect(server.label().equals("echo"), "label");
    }
    private void attribute(String name, String type) throws Exception {
        Method getter = Echo.class.getMethod(name);
        Method setter = Echo.class.getMethod(name, getter.getReturnType());
        for (int round = 0; round < ROUNDS; ++round) {
            Object value = make(type, getter.getReturnType());
            setter.invoke(server, value);
            expectSame(values.describe(value), values.describe(getter.invoke(server)), name);
        }
        // The server keeps no reference to what ends before it.
        if (name.equals("neighbour")) server.neighbour(null);
    }

    // --- operations of every shape ---------------------------------------------------------------

    private void nothing() {
        for (int i = 0; i < 3; ++i)
            server.nothing();
    }
    private void mixedAlignments() throws Exception {
        for (int length = 0; length < 8; ++length) {
            String text = "1234567".substring(0, length);
            Shape shape = makePerson().outline;
            ByteHolder octet = new ByteHolder();
            DoubleHolder number = new DoubleHolder();
            StringHolder textBack = new StringHolder();
            Point_sHolder points = new Point_sHolder();
            BooleanHolder flag = new BooleanHolder(false);
            double sum = server.mixed((byte) 7, 0.25, text, (short) -3, shape, octet, number,
                    textBack, points, flag);
            expect(sum == 0.25 - 3 && octet.value == 7 && number.value == 0.25 && flag.value,
                    "mixed");
            expectSame(text, textBack.value, "the string");
            expectSame(new Point[] {shape.origin, shape.corners[0], shape.corners[1]}, points.value,
                    "the points");
        }
    }

    /** What is lost ends in the timeout of the test. */
    private void awaitNotes(int sum) {
        while (server.notes() < sum)
            Thread.onSpinWait();
    }
    private void oneways() throws Exception {
        int before = server.notes();
        for (int i = 1; i <= 20; ++i)
            server.note(i, "note ".repeat(i));
        awaitNotes(before + 210);
        expect(server.notes() == before + 210, "every oneway arrived once");
        server.note(1, "the last");
        awaitNotes(before + 211);
        expectSame("the last", server.last_note(), "the last note");
    }

    private void diamond() {
        Sequences sequences = SequencesHelper.narrow(orb.string_to_object(orb.object_to_string(
                server)));
        Root root = sequences;
        expect(root.sum((int) 4000000000L, 5) == (int) 4000000005L, "of the common base");
        expect(sequences.sum(2, 3) == 5, "through one of the bases");
    }

    // --- exceptions ------------------------------------------------------------------------------

    private void exceptionWithoutMembers() {
        expectException(Plain.class, server::throw_plain);
        server.nothing(); // the connection is fine
    }
    private void exceptionWithMembers() throws Exception {
        for (int round = 0; round < ROUNDS; ++round) {
            Person who = makePerson();
            Full full = expectException(Full.class, () -> server.throw_full(-77, who, server));
            expect(full.number == -77, "number");
            expectSame(who, full.owner, "owner");
            expectSame(who.outline, full.outline, "outline");
            expectSame(who.called, full.called, "called");
            expectSame(new int[] {-77, -76, -75}, full.vector, "vector");
            expectSame(new String[][] {{who.lines[0], who.lines[0], who.lines[0]},
                    {who.lines[1], who.lines[1], who.lines[1]}}, full.names, "names");
            expect(full.where._is_equivalent(server), "the reference");
            expectSame(new int[][] {{}, {77, -77}}, full.rows, "rows");
            expect(full.mood == who.mood, "mood");
        }
    }
    private void exceptionOfBaseInterface() throws Exception {
        for (String why : new String[] {"", "because"}) {
            Refused refused = expectException(Refused.class, () -> server.refuse(why));
            expectSame(why, refused.why, "the reason");
        }
    }
    private void exceptionForeign() {
        UNKNOWN unknown = expectException(UNKNOWN.class, server::throw_foreign);
        expect(unknown.completed == CompletionStatus.COMPLETED_MAYBE, "COMPLETED_MAYBE");
    }
    private void exceptionSystem() throws Exception {
        for (String name : new String[] {"NO_PERMISSION", "INTERNAL", "NO_RESOURCES", "BAD_PARAM",
                "TIMEOUT", "TRANSACTION_ROLLEDBACK", "NO_IMPLEMENT"}) {
            for (int completed = 0; completed < 3; ++completed) {
                int minor = 0xdead0000 + completed;
                int status = completed;
                SystemException exception = expectException(SystemException.class,
                        () -> server.throw_system(name, minor, status));
                expectSame("org.omg.CORBA." + name, exception.getClass().getName(), "the type");
                expect(exception.minor == minor, "the minor code of " + name);
                expect(exception.completed.value() == completed, "the status of " + name);
            }
        }
    }

    // --- references ------------------------------------------------------------------------------

    private void objectsThatComeAndGo() {
        Echo object = server.make_object();
        expect(object.sum(20, 22) == 42, "an object that the server made");
        expect(!object._non_existent(), "it exists");
        expect(!object._is_equivalent(server), "it is another object");
        server.remove_object(object);
        // Until no call before is active, a deactivated object may serve (CORBA 3.3).
        expectException(OBJECT_NOT_EXIST.class, () -> {
            for (int i = 0; i < 10_000; ++i) object.nothing();
        });
        expect(object._non_existent(), "it exists no more");
    }
    private void callBack() {
        for (Echo echo : pool)
            if (echo != null) expect(server.call_back(echo, 3, 4) == 7, "3 + 4");
    }
    private void identity() {
        for (Echo a : pool)
            for (Echo b : pool)
                expect(server.same_object(a, b) == (a == b), "identity");
    }
    private void standardOperations() {
        expect(server._is_a("IDL:kairos.test/Types/Echo:1.0"), "Echo");
        expect(server._is_a("IDL:kairos.test/Types/Root:1.0"), "its base");
        expect(server._is_a("IDL:omg.org/CORBA/Object:1.0"), "Object");
        expect(!server._is_a("IDL:kairos.test/Types/Other:1.0"), "no other interface");
        expect(!server._non_existent(), "it exists");
    }
    private void referencesAsText() {
        org.omg.CORBA.Object object = orb.string_to_object(orb.object_to_string(server));
        expect(object._is_equivalent(server), "the same object");
        expect(EchoHelper.narrow(object).sum(1, 1) == 2, "a call through it");
    }

    // --- size ------------------------------------------------------------------------------------

    private void largeMessages() {
        for (int size : new int[] {0, 1, 255, 4095, 4096, 65536, 1 << 20, 5000001}) {
            byte[] bytes = server.large(size);
            expect(bytes.length == size, "the length");
            int sum = 0;
            for (int i = 0; i < size; ++i) {
                expect(bytes[i] == EchoServant.largeOctet(i), "every octet of a large result");
                sum = sum * 31 + (bytes[i] & 0xFF);
            }
            expect(server.checksum(bytes) == sum, "every octet of a large argument");
        }
    }
    private void largeStrings() throws Exception {
        for (int size : new int[] {300, 5000, 100000}) {
            String text = server.long_text(size);
            expectSame("x".repeat(size), text, "the text");
            int before = server.notes();
            server.note(1, text);
            awaitNotes(before + 1);
            expectSame(text, server.last_note(), "the text in a oneway");
        }
    }
    private void manyValues() throws Exception {
        Person[] persons = new Person[40];
        for (int i = 0; i < persons.length; ++i)
            persons[i] = makePerson();
        Person_sHolder inout = new Person_sHolder(new Person[0]);
        Person_sHolder none = new Person_sHolder();
        Person[] back = server.echo_Person_s(persons, inout, none);
        expectSame(persons, back, "the result");
        expectSame(persons, inout.value, "the inout argument");
        expect(none.value.length == 0, "the out argument");
    }
}
