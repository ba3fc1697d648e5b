import { expect, test } from 'vitest';
import { hideKeyInAnswers, hideSecrets, requestHider } from '../../../src/client/secrets.ts';
import { size } from '../../support/size.ts';

const hidden: readonly [text: string, shown: string, key?: string][] = [
  ['{"secret":"abc","a":"b"}', '{"secret":"***","a":"b"}'],
  ['{"signature":"abc","secret":"d"}', '{"signature":"***","secret":"***"}'],
  ['{"secret"\n  : "abc"}', '{"secret"\n  : "***"}'],
  ['{"secret":"a\\"b","a":1}', '{"secret":"***","a":1}'],
  ['{"secret":"a\\nb\\\\","a":1}', '{"secret":"***","a":1}'],
  ['{"secret":""}', '{"secret":"***"}'],
  ['{"secret":"cut of', '{"secret":"***'],
  ['{"secret":"a\\\\","signature":"b"}', '{"secret":"***","signature":"***"}'],
  ['"{\\"secret\\":\\"a\\",\\"b\\":1}"', '"{\\"secret\\":\\"***\\",\\"b\\":1}"'],
  ['"\\"{\\\\\\"apiKey\\\\\\": \\\\\\"a\\\\\\"}\\""', '"\\"{\\\\\\"apiKey\\\\\\": \\\\\\"***\\\\\\"}\\""'],
  ['{"secret":1,"secrets":"x"}', '{"secret":1,"secrets":"x"}'],
  ['{"access_token":"x","Password":"y"}', '{"access_token":"***","Password":"***"}'],
  ['{"client_secret":"x","bearer":"y","pwd":"z"}', '{"client_secret":"***","bearer":"***","pwd":"***"}'],
  ['{"webhookSecret":"x","jwt":"y","authToken":"z"}', '{"webhookSecret":"***","jwt":"***","authToken":"***"}'],
  ['{"token":"PEPE","key":"all","code":"usage"}', '{"token":"PEPE","key":"all","code":"usage"}'],
  ['{"quote_token":"0x1","nextToken":"2"}', '{"quote_token":"0x1","nextToken":"2"}'],
  ['?client_secret=x&bearer=y&access_token=z&limit=1', '?client_secret=***&bearer=***&access_token=***&limit=1'],
  ['whsec_12345678 and whsec_ab+/=-_9', 'whsec_*** and whsec_***'],
  ['whsec_1234567', 'whsec_1234567'],
  ['my key-1234 is key-1234', 'my *** is ***', 'key-1234'],
  ['a key1 b', 'a *** b', 'key1'],
  ['a key b', 'a key b', 'key'],
  ['a b', 'a b', ''],
  ['k/y"1 k\\/y\\"1 k/y\\"1 k%2Fy%221', '*** *** *** ***', 'k/y"1'],
  ['a$&b $1', '*** $1', 'a$&b'],
  // What JSON writes for this key begins with the key.
  ['key-1\\\\ key-1\\', '*** ***', 'key-1\\'],
  // From a form, typed into a query, typed into a path.
  ['?a=it%27s%21+%7E%22k', '?a=***', 'it\'s! ~"k'],
  ['?a=it%27s!%20~%22k', '?a=***', 'it\'s! ~"k'],
  ["/v1/it's!%20~%22k", '/v1/***', 'it\'s! ~"k'],
  ['a b / c', 'a b / c', '/../b'],
  // Spellings that no encoder of ours writes.
  ['"k\\u002B1=/x" "k\\u002b1\\u003D\\/x" "\\u006b\\u002b1\\u003d\\u002fx"', '"***" "***" "***"', 'k+1=/x'],
  ['k%2b1%3d%2fx k%252B1%253d%252Fx %6B%2B1=/x k%25252b1=/x', '*** *** *** ***', 'k+1=/x'],
  ['"\\"k\\\\u002b1=\\\\/x\\""', '"\\"***\\""', 'k+1=/x'],
  ['k+1=/y K+1=/X', 'k+1=/y K+1=/X', 'k+1=/x'],
];

test.each(hidden)('of %j there is shown %j, with the key %j', (text, shown, key) => {
  expect(hideSecrets(text, key)).toBe(shown);
});

test('the key of a request is hidden without the word before it, or with a word that is not known', () => {
  const hiding = (authorization: string | undefined, text: string) =>
    requestHider({ headers: authorization === undefined ? {} : { authorization } })(text);
  expect(hiding('Bearer key-of-a-partner', 'Bearer key-of-a-partner')).toBe('Bearer ***');
  expect(hiding('My Bearer key-1', 'key-1, My key-1, My Bearer key-1')).toBe('key-1, My key-1, ***');
  expect(hiding(undefined, 'Bearer {"secret":"a"}')).toBe('Bearer {"secret":"***"}');
});

const answered = (text: string, headers = {}) => ({ status: 200, headers, text, bytes: 1 });
const clean = (text: string, key: string, headers = {}) => hideKeyInAnswers(key)(answered(text, headers));

test('an answer that repeats the key is given on without it, in headers too', () => {
  expect(clean('{"a":"key/5678"}', 'key/5678')).toEqual({ text: '{"a":"***"}', headers: {}, status: 200, bytes: 1 });
  expect(clean('12345678-key', '12345678-key').text).toBe('***');
  expect(clean('"key\\/5678" key%2F5678', 'key/5678')).toMatchObject({ text: '"***" ***' });
  const headers = { a: 'x key-5678', b: ['key-5678', 'y'], c: undefined, d: '' };
  expect(clean('none', 'key-5678', headers)).toEqual({
    text: 'none',
    status: 200,
    bytes: 1,
    headers: { a: 'x ***', b: ['***', 'y'], c: undefined, d: '' },
  });
});

test.each([null, '', 'key-567', '12345678'])(
  'with the key %j, which could be any word or number, an answer stays as it is',
  (key) => {
    const answer = answered('my key-567 is null {"n":12345678}', { a: 'key-567' });
    expect(hideKeyInAnswers(key)(answer)).toBe(answer);
  },
);

const million = size(250_000, 1_000_000);
const slashes = '\\'.repeat(8 * million);

// A service may send anything: a pattern must not take quadratic time for it, nor the stack.
test.each([
  ['backslashes', slashes, slashes],
  ['fields without an end', '"secret\\'.repeat(million), '"secret\\'.repeat(million)],
  ['quoted fields without an end', '\\"secret'.repeat(million), '\\"secret'.repeat(million)],
  ['starts of the key', 'sk_'.repeat(2 * million), 'sk_'.repeat(2 * million)],
])('%s by the million are searched in time', (_, text, shown) => {
  expect(hideSecrets(text, 'sk_Ab3/9+Zq%7-Xy0=') === shown).toBe(true);
});

test('a value of millions of characters does not end the program', () => {
  expect(hideSecrets(`"secret":"${'\\"'.repeat(4 * million)}`)).toMatch(/^"secret":"\*\*\*/);
  expect(hideSecrets(`whsec_${'a'.repeat(8 * million)}`)).toMatch(/^whsec_\*\*\*/);
});
