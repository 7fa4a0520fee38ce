// SPDX-License-Identifier: Apache-2.0
//
// JacORB with its SAS interceptors, which are of CSIv2, as client and as server. It prints the
// reference of its object first, which wants a user and a password, then one line for each line of
// its input:
//
//     call USER PASSWORD REFERENCE    calls "act" of this object as this user: "ok", or the exception
//     chain FILE                      from now on for the subject of these certificates (PEM)
//     name FILE                       … of a distinguished name: the subject of the first of them
//     nobody                          … for itself, as at first
//     served                          the user whom its own object has found calling last
//
// JacORB's interceptor says of identities only that there is none; ours of it says others, in the
// messages that it makes.
//
// With a keystore (PKCS12) and its password as arguments it speaks TLS, and nothing else.
package interop;

import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.Collection;
import java.util.Properties;
import org.jacorb.orb.standardInterceptors.SASComponentInterceptor;
import org.jacorb.sasPolicy.SASPolicyValues;
import org.jacorb.sasPolicy.SASPolicyValuesHelper;
import org.jacorb.sasPolicy.SAS_POLICY_TYPE;
import org.jacorb.security.sas.GssUpContext;
import org.jacorb.security.sas.SASClientInterceptor;
import org.jacorb.security.sas.SASInitializer;
import org.jacorb.security.sas.SASPolicyFactory;
import org.jacorb.security.sas.SASTargetInterceptor;
import org.omg.CORBA.Any;
import org.omg.CORBA.INITIALIZE;
import org.omg.CORBA.LocalObject;
import org.omg.CORBA.ORB;
import org.omg.CORBA.Policy;
import org.omg.CORBA.Request;
import org.omg.CORBA.TCKind;
import org.omg.CORBA.portable.InputStream;
import org.omg.CORBA.portable.InvokeHandler;
import org.omg.CORBA.portable.OutputStream;
import org.omg.CORBA.portable.ResponseHandler;
import org.omg.CSI.AuthorizationElement;
import org.omg.CSI.IdentityToken;
import org.omg.CSIIOP.EstablishTrustInClient;
import org.omg.PortableInterceptor.Current;
import org.omg.PortableInterceptor.CurrentHelper;
import org.omg.PortableInterceptor.ORBInitInfo;
import org.omg.PortableInterceptor.ORBInitializer;
import org.omg.PortableServer.POA;
import org.omg.PortableServer.POAHelper;
import org.omg.PortableServer.Servant;

public final class Sas {
    private Sas() {}

    /** Has any operation that takes nothing and returns nothing. Any thread. */
    private static final class Anything extends Servant implements InvokeHandler {
        private final Current current;
        private volatile String caller = "nobody";

        Anything(Current current) { this.current = current; }

        @Override public String[] _all_interfaces(POA poa, byte[] id) {
            return new String[] {"IDL:Anything:1.0"};
        }
        @Override public OutputStream _invoke(String operation, InputStream in,
                ResponseHandler handler) {
            try {
                Any user = current.get_slot(SASInitializer.sasPrincipalNamePIC);
                caller = user.type().kind() == TCKind.tk_null ? "nobody" : user.extract_string();
            } catch (org.omg.CORBA.UserException failure) {
                caller = failure.toString();
            }
            return handler.createReply();
        }
    }

    /** For whom calls are made; null: for itself. Any thread. */
    private static volatile IdentityToken identity;

    /** Adds the identity to what JacORB's says. */
    private static final class Speaker extends SASClientInterceptor {
        private static final long serialVersionUID = 1;

        Speaker(ORBInitInfo info) throws Exception { super(info); }

        @Override protected Any makeEstablishContext(ORB orb, long id,
                AuthorizationElement[] authorizations, IdentityToken none, byte[] token) {
            IdentityToken said = identity;
            return super.makeEstablishContext(orb, id, authorizations, said == null ? none : said,
                    token);
        }
    }

    /** As JacORB's SASInitializer, with a client's interceptor of ours. */
    public static final class Initializer extends LocalObject implements ORBInitializer {
        private static final long serialVersionUID = 1;

        @Override public void pre_init(ORBInitInfo info) {}
        @Override public void post_init(ORBInitInfo info) {
            try {
                SASInitializer.sasPrincipalNamePIC = info.allocate_slot_id();
                info.add_server_request_interceptor(new SASTargetInterceptor(info));
                info.add_client_request_interceptor(new Speaker(info));
                info.add_ior_interceptor(new SASComponentInterceptor(info));
            } catch (Exception failure) {
                throw new INITIALIZE(failure.toString());
            }
            info.register_policy_factory(SAS_POLICY_TYPE.value, new SASPolicyFactory());
        }
    }

    private static IdentityToken identityOf(String kind, String file) throws Exception {
        IdentityToken token = new IdentityToken();
        try (java.io.InputStream in = Files.newInputStream(Paths.get(file))) {
            Collection<? extends Certificate> all =
                    CertificateFactory.getInstance("X.509").generateCertificates(in);
            if (kind.equals("name")) {
                X509Certificate first = (X509Certificate) all.iterator().next();
                token.dn(first.getSubjectX500Principal().getEncoded());
                return token;
            }
            ByteArrayOutputStream inside = new ByteArrayOutputStream();
            for (Certificate each : all) {
                inside.write(each.getEncoded());
            }
            // A sequence, whose length has two octets: no real chain is shorter or longer.
            ByteArrayOutputStream chain = new ByteArrayOutputStream();
            chain.write(0x30);
            chain.write(0x82);
            chain.write(inside.size() >> 8);
            chain.write(inside.size());
            inside.writeTo(chain);
            token.certificate_chain(chain.toByteArray());
            return token;
        }
    }

    /** What becomes of a line. */
    private static String answer(ORB orb, Anything servant, String[] words) throws Exception {
        switch (words[0]) {
        case "served":
            return servant.caller;
        case "call":
            return call(orb, words[1], words[2], words[3]);
        case "nobody":
            identity = null;
            return "ok";
        default:
            identity = identityOf(words[0], words[1]);
            return "ok";
        }
    }

    private static ORB makeOrb(String[] arguments) {
        Properties properties = new Properties();
        properties.setProperty("org.omg.CORBA.ORBClass", "org.jacorb.orb.ORB");
        properties.setProperty("OAIAddr", "127.0.0.1");
        properties.setProperty("jacorb.dns.enable", "off");
        properties.setProperty("jacorb.log.default.verbosity", "0");
        properties.setProperty("org.omg.PortableInterceptor.ORBInitializerClass.sas",
                Initializer.class.getName());
        properties.setProperty("jacorb.security.sas.contextClass",
                "org.jacorb.security.sas.GssUpContext");
        // It asks for contexts that are kept, and says all with each request where none is.
        properties.setProperty("jacorb.security.sas.stateful", "true");
        if (arguments.length == 2) {
            properties.setProperty("jacorb.security.support_ssl", "on");
            properties.setProperty("jacorb.ssl.socket_factory",
                    "org.jacorb.security.ssl.sun_jsse.SSLSocketFactory");
            properties.setProperty("jacorb.ssl.server_socket_factory",
                    "org.jacorb.security.ssl.sun_jsse.SSLServerSocketFactory");
            properties.setProperty("jacorb.security.keystore", arguments[0]);
            properties.setProperty("jacorb.security.keystore_password", arguments[1]);
            // Not as PKCS12: it loads nothing then. Java takes both for JKS.
            properties.setProperty("jacorb.security.keystore_type", "JKS");
            properties.setProperty("jacorb.security.jsse.trustees_from_ks", "on");
            // In hexadecimal, as SSLIOP has them: confidentiality, integrity and trust in both.
            for (String end : new String[] {"client", "server"}) {
                properties.setProperty("jacorb.security.ssl." + end + ".supported_options", "66");
                properties.setProperty("jacorb.security.ssl." + end + ".required_options", "66");
            }
        }
        return ORB.init(new String[0], properties);
    }

    private static String call(ORB orb, String user, String password, String reference) {
        GssUpContext.setUsernamePassword(user, password);
        try {
            Request request = orb.string_to_object(reference)._request("act");
            request.set_return_type(orb.get_primitive_tc(TCKind.tk_void));
            request.invoke();
            Exception failure = request.env().exception();
            return failure == null ? "ok" : failure.getClass().getSimpleName();
        } catch (org.omg.CORBA.SystemException failure) {
            return failure.getClass().getSimpleName();
        }
    }

    public static void main(String[] arguments) throws Exception {
        System.setProperty("org.omg.CORBA.ORBSingletonClass", "org.jacorb.orb.ORBSingleton");
        ORB orb = makeOrb(arguments);
        POA root = POAHelper.narrow(orb.resolve_initial_references("RootPOA"));
        Any wants = orb.create_any();
        SASPolicyValuesHelper.insert(wants, new SASPolicyValues(
                EstablishTrustInClient.value, EstablishTrustInClient.value, false));
        Policy[] policies = {orb.create_policy(SAS_POLICY_TYPE.value, wants)};
        POA poa = root.create_POA("users", root.the_POAManager(), policies);
        root.the_POAManager().activate();
        Anything servant = new Anything(
                CurrentHelper.narrow(orb.resolve_initial_references("PICurrent")));
        byte[] id = poa.activate_object(servant);
        System.out.println(orb.object_to_string(poa.id_to_reference(id)));
        BufferedReader in =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ");
            System.out.println(answer(orb, servant, words));
        }
        orb.shutdown(true);
        orb.destroy();
    }
}
