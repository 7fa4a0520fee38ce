// SPDX-License-Identifier: Apache-2.0
//
// The object of tests/ami, as in its servant.h; its owner has another name.
package interop;

import Ami.GridHolder;
import Ami.NamesHolder;
import Ami.Person;
import Ami.PersonHolder;
import Ami.Point;
import Ami.PointHolder;
import Ami.Refused;
import Ami.TargetHolder;
import Ami.TargetPOA;
import java.util.HashSet;
import java.util.Set;
import org.omg.CORBA.Any;
import org.omg.CORBA.AnyHolder;
import org.omg.CORBA.CompletionStatus;
import org.omg.CORBA.IntHolder;
import org.omg.CORBA.NO_PERMISSION;
import org.omg.CORBA.StringHolder;

/** Any thread; what it keeps is guarded by itself. */
final class TargetServant extends TargetPOA {
    private static final long PATIENCE_MS = 60_000;
    private final Set<Integer> released = new HashSet<>();
    private String name = "before";

    @Override public synchronized String name() { return name; }
    @Override public synchronized void name(String value) { name = value; }
    @Override public Person owner() { return new Person("Grace", new Point((short) 5, 6.5)); }
    @Override public int add(int left, int right) { return left + right; }
    @Override public String change(StringHolder text, PersonHolder who, PointHolder where,
            NamesHolder all, GridHolder same, AnyHolder anything, TargetHolder other,
            IntHolder number) {
        String before = text.value;
        text.value = before + "!";
        who.value.at.x = 7;
        where.value.y = 2.5;
        all.value = new String[] {"one", "two"};
        same.value = new int[][] {{0, 1, 2}, {3, 4, 5}};
        Any any = _orb().create_any();
        any.insert_long(42);
        anything.value = any;
        other.value = _this();
        number.value = 9;
        return before;
    }
    @Override public void refuse(String why) throws Refused {
        throw new Refused(why, new Point((short) 3, 4.5));
    }
    @Override public void fail(int how) {
        throw new NO_PERMISSION(17, CompletionStatus.COMPLETED_YES);
    }
    @Override public synchronized void note(int number) {
        released.add(number);
        notifyAll();
    }
    @Override public synchronized int hold(int number) {
        long end = System.nanoTime() + PATIENCE_MS * 1_000_000;
        try {
            while (!released.contains(number) && System.nanoTime() < end)
                wait(100);
        } catch (InterruptedException ended) {
            return -1;
        }
        return released.remove(number) ? number : -1;
    }
    @Override public byte[] echo(byte[] data) { return data; }
}
