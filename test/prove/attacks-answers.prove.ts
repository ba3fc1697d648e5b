import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { cardOf } from '../support/feed-cards.ts';
import { answering, openPort, stub, temporaryFolder } from '../support/harness.ts';
import { attack } from '../support/hostile/attack.ts';
import { evmTrader } from '../support/traders.ts';

const key = 'sk_live_Ab3Zq7Lm9';
const megabyte = 1_000_000;
const fillings: readonly [what: string, text: string][] = [
  ['backslashes', '\\'],
  ['backslashes behind a letter of the key', 's\\'],
  ['starts of the key', key.slice(0, -1)],
  ['starts of the key with unseen characters', [...key.slice(0, -1)].join('\u200b')],
  ['percent signs of percent signs', '%25'],
  ['ampersands of ampersands', '&amp;'],
  ['entities', '&#115;'],
  ['escapes of a terminal', '\u001b]'],
  ['escaped escapes', '\\u001b['],
  ['names of secrets', '"secret":"'],
  ['names of secrets in JSON of JSON', '\\"secret\\":\\"'],
  ['quotes behind backslashes', '\\\\\\"'],
  ['webhook secrets', 'whsec_'],
  ['nulls', '\0'],
  ['line ends', '\n'],
  ['marks that join', '\u0301'],
];

test.each(fillings)('an error of %s, 4 MB of them, is told within seconds', async (_, text) => {
  for (const [status, body] of [
    [400, text.repeat((4 * megabyte) / Buffer.byteLength(text))],
    [500, JSON.stringify({ error: text.repeat((2 * megabyte) / Buffer.byteLength(text)), [text.repeat(50_000)]: 1 })],
  ] as const) {
    const service = await answering(body, status);
    const env = { SOTRA_BASE_URL: service.url, SOTRA_API_KEY: key };
    for (const argv of [
      'leaderboard list --retries 0',
      'request GET /v1/x --retries 0 --json',
      'leaderboard list --verbose --retries 0',
    ]) {
      const told = await attack(argv, { env });
      expect([argv, told.code]).toEqual([argv, status === 400 ? 6 : 8]);
      expect(told.cpuSec).toBeLessThan(8);
      expect(told.err.replaceAll(/[^\x20-\x7e]/g, '').includes(key)).toBe(false);
    }
  }
});

test('an answer of 60 MB of backslashes stays within its limits of time and memory', async () => {
  for (const status of [200, 400]) {
    const service = await answering('\\'.repeat(60 * megabyte), status);
    const env = { SOTRA_BASE_URL: service.url, SOTRA_API_KEY: key };
    const told = await attack('leaderboard list --retries 0 --timeout 20s', { env });
    expect([status, told.code]).toEqual([status, expect.toSatisfy((code) => [6, 9, 13].includes(code))]);
    expect(told.peakMb).toBeLessThan(900);
  }
});

const opens: readonly [what: string, text: string][] = [
  ['arrays', '['],
  ['objects', '{"a":'],
  ['lists of objects', '[{"a":'],
  ['traders in traders', '{"traders":['],
];
const readers = [
  'leaderboard list',
  'leaderboard list --json',
  'leaderboard list --format ndjson',
  'leaderboard list --strict',
  'leaderboard list --jq .',
  `feed actor ${evmTrader.address} --all --format ndjson`,
  `feed actor ${evmTrader.address} --json`,
  'request GET /v1/x',
  'request GET /v1/x --paginate',
  'webhook list',
  `comment list 0x${'1'.repeat(64)} --chain base`,
];

test.each(opens)('20 MB of nested %s are exit 13 at once, closed or not', async (_, open) => {
  const close = [...open]
    .reverse()
    .map((each) => ({ '[': ']', '{': '}' })[each] ?? '')
    .join('');
  const half = Math.floor((10 * megabyte) / open.length);
  for (const [text, commands] of [
    [open.repeat(2 * half), readers],
    [`${open.repeat(half)}1${close.repeat(half)}`, readers.slice(0, 4)],
    [`{"traders":[${open.repeat(600)}1${close.repeat(600)}]}`, readers.slice(0, 3)],
  ] as const) {
    const service = await answering(text);
    for (const argv of commands) {
      const refused = await attack(argv, { env: service.env });
      expect([argv, refused.code, refused.out]).toEqual([argv, 13, '']);
      expect(refused.cpuSec).toBeLessThan(5);
      expect(refused.peakMb).toBeLessThan(400);
    }
  }
});

const uidCommands = [
  ['webhook', 'delete', 'X', '--yes'],
  ['webhook', 'validate', 'X'],
  ['webhook', 'add-addresses', 'X', '--wallet-addresses', 'ext:a'],
  ['webhook', 'sync', 'X', '--wallet-addresses', 'ext:a'],
  ['position', 'get', 'X'],
  ['comment', 'copy', 'X'],
  ['profile', 'get', 'X'],
  ['profile', 'followers', 'X'],
  ['profile', 'delete-name', 'X', '--yes'],
  ['follow', 'add', 'X', 'ext:a'],
  ['token', 'comments', 'base', 'X'],
  ['position', 'find', evmTrader.address, 'base', 'X', '1'],
  ['request', 'DELETE', '/v1/webhooks/feed/X', '--yes'],
];
const dots = [
  '.',
  '..',
  '%2e',
  '%2E%2e',
  '.%2e',
  '',
  ' ',
  './',
  '../',
  '..\\',
  '\t..',
  '..\n',
  '/..',
  'a/../..',
  '..;',
];

test.each(uidCommands.map((words) => [words.join(' '), words] as const))(
  '%s: no dots in its place change where it is sent',
  async (_, words) => {
    const service = await answering({});
    const at = words.findIndex((word) => word.includes('X'));
    const start = words.join(' ');
    await Promise.all(
      dots.map((dot) => {
        const argv = words.map((word, index) => (index === at ? word.replace('X', dot) : word));
        return attack(argv, { env: service.env });
      }),
    );
    const prefix: Record<string, RegExp> = {
      webhook: /^\/v1\/webhooks\/feed(?:\/[^/?]{2,}(?:\/validate)?)?$/,
      position: /^\/v1\/positions?\/[^/]{2,}/,
      comment: /^\/v1\/swap-comment\/[^/]{2,}\/copyswap$/,
      profile: /^\/v1\/(?:addresses|profiles)\/[^/]{2,}\/(?:profile|followers|name)$/,
      follow: /^\/v1\/addresses\/[^/]{2,}\/follow$/,
      token: /^\/v1\/tokens\/base\/[^/]{2,}\/comments$/,
      request: /^\/v1\/webhooks\/feed\//,
    };
    const [noun = ''] = start.split(' ');
    const escaped = service.requests
      .map(({ method, url }) => `${method} ${url.split('?')[0]}`)
      .filter(
        (line) =>
          !(prefix[noun] as RegExp).test(line.split(' ')[1] ?? '') ||
          /\/(?:\.|%2e)+(?:\/|$)/i.test(line) ||
          line.startsWith('DELETE /v1/webhooks/feed/ '),
      );
    expect(escaped).toEqual([]);
  },
);

test('a key that the service repeats, as it is or as JSON and addresses escape it, is not printed', async () => {
  const odd = 'sk_live/Ab3+Zq7"Lm9';
  const inJson = JSON.stringify(odd).slice(1, -1);
  const spellings = [odd, inJson, inJson.replaceAll('/', '\\/'), encodeURIComponent(odd)];
  for (const spelling of spellings) {
    const service = await stub((_, response) => {
      response.writeHead(400, { 'content-type': 'application/json', 'x-echo': spelling });
      response.end(spelling === odd ? odd : `{"error":"${spelling}","${spelling}":1}`);
    });
    const env = { SOTRA_BASE_URL: service.url, SOTRA_API_KEY: odd, SOTRA_DATA_DIR: temporaryFolder() };
    for (const argv of ['leaderboard list --verbose', 'request GET /v1/x --json', 'history show 1 --har']) {
      const { out, err } = await attack(argv, { env });
      for (const form of spellings)
        expect([argv, spelling, (out + err).includes(form)]).toEqual([argv, spelling, false]);
    }
  }
});

/** A server that answers as text says, whatever it is asked. */
async function raw(answer: (count: number) => string): Promise<Record<string, string>> {
  let count = 0;
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', () => {
      count += 1;
      socket.end(answer(count));
    });
  });
  return { SOTRA_BASE_URL: `http://127.0.0.1:${await openPort(server)}`, SOTRA_API_KEY: 'k' };
}

const well =
  'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 14\r\nconnection: close\r\n\r\n{"traders":[]}';

test('answers before the answer are passed over', async () => {
  for (const before of ['HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n', 'HTTP/1.1 102 Processing\r\n\r\n'])
    for (const times of [1, 3, 50]) {
      const env = await raw(() => before.repeat(times) + well);
      const told = await attack('leaderboard list --json --retries 0', { env });
      expect([before, times, told.code, told.err]).toEqual([before, times, 0, '']);
    }
});

test('300 and 304 are told as what they are', async () => {
  for (const status of [300, 304, 305, 306, 301, 308]) {
    const env = await raw(() => `HTTP/1.1 ${status} X\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`);
    for (const argv of ['leaderboard list', 'webhook list', 'webhook delete abc --yes']) {
      const told = await attack(`${argv} --retries 0`, { env });
      expect([status, argv, told.code === 1 || told.code === 0, told.err]).toEqual([
        status,
        argv,
        false,
        expect.not.stringMatching(/undefined|internal/),
      ]);
    }
  }
});

test('a proxy of another kind leaves one JSON object on stderr', async () => {
  const env = { SOTRA_BASE_URL: 'https://a.example.com', SOTRA_API_KEY: 'k', HTTPS_PROXY: 'socks5://127.0.0.1:1' };
  const told = await attack('leaderboard list --json --retries 0', { env });
  expect(told.code).not.toBe(0);
  expect(JSON.parse(told.err).error.exitCode).toBe(told.code);
});

test('a watch in which pages keep coming goes on, however many of its calls fail in between', async () => {
  const service = await stub((_, response, count) => {
    if (count % 3 !== 0) return void response.writeHead(503).end();
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ items: [cardOf(`n${count}`, 1_700_000_000 + count)], pagination: {} }));
  });
  const argv = `feed actor ${evmTrader.address} --watch 100ms --max 12 --format ndjson --retries 3`;
  const watched = await attack(argv, { env: service.env });
  expect([watched.code, watched.out.trim().split('\n').length]).toEqual([0, 12]);
});
