import { connect } from 'node:net';
import { endpoints } from '../../../src/api/endpoints.ts';
import { randomFrom } from '../../../src/sandbox/seeded.ts';
import { oddBodies, oddKeys, oddWords } from './corpus.ts';

const names = [
  ...new Set(endpoints.flatMap(({ params }) => Object.entries(params).map(([key, { wire }]) => wire ?? key))),
  ...oddKeys.map(encodeURIComponent),
  'prototype[x]',
  'chains[]',
  'a'.repeat(200),
  '%00',
  '\u00ff',
];
const values: readonly unknown[] = [
  null,
  true,
  0,
  -0.5,
  1e308,
  '',
  'x',
  '\u0000\ud800',
  `0x${'1'.repeat(40)}`,
  [],
  {},
  [[[]]],
  ['ext:a', 1],
  JSON.parse('{"__proto__": {"polluted": true}, "constructor": {"prototype": {"polluted": true}}}'),
];
/** One request as bytes that a sender with odd ideas writes, always the same for a seed; `text` is latin1. */
export function hostileRequest(seed: string, host: string): string {
  const random = randomFrom(seed);
  const endpoint = random.pick(endpoints);
  const path = endpoint.path.replaceAll(/\{\w+\}/g, () => encodeSome(random.pick(oddWords)));
  const query = Array.from(
    { length: random.whole(0, 4) },
    () => `${random.pick(names)}=${encodeSome(random.pick(oddWords))}`,
  );
  const method = random.chance(0.8)
    ? endpoint.method
    : random.pick(['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS', 'TRACE']);
  const body = random.chance(0.5) ? random.pick(oddBodies) : JSON.stringify(objectOf(random));
  const target = random.chance(0.05)
    ? random.pick(oddWords)
    : `${path}${query.length === 0 ? '' : `?${query.join('&')}`}`;
  const key = random.pick([
    'Bearer sandbox-key-a',
    'Bearer sandbox-key-a',
    'bearer sandbox-key-b',
    'Bearer \u00ff',
    'Bearer',
    'Basic eA==',
    '',
  ]);
  const headers = [
    `host: ${random.chance(0.95) ? host : random.pick(['\u00ff', 'localhost:99999', '[::1', 'a b', '127.0.0.1:', ''])}`,
    'connection: close',
    ...(key === '' ? [] : [`authorization: ${key}`]),
    ...(random.chance(0.1) ? [`x-control-token: ${random.pick(['\u00ff', 'x', '\u00fc'.repeat(32)])}`] : []),
    ...(random.chance(0.1) ? ['__proto__: x', 'constructor: y'] : []),
    `content-length: ${Buffer.byteLength(body, 'latin1')}`,
  ];
  return `${method} ${target} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n${body}`;
}

type Random = ReturnType<typeof randomFrom>;

function objectOf(random: Random): unknown {
  const fields = Array.from({ length: random.whole(0, 5) }, () => [random.pick(names), random.pick(values)] as const);
  const made = JSON.parse(
    `{${fields.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',')}}`,
  );
  return random.chance(0.2) ? [made, random.pick(values)] : made;
}

/** Mostly as a client would send it, else as it is. */
function encodeSome(text: string): string {
  return text.length % 3 === 0 ? text : text.replaceAll(/[^\x21-\x7e]/gu, encodeURIComponent);
}

/** Sends latin1 text as it is; the first line of the answer and its body, empty where the connection was closed without one. */
export async function sendRaw(url: string, text: string): Promise<{ status: number; body: string }> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  socket.on('error', () => undefined);
  socket.end(Buffer.from(text, 'latin1'));
  await new Promise((resolve) => socket.once('close', resolve));
  const answer = Buffer.concat(chunks).toString();
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0), body: answer.split('\r\n\r\n')[1] ?? '' };
}
