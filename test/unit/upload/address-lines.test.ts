import { expect, test } from 'vitest';
import { dropRepeats, hashEvmLines, hashLines, toJson } from '../../../src/upload/address-lines.ts';

const evm = '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed';

test.each([
  [`${evm}\n`, 1],
  [`${evm}\n${evm}\n`, 2],
  [`${evm}\n${evm}`, undefined],
  [`${evm}0\n${evm.slice(0, -1)}\n`, undefined],
  [`${evm}\n${evm.replace('a', 'A')}\n`, undefined],
  [`${evm}\n${evm.replace('0x', '0X')}\n`, undefined],
  [`${evm}\n${evm.replace('0x', '1x')}\n`, undefined],
  [`${evm}\n${evm.slice(0, -1)}g\n`, undefined],
  [`${evm}\n${evm.slice(0, -1)}\n\n`, undefined],
  [`${evm}\r\n`, undefined],
])('%j are %s lines that need no further look', (text, count) => {
  expect(hashEvmLines(Buffer.from(text))?.count).toBe(count);
});

test('a chunk is written as JSON, whatever its ids hold', () => {
  const ids = ['ext:a"b', 'ext:c\\d\\"', 'ext:Zoë', evm];
  expect(JSON.parse(toJson(dropRepeats([hashLines(ids)])))).toEqual(ids);
});
