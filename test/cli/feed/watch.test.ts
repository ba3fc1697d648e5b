import { expect, test } from 'vitest';
import { cardOf, idsIn } from '../../support/feed-cards.ts';
import { failure, run, type Seen, type Stub, stub } from '../../support/harness.ts';

const wallet = '0xA4E221aa5a7ba51b5d5c7d5c923bfb9bcebcb252';
const start = 1_700_000_000;
const watch = `feed actor ${wallet} --watch 101ms`;

type Fault = number | 'hang' | { body: string };

interface FeedOf extends Stub {
  /** Newest first. */
  cards: Record<string, unknown>[];
  /** Answers that come before the feed's own: statuses, `hang`, or what a proxy says in its place. */
  faults: Fault[];
}

const secondOf = (card: Record<string, unknown>) => Number(card['cardLatestTradeAt']);

/** A service whose feed the test changes: the newest cards, with links down to older ones. */
async function feedService(limit = 3): Promise<FeedOf> {
  const state = { cards: [] as Record<string, unknown>[], faults: [] as Fault[] };
  const answer = ({ url, headers }: Seen) => {
    const from = Number(new URL(url, 'http://stub').searchParams.get('at'));
    const to = from + limit;
    const older = `http://${headers.host}/v1/feed/actor?at=${to}`;
    const pagination = { olderItemsURL: to < state.cards.length ? older : null, newerCursor: null };
    return { items: state.cards.slice(from, to), pagination };
  };
  const service = await stub((seen, response) => {
    const fault = state.faults.shift();
    if (fault === 'hang') return;
    response.writeHead(typeof fault === 'number' ? fault : 200, { 'content-type': 'application/json' });
    if (typeof fault === 'object') response.end(fault.body);
    else response.end(JSON.stringify(fault === undefined ? answer(seen) : { error: `fault ${fault}` }));
  });
  return Object.assign(state, service);
}

/** Puts cards on top, one a second after the newest. */
function arrive(service: FeedOf, ...ids: string[]): void {
  for (const id of ids) {
    const newest = service.cards[0];
    service.cards.unshift(cardOf(id, newest === undefined ? start : secondOf(newest) + 1));
  }
}

function watching(service: FeedOf, flags: string, tty?: number) {
  const stop = new AbortController();
  const options = { env: service.env, signal: stop.signal, skipWaits: true, ...(tty !== undefined && { tty }) };
  const ended = run(`${watch} ${flags}`, options);
  // The second request is sent once the first answer was read.
  const joined = () => expect.poll(() => service.requests.length).toBeGreaterThan(1);
  const idle = async () => {
    // One on its way when it is asked, and polls of two requests.
    const { length } = service.requests;
    await expect.poll(() => service.requests.length).toBeGreaterThan(length + 3);
  };
  return { ended, joined, idle, stop: () => stop.abort() };
}

test('new cards are printed once each, oldest first, even if they fill several pages', async () => {
  const service = await feedService();
  arrive(service, 'old1', 'old2', 'old3', 'old4');
  const { ended, joined, idle } = watching(service, '--format ndjson --max 12');
  await joined();
  arrive(service, 'n1');
  await idle();
  arrive(service, ...Array.from({ length: 11 }, (_, index) => `n${index + 2}`));
  const { out, err, code } = await ended;
  expect(code).toBe(0);
  expect(idsIn(out)).toEqual(Array.from({ length: 12 }, (_, index) => `n${index + 1}`));
  expect(err).toBe('Watching for new cards. Ctrl-C stops.\n');
});

test('a card that trades again is new again, also within the same second', async () => {
  const service = await feedService();
  arrive(service, 'a', 'b');
  const { ended, joined, idle } = watching(service, '--json --max 2');
  await joined();
  service.cards = [cardOf('a', start + 1, '0xsecond'), ...service.cards.slice(0, 1)];
  await idle();
  service.cards = [cardOf('a', start + 1, '0xthird'), ...service.cards.slice(1)];
  const printed = (await ended).out.trim().split('\n');
  expect(printed.map((line) => JSON.parse(line).transactionHash)).toEqual(['0xsecond', '0xthird']);
});

test('Ctrl-C ends a watch with exit 130 and how many cards it printed', async () => {
  const service = await feedService();
  arrive(service, 'old');
  const { ended, joined, idle, stop } = watching(service, '--json');
  await joined();
  arrive(service, 'n1');
  await idle();
  stop();
  const { out, err, code } = await ended;
  expect({ code, ids: idsIn(out) }).toEqual({ code: 130, ids: ['n1'] });
  expect(err).toContain('"message":"interrupted after 1 card"');
});

test('a trade that the service records three seconds late is printed', async () => {
  const service = await feedService();
  arrive(service, 'a', 'b', 'c', 'd', 'e');
  const { ended, joined } = watching(service, '--json --max 1');
  await joined();
  service.cards = [...service.cards.slice(0, 3), cardOf('late', start + 1), ...service.cards.slice(3)];
  expect(idsIn((await ended).out)).toEqual(['late']);
});

test('a card without a time hides no other card, and is warned of once', async () => {
  const service = await feedService(9);
  const timeless = { ...cardOf('odd', 0), timestamp: undefined, cardLatestTradeAt: undefined };
  service.cards = [cardOf('old', start), timeless];
  const { ended, joined, idle } = watching(service, '--format ndjson --max 2');
  await joined();
  service.cards = [cardOf('n1', start + 1), ...service.cards];
  await idle();
  service.cards = [cardOf('n2', start + 2), ...service.cards];
  const { out, err } = await ended;
  expect(idsIn(out)).toEqual(['n1', 'n2']);
  expect(err.match(/expected number, found nothing/g)).toHaveLength(1);
});

test('--newer-than begins in the past', async () => {
  const service = await feedService();
  arrive(service, 'a', 'b', 'c', 'd');
  const { ended } = watching(service, `--newer-than ${new Date(start * 1000).toISOString()} --max 3 --format ndjson`);
  expect(idsIn((await ended).out)).toEqual(['b', 'c', 'd']);
});

test('network failures, 5xx and 429 are waited out and reported once, then nothing is missing', async () => {
  const service = await feedService();
  arrive(service, 'old');
  const { ended, joined } = watching(service, '--json --max 3');
  await joined();
  service.faults.push(503, 503, 503, 500, 429);
  await expect.poll(() => service.faults.length).toBe(0);
  arrive(service, 'n1', 'n2', 'n3');
  const { out, err, code } = await ended;
  expect({ code, ids: idsIn(out) }).toEqual({ code: 0, ids: ['n1', 'n2', 'n3'] });
  expect(err.match(/; retrying\./g)).toHaveLength(1);
  expect(err).toContain('fault 503 (HTTP 503 from GET /v1/feed/actor) (after 3 attempts); retrying.');
});

test("a proxy's page and half an answer are waited out once the service has answered", async () => {
  const service = await feedService();
  arrive(service, 'old');
  const { ended, joined } = watching(service, '--json --max 1');
  await joined();
  service.faults.push({ body: '<html>Please log in' }, { body: '{"items":[{"itemI' });
  await expect.poll(() => service.faults.length).toBe(0);
  arrive(service, 'n1');
  const { out, err, code } = await ended;
  expect({ code, ids: idsIn(out) }).toEqual({ code: 0, ids: ['n1'] });
  expect(err.match(/; retrying\./g)).toHaveLength(1);
  expect(err).toContain('a body that is not JSON: "<html>Please log in"; retrying.');
});

test.each(['', `--newer-than ${new Date(start * 1000).toISOString()}`])(
  'a web page at the very first is a wrong address: exit 13, also with "%s"',
  async (flags) => {
    const service = await feedService();
    service.faults.push({ body: '<html>Welcome' });
    const { code, err, out } = await watching(service, `--json ${flags}`).ended;
    expect({ code, out, requests: service.requests.length }).toEqual({ code: 13, out: '', requests: 1 });
    expect(JSON.parse(err).error.hint).toContain('Check that the base URL is the service itself');
  },
);

test('a watch waits for a service that is down at its start, and says when it is back', async () => {
  const service = await feedService();
  service.faults.push(...Array.from({ length: 6 }, () => 502));
  arrive(service, 'old');
  const { ended, idle, stop } = watching(service, '');
  await expect.poll(() => service.faults.length).toBe(0);
  await idle();
  stop();
  const { err, code } = await ended;
  expect(code).toBe(130);
  expect(err).toMatch(/retrying.\nWatching for new cards. Ctrl-C stops.\nThe service answers again.\n/);
});

test.each([
  ['0', 1],
  ['2', 3],
])('--retries %s ends a watch at failure %i in a row', async (retries, failures) => {
  const service = await feedService();
  arrive(service, 'old');
  const { ended, joined } = watching(service, `--json --retries ${retries}`);
  await joined();
  service.faults.push(...Array.from({ length: failures }, () => 500));
  expect((await ended).code).toBe(8);
  expect(service.faults).toEqual([]);
});

test('on a terminal each card is a line under its columns', async () => {
  const service = await feedService();
  arrive(service, 'old');
  const { ended, joined } = watching(service, '--max 2 --columns lastTradeAt,token,latest', 80);
  await joined();
  arrive(service, 'n1', 'n2');
  const { out } = await ended;
  expect(out).toContain('2023-11-14 22:13:21Z  TKN    buy $1.00\n2023-11-14 22:13:22Z  TKN    buy $1.00\n');
});

test.each([
  ['--watch', "option '--watch <duration>' argument missing"],
  ['--watch 50ms', '--watch 50ms: must be a time from 100ms to 1h'],
  ['--watch 5s --newer-than m17', '--newer-than m17: --watch starts at a time, not at a cursor'],
])('%s is refused before anything is sent', async (flags, message) => {
  const service = await feedService();
  expect(await run(`feed home ${wallet} ${flags}`, { env: service.env })).toEqual(failure(2, message));
  expect(service.requests).toEqual([]);
});

test('--watch with --dry-run shows the first request', async () => {
  const service = await feedService();
  const { out } = await run(`${watch} --chains all --dry-run`, { env: service.env });
  expect(out).toContain(`GET ${service.url}/v1/feed/actor?identifier=${wallet}&chains=all\n`);
  expect(service.requests).toEqual([]);
});
