import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parseJson } from '../../../src/model/json.ts';

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

test('what comes from outside is parsed with a limit on its depth', () => {
  const trusted = ['main.ts', 'model/json.ts', 'library/webhook.ts', 'output/jq.ts'].concat([
    'sandbox/social/cards.ts',
    'sandbox/social/profiles.ts',
    'sandbox/trades/add-trades.ts',
    'pages/browser/ask.ts',
  ]);
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name));
  const parsing = files.filter((name) => readFileSync(`src/${name}`, 'utf8').includes('JSON.parse('));
  expect(parsing.sort()).toEqual(trusted.sort());
});
