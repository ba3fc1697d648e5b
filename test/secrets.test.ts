import { expect, test } from 'vitest';
import { hideSecrets, hidingKey } from '../src/api/secrets.ts';

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
];

test.each(hidden)('of %j with the key %j there is shown %j', (text, key, shown) => {
  expect(hideSecrets(text, key)).toBe(shown);
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
