import { expect, test } from 'vitest';
import { hideUrlSecrets } from '../../../src/client/secrets.ts';

test.each([
  ['https://user:pass@host.example/hook?a=1', 'https://***@host.example/hook?a=1'],
  ['see https://me@host.example, or not', 'see https://***@host.example, or not'],
  ['{"u":"https:\\/\\/user:p@host\\/x"}', '{"u":"https:\\/\\/***@host\\/x"}'],
  [
    '/v1/x?to=https%3A%2F%2Fuser%3Ap%40host%2Fx%3Ftoken%3Dabc%26b%3D1',
    '/v1/x?to=https%3A%2F%2F***%40host%2Fx%3Ftoken%3D***%26b%3D1',
  ],
  ['/hook?token=abc&limit=5', '/hook?token=***&limit=5'],
  [
    '/hook?accessToken=abc;X-Amz-Signature=f00&api_key=1#code=2',
    '/hook?accessToken=***;X-Amz-Signature=***&api_key=***#code=***',
  ],
  ['/v1/a?key=sk-1&b=2', '/v1/a?key=***&b=2'],
  ['/v1/a?token=0x4ed4e862860bed51a9570b96d89af5e1b0efefed', '/v1/a?token=0x4ed4e862860bed51a9570b96d89af5e1b0efefed'],
  ['/v1/a?tokenAddress=abc&keyword=x&timeframe=7d', '/v1/a?tokenAddress=abc&keyword=x&timeframe=7d'],
  ['mail me@host.example about a=b', 'mail me@host.example about a=b'],
])('%s is shown as %s', (text, shown) => {
  expect(hideUrlSecrets(text)).toBe(shown);
  expect(hideUrlSecrets(shown)).toBe(shown);
});

test('a long text without an end takes no longer for each part of it', () => {
  for (const part of ['http://', '?token=', '%3a%2f%2f', '&token', 'a://b:c'])
    expect(hideUrlSecrets(part.repeat(100_000)).length).toBeGreaterThan(0);
});
