import { expect, test } from 'vitest';
import { cardsDown, idsIn } from '../support/feed-cards.ts';
import { answering, failure, run, type Stub, stub } from '../support/harness.ts';

const wallet = '0xA4E221aa5a7ba51b5d5c7d5c923bfb9bcebcb252';
const feed = `feed actor ${wallet}`;
const images = { raw: null, xs: null, sm: null };
const profile = (name: string) => ({ id: name, name, images, addresses: [wallet], metadata: {} });

/** A service whose answers, in order, are the given pages; the last one is given for every further request. */
async function paged(pages: readonly ((self: Stub) => unknown)[], statuses: readonly number[] = []): Promise<Stub> {
  const service = await stub((_, response, count) => {
    const page = pages[Math.min(count, pages.length) - 1];
    response.writeHead(statuses[count - 1] ?? 200).end(JSON.stringify(page?.(service)));
  });
  return service;
}

const linked = (items: unknown[], link?: string | null) => (self: Pick<Stub, 'url'>) => ({
  items,
  pagination: link === undefined ? {} : { olderItemsURL: link === null || link === '' ? link : self.url + link },
});

const threePages = [
  linked(cardsDown(9, 7), '/v1/feed/actor?anything=at+all&x=%2F1'),
  linked(cardsDown(6, 4), '/other/path?y=2'),
  linked(cardsDown(3, 1), null),
];

test('links are followed exactly as the service wrote them, with the key, to the end', async () => {
  const service = await paged(threePages);
  const { out, err, code } = await run(`${feed} --all --json`, { env: service.env });
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(idsIn(out)).toEqual(['c9', 'c8', 'c7', 'c6', 'c5', 'c4', 'c3', 'c2', 'c1']);
  expect(service.requests.map(({ url }) => url)).toEqual([
    `/v1/feed/actor?identifier=${wallet}`,
    '/v1/feed/actor?anything=at+all&x=%2F1',
    '/other/path?y=2',
  ]);
  expect(service.requests.map(({ headers }) => headers.authorization)).toEqual(Array(3).fill('Bearer stub-key'));
});

test.each([
  ['in the middle of a page', 4, ['c9', 'c8', 'c7', 'c6'], true],
  ['at the end of a page', 3, ['c9', 'c8', 'c7'], true],
  ['at the very end of the list', 9, ['c9', 'c8', 'c7', 'c6', 'c5', 'c4', 'c3', 'c2', 'c1'], false],
  ['beyond the end of the list', 50, ['c9', 'c8', 'c7', 'c6', 'c5', 'c4', 'c3', 'c2', 'c1'], false],
])('--max %s gives so many items and says on stderr whether there is more', async (_, max, ids, cut) => {
  const service = await paged(threePages);
  const { out, err, code } = await run(`${feed} --max ${max} --format ndjson`, { env: service.env });
  expect(code).toBe(0);
  expect(idsIn(out)).toEqual(ids);
  expect(err).toBe(cut ? `There is more: stopped after ${max} items (--max).\n` : '');
  const one = await run(`${feed} --max 1`, { env: service.env });
  expect(one.err).toBe('There is more: stopped after 1 item (--max).\n');
});

test.each([null, '', undefined])('a link %j ends the list', async (link) => {
  const service = await paged([linked(cardsDown(2, 1), link)]);
  const { out, err, code } = await run(`${feed} --all --format ndjson`, { env: service.env });
  expect({ code, err, ids: idsIn(out) }).toEqual({ code: 0, err: '', ids: ['c2', 'c1'] });
  expect(service.requests).toHaveLength(1);
});

test.each([{}, { items: [] }, { items: null, pagination: null }, null])(
  'an answer %j is an empty list',
  async (body) => {
    const service = await answering(body ?? 'null');
    expect(await run(`${feed} --all --json`, { env: service.env })).toMatchObject({ code: 0, out: '[]\n' });
  },
);

test('an empty page with a link is not the end', async () => {
  const service = await paged([linked([], '/a'), linked([], '/b'), linked(cardsDown(1, 1), null)]);
  const { out, code } = await run(`${feed} --all --format ndjson`, { env: service.env });
  expect({ code, ids: idsIn(out) }).toEqual({ code: 0, ids: ['c1'] });
});

test('without a link the cursor is sent, and --newer-than walks the other way', async () => {
  const older = await paged([
    () => ({ items: cardsDown(4, 3), pagination: { olderCursor: 'back=1&', newerCursor: 'up' } }),
    () => ({ items: cardsDown(2, 1), pagination: { olderCursor: null, newerCursor: 'up' } }),
  ]);
  await run(`${feed} --all --chains base`, { env: older.env });
  expect(older.requests.map(({ url }) => url)).toEqual([
    `/v1/feed/actor?identifier=${wallet}&chains=base`,
    `/v1/feed/actor?identifier=${wallet}&chains=base&olderThan=back%3D1%26`,
  ]);
  const newer = await paged([
    () => ({ items: cardsDown(2, 1), pagination: { olderCursor: 'back', newerCursor: 'up' } }),
    () => ({ items: cardsDown(4, 3), pagination: { olderCursor: 'back', newerCursor: null } }),
  ]);
  await run(`${feed} --all --newer-than 2026-07-03`, { env: newer.env });
  expect(newer.requests.map(({ url }) => url)).toEqual([
    `/v1/feed/actor?identifier=${wallet}&newerThan=2026-07-03`,
    `/v1/feed/actor?identifier=${wallet}&newerThan=up`,
  ]);
});

test('a link that comes a second time stops with exit 13, what was printed before it stays', async () => {
  const at = await paged([linked(cardsDown(9, 8), '/a'), linked(cardsDown(7, 6), '/b'), linked(cardsDown(5, 4), '/a')]);
  const { out, err, code } = await run(`${feed} --all --format ndjson`, { env: at.env });
  expect([code, idsIn(out)]).toEqual([13, ['c9', 'c8', 'c7', 'c6', 'c5', 'c4']]);
  expect(err).toContain(`the service returned link ${at.url}/a twice`);
  expect(at.requests).toHaveLength(3);
});

test('a cursor that comes a second time stops with exit 13', async () => {
  const service = await paged([
    () => ({ items: [profile('one')], cursor: 'x' }),
    () => ({ items: [profile('two')], cursor: 'y' }),
    () => ({ items: [profile('three')], cursor: 'x' }),
  ]);
  const { out, err, code } = await run(`profile follows ${wallet} --all --format ndjson`, { env: service.env });
  expect(code).toBe(13);
  expect(out.match(/"name":"\w+"/g)).toEqual(['"name":"one"', '"name":"two"', '"name":"three"']);
  expect(err).toContain('the service returned cursor x twice');
  const queries = service.requests.map(({ url }) => url.replace(/.*\?/, ''));
  expect(queries).toEqual(['limit=100', 'cursor=x&limit=100', 'cursor=y&limit=100']);
});

test('a cursor that is a number leads to the next page, too', async () => {
  const pages = [() => ({ items: [profile('one')], cursor: 7 }), () => ({ items: [profile('two')], cursor: null })];
  const service = await paged(pages);
  await run(`profile followers ${wallet} --all`, { env: service.env });
  expect(service.requests.map(({ url }) => url.replace(/.*\?/, ''))).toEqual(['limit=100', 'cursor=7&limit=100']);
});

test.each([null, '', undefined])('a cursor %j ends the list', async (cursor) => {
  const service = await paged([() => ({ items: [profile('one')], ...(cursor === undefined ? {} : { cursor }) })]);
  const { err, code } = await run(`profile followers ${wallet} --all --json`, { env: service.env });
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(service.requests).toHaveLength(1);
});

test.each([
  ['another host', 'http://evil.example:1/v1/feed'],
  ['another port', 'http://127.0.0.1:1/v1/feed'],
  ['another scheme', 'https://127.0.0.1/v1/feed'],
  ['another host without a scheme', '//evil.example/v1/feed'],
  ['a user before the host', 'http://127.0.0.1@evil.example/'],
  ['a script', 'javascript:alert(1)'],
])('a link to %s is not followed: exit 9, the key stays here', async (_, link) => {
  const service = await paged([() => ({ items: cardsDown(2, 1), pagination: { olderItemsURL: link } })]);
  const { out, err, code } = await run(`${feed} --all --format ndjson`, { env: service.env });
  expect([code, idsIn(out)]).toEqual([9, ['c2', 'c1']]);
  expect(JSON.parse(err).error).toMatchObject({
    code: 'redirect',
    message: `the service links to another origin: ${link.replace('127.0.0.1@', '***@')}`,
    hint: expect.stringMatching(/^The key is not sent there\. Request the pages one by one with the cursors/),
  });
  expect(service.requests).toHaveLength(1);
});

test('behind a gateway, where links lead to another origin, the cursor is asked for at the base URL; the key goes nowhere else', async () => {
  const inside = await answering({ items: [] });
  const away = (olderCursor: string) => ({
    olderItemsURL: `${inside.url}/v1/feed/actor?olderThan=${olderCursor}`,
    olderCursor,
  });
  const pages = [
    () => ({ items: cardsDown(4, 3), pagination: away('c1') }),
    () => ({ items: cardsDown(2, 2), pagination: away('c2') }),
    () => ({ items: cardsDown(1, 1), pagination: { olderItemsURL: null, olderCursor: null } }),
  ];
  for (const argv of [
    `${feed} --all --format ndjson`,
    `request GET /v1/feed/actor?chains=base --paginate --format ndjson`,
  ]) {
    const service = await paged(pages);
    const { out, code } = await run(argv, { env: service.env });
    expect([argv, code, idsIn(out)]).toEqual([argv, 0, ['c4', 'c3', 'c2', 'c1']]);
    const asked = service.requests.map(({ url }) => new URL(url, 'http://x').searchParams.get('olderThan'));
    expect(asked).toEqual([null, 'c1', 'c2']);
  }
  expect(inside.requests).toEqual([]);
});

const twoThenFault = [...threePages.slice(0, 2), () => ({ error: 'out of order' })];

test.each([
  [500, 8],
  [404, 5],
])(
  'HTTP %i on page 3 is exit %i: ndjson keeps the lines before it, --json prints nothing',
  async (status, exitCode) => {
    const statuses = [200, 200, status];
    const streamed = await paged(twoThenFault, statuses);
    const lines = await run(`${feed} --all --format ndjson --retries 0`, { env: streamed.env });
    expect([lines.code, idsIn(lines.out)]).toEqual([exitCode, ['c9', 'c8', 'c7', 'c6', 'c5', 'c4']]);
    expect(lines.err).toContain('out of order');
    const whole = await paged(twoThenFault, statuses);
    const json = await run(`${feed} --all --json --retries 0`, { env: whole.env });
    expect(json).toEqual(failure(exitCode, 'out of order'));
  },
);

test('pages by number end at the first page that is not full, and a page that comes twice is an error', async () => {
  const list = `profile positions ${wallet} open --limit 2`;
  const service = await paged([() => cardsDown(5, 4), () => cardsDown(3, 2), () => cardsDown(1, 1)]);
  const { out } = await run(`${list} --all --format ndjson`, { env: service.env });
  expect(idsIn(out)).toEqual(['c5', 'c4', 'c3', 'c2', 'c1']);
  const queries = service.requests.map(({ url }) => url.replace(/.*\?/, ''));
  expect(queries).toEqual(['page=1&limit=2', 'page=2&limit=2', 'page=3&limit=2']);
  const limited = await paged([() => cardsDown(5, 4), () => cardsDown(3, 2), () => cardsDown(1, 1)]);
  expect(idsIn((await run(`${list} --max 3 --format ndjson`, { env: limited.env })).out)).toEqual(['c5', 'c4', 'c3']);
  expect(limited.requests).toHaveLength(2);
  const even = await paged([() => cardsDown(2, 1), () => []]);
  expect(await run(`${list} --all --json`, { env: even.env })).toMatchObject({ code: 0, err: '' });
  const deaf = await paged([() => cardsDown(2, 1)]);
  const stopped = await run(`${list} --all --json`, { env: deaf.env });
  expect(stopped).toEqual(failure(13, 'the service returned page 2 twice'));
  expect(deaf.requests).toHaveLength(2);
});

test('a service that sends fewer positions a page than asked for is read to the end', async () => {
  const list = `profile positions ${wallet} open --all --format ndjson`;
  const service = await paged([() => cardsDown(5, 4), () => cardsDown(3, 2), () => cardsDown(1, 1)]);
  expect(idsIn((await run(list, { env: service.env })).out)).toEqual(['c5', 'c4', 'c3', 'c2', 'c1']);
  expect(service.requests[0]?.url).toMatch(/\?page=1&limit=100$/);
  const alwaysTheSame = await paged([() => cardsDown(2, 1)]);
  const { out, code } = await run(list, { env: alwaysTheSame.env });
  expect([code, idsIn(out)]).toEqual([0, ['c2', 'c1']]);
});

test('the first line is out before the second page is answered', async () => {
  let print = () => {};
  const printed = new Promise<void>((resolve) => (print = resolve));
  const service = await stub(async (seen, response, count) => {
    const page = count === 1 ? linked(cardsDown(2, 2), '/next') : linked(cardsDown(1, 1), null);
    if (count > 1) await printed;
    response.end(JSON.stringify(page({ url: `http://${seen.headers.host}` })));
  });
  const { out } = await run(`${feed} --all --format ndjson`, { env: service.env, onOut: print });
  expect(idsIn(out)).toEqual(['c2', 'c1']);
});
