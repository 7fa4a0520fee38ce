// SPDX-License-Identifier: Apache-2.0
//
// JacORB as a peer of the tests: one process is the server and every client, because a virtual
// machine takes its time to start. It prints the references of its Echo, its Everything, its Hub,
// its Target and its Interface Repository first, then serves, and does what the lines of its input
// say until that ends:
//
//     echo MINOR REFERENCE [NAME]…    run every check on this Echo as a client of GIOP 1.MINOR, with
//                                     an ORB of its own, but those whose name contains a NAME: a
//                                     line a check, and a line "done"
//     all MINOR REFERENCE [NAME]…     the same for an Everything
//     both MINOR REFERENCE            the same, every check, for a Hub, with an ORB whose
//                                     connections carry requests in both directions
//     names MINOR URL                 the same, every check, for a naming service
//     notify MINOR REFERENCE          the same for a notification channel
//     target MINOR REFERENCE          asynchronous calls of a Target
//     marks MINOR REFERENCE           calls of a Target that interceptors at both sides mark
//     repository MINOR REFERENCE      what an Interface Repository has that has kinds.idl
package interop;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Properties;
import org.omg.CORBA.ORB;
import org.omg.PortableServer.POA;
import org.omg.PortableServer.POAHelper;

public final class Peer {
    private static final PrintStream out = new PrintStream(System.out, true);
    private static String targetReference; // written before the first check

    private Peer() {}

    /** An ORB that listens on a loopback port of the kernel's choice, speaks GIOP 1.`minor`. */
    static ORB makeOrb(int minor) {
        return makeOrb(minor, new Properties());
    }
    /** The same, with more properties. */
    static ORB makeOrb(int minor, Properties more) {
        Properties properties = new Properties();
        properties.setProperty("org.omg.CORBA.ORBClass", "org.jacorb.orb.ORB");
        properties.setProperty("jacorb.giop_minor_version", Integer.toString(minor));
        properties.setProperty("OAIAddr", "127.0.0.1");
        properties.setProperty("jacorb.dns.enable", "off");
        properties.setProperty("jacorb.log.default.verbosity", "0");
        // The octets of a char are those of ISO 8859-1, as in the programs of C++.
        properties.setProperty("jacorb.native_char_codeset", "ISO8859_1");
        properties.putAll(more);
        ORB orb = ORB.init(new String[0], properties);
        Valuetypes.register(orb);
        return orb;
    }

    /** An ORB with this initializer. */
    private static ORB makeMarkedOrb(Class<?> initializer) {
        Properties properties = new Properties();
        properties.setProperty("org.omg.PortableInterceptor.ORBInitializerClass.marks",
                initializer.getName());
        // More requests than its queue has room for wait; otherwise they were TRANSIENT.
        properties.setProperty("jacorb.poa.queue_wait", "on");
        return makeOrb(2, properties);
    }

    /** An ORB whose connections carry requests in both directions. */
    private static ORB makeBothOrb() {
        Properties properties = new Properties();
        properties.setProperty("org.omg.PortableInterceptor.ORBInitializerClass.bidir",
                "org.jacorb.orb.giop.BiDirConnectionInitializer");
        return makeOrb(2, properties);
    }

    public static void main(String[] arguments) throws Exception {
        System.setProperty("org.omg.CORBA.ORBSingletonClass", "org.jacorb.orb.ORBSingleton");
        System.setProperty("javax.rmi.CORBA.UtilClass", "interop.RmiUtil");
        ORB orb = makeOrb(2);
        out.println(orb.object_to_string(EchoServant.activate(orb)));
        out.println(orb.object_to_string(AllServant.activate(orb)));
        ORB both = makeBothOrb();
        POA poa = BothServant.makePoa(both);
        out.println(both.object_to_string(
                poa.servant_to_reference(new BothServant.HubServant(poa))));
        ORB marked = makeMarkedOrb(Marks.OfServers.class);
        POA root = POAHelper.narrow(marked.resolve_initial_references("RootPOA"));
        root.the_POAManager().activate();
        targetReference =
                marked.object_to_string(root.servant_to_reference(new TargetServant()));
        out.println(targetReference);
        Properties named = new Properties();
        named.setProperty("jacorb.implname", "repository");
        ORB repository = makeOrb(2, named);
        out.println(RepositoryServer.activate(repository, arguments[0]));
        BufferedReader in =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ");
            check(words[0], Integer.parseInt(words[1]), words[2],
                    Arrays.copyOfRange(words, 3, words.length));
        }
        for (ORB ended : new ORB[] {repository, marked, both, orb}) {
            ended.shutdown(true);
            ended.destroy();
        }
    }

    private static void check(String what, int minor, String reference, String[] without) {
        ORB orb = what.equals("both") ? makeBothOrb()
                : what.equals("marks") ? makeMarkedOrb(Marks.OfClients.class) : makeOrb(minor);
        try {
            makeChecks(what, orb, reference, without).run();
        } catch (Throwable failure) {
            out.println("FAILED: " + failure);
        }
        orb.destroy();
        out.println("done");
    }
    private static Checks makeChecks(String what, ORB orb, String reference, String[] without)
            throws Exception {
        if (what.equals("all")) return new AllChecks(orb, reference, out, without);
        if (what.equals("both")) return new BothChecks(orb, reference, out);
        if (what.equals("names")) return new NamingChecks(orb, reference, out);
        if (what.equals("notify")) return new NotifyChecks(orb, reference, out);
        if (what.equals("target")) return new TargetChecks(orb, reference, out);
        if (what.equals("marks")) return new MarksChecks(orb, reference, out, targetReference);
        if (what.equals("repository")) return new RepositoryChecks(orb, reference, out);
        return new EchoChecks(orb, reference, out, without);
    }
}
