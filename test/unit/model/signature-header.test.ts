import { describe, expect, test } from 'vitest';
import { untimelyReason } from '../../../src/model/signature-header.ts';

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

test('without a tolerance any age is taken', () => {
  expect(untimelyReason(signed, { nowMs: signedMs + 86_400_000_000, toleranceMs: undefined })).toBeUndefined();
});

test('a time of twelve digits and more is in milliseconds', () => {
  const inMs = { timestamp: '1565125718250', signatures: [] };
  expect(untimelyReason(inMs, { nowMs: signedMs + 60_000, toleranceMs: 60_000 })).toBeUndefined();
  expect(untimelyReason(inMs, { nowMs: signedMs + 62_750, toleranceMs: 60_000 })).toBe(
    'too old: signed at 2019-08-06 21:08:38Z, 63 s ago; the tolerance is 60 s',
  );
});
