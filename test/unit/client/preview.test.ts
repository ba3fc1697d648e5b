import { expect, test } from 'vitest';
import { maskHeader } from '../../../src/client/secrets.ts';

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
