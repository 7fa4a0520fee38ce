#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Writes random IDL, once per kind of marshalling, and the C++ by which the property test fills its
# values and encodes them byte by byte:
#
#     random_idl.py SEED COUNT DIRECTORY
#
# The modules Compiled, Interpreted and Mixed hold the same types; in Mixed, each struct is of a
# kind of its own. What is written depends on the seed alone.
import pathlib
import random
import sys

BASICS = {
    'boolean': 'Boolean', 'char': 'Char', 'octet': 'Octet', 'short': 'Short',
    'unsigned short': 'UShort', 'long': 'Long', 'unsigned long': 'ULong',
    'long long': 'LongLong', 'unsigned long long': 'ULongLong', 'float': 'Float',
    'double': 'Double', 'long double': 'LongDouble', 'wchar': 'WChar',
}
# Discriminators, with the limits of their labels in IDL; char and wchar have labels of letters.
DISCRIMINATORS = {
    'short': (-32768, 32767), 'unsigned short': (0, 65535),
    'long': (-2147483648, 2147483647), 'unsigned long': (0, 4294967295),
    'long long': (-2**63, 2**63 - 1), 'unsigned long long': (0, 2**64 - 1),
    'octet': (0, 255), 'boolean': None, 'char': None, 'wchar': None,
}
KINDS = ('Compiled', 'Interpreted', 'Mixed')


class Types:
    """A type is a tuple: ('basic', name), ('string', bound), ('wstring', bound), ('any',),
    ('sequence', element, bound), ('array', element, size) or ('named', index)."""

    def __init__(self, seed, count):
        self.rng = random.Random(seed)
        # ('enum', count), ('struct', members, recursive), ('exception', members), ('alias', type),
        # ('fixed', digits, scale) or ('union', discriminator, branches), where a branch is a tuple
        # of labels, without any for the default, and a type.
        self.definitions = []
        for _ in range(count):
            self.definitions.append(self.definition())
        drawn = {d[1] for d in self.definitions if d[0] == 'union'}
        for name in DISCRIMINATORS: # none may be missing
            if ('basic', name) not in drawn:
                self.definitions.append(self.union(('basic', name)))
        self.mixed = [self.rng.random() < 0.5 for _ in self.definitions]

    def definition(self):
        draw = self.rng.random()
        if draw < 0.08:
            return ('enum', self.rng.randint(1, 6))
        if draw < 0.14:
            digits = self.rng.randint(1, 31)
            return ('fixed', digits, self.rng.randint(0, digits))
        if draw < 0.24:
            return ('alias', ('sequence', self.type(2), self.bound()))
        if draw < 0.28:
            return ('alias', ('array', self.type(1), self.rng.randint(1, 4)))
        if draw < 0.50:
            return self.union(self.discriminator())
        members = [self.member() for _ in range(self.rng.randint(1, 7))]
        if draw < 0.56:
            return ('exception', members)
        recursive = self.rng.random() < 0.15
        if recursive:
            members.append(('sequence', ('named', len(self.definitions)), self.bound()))
        return ('struct', members, recursive)

    def discriminator(self):
        enums = [i for i, d in enumerate(self.definitions) if d[0] == 'enum']
        if enums and self.rng.random() < 0.25:
            return ('named', self.rng.choice(enums))
        return ('basic', self.rng.choice(list(DISCRIMINATORS)))

    def union(self, discriminator):
        labels = self.labels(discriminator)
        complete = len(labels) == self.label_count(discriminator)
        branches = []
        while labels:
            count = min(len(labels), self.rng.choice([1, 1, 1, 2, 3]))
            branches.append((tuple(labels[:count]), self.branch_type()))
            labels = labels[count:]
        if not complete and self.rng.random() < 0.5:
            branches.insert(self.rng.randint(0, len(branches)), ((), self.branch_type()))
        return ('union', discriminator, branches)

    def label_count(self, discriminator):
        """Of all that there are; None for more than a union names."""
        if discriminator[0] == 'named':
            return self.definitions[discriminator[1]][1]
        return 2 if discriminator[1] == 'boolean' else None

    def labels(self, discriminator):
        """Some, in random order."""
        if discriminator[0] == 'named':
            all_labels = list(range(self.definitions[discriminator[1]][1]))
        elif discriminator[1] == 'boolean':
            all_labels = [0, 1]
        elif DISCRIMINATORS[discriminator[1]] is None:
            all_labels = [ord(c) for c in 'aZ09~']
        else:
            low, high = DISCRIMINATORS[discriminator[1]]
            all_labels = list({low, high, 0, 1, 7, self.rng.randint(low, high)})
        self.rng.shuffle(all_labels)
        return all_labels[:self.rng.randint(1, len(all_labels))]

    def branch_type(self):
        """Without sequences that have no name: what is assigned to a member is of its type."""
        draw = self.rng.random()
        named = self.named_types()
        if named and draw < 0.5:
            return ('named', self.rng.choice(named))
        return self.plain_type(draw)

    def named_types(self):
        """All that may be a member."""
        return [i for i, d in enumerate(self.definitions) if d[0] != 'exception']

    def bound(self):
        return self.rng.choice([0, 0, 0, 1, 3, 9])

    def member(self):
        element = self.type(2)
        if self.rng.random() < 0.2:
            return ('array', element, self.rng.randint(1, 5))
        return element

    def type(self, depth):
        draw = self.rng.random()
        named = self.named_types()
        if named and draw < 0.35:
            return ('named', self.rng.choice(named))
        if depth > 0 and draw < 0.5:
            return ('sequence', self.type(depth - 1), self.bound())
        return self.plain_type(draw)

    def plain_type(self, draw):
        if draw < 0.58:
            return ('string', self.bound())
        if draw < 0.66:
            return ('wstring', self.bound())
        if draw < 0.71:
            return ('any',)
        return ('basic', self.rng.choice(list(BASICS)))

    # --- IDL -------------------------------------------------------------------------------------

    def idl_type(self, t):
        if t[0] == 'basic':
            return t[1]
        if t[0] == 'named':
            return f'T{t[1]}'
        if t[0] == 'any':
            return 'any'
        bound = t[-1]
        if t[0] in ('string', 'wstring'):
            return f'{t[0]}<{bound}>' if bound else t[0]
        return f'sequence<{self.idl_type(t[1])}' + (f', {bound}>' if bound else '>')

    def declarator(self, t, name):
        if t[0] == 'array':
            return f'{self.idl_type(t[1])} {name}[{t[2]}];'
        return f'{self.idl_type(t)} {name};'

    def label(self, discriminator, label, cpp=False):
        """As a constant, in IDL or in C++ (without the scope of an enumerator)."""
        if discriminator[0] == 'named':
            return f'e{discriminator[1]}_{label}'
        name = discriminator[1]
        if name == 'boolean':
            text = ('FALSE', 'TRUE')[label]
            return text.lower() if cpp else text
        if name in ('char', 'wchar'):
            return ('L' if name == 'wchar' else '') + f"'{chr(label)}'"
        if not cpp:
            return str(label)
        if label == -2**63:
            return '(-9223372036854775807LL - 1)'
        return f'{label}{"ULL" if label > 2**63 - 1 else "LL"}'

    def idl(self, kind):
        lines = [f'module {kind} {{']
        for index, definition in enumerate(self.definitions):
            if kind == 'Mixed' and definition[0] == 'struct':
                chosen = 'interpretive' if self.mixed[index] else 'compiled'
                lines.append(f'    @marshal("{chosen}")')
            if definition[0] == 'enum':
                names = ', '.join(f'e{index}_{i}' for i in range(definition[1]))
                lines.append(f'    enum T{index} {{ {names} }};')
            elif definition[0] == 'fixed':
                lines.append(f'    typedef fixed<{definition[1]}, {definition[2]}> T{index};')
            elif definition[0] == 'alias':
                lines.append(f'    typedef {self.declarator(definition[1], f"T{index}")}')
            elif definition[0] == 'union':
                lines.append(f'    union T{index} switch ({self.idl_type(definition[1])}) {{')
                for number, (labels, t) in enumerate(definition[2]):
                    cases = [f'case {self.label(definition[1], label)}:' for label in labels]
                    lines.append('        ' + ' '.join(cases or ['default:']) + ' ' +
                                 self.declarator(t, f'm{number}'))
                lines.append('    };')
            else:
                lines.append(f'    {definition[0]} T{index} {{')
                for number, member in enumerate(definition[1]):
                    lines.append('        ' + self.declarator(member, f'm{number}'))
                lines.append('    };')
            # What is in an Any names its type: the same for all kinds.
            lines.append(f'#pragma ID T{index} "IDL:random/T{index}:1.0"')
        return '\n'.join(lines + ['};', ''])

    # --- C++ -------------------------------------------------------------------------------------

    def code(self, kind, t, value, fill, depth=0):
        """Statements that fill `value`, or write it to the reference encoder `out`."""
        index = f'i{depth}'
        if t[0] == 'basic':
            if fill:
                return f'{value} = random.number<::CORBA::{BASICS[t[1]]}>();'
            return f'out.number({value});'
        if t[0] == 'string':
            if fill:
                return f'{value} = random.text({t[1]}).c_str();'
            return f'out.text({value});'
        if t[0] == 'wstring':
            if fill:
                return f'{value} = random.wide_text({t[1]}).c_str();'
            return f'out.wide_text({value});'
        if t[0] == 'any':
            return (f'fill_{kind}_any(random, {value});' if fill
                    else f'put_{kind}_any(out, {value});')
        if t[0] == 'array':
            return (f'for (int {index} = 0; {index} < {t[2]}; ++{index}) {{ ' +
                    self.code(kind, t[1], f'{value}[{index}]', fill, depth + 1) + ' }')
        if t[0] == 'sequence':
            loop = (f'for (::CORBA::ULong {index} = 0; {index} < {value}.length(); ++{index}) {{ ' +
                    self.code(kind, t[1], f'{value}[{index}]', fill, depth + 1) + ' }')
            head = (f'{value}.length(random.length({t[2]}));' if fill
                    else f'out.number({value}.length());')
            return f'{head} {loop}'
        definition = self.definitions[t[1]]
        if definition[0] == 'enum':
            if fill:
                return (f'{value} = static_cast<{kind}::T{t[1]}>(random.below('
                        f'{definition[1]}));')
            return f'out.number(static_cast<::CORBA::ULong>({value}));'
        if definition[0] == 'fixed':
            digits, scale = definition[1:]
            if fill:
                return f'{value} = ::CORBA::Fixed(random.digits({digits}, {scale}).c_str());'
            return f'out.fixed({value}, {digits}, {scale});'
        if definition[0] == 'alias':
            return self.code(kind, definition[1], value, fill, depth)
        return f'fill(random, {value});' if fill else f'put(out, {value});'

    def holder(self, kind, t):
        """The C++ type of a variable whose value a union's member is given."""
        if t[0] == 'basic':
            return f'::CORBA::{BASICS[t[1]]}'
        return {'string': '::CORBA::String_var', 'wstring': '::CORBA::WString_var',
                'any': '::CORBA::Any'}.get(t[0]) or f'{kind}::T{t[1]}'

    def cpp_label(self, kind, discriminator, label):
        text = self.label(discriminator, label, cpp=True)
        if discriminator[0] == 'named':
            return f'{kind}::{text}'
        return f'static_cast<::CORBA::{BASICS[discriminator[1]]}>({text})'

    def fill_union(self, kind, definition):
        _, discriminator, branches = definition
        implicit = not any(not labels for labels, _ in branches) and (
            sum(len(labels) for labels, _ in branches) != self.label_count(discriminator))
        lines = [f'switch (random.below({len(branches) + implicit})) {{']
        for number, (labels, t) in enumerate(branches):
            owned = t[0] in ('string', 'wstring')
            lines += [f'case {number}: {{', f'{self.holder(kind, t)} member{{}};',
                      self.code(kind, t, 'member', True),
                      f'value.m{number}(member{".in()" if owned else ""});']
            if len(labels) > 1: # any but the first, which the modifier chose
                lines.append(f'if (random.below(2) == 0) value._d('
                             f'{self.cpp_label(kind, discriminator, labels[-1])});')
            lines.append('break; }')
        if implicit:
            lines.append('default: value._default();')
        return lines + ['}']

    def put_union(self, kind, definition):
        _, discriminator, branches = definition
        lines = [self.code(kind, discriminator, 'value._d()', False), 'const auto d = value._d();']
        for number, (labels, t) in sorted(enumerate(branches), key=lambda b: not b[1][0]):
            tests = [f'd == {self.cpp_label(kind, discriminator, label)}' for label in labels]
            put = self.code(kind, t, f'value.m{number}()', False)
            lines.append((f'if ({" || ".join(tests)}) ' if tests else '') + f'{{ {put} return; }}')
        return lines

    def function(self, kind, index, fill):
        """How to fill a type that is a class of its own, or to write it."""
        definition = self.definitions[index]
        name = f'{kind}::T{index}'
        head = (f'inline void fill(Random& random, {name}& value)' if fill
                else f'inline void put(Plain& out, const {name}& value)')
        lines = [head + ' {']
        if definition[0] in ('struct', 'exception', 'union') and fill:
            lines.append('const Random::Deeper deeper(random);')
        if definition[0] == 'alias':
            lines.append(self.code(kind, definition[1], 'value', fill))
        elif definition[0] == 'union':
            lines += self.fill_union(kind, definition) if fill else self.put_union(kind, definition)
        else:
            for number, member in enumerate(definition[1]):
                lines.append(self.code(kind, member, f'value.m{number}', fill))
        return lines + ['}']

    def any_functions(self, kind):
        """How to fill an Any with any of the types, and to write one by its TypeCode's id."""
        fill = [f'inline void fill_{kind}_any(Random& random, ::CORBA::Any& value) {{',
                'const Random::Deeper deeper(random);',
                f'switch (random.deep() ? {len(self.definitions)} : '
                f'random.below({len(self.definitions) + 4})) {{']
        put = [f'inline void put_{kind}_any(Plain& out, const ::CORBA::Any& value) {{',
               'put_type(out, value.type());']
        for index, definition in enumerate(self.definitions):
            t = ('named', index)
            name = f'{kind}::T{index}'
            array = definition[0] == 'alias' and definition[1][0] == 'array'
            fill += [f'case {index}: {{', f'{name} member{{}};' if not array else f'{name} member;',
                     self.code(kind, t, 'member', True)]
            test = f'is_type(value, "IDL:random/T{index}:1.0")'
            if definition[0] == 'fixed':
                digits, scale = definition[1:]
                fill.append(f'insert_fixed(value, {kind}::_tc_T{index}, member, '
                            f'{digits}, {scale});')
                put.append(f'if ({test}) return put_fixed(out, value, {digits}, {scale});')
            elif array:
                fill.append(f'value <<= {name}_forany(member);')
                put += [f'if ({test}) {{ {name}_forany member; must(value >>= member);',
                        self.code(kind, definition[1], 'member', False), 'return; }']
            elif definition[0] == 'enum':
                fill.append('value <<= member;')
                put += [f'if ({test}) {{ {name} member{{}}; must(value >>= member);',
                        self.code(kind, t, 'member', False), 'return; }']
            else:
                fill.append('value <<= member;')
                head = ('out.text("IDL:random/T%d:1.0");' % index
                        if definition[0] == 'exception' else '')
                put += [f'if ({test}) {{ const {name}* member = nullptr;',
                        f'must(value >>= member); {head} put(out, *member); return; }}']
            fill.append('break; }')
        fill += ['default: fill_plain(random, value); }', '}']
        put += ['put_plain(out, value);', '}']
        return fill + put

    def cpp(self, kind):
        lines = ['// Generated by random_idl.py. Do not edit.', '#pragma once',
                 f'#include "{kind.lower()}.h"', '#include "values.h"',
                 'namespace marshal_test {',
                 f'void fill_{kind}_any(Random& random, ::CORBA::Any& value);',
                 f'void put_{kind}_any(Plain& out, const ::CORBA::Any& value);']
        for index, definition in enumerate(self.definitions):
            if definition[0] in ('enum', 'fixed') or definition[1][0] == 'array':
                continue
            for fill in (True, False):
                lines += self.function(kind, index, fill)
        return '\n'.join(lines + self.any_functions(kind) + ['}', ''])

    def pairs(self):
        names = [f'X(T{i})' for i, d in enumerate(self.definitions)
                 if d[0] not in ('enum', 'fixed') and d[1][0] != 'array']
        return ('// Generated by random_idl.py. Do not edit.\n#pragma once\n'
                '#define RANDOM_TYPES(X) ' + ' '.join(names) + '\n')


def main():
    seed, count, directory = int(sys.argv[1]), int(sys.argv[2]), pathlib.Path(sys.argv[3])
    types = Types(seed, count)
    directory.mkdir(parents=True, exist_ok=True)
    for kind in KINDS:
        (directory / f'{kind.lower()}.idl').write_text(types.idl(kind), encoding='ascii')
        (directory / f'{kind.lower()}_values.h').write_text(types.cpp(kind), encoding='ascii')
    (directory / 'random_types.h').write_text(types.pairs(), encoding='ascii')


main()
