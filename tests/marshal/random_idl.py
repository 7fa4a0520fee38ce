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
    'double': 'Double',
}
KINDS = ('Compiled', 'Interpreted', 'Mixed')


class Types:
    """A type is a tuple: ('basic', name), ('string', bound), ('sequence', element, bound),
    ('array', element, size) or ('named', index)."""

    def __init__(self, seed, count):
        self.rng = random.Random(seed)
        self.definitions = []  # ('enum', count), ('struct', members, recursive), ('alias', type)
        for _ in range(count):
            self.definitions.append(self.definition())
        self.mixed = [self.rng.random() < 0.5 for _ in self.definitions]

    def definition(self):
        draw = self.rng.random()
        if draw < 0.1:
            return ('enum', self.rng.randint(1, 6))
        if draw < 0.25:
            return ('alias', ('sequence', self.type(2), self.bound()))
        members = [self.member() for _ in range(self.rng.randint(1, 7))]
        recursive = self.rng.random() < 0.15
        if recursive:
            members.append(('sequence', ('named', len(self.definitions)), self.bound()))
        return ('struct', members, recursive)

    def bound(self):
        return self.rng.choice([0, 0, 0, 1, 3, 9])

    def member(self):
        element = self.type(2)
        if self.rng.random() < 0.2:
            return ('array', element, self.rng.randint(1, 5))
        return element

    def type(self, depth):
        draw = self.rng.random()
        if self.definitions and draw < 0.3:
            return ('named', self.rng.randrange(len(self.definitions)))
        if draw < 0.4:
            return ('string', self.bound())
        if depth > 0 and draw < 0.55:
            return ('sequence', self.type(depth - 1), self.bound())
        return ('basic', self.rng.choice(list(BASICS)))

    # --- IDL -------------------------------------------------------------------------------------

    def idl_type(self, t):
        if t[0] == 'basic':
            return t[1]
        if t[0] == 'named':
            return f'T{t[1]}'
        bound = t[-1]
        if t[0] == 'string':
            return f'string<{bound}>' if bound else 'string'
        return f'sequence<{self.idl_type(t[1])}' + (f', {bound}>' if bound else '>')

    def idl(self, kind):
        lines = [f'module {kind} {{']
        for index, definition in enumerate(self.definitions):
            if kind == 'Mixed' and definition[0] == 'struct':
                chosen = 'interpretive' if self.mixed[index] else 'compiled'
                lines.append(f'    @marshal("{chosen}")')
            if definition[0] == 'enum':
                names = ', '.join(f'e{index}_{i}' for i in range(definition[1]))
                lines.append(f'    enum T{index} {{ {names} }};')
            elif definition[0] == 'alias':
                lines.append(f'    typedef {self.idl_type(definition[1])} T{index};')
            else:
                lines.append(f'    struct T{index} {{')
                for number, member in enumerate(definition[1]):
                    if member[0] == 'array':
                        lines.append(f'        {self.idl_type(member[1])} m{number}[{member[2]}];')
                    else:
                        lines.append(f'        {self.idl_type(member)} m{number};')
                lines.append('    };')
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
        if definition[0] == 'alias':
            return self.code(kind, definition[1], value, fill, depth)
        return f'fill(random, {value});' if fill else f'put(out, {value});'

    def cpp(self, kind):
        lines = ['// Generated by random_idl.py. Do not edit.', '#pragma once',
                 f'#include "{kind.lower()}.h"', '#include "values.h"', 'namespace marshal_test {']
        for index, definition in enumerate(self.definitions):
            if definition[0] == 'enum':
                continue
            name = f'{kind}::T{index}'
            for fill in (True, False):
                head = (f'inline void fill(Random& random, {name}& value)' if fill
                        else f'inline void put(Plain& out, const {name}& value)')
                lines.append(head + ' {')
                if definition[0] == 'alias':
                    lines.append(self.code(kind, definition[1], 'value', fill))
                else:
                    if fill:
                        lines.append('const Random::Deeper deeper(random);')
                    for number, member in enumerate(definition[1]):
                        lines.append(self.code(kind, member, f'value.m{number}', fill))
                lines.append('}')
        return '\n'.join(lines + ['}', ''])

    def pairs(self):
        names = [f'X(T{i})' for i, d in enumerate(self.definitions) if d[0] != 'enum']
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
