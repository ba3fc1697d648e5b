import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { hideSecrets, hidingKey, requestHider } from '../../../src/http/secrets.ts';
import { run, stub, temporaryFolder } from '../../support/harness.ts';
import { size } from '../../support/size.ts';

const hidden: readonly [text: string, key: string | undefined, shown: string][] = [
  ['{"secret":"abc","a":"b"}', undefined, '{"secret":"***","a":"b"}'],
  ['{"signature":"abc","secret":"d"}', undefined, '{"signature":"***","secret":"***"}'],
  ['{"secret" : "abc"}', undefined, '{"secret" : "***"}'],
  ['{"secret"\n  :\n  "abc"}', undefined, '{"secret"\n  :\n  "***"}'],
  ['{"secret":"a\\"b","a":1}', undefined, '{"secret":"***","a":1}'],
  ['{"secret":"a\\nb\\\\","a":1}', undefined, '{"secret":"***","a":1}'],
  ['{"secret":"a\\ b"}', undefined, '{"secret":"***"}'],
  ['{"secret":""}', undefined, '{"secret":"***"}'],
  ['{"secret":"cut of', undefined, '{"secret":"***"'],
  ['{"secret":"cut of\\', undefined, '{"secret":"***"'],
  ['{"secret":"a\\\\","signature":"b"}', undefined, '{"secret":"***","signature":"***"}'],
  ['{"secret":"a\\\\\\"","signature":"b"}', undefined, '{"secret":"***","signature":"***"}'],
  ['"{\\"secret\\":\\"a\\",\\"b\\":1}"', undefined, '"{\\"secret\\":\\"***\\",\\"b\\":1}"'],
  ['"{\\"secret\\":\\"a\\\\\\"c\\",\\"b\\":1}"', undefined, '"{\\"secret\\":\\"***\\",\\"b\\":1}"'],
  ['"{\\"secret\\":\\"a\\\\\\\\\\",\\"b\\":1}"', undefined, '"{\\"secret\\":\\"***\\",\\"b\\":1}"'],
  ['{"secret":1,"secrets":"x"}', undefined, '{"secret":1,"secrets":"x"}'],
  ['whsec_12345678 and whsec_ab+/=-_9', undefined, 'whsec_*** and whsec_***'],
  ['whsec_1234567', undefined, 'whsec_1234567'],
  ['a whsec_short', undefined, 'a whsec_short'],
  ['my key-1234 is key-1234', 'key-1234', 'my *** is ***'],
  ['a key1 b', 'key1', 'a *** b'],
  ['a key b', 'key', 'a key b'],
  ['a b', '', 'a b'],
  ['k/y"1 k\\/y\\"1 k/y\\"1 k%2Fy%221', 'k/y"1', '*** *** *** ***'],
  ['it breaks off in key-1234567', 'key-12345678', 'it breaks off in ***'],
  ['it breaks off in key-1234', 'key-12345678', 'it breaks off in ***'],
  ['it breaks off in key-123', 'key-12345678', 'it breaks off in key-123'],
  ['key-1234 stands before', 'key-12345678', 'key-1234 stands before'],
  ['key-12345678 and key-1234567', 'key-12345678', '*** and ***'],
  ['it breaks off in 12345678/12345678', '12345678/12345678/9', 'it breaks off in ***'],
  ['<abcdefgh%25>', 'abcdefgh%', '<***>'],
  ['{"a":"key%2F1%2F', 'key/1/2/3', '{"a":"***'],
  ['"secret\\":"secret":"x"', undefined, '"secret\\":"secret":"***"'],
  ['{"secret\\":\\"a\\"}', undefined, '{"secret\\":\\"a\\"}'],
  ['{\\"secret\\":"a"}', undefined, '{\\"secret\\":"a"}'],
  ['x ab&sol;cd&lowbar;e&dash;f x', 'ab/cd_e-f', 'x *** x'],
  ['<ab\\\\cdef>', 'ab\\\\cdef', '<***>'],
  ['&&&&&&&&', 'abcdefgh', '&&&&&&&&'],
  [`in key-12345${'\\'.repeat(299)}`, 'key-12345678', 'in ***'],
  [`in key-12345${'\\'.repeat(300)}`, 'key-12345678', `in key-12345${'\\'.repeat(300)}`],
];

test.each(hidden)('of %j with the key %j there is shown %j', (text, key, shown) => {
  expect(hideSecrets(text, key)).toBe(shown);
});

test.each([
  '\\',
  '\\\\',
  '\\u',
  '\\u00',
  '\\u{3',
  '\\x',
  '\\x3',
  '%',
  '%3',
  '%25',
  '&',
  '&#',
  '&#x3',
  '&#5',
  '&amp;#5',
])('where a text ends with %j the key before it may be cut off within a character', (end) => {
  expect(hideSecrets(`in key-12345${end}`, 'key-12345678')).toBe('in ***');
  for (const more of [`${end} `, `${end}!`])
    expect(hideSecrets(`in key-12345${more}`, 'key-12345678')).toBe(`in key-12345${more}`);
});

test('the key of a request is hidden without the word before it, or with a word that is not known', () => {
  const hiding = (authorization: string | undefined, text: string) =>
    requestHider({ headers: authorization === undefined ? {} : { authorization } })(text);
  expect(hiding('Bearer key-of-a-partner', 'Bearer key-of-a-partner')).toBe('Bearer ***');
  expect(hiding('My Bearer key-1', 'key-1, My key-1, My Bearer key-1')).toBe('key-1, My key-1, ***');
  expect(hiding(undefined, 'Bearer {"secret":"a"}')).toBe('Bearer {"secret":"***"}');
});

const told = (text: string, headers = {}) => ({ status: 200, headers, text, body: Buffer.from(text), more: 1 });
const clean = (text: string, key: string | null, headers = {}) => {
  const { body, ...rest } = hidingKey(key)(told(text, headers));
  return { ...rest, body: Buffer.from(body).toString() };
};

test('an answer that repeats the key is told without it, in every form, in headers too', () => {
  expect(clean('{"a":"key/5678"}', 'key/5678')).toEqual({
    ...{ text: '{"a":"***"}', body: '{"a":"***"}' },
    ...{ headers: {}, status: 200, more: 1 },
  });
  expect(clean('"key\\/5678" key%2F5678', 'key/5678')).toMatchObject({ text: '"***" ***', body: '"***" ***' });
  const headers = { a: 'x key-5678', b: ['key-5678', 'y'], c: undefined, d: '' };
  expect(clean('none', 'key-5678', headers)).toEqual({
    ...{ text: 'none', body: 'none', status: 200, more: 1 },
    headers: { a: 'x ***', b: ['***', 'y'], c: undefined, d: '' },
  });
});

test('without a key, or with one that could be any word, an answer stays as it is', () => {
  const answer = told('my key-567 is null', { a: 'key-567' });
  expect(hidingKey(null)(answer)).toBe(answer);
  expect(hidingKey('key-567')(answer)).toBe(answer);
  expect(hidingKey('')(answer)).toBe(answer);
});

test('the bytes of an answer without the key are left as they came', () => {
  const answer = told('none', {});
  expect(hidingKey('key-5678')(answer).body).toBe(answer.body);
});

const said = (status: number, text: string, key = 'a/b"c+d?e') => hidingKey(key)({ ...told(text), status }).text;

test('what a service says of an error is free of the key in whatever spelling', () => {
  const spellings = [
    'a/b"c+d?e',
    'A/B"C+D?E',
    'a\\/b\\"c+d?e',
    'a\\\\\\/b\\\\\\"c+d?e',
    'a%2Fb%22c%2Bd%3Fe',
    '612f6222632b643f65',
    '612F6222632B643F65',
    'YS9iImMrZD9l',
  ];
  for (const text of spellings) expect([text, said(400, `<${text}>`)]).toEqual([text, '<***>']);
  // Behind one byte and two: what stands before the key, and its own last digits that it shares, are left.
  expect(said(400, Buffer.from('xa/b"c+d?e').toString('base64'))).toMatch(/^..?\*\*\*.{0,4}$/);
  expect(said(400, Buffer.from('xya/b"c+d?e').toString('base64'))).toMatch(/^..?.?\*\*\*.{0,4}$/);
  // Ten bytes are thirteen digits and a bit: the fourteenth is also the next byte's.
  expect(said(400, 'YS9iImMrZD9lZnp6', 'a/b"c+d?ef')).toBe('***np6');
  expect(said(400, Buffer.from('???>>>???').toString('base64url'), '???>>>???')).toBe('***');
  expect(said(400, Buffer.from('???>>>???').toString('base64'), '???>>>???')).toBe('***');
});

test('a long answer is searched for the spellings of JSON and addresses alone, an error for all', () => {
  const found = [199, 200, 299, 300].map((status) => said(status, 'A/B"C+D?E'));
  expect(found).toEqual(['***', 'A/B"C+D?E', 'A/B"C+D?E', '***']);
  expect(said(200, 'a/b"c+d?e')).toBe('***');
});

test('a key of digits is not taken out of the numbers of an answer, one with a letter is', () => {
  expect(said(200, '{"n":12345678}', '12345678')).toBe('{"n":12345678}');
  expect(said(200, '{"n":"1234567x"}', '1234567x')).toBe('{"n":"***"}');
  expect(said(200, '{"n":"keykeykey"}', 'keykeykey')).toBe('{"n":"***"}');
  expect(said(400, '{"n":12345678}', '12345678')).toBe('{"n":***}');
});

const letters = (key: string, spell: (letter: string, code: string) => string) =>
  [...key].map((letter) => spell(letter, letter.charCodeAt(0).toString(16))).join('');
const token = 'sk_Ab3/9+Zq%7-Xy0=';

const spelled: readonly [how: string, text: string][] = [
  ['zero-width characters between its letters', letters(token, (letter) => `\u200b${letter}`).slice(1)],
  ['the same as JSON escapes', letters(token, (letter) => `${letter}\\u200b`).slice(0, -6)],
  ['soft hyphens, joiners and variation selectors', [...token].join('\u00ad\u200d\ufe0f')],
  ['tags', [...token].join('\u{e0061}')],
  ['strokes through its letters', [...token].join('\u0336')],
  ['colors', [...token].join('\u001b[31m')],
  ['colors as JSON escapes', [...token].join('\\u001b[0m')],
  ['titles of a terminal', [...token].join('\u001b]0;t\u0007')],
  ['line breaks', [...token].join('\n')],
  ['JSON escapes', letters(token, (_, code) => `\\u00${code}`)],
  ['JSON in JSON in JSON', letters(token, (_, code) => `\\\\\\\\u00${code.toUpperCase()}`)],
  ['the escapes of JavaScript', letters(token, (_, code) => `\\u{${code}}`)],
  ['its other escapes', letters(token, (_, code) => `\\x${code}`)],
  ['percent signs', letters(token, (_, code) => `%${code}`)],
  ['percent signs twice', letters(token, (_, code) => `%25${code}`)],
  ['zero-width characters in percent signs', [...token].join('%E2%80%8B')],
  ['entities', letters(token, (letter) => `&#${letter.charCodeAt(0)};`)],
  ['entities in hex', letters(token, (_, code) => `&#x${code};`)],
  ['entities twice', letters(token, (_, code) => `&amp;#x${code};`)],
  ['entities without ink', [...token].join('&zwj;')],
];

test.each(spelled)('a key in %s is hidden in an error and in an answer', (_, text) => {
  expect(hideSecrets(`<${text}>`, token)).toBe('<***>');
  expect(said(400, `<${text}>`, token)).toBe('<***>');
  expect(said(200, `<${text}>`, token)).toBe('<***>');
});

test('a key that is told back in any spelling is neither printed nor written down', async () => {
  const text = spelled.map(([, each]) => each).join(' | ');
  const service = await stub((_, response, count) => {
    response.writeHead(count % 2 === 0 ? 200 : 400, { 'x-echo': letters(token, (_, code) => `%${code}`) });
    response.end(JSON.stringify({ error: text, position: text }));
  });
  const trace = join(temporaryFolder(), 'trace.har');
  const env = { ...service.env, SOTRA_API_KEY: token };
  for (const way of ['', '--json', '--json', '--plain', '--jq .error', '--jq .error']) {
    const line = `request GET /v1/x --verbose --include --trace-file ${trace} ${way}`;
    const { out, err, code } = await run(line, { env, tty: 100 });
    expect([0, 6]).toContain(code);
    for (const [what, each] of [...spelled, ['plain', token] as const])
      for (const shown of [out, err, readFileSync(trace, 'utf8'), out.replaceAll(/[^ -~]/g, '')])
        expect([way, what, shown.includes(each), shown.includes(token)]).toEqual([way, what, false, false]);
  }
  expect(service.requests).toHaveLength(6);
});

test('base64 in an address and in JSON is hidden in an error', () => {
  for (const text of ['Pz8/Pj4+Pz8/', 'Pz8%2FPj4%2BPz8%2f', 'Pz8\\/Pj4\\u002bPz8\\/'])
    expect([text, said(400, `<${text}>`, '???>>>???')]).toEqual([text, '<***>']);
});

const million = size(250_000, 1_000_000);

// Each was quadratic or worse once, or took the stack of the pattern.
const long: readonly [what: string, text: string, shown: string][] = [
  ['backslashes', '\\'.repeat(8 * million), '\\'.repeat(8 * million)],
  ['fields without an end', '"secret\\'.repeat(million), '"secret\\'.repeat(million)],
  ['a value of escaped quotes', `"secret":"${'\\"'.repeat(4 * million)}`, '"secret":"***"'],
  ['a secret without an end', `whsec_${'a'.repeat(8 * million)}`, 'whsec_***'],
  ['starts of the key', 'sk_'.repeat(2 * million), 'sk_'.repeat(2 * million)],
  ['escaped starts of the key', '\\u0073'.repeat(million), '\\u0073'.repeat(million)],
  ['nothing that is seen', `sk${'\u200b'.repeat(4 * million)}`, `sk${'\u200b'.repeat(4 * million)}`],
  ['colors', 's\u001b['.repeat(million / 2), 's\u001b['.repeat(million / 2)],
];

test.each(long)('%s by the million are searched in time', (_, text, shown) => {
  expect(hideSecrets(text, token) === shown).toBe(true);
});
