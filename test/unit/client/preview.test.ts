import { expect, test } from 'vitest';
import { curlLine, deliveryRequest } from '../../../src/client/preview.ts';
import { maskHeader } from '../../../src/client/secrets.ts';

test.each(['[', ']', '{', '}'])('curl sends a %s in an address unchanged', (mark) => {
  const odd = new URL(`https://a.example.com/v1/x?${mark}`);
  // The parser of addresses encodes braces in a path, not in a query.
  expect(odd.href).toContain(mark);
  expect(curlLine({ method: 'GET', url: odd, headers: {} })).toContain(
    'curl --silent --show-error --globoff --request',
  );
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

test('a delivery is shown with its headers by name, those of one name together', () => {
  const pairs = ['a', '1', 'b', '2', 'a', '3', 'c'];
  expect(deliveryRequest('http://127.0.0.1:9/in', pairs, '{}')).toEqual({
    method: 'POST',
    url: new URL('http://127.0.0.1:9/in'),
    headers: { a: '1, 3', b: '2' },
    body: '{}',
  });
});
