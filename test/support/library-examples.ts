import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { signed } from './listening.ts';
import { freePorts } from './processes.ts';
import { until } from './until.ts';

/** The JavaScript of `docs/library.md`, a text each block. */
function libraryBlocks(): string[] {
  const text = readFileSync('docs/library.md', 'utf8');
  return [...text.matchAll(/^```js\n([\s\S]*?)^```/gm)].map(([, code = '']) => code);
}

interface Place {
  node: string;
  /** A folder in which `sotra` can be imported. */
  folder: string;
}

function start({ node, folder }: Place, name: string, code: string, env: Record<string, string> = {}) {
  const file = join(folder, name);
  writeFileSync(file, code);
  const child = spawn(node, [file], { cwd: folder, env: { PATH: process.env['PATH'], ...env } });
  const said: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => said.push(chunk));
  return { child, output: () => Buffer.concat(said).toString() };
}

/** What the first example of `docs/library.md` prints, and the code that it ends with. */
export async function runClientExample(place: Place): Promise<{ code: number | null; output: string }> {
  const [code = ''] = libraryBlocks();
  const { child, output } = start(place, 'client.mjs', code);
  const [exit] = (await once(child, 'close')) as [number | null];
  return { code: exit, output: output() };
}

/** What its webhook example prints of a signed delivery, and its answers to that and to one that is not. */
export async function runWebhookExample(place: Place): Promise<{ output: string; statuses: number[] }> {
  const [, code = ''] = libraryBlocks();
  const [port = 0] = await freePorts(1);
  const { child, output } = start(place, 'webhook.mjs', code.replace('4242', String(port)), {
    WEBHOOK_SECRET: 'whsec_1',
  });
  try {
    const body = '{"events":[{"eventId":"a","eventType":"copyswap"}]}';
    const post = (secret: string) =>
      fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body, headers: signed(body, secret) });
    const answer = await answered(() => post('whsec_1'), child);
    const refused = await post('other');
    await until(() => output() !== '', 'a line of the example');
    return { output: output(), statuses: [answer.status, refused.status] };
  } finally {
    child.kill();
  }
}

/** The answer, once somebody listens. */
async function answered(ask: () => Promise<Response>, child: ChildProcess): Promise<Response> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`the example ended with ${child.exitCode}`);
    const answer = await ask().catch(() => undefined);
    if (answer !== undefined) return answer;
  }
}
