import { describe, expect, test } from 'vitest';
import { readHeader, timestampMs, untimelyReason } from '../../../src/api/signature-header.ts';
import { matchingSecret, signBody } from '../../../src/api/webhook-signature.ts';

const good = { timestamp: '1565125718', signatures: ['abc'] };

const headers: readonly [header: string, read: ReturnType<typeof readHeader>][] = [
  ['t=1565125718,v1=abc', good],
  ['v1=abc,t=1565125718', good],
  ['  t=1565125718,v1=abc\n', good],
  [' t = 1565125718 , v1 = abc ', good],
  ['daylight-signature: t=1565125718,v1=abc', good],
  ['Daylight-Signature:t=1565125718,v1=abc', good],
  ['DAYLIGHT-SIGNATURE:  t=1565125718,v1=abc', good],
  ['t=1565125718,v1=abc,v1=def,v2=ghi', { timestamp: '1565125718', signatures: ['abc', 'def'] }],
  ['t=1565125718,v1=a=b=', { timestamp: '1565125718', signatures: ['a=b='] }],
  ['t=1,v1=', { timestamp: '1', signatures: [''] }],
  ['t=1234567890123456,v1=a', { timestamp: '1234567890123456', signatures: ['a'] }],
  ['', 'malformed header: it is empty'],
  [' \n', 'malformed header: it is empty'],
  ['daylight-signature: ', 'malformed header: it is empty'],
  ['nonsense', 'malformed header: "nonsense" is not <name>=<value>'],
  ['t=1, nonsense ,v1=a', 'malformed header: "nonsense" is not <name>=<value>'],
  ['t=1,daylight-signature:,v1=a', 'malformed header: "daylight-signature:" is not <name>=<value>'],
  ['x'.repeat(50), `malformed header: "${'x'.repeat(40)}" is not <name>=<value>`],
  ['v1=abc', 'malformed header: t=<timestamp> is missing'],
  ['t=1,t=2,v1=abc', 'malformed header: t= appears twice'],
  ['t=soon,v1=abc', 'malformed header: t=soon is not a time in whole seconds'],
  ['t=x1,v1=abc', 'malformed header: t=x1 is not a time in whole seconds'],
  ['t=1.5,v1=abc', 'malformed header: t=1.5 is not a time in whole seconds'],
  ['t=,v1=abc', 'malformed header: t= is not a time in whole seconds'],
  [`t=${'1'.repeat(50)},v1=a`, `malformed header: t=${'1'.repeat(40)} is not a time in whole seconds`],
  ['t=1', 'malformed header: v1=<signature> is missing'],
  [`t=1${',v1=abc'.repeat(16)}`, { timestamp: '1', signatures: Array(16).fill('abc') }],
  [`t=1${',v1=abc'.repeat(17)}`, 'malformed header: it has more than 16 v1= signatures'],
  ['t=1,v2=abc,v0=d', 'malformed header: v1= is missing; it has only v2, v0'],
];

test.each(headers)('the header %j is parsed, or its error is named', (header, read) => {
  expect(readHeader(header)).toEqual(read);
});

const body = Buffer.from('{"test":"body"}');
// Published by Mux's backend; the same bytes as base64url.
const signature = 'hU7OTCKs73xmtX1OUEFTvFEllejpx3Ls4qaBUFSMGac';

test('the first secret that a signature was made with is found by its index', () => {
  const found = (signatures: string[], ...secrets: string[]) =>
    matchingSecret({ timestamp: '1565125718', signatures }, body, secrets);
  expect(signBody('SuperSecret123', '1565125718', body)).toBe(signature);
  expect(found([signature], 'SuperSecret123')).toBe(0);
  expect(found([signature], 'other', 'SuperSecret123')).toBe(1);
  expect(found([signature], 'SuperSecret123', 'SuperSecret123')).toBe(0);
  expect(found(['x', signature, signature], 'other', 'SuperSecret123')).toBe(1);
  expect(found([signature], 'other')).toBe(-1);
  expect(found([signature])).toBe(-1);
  expect(found([], 'SuperSecret123')).toBe(-1);
});

test('a signature of another length is invalid, also if it begins the same', () => {
  for (const wrong of [signature.slice(0, -1), `${signature}=`, `${signature}A`, '', '\0'.repeat(43)])
    expect(matchingSecret({ timestamp: '1565125718', signatures: [wrong] }, body, ['SuperSecret123'])).toBe(-1);
});

test.each([
  ['1565125718', 1_565_125_718_000],
  ['99999999999', 99_999_999_999_000],
  ['156512571800', 156_512_571_800],
  ['1565125718000', 1_565_125_718_000],
  ['0', 0],
])('the timestamp %s is %i in milliseconds', (timestamp, ms) => {
  expect(timestampMs(timestamp)).toBe(ms);
});

// 2019-08-06 21:08:38 UTC, in seconds as the service writes it.
const signed = { timestamp: '1565125718', signatures: [] };
const signedMs = 1_565_125_718_000;

describe('a tolerance of one minute', () => {
  test.each([
    ['a minute later to the millisecond', 60_000, undefined],
    ['a millisecond more', 60_001, 'too old: signed at 2019-08-06 21:08:38Z, 60 s ago; the tolerance is 60 s'],
    ['the same moment', 0, undefined],
    ['a minute earlier to the millisecond', -60_000, undefined],
    [
      'a millisecond before that',
      -60_001,
      'too new: signed at 2019-08-06 21:08:38Z, 60 s ahead of this clock; the tolerance is 60 s',
    ],
    [
      'an hour and a half second later',
      3_600_500,
      'too old: signed at 2019-08-06 21:08:38Z, 3601 s ago; the tolerance is 60 s',
    ],
  ])('read %s', (_, laterMs, reason) => {
    expect(untimelyReason(signed, { nowMs: signedMs + laterMs, toleranceMs: 60_000 })).toBe(reason);
  });
});
