import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { serviceCommands } from '../support/faults.ts';
import { run, type Seen, stub, temporaryFolder } from '../support/harness.ts';
import { some } from '../support/size.ts';

const commands = await serviceCommands();
const key = 'canary/key+0815"x\\y=';
const secret = 'whsec_Y2FuYXJ5IGNhbmFyeSBjYW5hcnk=';
/** The key as JSON, as JSON of writers that escape the slash, and inside an address. */
const told = [
  key,
  'canary/key+0815\\"x\\\\y=',
  'canary\\/key+0815\\"x\\\\y=',
  'canary%2Fkey%2B0815%22x%5Cy%3D',
  secret,
];

function echoOf({ headers, body, url }: Seen): string {
  return JSON.stringify({ error: `key ${key} of secret ${secret}`, headers, body, url, secret });
}

const echoes: readonly [name: string, status: number, cut: number][] = [
  ['400', 400, 0],
  ['401', 401, 0],
  ['404', 404, 0],
  ['500', 500, 0],
  ['an answer that ends inside', 200, 4],
  ['an error that ends inside', 422, 4],
  ['an answer of another shape', 200, 0],
];

test.each(some(echoes, 3))(
  '%s that tells the key and a secret back: neither is shown or written down',
  async (_, status, cut) => {
    const service = await stub((seen, response) => {
      const text = cut === 0 ? echoOf(seen) : `{"secret":"${secret.slice(0, -cut)}`;
      response.writeHead(status, {
        'content-type': 'application/json',
        'x-echo': `Bearer ${key}`,
        'x-request-id': key,
      });
      response.end(text);
    });
    for (const { name, argv, stdin } of commands) {
      const trace = join(temporaryFolder(), 'trace.har');
      const more = ['--verbose', '--include', '--retries', '0', '--trace-file', trace];
      const env = { ...service.env, SOTRA_API_KEY: key };
      const { out, err } = await run([...argv, ...more], { env, stdin, skipWaits: true });
      expect(service.requests.at(-1)?.headers['authorization']).toBe(`Bearer ${key}`);
      // What a service answers under other names than the contract's is shown as it is.
      const shown = status === 200 && cut === 0 ? err : out + err;
      const all = { out: status === 200 ? '' : out, err: shown, trace: readFileSync(trace, 'utf8') };
      for (const form of told) {
        const cutForm = form.slice(0, 24);
        expect([name, Object.entries(all).find(([, text]) => text.includes(cutForm))]).toEqual([name, undefined]);
      }
      expect([name, out.includes(key.slice(0, 12))]).toEqual([name, false]);
    }
  },
);
