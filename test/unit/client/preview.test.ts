import { expect, test } from 'vitest';
import { NetworkFailure } from '../../../src/client/failures.ts';
import { curlLine, deliveryRequest, describeRequest, formatRequest } from '../../../src/client/preview.ts';
import { maskHeader, maskHeaders } from '../../../src/client/secrets.ts';

const url = new URL('https://a.example.com/v1/x?y=1');
const headers = { accept: 'application/json', authorization: 'Bearer key-1' };

test('a request is shown as it would travel, its key masked', () => {
  expect(formatRequest({ method: 'GET', url, headers })).toBe(
    'GET https://a.example.com/v1/x?y=1\naccept: application/json\nauthorization: Bearer ***\n',
  );
  expect(formatRequest({ method: 'POST', url, headers: {}, body: '{"a":1}' })).toBe(
    'POST https://a.example.com/v1/x?y=1\n\n{"a":1}\n',
  );
  expect(maskHeaders(headers)).toEqual({ accept: 'application/json', authorization: 'Bearer ***' });
});

test('the curl line takes the key from the environment and quotes everything else', () => {
  expect(curlLine({ method: 'GET', url, headers })).toBe(
    "curl --silent --show-error --request GET 'https://a.example.com/v1/x?y=1' " +
      `--header 'accept: application/json' --header "authorization: Bearer $SOTRA_API_KEY"\n`,
  );
  expect(curlLine({ method: 'PUT', url, headers: {}, body: `{"a":"it's 'so'"}` })).toBe(
    "curl --silent --show-error --request PUT 'https://a.example.com/v1/x?y=1' " +
      `--data-raw '{"a":"it'\\''s '\\''so'\\''"}'\n`,
  );
});

test.each(['[', ']', '{', '}'])('curl takes a %s in an address as it is', (mark) => {
  const odd = new URL(`https://a.example.com/v1/x?${mark}`);
  // The parser of addresses encodes braces in a path, not in a query.
  expect(odd.href).toContain(mark);
  expect(curlLine({ method: 'GET', url: odd, headers: {} })).toContain(
    'curl --silent --show-error --globoff --request',
  );
});

test('a failure carries what is known of it', () => {
  const failure = new NetworkFailure('refused', 'no', 'why');
  expect([failure.kind, failure.message, failure.cause]).toEqual(['refused', 'no', 'why']);
});

test.each([
  ['Basic eHk=', 'Basic ***'],
  ['Bearer k', 'Bearer ***'],
  ['secret', 'Bearer ***'],
  ['=Basic eHk=', 'Bearer ***'],
])('an authorization %j is shown with its scheme: %s', (value, shown) => {
  expect(maskHeader('Authorization', value)).toBe(shown);
});

test.each([
  ['authorization', 'Bearer ***'],
  ['authorization-of', 'secret'],
  ['proxy-authorization', '***'],
  ['cookie', '***'],
  ['set-cookie', '***'],
  ['accept', 'secret'],
])('the header %s is shown as %s', (name, shown) => {
  expect(maskHeader(name, 'secret')).toBe(shown);
});

test('as JSON a request has its body as a value, where there is one', () => {
  expect(describeRequest({ method: 'GET', url, headers })).toStrictEqual({
    method: 'GET',
    url: 'https://a.example.com/v1/x?y=1',
    headers: { accept: 'application/json', authorization: 'Bearer ***' },
  });
  expect(describeRequest({ method: 'PUT', url, headers: {}, body: '{"a":[1]}' })).toStrictEqual({
    method: 'PUT',
    url: 'https://a.example.com/v1/x?y=1',
    headers: {},
    body: { a: [1] },
  });
});

test('a delivery is shown with its headers by name, those of one name together', () => {
  const pairs = ['a', '1', 'b', '2', 'a', '3', 'c'];
  expect(deliveryRequest('http://127.0.0.1:9/in', pairs, '{}')).toEqual({
    method: 'POST',
    url: new URL('http://127.0.0.1:9/in'),
    headers: { a: '1, 3', b: '2' },
    body: '{}',
  });
});
