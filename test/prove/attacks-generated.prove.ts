import { fork } from 'node:child_process';
import { resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { randomFrom } from '../../src/sandbox/seeded.ts';
import { stub, temporaryFolder } from '../support/harness.ts';
import { itemsOf, realAnswers } from '../support/hostile/answers.ts';
import { tell, usedBy } from '../support/hostile/attack.ts';
import { oddJson } from '../support/hostile/corpus.ts';
import { program } from '../support/processes.ts';

// ATTACKS changes how many small answers are generated, and fewer large ones with them; ATTACKS_SEED which.
const count = Number(process.env['ATTACKS'] ?? 4000);
const seed = process.env['ATTACKS_SEED'] ?? String(Math.random());
const processes = 2;

const formats = ['--json', '--format ndjson', '--format csv', '', '--strict', '--format tsv', '--json --verbose'];
type Random = ReturnType<typeof randomFrom>;

/** An answer with items so often that it has about that many bytes. */
function answerOf(items: readonly unknown[], rest: (list: unknown[]) => unknown, bytes: number): Buffer {
  const once = JSON.stringify(items).length;
  const list = Array.from({ length: Math.max(1, Math.floor(bytes / once)) }, () => items).flat();
  return Buffer.from(
    JSON.stringify(rest(once > bytes ? items.slice(0, Math.ceil((items.length * bytes) / once)) : list)),
  );
}

const breaks = [
  Buffer.from([0]),
  Buffer.from([0xff]),
  Buffer.from('"'),
  Buffer.from('\\'),
  Buffer.from('}'),
  Buffer.from('['),
];

/** The answer with some of its values replaced, or its bytes: always the same for the same random numbers. */
function harm(answer: Buffer, random: Random): Buffer {
  let text = answer;
  for (let changes = random.whole(0, 3); changes > 0; changes -= 1) {
    const at = text.indexOf(':', random.whole(0, text.length));
    const [comma, brace] = [text.indexOf(',', at), text.indexOf('}', at)].map((end) =>
      end === -1 ? text.length : end,
    );
    const odd = Buffer.from(random.pick(oddJson));
    if (at !== -1)
      text = Buffer.concat([text.subarray(0, at + 1), odd, text.subarray(Math.min(comma ?? 0, brace ?? 0))]);
  }
  const place = random.whole(0, text.length);
  if (random.chance(0.1)) return text.subarray(0, place);
  if (random.chance(0.1))
    return Buffer.concat([text.subarray(0, place), random.pick(breaks), text.subarray(place + 1)]);
  return text;
}

/** Lets the program show generated answers in a process with a heap of 256 MB. */
async function show(bytes: number, answers: number, name: string) {
  const { lists } = await realAnswers();
  const random = randomFrom(`${seed} ${name}`);
  const made = lists.map((list) => {
    const { key, value } = list;
    const rest = (items: unknown[]) => (key === undefined ? items : { ...(value as object), [key]: items });
    return { argv: list.argv, answer: answerOf(itemsOf(list), rest, bytes) };
  });
  const commands = formats.flatMap((format) => made.map(({ argv }) => `${argv} ${format} --retries 0`.trim()));
  const service = await stub((_, response, count) => {
    const { answer } = made[(count - 1) % made.length] ?? { answer: Buffer.from('') };
    const isError = random.chance(0.1);
    response.writeHead(isError ? 400 : 200, { 'content-type': 'application/json' });
    response.end(harm(answer, random));
  });
  const folder = temporaryFolder();
  const child = fork('test/prove/many-commands.mjs', [resolve(program)], {
    execArgv: ['--max-old-space-size=256'],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    env: {
      PATH: process.env['PATH'] ?? '',
      SOTRA_CONFIG_DIR: folder,
      SOTRA_DATA_DIR: folder,
      SOTRA_BASE_URL: service.url,
      SOTRA_API_KEY: 'sk_live_Ab3Zq7Lm9',
    },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let faults = '';
  child.stderr?.on('data', (text) => {
    for (const line of String(text).split('\n'))
      if (/internal|^\s+at |FATAL/.test(line) && faults.length < 5000) faults += `${line}\n`;
  });
  let peakMb = 0;
  const watching = setInterval(() => {
    peakMb = Math.max(peakMb, usedBy(child.pid ?? 0)?.peakMb ?? 0);
  }, 100);
  child.send({ commands, count: answers });
  const said = await new Promise<{ codes: Record<string, number>; cpuSec: number; longestSec: number } | undefined>(
    (done) => {
      child.once('message', (message) => done(message as never));
      child.once('close', () => done(undefined));
    },
  );
  clearInterval(watching);
  return { ...said, faults, peakMb: Math.round(peakMb), asked: service.requests.length };
}

test.each([
  [count, 1000],
  [Math.ceil(count / 2), 30_000],
  [Math.ceil(count / 8), 1_000_000],
])('%i generated answers of about %i bytes: no abort, no internal error, flat memory', async (answers, bytes) => {
  const parts = Array.from({ length: processes }, (_, part) =>
    show(bytes, Math.ceil(answers / processes), `${bytes} ${part}`),
  );
  for (const { codes, faults, peakMb, cpuSec, longestSec = Number.POSITIVE_INFINITY, asked } of await Promise.all(
    parts,
  )) {
    tell({ bytes, seed, asked, codes, cpuSec, longestSec, peakMb });
    expect([codes?.[1], faults]).toEqual([undefined, '']);
    expect(Object.keys(codes ?? { none: 0 }).filter((code) => !['0', '6', '13'].includes(code))).toEqual([]);
    expect(peakMb).toBeLessThan(600);
    expect(longestSec).toBeLessThan(5);
  }
});
