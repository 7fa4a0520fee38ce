// SPDX-License-Identifier: Apache-2.0
//
// What a client of JacORB may expect of a naming service at a corbaloc whose key is NameService, in
// which the test has bound dev/echo.obj to an Echo of this process. A context and an object whose
// names are not ASCII are left for the test to find; everything else that is made goes again.
package interop;

import Types.Echo;
import Types.EchoHelper;
import java.io.PrintStream;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import org.omg.CORBA.BAD_PARAM;
import org.omg.CORBA.OBJECT_NOT_EXIST;
import org.omg.CORBA.ORB;
import org.omg.CosNaming.Binding;
import org.omg.CosNaming.BindingHolder;
import org.omg.CosNaming.BindingIterator;
import org.omg.CosNaming.BindingIteratorHolder;
import org.omg.CosNaming.BindingListHolder;
import org.omg.CosNaming.BindingType;
import org.omg.CosNaming.NameComponent;
import org.omg.CosNaming.NamingContext;
import org.omg.CosNaming.NamingContextExt;
import org.omg.CosNaming.NamingContextExtHelper;
import org.omg.CosNaming.NamingContextHelper;
import org.omg.CosNaming.NamingContextPackage.AlreadyBound;
import org.omg.CosNaming.NamingContextPackage.InvalidName;
import org.omg.CosNaming.NamingContextPackage.NotEmpty;
import org.omg.CosNaming.NamingContextPackage.NotFound;
import org.omg.CosNaming.NamingContextPackage.NotFoundReason;

/** Used by one thread. */
final class NamingChecks extends Checks {
    private final ORB orb;
    private final String url; // of the root
    private final NamingContextExt root;
    private final Echo echo;

    NamingChecks(ORB orb, String url, PrintStream out) throws Exception {
        super(out);
        this.orb = orb;
        this.url = url;
        root = NamingContextExtHelper.narrow(orb.string_to_object(url));
        echo = EchoServant.activate(orb);
    }

    void run() {
        check("resolve", () -> expectEcho(root.resolve(name("dev", "", "echo", "obj"))));
        check("resolve_str", () -> expectEcho(root.resolve_str("dev/echo.obj")));
        check("bind_and_rebind", this::bindAndRebind);
        check("contexts", this::contexts);
        check("not_found", this::notFound);
        check("invalid_name", () -> {
            expectException(InvalidName.class, () -> root.resolve(new NameComponent[0]));
            expectException(InvalidName.class, () -> root.resolve_str("a//b"));
        });
        check("list", this::list);
        check("list_one_by_one", this::listOneByOne);
        check("names_as_text", this::namesAsText);
        check("corbaname", this::corbaname);
        check("other_alphabets", this::otherAlphabets);
    }

    /** Of pairs of id and kind. */
    private static NameComponent[] name(String... texts) {
        NameComponent[] name = new NameComponent[texts.length / 2];
        for (int i = 0; i < name.length; ++i)
            name[i] = new NameComponent(texts[2 * i], texts[2 * i + 1]);
        return name;
    }
    private static void expectEcho(org.omg.CORBA.Object object) {
        expect(EchoHelper.narrow(object).sum(20, 22) == 42, "a call of what was found");
    }

    private void bindAndRebind() throws Exception {
        NameComponent[] mine = name("dev", "", "mine", "");
        root.bind(mine, echo);
        expect(root.resolve(mine)._is_equivalent(echo), "what was bound");
        expectException(AlreadyBound.class, () -> root.bind(mine, root));
        root.rebind(mine, echo.make_object());
        expect(!root.resolve(mine)._is_equivalent(echo), "another object");
        root.unbind(mine);
        expectException(NotFound.class, () -> root.resolve(mine));
    }

    private void contexts() throws Exception {
        NamingContext made = root.bind_new_context(name("made", "kind"));
        NamingContext inner = made.new_context();
        made.bind_context(name("inner", ""), inner);
        inner.bind(name("echo", ""), echo);
        expect(root.resolve_str("made.kind/inner/echo")._is_equivalent(echo), "the path");
        expectException(NotEmpty.class, inner::destroy);
        inner.unbind(name("echo", ""));
        made.rebind_context(name("inner", ""), root);
        inner.destroy();
        expectException(OBJECT_NOT_EXIST.class, () -> inner.unbind(name("echo", "")));
        expect(root.resolve_str("made.kind/inner/made.kind")._is_equivalent(made), "the circle");
        made.unbind(name("inner", ""));
        root.unbind(name("made", "kind"));
        made.destroy();
    }

    private void expectNotFound(NotFoundReason why, String rest, String path) throws Exception {
        NotFound missing = expectException(NotFound.class, () -> root.resolve_str(path));
        expect(missing.why == why, "the reason for " + path);
        expectSame(rest, root.to_string(missing.rest_of_name), "the rest of " + path);
    }
    private void notFound() throws Exception {
        expectNotFound(NotFoundReason.missing_node, "none", "dev/none");
        expectNotFound(NotFoundReason.missing_node, "none/of/these", "dev/none/of/these");
        expectNotFound(NotFoundReason.not_context, "echo.obj/below", "dev/echo.obj/below");
    }

    // --- lists -----------------------------------------------------------------------------------

    private static final int MANY = 25;

    private interface Lister {
        Set<String> list(NamingContext context) throws Exception;
    }
    /** What `lister` says of a context of many bindings. */
    private void expectListed(Lister lister) throws Exception {
        NamingContext context = root.bind_new_context(name("many", ""));
        Set<String> expected = new TreeSet<>();
        for (int i = 0; i < MANY; ++i) {
            context.bind(name("n" + i, "k"), echo);
            expected.add("n" + i + ".k");
        }
        expectSame(expected.toString(), lister.list(context).toString(), "the names");
        for (int i = 0; i < MANY; ++i)
            context.unbind(name("n" + i, "k"));
        root.unbind(name("many", ""));
        context.destroy();
    }
    private void add(Set<String> names, Binding... bindings) throws Exception {
        for (Binding binding : bindings) {
            expect(binding.binding_type == BindingType.nobject, "an object");
            expect(names.add(root.to_string(binding.binding_name)), "each once");
        }
    }

    private void list() throws Exception {
        expectListed(context -> {
            Set<String> names = new TreeSet<>();
            BindingListHolder portion = new BindingListHolder();
            BindingIteratorHolder iterator = new BindingIteratorHolder();
            context.list(10, portion, iterator);
            expect(portion.value.length == 10, "no more than asked for");
            add(names, portion.value);
            while (iterator.value.next_n(7, portion))
                add(names, portion.value);
            iterator.value.destroy();
            expectException(OBJECT_NOT_EXIST.class, () -> iterator.value.next_n(1, portion));
            return names;
        });
        BindingListHolder all = new BindingListHolder();
        BindingIteratorHolder none = new BindingIteratorHolder();
        root.list(1000, all, none);
        expect(none.value == null, "no iterator where nothing is left");
        expect(all.value.length == 1 && all.value[0].binding_type == BindingType.ncontext,
                "only the context dev");
    }
    private void listOneByOne() throws Exception {
        expectListed(context -> {
            Set<String> names = new TreeSet<>();
            BindingIteratorHolder holder = new BindingIteratorHolder();
            context.list(0, new BindingListHolder(), holder);
            BindingIterator iterator = holder.value;
            BindingHolder one = new BindingHolder();
            while (iterator.next_one(one))
                add(names, one.value);
            iterator.destroy();
            return names;
        });
    }

    // --- texts -----------------------------------------------------------------------------------

    private void namesAsText() throws Exception {
        NameComponent[] odd = name("a.b", "c/d", "", "k", "back\\slash", "");
        String text = "a\\.b.c\\/d/.k/back\\\\slash";
        expectSame(text, root.to_string(odd), "the text");
        expectSame(text, root.to_string(root.to_name(text)), "there and back");
        // JacORB's own functions say the same.
        expectSame(text, org.jacorb.naming.Name.toString(odd), "JacORB's text");
        expectSame(root.to_string(org.jacorb.naming.Name.toName(text)), text, "JacORB's name");
        expectEcho(orb.string_to_object(root.to_url(address(), "dev/echo.obj")));
    }
    /** Of the URL: "iiop:1.2@host:port". */
    private String address() {
        return url.substring("corbaloc:".length(), url.indexOf('/'));
    }

    private void corbaname() throws Exception {
        String service = "corbaname:" + address();
        expectEcho(orb.string_to_object(service + "#dev/echo.obj"));
        expectEcho(orb.string_to_object(service + "/NameService#dev/echo.obj"));
        expect(NamingContextHelper.narrow(orb.string_to_object(service + "#dev")) != null, "dev");
        expectException(BAD_PARAM.class, () -> orb.string_to_object(service + "#dev/none"));
    }

    private void otherAlphabets() throws Exception {
        NamingContext context = root.bind_new_context(name("Größe", "naïf"));
        context.bind(name("übrig", ""), root.resolve_str("dev/echo.obj"));
        BindingListHolder listed = new BindingListHolder();
        context.list(10, listed, new BindingIteratorHolder());
        expectSame("[übrig]", Arrays.toString(Arrays.stream(listed.value)
                .map(binding -> binding.binding_name[0].id).toArray()), "what is listed");
        expectEcho(root.resolve(name("Größe", "naïf", "übrig", "")));
    }
}
