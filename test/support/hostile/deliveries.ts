import { createHmac } from 'node:crypto';
import { run } from '../harness.ts';
import { secret } from '../listening.ts';
import { type AttackedListener, exchange } from './attack.ts';

export interface DeliveriesReport {
  deliveries: number;
  good: number;
  /** How often each status was the answer; `none`: the connection was closed without one. */
  statuses: Record<string, number>;
  /** What must never be: each entry is a failure. */
  failures: string[];
  longestBlockMs: number;
  peakMb: number;
}

/** One generated delivery: what is sent, whether it must be stored, and how it is told in a failure. */
interface Case {
  name: string;
  pieces: Buffer[];
  good?: string;
  /** The sender goes away in the middle. */
  cut?: boolean;
}

type Pick = (below: number) => number;

/**
 * Sends generated deliveries to a listener, a few at once: good ones in every form that is allowed, and others whose headers, bodies or
 * signatures were changed. Then looks at what was answered and stored.
 */
export async function fuzzDeliveries(
  listener: AttackedListener,
  { count, seed, maxBytes = 1_000_000 }: { count: number; seed: number; maxBytes?: number },
): Promise<DeliveriesReport> {
  const pick = picker(seed);
  const statuses: Record<string, number> = {};
  const failures: string[] = [];
  const good: string[] = [];
  let sent = 0;
  const work = async () => {
    while (sent < count) {
      sent += 1;
      const one = caseOf(sent, pick, maxBytes);
      const text = await exchange(listener.port, one.pieces, { cut: one.cut ?? false });
      const status = /HTTP\/1\.1 (?!100)(\d+)/.exec(text)?.[1] ?? 'none';
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (one.good !== undefined) good.push(one.good);
      const isRight = one.good === undefined ? /^4|^503|none/.test(status) : status === '200';
      if (!isRight) failures.push(`${one.name}: ${status}`);
      if (listener.child.exitCode !== null) throw new Error(`the listener ended: ${listener.printed.err.slice(-2000)}`);
    }
  };
  await Promise.all(Array.from({ length: 16 }, work));
  const { out } = await run(`webhook events --limit 1000000 --json`, { env: { SOTRA_DATA_DIR: listener.folder } });
  const stored = JSON.parse(out).map(({ eventId }: { eventId: string }) => eventId);
  if (stored.toSorted().join() !== good.toSorted().join())
    failures.push(`${good.length} good ones, ${stored.length} stored`);
  return {
    deliveries: count,
    good: good.length,
    statuses,
    failures,
    longestBlockMs: Math.round(listener.longestBlockMs()),
    peakMb: Math.round(listener.peakMb()),
  };
}

/** Whole numbers below a limit, always the same for a seed. */
function picker(seed: number): Pick {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const oneOf = <Item>(pick: Pick, items: readonly Item[]): Item => items[pick(items.length)] as Item;
const bytesOf = (pick: Pick, length: number) => Buffer.from(Array.from({ length }, () => pick(256)));

function sign(body: Buffer, by = secret, t = Math.floor(Date.now() / 1000)): { t: number; v1: string } {
  return { t, v1: createHmac('sha256', by).update(`${t}.`).update(body).digest('base64url') };
}

/** As many small sizes as large ones, by their number of digits. */
const sizeOf = (pick: Pick, maxBytes: number) => Math.floor(maxBytes ** (pick(1000) / 1000));

const fillings = ['x', '[', '{"a":', '\\', '"', '\u00eb', '\r\n', '0', ' ', '\0', '[]', '\ud83d\ude00'];

function bodyOf(id: string, pick: Pick, bytes: number): Buffer {
  const filling = JSON.stringify(
    oneOf(pick, fillings)
      .repeat(bytes)
      .slice(0, bytes / 2),
  );
  return Buffer.from(
    `{"events":[{"eventId":"${id}","eventType":"new-feed-item","walletAddresses":["ext:a"],"feedItem":{"itemTitle":${filling}}}]}`,
  );
}

function request(lines: readonly string[], body: Buffer, start = 'POST /hook HTTP/1.1'): Buffer {
  return Buffer.concat([Buffer.from(`${[start, 'Host: 127.0.0.1', ...lines].join('\r\n')}\r\n\r\n`, 'latin1'), body]);
}

const withLength = (header: string, body: Buffer, ...more: string[]) =>
  request([header, `Content-Length: ${body.length}`, ...more], body);

function chunked(body: Buffer, pick: Pick, trailer = ''): Buffer {
  const parts: Buffer[] = [];
  const least = 1 + body.length / 2000;
  for (let at = 0; at < body.length; ) {
    const part = body.subarray(at, at + Math.ceil(least + pick(1000)));
    parts.push(Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n'));
    at += part.length;
  }
  return Buffer.concat([...parts, Buffer.from(`0\r\n${trailer}\r\n`)]);
}

function inPieces(bytes: Buffer, pick: Pick): Buffer[] {
  const cuts = Array.from({ length: 1 + pick(8) }, () => pick(bytes.length)).sort((a, b) => a - b);
  return [0, ...cuts].map((from, index) => bytes.subarray(from, cuts[index] ?? bytes.length));
}

/** A delivery that must be stored, in one of the forms in which it may be sent. */
function goodCase(id: string, pick: Pick, maxBytes: number): Case {
  const body = bodyOf(id, pick, pick(10) === 0 ? sizeOf(pick, maxBytes) : sizeOf(pick, 5000));
  const { t, v1 } = sign(body);
  const plain = `daylight-signature: t=${t},v1=${v1}`;
  const other = 'A'.repeat(43);
  const forms: Record<string, () => Buffer> = {
    plain: () => withLength(plain, body),
    'header spelled otherwise': () => withLength(`DayLight-SIGNATURE:   v1=${v1} , t=${t}  `, body),
    'several signatures': () => withLength(`daylight-signature: t=${t},v1=${other},v1=${v1},v0=z`, body),
    'two headers': () => request([plain, `daylight-signature: v1=${other}`, `Content-Length: ${body.length}`], body),
    chunked: () => request([plain, 'Transfer-Encoding: chunked'], chunked(body, pick)),
    'chunked with a trailer': () =>
      request([plain, 'Transfer-Encoding: chunked', 'Trailer: X'], chunked(body, pick, 'X: y\r\n')),
    asking: () => withLength(plain, body, 'Expect: 100-continue'),
    'odd headers': () =>
      withLength(plain, body, '__proto__: a', 'constructor: b', 'X-Odd: \xff\xfe', `X-Long: ${'l'.repeat(8000)}`),
    'odd path': () =>
      request([plain, `Content-Length: ${body.length}`], body, `POST /%00/../${'p'.repeat(pick(2000))}?a=%zz HTTP/1.1`),
    closing: () => withLength(plain, body, 'Connection: close'),
  };
  const name = oneOf(pick, Object.keys(forms));
  const bytes = (forms[name] as () => Buffer)();
  return { name, good: id, pieces: pick(3) === 0 ? inPieces(bytes, pick) : [bytes] };
}

/** A delivery that must be refused, or that is none. */
function badCase(id: string, pick: Pick, maxBytes: number): Case {
  const body = bodyOf(id, pick, sizeOf(pick, maxBytes));
  const { t, v1 } = sign(body);
  const header = (signature = v1, at: number | string = t) => `daylight-signature: t=${at},v1=${signature}`;
  const at = pick(body.length);
  const flipped = Buffer.from(body);
  flipped[at] = (flipped[at] ?? 0) ^ (1 + pick(255));
  const place = pick(43);
  const changed = v1.slice(0, place) + (v1[place] === 'A' ? 'B' : 'A') + v1.slice(place + 1);
  const hostile = oneOf(pick, fillings).repeat(sizeOf(pick, maxBytes));
  const forms: Record<string, () => Buffer> = {
    unsigned: () => request([`Content-Length: ${body.length}`], body),
    'another letter': () => withLength(header(place === 42 ? `${v1.slice(0, 42)}-` : changed), flipped),
    'cut signature': () => withLength(header(v1.slice(0, place)), body),
    'signature in hex': () => withLength(header(Buffer.from(v1, 'base64url').toString('hex')), body),
    'another secret': () => withLength(header(sign(body, 'other').v1), body),
    'another time': () => withLength(header(v1, t + 1 + pick(9)), body),
    'time that is none': () =>
      withLength(header(v1, oneOf(pick, ['', '-1', '1e9', '9'.repeat(400), 'NaN', ' '])), body),
    'changed byte': () => withLength(header(), flipped),
    'cut body': () => withLength(header(), body.subarray(0, at)),
    'more body': () => withLength(header(), Buffer.concat([body, bytesOf(pick, 1 + pick(9))])),
    'hostile body': () => withLength(header('A'.repeat(43)), Buffer.from(hostile)),
    'header of random bytes': () =>
      withLength(
        `daylight-signature: ${bytesOf(pick, pick(300))
          .toString('latin1')
          .replace(/[\r\n]/g, '=')}`,
        body,
      ),
    'many signatures': () => withLength(`daylight-signature: t=${t}${',v1=A'.repeat(pick(3500))}`, body),
    'huge header': () => withLength(`${header()}\r\nX: ${'x'.repeat(16_384 + pick(50_000))}`, body),
    'many headers': () => withLength(`${'a:b\r\n'.repeat(pick(5000))}${header(changed)}`, flipped),
    'two lengths': () => request([header(), `Content-Length: ${body.length}`, 'Content-Length: 3'], body),
    'length and chunks': () =>
      request([header(), `Content-Length: ${body.length}`, 'Transfer-Encoding: chunked'], chunked(body, pick)),
    'length that is none': () =>
      request([header(), `Content-Length: ${oneOf(pick, ['-1', '1e3', '99999999999999999999', 'x'])}`], body),
    'length over the limit': () => request([header(), 'Content-Length: 99999999'], body),
    'broken chunks': () => request([header(), 'Transfer-Encoding: chunked'], bytesOf(pick, 1 + pick(500))),
    'tiny chunks': () =>
      request(
        [header(), 'Transfer-Encoding: chunked'],
        Buffer.from(`${'1\r\nx\r\n'.repeat(sizeOf(pick, maxBytes / 6))}0\r\n\r\n`),
      ),
    'another method': () =>
      request(
        [header(), `Content-Length: ${body.length}`],
        body,
        `${oneOf(pick, ['GET', 'PUT', 'DELETE', 'PATCH', 'CONNECT', 'TRACE', 'BREW'])} /hook HTTP/1.1`,
      ),
    'odd first line': () =>
      request([header()], body, oneOf(pick, ['POST', 'POST /', 'POST / HTTP/9.9', '\0\0\0', 'POST \xff HTTP/1.1 x'])),
    'no host': () => Buffer.from(`POST / HTTP/1.1\r\n${header()}\r\nContent-Length: 0\r\n\r\n`),
    'random bytes': () => bytesOf(pick, 1 + pick(4000)),
    'odd expectation': () => withLength(header(changed), flipped, 'Expect: tea'),
    upgrade: () => withLength(header(changed), flipped, 'Connection: Upgrade', 'Upgrade: websocket'),
    pipelined: () => Buffer.concat(Array(1 + pick(300)).fill(Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n'))),
  };
  const name = oneOf(pick, Object.keys(forms));
  const bytes = (forms[name] as () => Buffer)();
  const isEnd = pick(10) === 0;
  if (isEnd) return { name: `${name}, cut off`, pieces: [bytes.subarray(0, pick(bytes.length - 1))], cut: true };
  return { name, pieces: pick(4) === 0 ? inPieces(bytes, pick) : [bytes] };
}

function caseOf(number: number, pick: Pick, maxBytes: number): Case {
  return pick(6) === 0 ? goodCase(`good-${number}`, pick, maxBytes) : badCase(`bad-${number}`, pick, maxBytes);
}
