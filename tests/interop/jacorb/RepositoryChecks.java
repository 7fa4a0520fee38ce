// SPDX-License-Identifier: Apache-2.0
//
// An Interface Repository that has kinds.idl, as JacORB's stubs see it.
package interop;

import java.io.PrintStream;
import java.util.Arrays;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.omg.CORBA.AbstractInterfaceDefHelper;
import org.omg.CORBA.AliasDef;
import org.omg.CORBA.AliasDefHelper;
import org.omg.CORBA.Any;
import org.omg.CORBA.ArrayDef;
import org.omg.CORBA.ArrayDefHelper;
import org.omg.CORBA.AttributeDef;
import org.omg.CORBA.AttributeDefHelper;
import org.omg.CORBA.AttributeMode;
import org.omg.CORBA.BAD_PARAM;
import org.omg.CORBA.ConstantDef;
import org.omg.CORBA.ConstantDefHelper;
import org.omg.CORBA.Contained;
import org.omg.CORBA.ContainedPackage.Description;
import org.omg.CORBA.DefinitionKind;
import org.omg.CORBA.EnumDefHelper;
import org.omg.CORBA.ExceptionDefHelper;
import org.omg.CORBA.ExtAttributeDefHelper;
import org.omg.CORBA.ExtAttributeDescription;
import org.omg.CORBA.ExtInitializer;
import org.omg.CORBA.ExtValueDefHelper;
import org.omg.CORBA.FixedDef;
import org.omg.CORBA.FixedDefHelper;
import org.omg.CORBA.InterfaceDef;
import org.omg.CORBA.InterfaceDefHelper;
import org.omg.CORBA.InterfaceDefPackage.FullInterfaceDescription;
import org.omg.CORBA.InterfaceDescriptionHelper;
import org.omg.CORBA.ModuleDef;
import org.omg.CORBA.ModuleDefHelper;
import org.omg.CORBA.ORB;
import org.omg.CORBA.OperationDef;
import org.omg.CORBA.OperationDefHelper;
import org.omg.CORBA.OperationDescription;
import org.omg.CORBA.OperationMode;
import org.omg.CORBA.ParameterMode;
import org.omg.CORBA.PrimitiveDef;
import org.omg.CORBA.PrimitiveKind;
import org.omg.CORBA.Repository;
import org.omg.CORBA.RepositoryHelper;
import org.omg.CORBA.SequenceDef;
import org.omg.CORBA.SequenceDefHelper;
import org.omg.CORBA.StringDefHelper;
import org.omg.CORBA.StructDef;
import org.omg.CORBA.StructDefHelper;
import org.omg.CORBA.StructMember;
import org.omg.CORBA.TCKind;
import org.omg.CORBA.TypeCode;
import org.omg.CORBA.UnionDef;
import org.omg.CORBA.UnionDefHelper;
import org.omg.CORBA.UnionMember;
import org.omg.CORBA.ValueBoxDefHelper;
import org.omg.CORBA.ValueDef;
import org.omg.CORBA.ValueDefHelper;
import org.omg.CORBA.ValueDefPackage.FullValueDescription;
import org.omg.CORBA.ValueMemberDefHelper;
import org.omg.CORBA.WstringDefHelper;

/** Used by one thread. */
final class RepositoryChecks extends Checks {
    private static final String EVERYTHING = "most greeting Mood Names Grid Price Point Loan "
            + "Choice Full Base Shelf usual Wide Titled Near Name Root Tree Careful Within";
    private final Repository repository;
    private final ORB orb;

    RepositoryChecks(ORB orb, String reference, PrintStream out) {
        super(out);
        this.orb = orb;
        repository = RepositoryHelper.narrow(orb.string_to_object(reference));
    }

    @Override void run() {
        check("interface", this::interfaces);
        check("operations", this::operations);
        check("contents", this::contents);
        check("names", this::names);
        check("describe_contents", this::descriptions);
        check("module", this::module);
        check("constants", this::constants);
        check("enum", () -> {
            expect(EnumDefHelper.narrow(of("Mood")).members(), "calm angry");
            expectKind("Mood", DefinitionKind.dk_Enum);
        });
        check("struct", this::struct);
        check("union", this::union);
        check("exception", () -> {
            expectKind("Full", DefinitionKind.dk_Exception);
            expect(members(ExceptionDefHelper.narrow(of("Full")).members()), "most where");
        });
        check("aliases", this::aliases);
        check("attributes", this::attributes);
        check("values", this::values);
        check("value boxes", () -> {
            expectKind("Name", DefinitionKind.dk_ValueBox);
            expectKind(ValueBoxDefHelper.narrow(of("Name")).original_type_def().type(),
                    TCKind.tk_string);
        });
        // Of these JacORB reads no TypeCodes.
        check("natives", () -> expectKind("Within/Handle", DefinitionKind.dk_Native));
        check("local interfaces", () -> expectKind("Near", DefinitionKind.dk_LocalInterface));
        check("abstract interfaces", () -> {
            expectKind("Titled", DefinitionKind.dk_AbstractInterface);
            expectKind(AbstractInterfaceDefHelper.narrow(of("Titled")).type(),
                    TCKind.tk_abstract_interface);
        });
        check("primitives", this::primitives);
        check("changes", this::changes);
    }

    private Contained of(String name) {
        Contained found = repository.lookup_id("IDL:Kinds/" + name + ":1.0");
        expect(found != null, "lookup_id of " + name);
        return found;
    }
    private void expectKind(String name, DefinitionKind kind) {
        expect(of(name).def_kind() == kind, name + " is of the kind " + kind.value());
    }
    private static void expectKind(TypeCode type, TCKind kind) {
        expect(type.kind() == kind, "kind " + type.kind().value() + ", expected " + kind.value());
    }
    private static void expect(String[] names, String expected) {
        expect(String.join(" ", names), expected);
    }
    private static void expect(String names, String expected) {
        expect(names.equals(expected), names + ", expected " + expected);
    }
    private static String members(StructMember[] members) {
        return Arrays.stream(members).map(each -> each.name).collect(Collectors.joining(" "));
    }
    private static String names(Contained[] all) {
        return Arrays.stream(all).map(Contained::name).collect(Collectors.joining(" "));
    }

    private void interfaces() throws Exception {
        expectKind("Shelf", DefinitionKind.dk_Interface);
        InterfaceDef shelf = InterfaceDefHelper.narrow(of("Shelf"));
        FullInterfaceDescription all = shelf.describe_interface();
        expect(all.name + " " + all.id + " " + all.defined_in + " " + all.version,
                "Shelf IDL:Kinds/Shelf:1.0 IDL:Kinds:1.0 1.0");
        expect(all.base_interfaces, "IDL:Kinds/Base:1.0");
        expect(Arrays.stream(all.operations).map(each -> each.name)
                .collect(Collectors.joining(" ")), "put note neighbour");
        expect(Stream.of(all.attributes).map(each -> each.name).sorted()
                .collect(Collectors.joining(" ")), "title used");
        expectKind(all.type, TCKind.tk_objref);
        expect(all.type.id(), "IDL:Kinds/Shelf:1.0");
        expect(shelf.is_a("IDL:Kinds/Base:1.0"), "is_a of a base");
        expect(names(shelf.base_interfaces()), "Base");
        expect(shelf.absolute_name(), "::Kinds::Shelf");
    }

    private void operations() throws Exception {
        OperationDef put = OperationDefHelper.narrow(repository.lookup("Kinds::Shelf::put"));
        expectKind(put.result(), TCKind.tk_longlong);
        expect(put.mode() == OperationMode.OP_NORMAL, "no oneway");
        expect(Arrays.stream(put.params()).map(each -> each.name + " " + each.mode.value())
                        .collect(Collectors.joining(" ")),
                "books " + ParameterMode._PARAM_IN + " which " + ParameterMode._PARAM_INOUT
                        + " where " + ParameterMode._PARAM_OUT);
        expect(put.params()[1].type.id(), "IDL:Kinds/Choice:1.0");
        expect(put.params()[1].type.member_count() == 3, "the members of Choice");
        expect(names(put.exceptions()), "Full");
        OperationDescription note = org.omg.CORBA.OperationDescriptionHelper.extract(
                repository.lookup("Kinds::Shelf::note").describe().value);
        expect(note.mode == OperationMode.OP_ONEWAY, "oneway");
        expectKind(note.parameters[0].type, TCKind.tk_any);
        OperationDef ask = OperationDefHelper.narrow(repository.lookup("Kinds::Careful::ask"));
        expect(ask.contexts(), "who where");
    }

    private void contents() {
        ModuleDef kinds = ModuleDefHelper.narrow(repository.lookup("Kinds"));
        expect(names(repository.contents(DefinitionKind.dk_Module, true)), "Kinds");
        expect(names(kinds.contents(DefinitionKind.dk_all, true)), EVERYTHING);
        expect(names(kinds.contents(DefinitionKind.dk_Interface, true)), "Base Shelf Careful");
        InterfaceDef shelf = InterfaceDefHelper.narrow(of("Shelf"));
        expect(names(shelf.contents(DefinitionKind.dk_Attribute, true)), "used");
        expect(shelf.contents(DefinitionKind.dk_Attribute, false).length == 2, "those of bases");
    }
    private void names() {
        ModuleDef kinds = ModuleDefHelper.narrow(repository.lookup("::Kinds"));
        expect(kinds.lookup("Within::Rack").id(), "IDL:Kinds/Within/Rack:1.0");
        Contained[] found = repository.lookup_name("Rack", -1, DefinitionKind.dk_all, true);
        expect(found.length == 1 && found[0].def_kind() == DefinitionKind.dk_Alias, "one Rack");
        expect(found[0].containing_repository()._is_equivalent(repository), "of this repository");
        expect(repository.lookup("Kinds::Nowhere") == null, "nil for none");
        expect(repository.lookup_id("IDL:Kinds/Nowhere:1.0") == null, "nil for no id");
    }
    private void descriptions() {
        ModuleDef kinds = ModuleDefHelper.narrow(repository.lookup("Kinds"));
        org.omg.CORBA.ContainerPackage.Description[] all =
                kinds.describe_contents(DefinitionKind.dk_all, true, -1);
        expect(all.length == EVERYTHING.split(" ").length, "all of them");
        for (org.omg.CORBA.ContainerPackage.Description each : all) {
            Description one = each.contained_object.describe();
            expect(one.kind == each.kind && one.value.equal(each.value),
                    "the same as describe of " + each.contained_object.name());
        }
        expect(InterfaceDescriptionHelper.extract(all[11].value).name, "Shelf");
    }
    private void module() {
        expect(of("Mood").defined_in().def_kind() == DefinitionKind.dk_Module, "in a module");
        Description kinds = repository.lookup("Kinds").describe();
        expect(org.omg.CORBA.ModuleDescriptionHelper.extract(kinds.value).id, "IDL:Kinds:1.0");
    }
    private void constants() {
        ConstantDef most = ConstantDefHelper.narrow(of("most"));
        expect(most.value().extract_long() == 42, "most");
        expect(ConstantDefHelper.narrow(of("greeting")).value().extract_string(), "hello");
        ConstantDef usual = ConstantDefHelper.narrow(of("usual"));
        expectKind(usual.value().type(), TCKind.tk_enum);
        expect(usual.value().create_input_stream().read_long() == 0, "calm");
    }
    private void struct() throws Exception {
        expectKind("Loan", DefinitionKind.dk_Struct);
        StructDef loan = StructDefHelper.narrow(of("Loan"));
        StructMember[] all = loan.members();
        expect(members(all), "book where how");
        expect(StructDefHelper.narrow(all[1].type_def).id(), "IDL:Kinds/Point:1.0");
        expect(all[1].type.member_name(1), "y");
        TypeCode type = loan.type();
        expect(type.member_count() == 3, "the members of its type");
        expect(type.member_type(2).id(), "IDL:Kinds/Mood:1.0");
    }
    private void union() throws Exception {
        expectKind("Choice", DefinitionKind.dk_Union);
        UnionDef choice = UnionDefHelper.narrow(of("Choice"));
        expectKind(choice.discriminator_type(), TCKind.tk_long);
        UnionMember[] all = choice.members();
        expect(all.length == 3, "the members");
        expect(all[0].name + " " + all[0].label.extract_long(), "several -3");
        expect(all[1].name + " " + all[1].label.extract_long(), "where 4");
        expectKind(all[2].label.type(), TCKind.tk_octet);
        expect(choice.type().default_index() == 2, "the default");
    }
    private void aliases() throws Exception {
        AliasDef alias = AliasDefHelper.narrow(of("Names"));
        expectKind(alias.type(), TCKind.tk_alias);
        SequenceDef names = SequenceDefHelper.narrow(alias.original_type_def());
        expect(names.bound() == 8, "the bound");
        expectKind(names.element_type(), TCKind.tk_string);
        ArrayDef grid = ArrayDefHelper.narrow(
                AliasDefHelper.narrow(of("Grid")).original_type_def());
        expect(grid.length() == 2, "the first dimension");
        expect(ArrayDefHelper.narrow(grid.element_type_def()).length() == 3, "the second one");
        FixedDef price = FixedDefHelper.narrow(
                AliasDefHelper.narrow(of("Price")).original_type_def());
        expect(price.digits() == 7 && price.scale() == 2, "digits and scale");
        expect(WstringDefHelper.narrow(AliasDefHelper.narrow(of("Wide")).original_type_def())
                .bound() == 5, "the bound of a wstring");
        expect(of("Within/Rack").def_kind() == DefinitionKind.dk_Alias, "an alias of an interface");
    }
    private void attributes() {
        AttributeDef used = AttributeDefHelper.narrow(repository.lookup("Kinds::Shelf::used"));
        expect(used.mode() == AttributeMode.ATTR_READONLY, "readonly");
        expectKind(used.type(), TCKind.tk_long);
        ExtAttributeDescription level = ExtAttributeDefHelper.narrow(
                repository.lookup("Kinds::Careful::level")).describe_attribute();
        expect(level.mode == AttributeMode.ATTR_NORMAL, "not readonly");
        expect(level.get_exceptions[0].id + " " + level.put_exceptions[0].name,
                "IDL:Kinds/Full:1.0 Full");
    }
    private void values() throws Exception {
        expectKind("Tree", DefinitionKind.dk_Value);
        ValueDef tree = ValueDefHelper.narrow(of("Tree"));
        FullValueDescription all = tree.describe_value();
        expect(all.base_value, "IDL:Kinds/Root:1.0");
        expect(all.is_truncatable && !all.is_abstract && !all.is_custom, "truncatable");
        expect(all.supported_interfaces, "IDL:Kinds/Titled:1.0");
        expect(all.members[0].name + " " + all.members[0].access + " " + all.members[1].name + " "
                + all.members[1].access, "label 0 children 1");
        expect(all.operations[0].name, "count");
        expect(all.initializers[0].name + " " + members(all.initializers[0].members), "make label");
        expectKind(all.type, TCKind.tk_value);
        expect(all.type.concrete_base_type().id(), "IDL:Kinds/Root:1.0");
        expectKind(ValueMemberDefHelper.narrow(tree.lookup("label")).type(), TCKind.tk_value_box);
        ExtInitializer[] extended = ExtValueDefHelper.narrow(tree).ext_initializers();
        expect(extended[0].exceptions[0].name, "Full");
        expect(tree.is_a("IDL:Kinds/Root:1.0"), "is_a of its base");
    }
    private void primitives() throws Exception {
        PrimitiveDef number = repository.get_primitive(PrimitiveKind.pk_ulonglong);
        expect(number.kind() == PrimitiveKind.pk_ulonglong, "the kind");
        expectKind(number.type(), TCKind.tk_ulonglong);
        expect(StringDefHelper.narrow(repository.create_string(12)).bound() == 12, "a string");
    }
    private void changes() throws Exception {
        ModuleDef made = repository.create_module("IDL:Made:1.0", "Made", "1.0");
        StructMember member = new StructMember("much", orb.get_primitive_tc(TCKind.tk_void),
                repository.get_primitive(PrimitiveKind.pk_double));
        StructDef struct = made.create_struct("IDL:Made/Pair:1.0", "Pair", "1.0",
                new StructMember[] {member});
        expectKind(struct.type().member_type(0), TCKind.tk_double);
        BAD_PARAM taken = expectException(BAD_PARAM.class,
                () -> repository.create_module("IDL:Made:1.0", "Other", "1.0"));
        expect((taken.minor & 0xFFF) == 2, "an id is defined once");
        Any value = orb.create_any();
        value.insert_double(2.5);
        ConstantDef constant = made.create_constant("IDL:Made/half:1.0", "half", "1.0",
                repository.get_primitive(PrimitiveKind.pk_double), value);
        expect(constant.value().extract_double() == 2.5, "the constant");
        made.destroy();
        expect(repository.lookup_id("IDL:Made/Pair:1.0") == null, "gone with its module");
    }
}
