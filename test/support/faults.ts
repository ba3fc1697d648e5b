import type { ServerResponse } from 'node:http';
import { outlineAll } from '../../src/program.ts';
import type { Script, Seen } from './harness.ts';
import type { ManualTimeouts } from './manual-timeouts.ts';

const entry = '{"addressOrUid":"ext:user_1","targets":["0xb129d76820940a14c764df8b223d8e39cf94a122"]}';

export interface CommandLine {
  name: string;
  method: string;
  argv: readonly string[];
  stdin: string;
}

/** Every command that is one to one with an endpoint, by its first example; a new one is here by itself. */
export async function serviceCommands(): Promise<readonly CommandLine[]> {
  return (await outlineAll()).flatMap(({ words, endpoint, examples }) => {
    // No key is stored here.
    const argv = examples.find((example) => !example.argv.includes(' --key '))?.argv;
    if (endpoint === undefined || argv === undefined) return [];
    const typed = argv.split(' ').filter((word) => word !== '--sandbox' && word !== '--dry-run');
    return [{ name: words.join(' '), method: endpoint.method, argv: typed, stdin: entry }];
  });
}

const json = { 'content-type': 'application/json' };
const body = '{"traders":[],"padding":"0123456789"}';

function status(code: number, headers: Record<string, string> = {}): Script {
  return (_, response) => void response.writeHead(code, { ...json, ...headers }).end('{"error":"as scripted"}');
}

function answer(text: string): Script {
  return (_, response) => void response.writeHead(200, json).end(text);
}

/** Bytes without an end, as long as somebody reads. */
function pour(response: ServerResponse): void {
  response.writeHead(200, json);
  const more = () => {
    while (!response.destroyed && response.write(`[${' '.repeat(65_535)}`));
  };
  response.on('drain', more);
  more();
}

/** What goes wrong, as the server does it; `refused` and `foreign` need more than a script. */
export const scripts: Readonly<Record<string, Script>> = {
  'reset before answer': (_, response) => void response.destroy(),
  'reset in the body': (_, response) => {
    response.writeHead(200, { ...json, 'content-length': String(body.length) });
    response.write(body.slice(0, 20), () => response.destroy());
  },
  'no first byte': () => undefined,
  'stalled body': (_, response) => {
    response.writeHead(200, { ...json, 'content-length': String(body.length) });
    response.write(body.slice(0, 20));
  },
  400: status(400),
  401: status(401),
  403: status(403),
  404: status(404),
  409: status(409),
  413: status(413),
  429: status(429),
  '429 with Retry-After': status(429, { 'retry-after': '3' }),
  500: status(500),
  502: status(502),
  503: status(503),
  garbage: answer('<html>hello'),
  'truncated JSON': answer(body.slice(0, 20)),
  'wrong shape': answer('"neither list nor object"'),
  'redirect in a circle': (seen: Seen, response) => void response.writeHead(302, { location: seen.url }).end(),
  'endless body': (_, response) => pour(response),
};

/** The faults after whose last byte nothing comes, with the signs of life until then: that the answer is read, and its first bytes. */
const silences: Readonly<Record<string, number>> = { 'no first byte': 0, 'stalled body': 2 };

/** Answers as the fault has it, and says where that is the end of it. */
export function failing(fault: string, { goneSilent }: ManualTimeouts): Script {
  const script = scripts[fault];
  if (script === undefined) throw new Error(`there is no fault ${fault}`);
  const signs = silences[fault];
  return (seen, response, count) => {
    script(seen, response, count);
    if (signs !== undefined) goneSilent(seen, signs);
  };
}
