import { expect, test } from 'vitest';
import { run, stub } from '../support/harness.ts';

const wallet = '0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2';

/** A list of so many positions, in pages of ten; the pages that were asked for, in order. */
async function listOf(count: number) {
  const service = await stub(({ url }, response) => {
    const page = Number(new URL(url, 'http://stub.test').searchParams.get('page'));
    const from = (page - 1) * 10;
    const items = Array.from({ length: Math.max(0, Math.min(10, count - from)) }, (_, index) => ({
      id: `p${from + index}`,
    }));
    response.end(JSON.stringify(items));
  });
  const walk = async (flags: string) => {
    const argv = `profile positions ${wallet} closed --limit 10 ${flags} --format ndjson --quiet`;
    const { code, out } = await run(argv, { env: service.env });
    const pages = service.requests.map(({ url }) => Number(new URL(url, 'http://stub.test').searchParams.get('page')));
    service.requests.length = 0;
    const ids = out.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line).id]));
    return { code, ids, pages };
  };
  return walk;
}

test('a short list is asked for page by page, and not beyond its end', async () => {
  const walk = await listOf(25);
  const { code, ids, pages } = await walk('--all');
  expect([code, ids.length, new Set(ids).size]).toEqual([0, 25, 25]);
  expect(pages).toEqual([1, 2, 3]);
});

test('a long list is asked for ahead: each item once and in order, one page beyond the end at most', async () => {
  const walk = await listOf(95);
  const { code, ids, pages } = await walk('--all');
  expect(code).toBe(0);
  expect(ids).toEqual(Array.from({ length: 95 }, (_, index) => `p${index}`));
  expect(pages).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
});

test('with --max no page is asked for that is not wanted', async () => {
  const walk = await listOf(500);
  const { ids, pages } = await walk('--max 62');
  expect(ids).toHaveLength(62);
  expect(pages).toEqual([1, 2, 3, 4, 5, 6, 7]);
});

test('Ctrl-C in a walk ends it at once and says how far it came', async () => {
  const stop = new AbortController();
  const items = (page: number) =>
    JSON.stringify(Array.from({ length: 10 }, (_, index) => ({ id: `p${page}-${index}` })));
  const service = await stub((_, response, count) => {
    if (count < 3) response.end(items(count));
    else stop.abort();
  });
  const argv = `profile positions ${wallet} closed --limit 10 --all --format ndjson`;
  const { code, out, err } = await run(argv, { env: service.env, signal: stop.signal });
  expect([code, out.trim().split('\n').length]).toEqual([130, 20]);
  expect(JSON.parse(err).error).toMatchObject({ code: 'interrupted', message: 'interrupted after 20 items' });
});
