// SPDX-License-Identifier: Apache-2.0
//
// The servant of Echo, as that of tests/calls/servant.h: every echo returns a, passes b on as c and
// a back as b. There is one function for all echoes: the skeleton calls the methods of this class
// by their names, and those that begin with echo_ have only one meaning.
package interop;

import Types.Color;
import Types.Echo;
import Types.EchoHelper;
import Types.EchoOperations;
import Types.EchoPOATie;
import Types.Full;
import Types.Person;
import Types.Plain;
import Types.Point;
import Types.Root;
import Types.RootPackage.Refused;
import Types.Shape;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import org.omg.CORBA.ByteHolder;
import org.omg.CORBA.BooleanHolder;
import org.omg.CORBA.CompletionStatus;
import org.omg.CORBA.DoubleHolder;
import org.omg.CORBA.ORB;
import org.omg.CORBA.StringHolder;
import org.omg.PortableServer.POA;
import org.omg.PortableServer.POAHelper;

/** Any thread; what it keeps is guarded by itself. */
public final class EchoServant implements InvocationHandler {
    private final POA poa;
    private int number;
    private Shape figure;
    private String title = "";
    private Person owner;
    private int[] vector;
    private String[] names;
    private Echo neighbour;
    private Point[] points = {};
    private int notes;
    private String lastNote = "";

    private EchoServant(POA poa) {
        this.poa = poa;
    }

    /** A new object of the root POA, which it activates. */
    static Echo activate(ORB orb) throws Exception {
        POA poa = POAHelper.narrow(orb.resolve_initial_references("RootPOA"));
        poa.the_POAManager().activate();
        return activate(poa);
    }

    private static Echo activate(POA poa) throws Exception {
        EchoOperations operations = (EchoOperations) Proxy.newProxyInstance(
                EchoServant.class.getClassLoader(), new Class<?>[] {EchoOperations.class},
                new EchoServant(poa));
        return EchoHelper.narrow(poa.servant_to_reference(new EchoPOATie(operations, poa)));
    }

    @Override
    public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
        if (method.getName().startsWith("echo_")) return echo(arguments);
        try {
            return getClass()
                    .getMethod(method.getName(), method.getParameterTypes())
                    .invoke(this, arguments);
        } catch (InvocationTargetException failure) {
            throw failure.getCause();
        }
    }

    static Object echo(Object[] arguments) throws ReflectiveOperationException {
        Object a = arguments[0];
        Values.setHeld(arguments[2], Values.held(arguments[1]));
        Values.setHeld(arguments[1], a);
        return a;
    }

    // Root.
    public String label() {
        return "echo";
    }
    public void refuse(String why) throws Refused {
        throw new Refused(why);
    }
    public int sum(int a, int b) {
        return a + b;
    }

    // Attributes.
    public synchronized int number() {
        return number;
    }
    public synchronized void number(int value) {
        number = value;
    }
    public synchronized Shape figure() {
        return figure;
    }
    public synchronized void figure(Shape value) {
        figure = value;
    }
    public synchronized String title() {
        return title;
    }
    public synchronized void title(String value) {
        title = value;
    }
    public synchronized Person owner() {
        return owner;
    }
    public synchronized void owner(Person value) {
        owner = value;
    }
    public synchronized int[] vector() {
        return vector;
    }
    public synchronized void vector(int[] value) {
        vector = value;
    }
    public synchronized String[] names() {
        return names;
    }
    public synchronized void names(String[] value) {
        names = value;
    }
    public synchronized Echo neighbour() {
        return neighbour;
    }
    public synchronized void neighbour(Echo value) {
        neighbour = value;
    }
    public synchronized Point[] points() {
        return points;
    }
    public synchronized void points(Point[] value) {
        points = value;
    }
    public Color mood() {
        return Color.blue;
    }

    // Echo.
    public void nothing() {}
    public synchronized void note(int value, String text) {
        notes += value;
        lastNote = text;
    }
    public synchronized int notes() {
        return notes;
    }
    public synchronized String last_note() {
        return lastNote;
    }
    public double mixed(byte a, double b, String c, short d, Shape e, ByteHolder f, DoubleHolder g,
            StringHolder h, Types.Point_sHolder i, BooleanHolder j) {
        f.value = a;
        g.value = b;
        h.value = c;
        i.value = new Point[] {e.origin, e.corners[0], e.corners[1]};
        j.value = !j.value;
        return b + d;
    }

    public void throw_plain() throws Plain {
        throw new Plain();
    }
    public void throw_full(int value, Person who, Echo where) throws Full {
        String[][] lines = new String[2][3];
        for (int i = 0; i < 2; ++i)
            for (int j = 0; j < 3; ++j)
                lines[i][j] = who.lines[i];
        throw new Full(value, who.outline, who.called, who, new int[] {value, value + 1, value + 2},
                lines, where, new int[][] {{}, {-value, value}}, who.mood);
    }
    public void throw_unlisted() throws Refused {
        throw new Refused("not in the raises clause");
    }
    public void throw_system(String which, int minor, int completed) {
        CompletionStatus status = CompletionStatus.from_int(completed);
        switch (which) {
            case "NO_PERMISSION":
                throw new org.omg.CORBA.NO_PERMISSION(minor, status);
            case "INTERNAL":
                throw new org.omg.CORBA.INTERNAL(minor, status);
            case "NO_RESOURCES":
                throw new org.omg.CORBA.NO_RESOURCES(minor, status);
            case "BAD_PARAM":
                throw new org.omg.CORBA.BAD_PARAM(minor, status);
            case "TIMEOUT":
                throw new org.omg.CORBA.TIMEOUT(minor, status);
            case "TRANSACTION_ROLLEDBACK":
                throw new org.omg.CORBA.TRANSACTION_ROLLEDBACK(minor, status);
            default:
                throw new org.omg.CORBA.NO_IMPLEMENT(minor, status);
        }
    }
    public void throw_foreign() {
        throw new IllegalStateException("of no IDL");
    }

    /** The octet at `index` of what `large` returns. */
    static byte largeOctet(int index) {
        return (byte) (index * 0x9E3779B1 >>> 24);
    }
    public byte[] large(int size) {
        byte[] bytes = new byte[size];
        for (int i = 0; i < size; ++i)
            bytes[i] = largeOctet(i);
        return bytes;
    }
    public int checksum(byte[] bytes) {
        int sum = 0;
        for (byte octet : bytes)
            sum = sum * 31 + (octet & 0xFF);
        return sum;
    }
    public String long_text(int size) {
        return "x".repeat(size);
    }

    public Echo make_object() throws Exception {
        return activate(poa);
    }
    public void remove_object(Echo victim) throws Exception {
        poa.deactivate_object(poa.reference_to_id(victim));
    }
    public int call_back(Root target, int a, int b) {
        return target.sum(a, b);
    }
    public boolean same_object(org.omg.CORBA.Object a, org.omg.CORBA.Object b) {
        return a == null || b == null ? a == b : a._is_equivalent(b);
    }
    /** Only servers of C++ are told to end. */
    public void shut_down() {}
    public void die() {}
}
