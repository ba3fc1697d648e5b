import { expect, test } from 'vitest';
import { parseJson } from '../../../../src/api/json.ts';
import { indentJson } from '../../../../src/lib/output/json.ts';
import { fc } from '../../../support/draw.ts';
import { long, size } from '../../../support/size.ts';

test('JSON is indented by two spaces, empty objects and lists on one line', () => {
  expect(indentJson('{"a":[1,{"b":null}],"c":{},"d":[ ],"e":"x"}')).toBe(
    '{\n  "a": [\n    1,\n    {\n      "b": null\n    }\n  ],\n  "c": {},\n  "d": [],\n  "e": "x"\n}',
  );
});

test('numbers, repeated keys and escapes stay exactly as they were sent', () => {
  const sent = '{"id":9007199254740993,"price":1.0,"small":1E-7,"id":-0,"text":"\\u00e9 \\"{[,:]}\\" \\\\"}';
  expect(indentJson(sent)).toBe(
    '{\n  "id": 9007199254740993,\n  "price": 1.0,\n  "small": 1E-7,\n  "id": -0,\n  "text": "\\u00e9 \\"{[,:]}\\" \\\\"\n}',
  );
});

long('indenting is what JSON.stringify does with two spaces', () => {
  const withoutFloats = fc
    .jsonValue({ noUnicodeString: false })
    .filter((value) => !/\d\.|e[-+]/.test(JSON.stringify(value)));
  fc.assert(
    fc.property(withoutFloats, (value) => {
      expect(indentJson(JSON.stringify(value))).toBe(JSON.stringify(value, null, 2));
    }),
  );
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      expect(JSON.parse(indentJson(text))).toEqual(JSON.parse(text));
    }),
  );
});

test('very many nested lists and a string of very many escapes are no trouble', () => {
  const depth = size(20_000, 100_000);
  const deep = '['.repeat(depth) + ']'.repeat(depth);
  expect(indentJson(deep).replaceAll(/\s/g, '')).toBe(deep);
  const long = `"${'\\n'.repeat(depth * 10)}"`;
  expect(indentJson(long)).toBe(long);
});

const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

test('JSON of 512 levels is read, of 513 it is refused by name', () => {
  expect(JSON.stringify(parseJson(nested(512)))).toBe(nested(512));
  expect(() => parseJson(nested(513))).toThrow('JSON nested more than 512 levels deep');
  expect(() => parseJson(`${'{"a":'.repeat(513)}1${'}'.repeat(513)}`)).toThrow('JSON nested more than 512 levels deep');
  const long = ' '.repeat(1_000_000);
  expect(JSON.stringify(parseJson(long + nested(512)))).toBe(nested(512));
  expect(() => parseJson(long + nested(513))).toThrow('JSON nested more than 512 levels deep');
  expect(() => parseJson('['.repeat(20_000_000))).toThrow('JSON nested more than 512 levels deep');
});

test('brackets in strings do not count, whatever is escaped in them', () => {
  const text = JSON.stringify({ [`"\\${'['.repeat(600)}`]: `\\\\"${'{'.repeat(600)}\\`, wide: Array(600).fill([{}]) });
  expect(JSON.stringify(parseJson(text))).toBe(text);
  expect(() => parseJson(`"${'\\'.repeat(1_000_000)}`)).toThrow(SyntaxError);
});
