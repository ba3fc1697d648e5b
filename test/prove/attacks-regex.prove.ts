import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
// @ts-expect-error: a script without types.
import { patternsOf } from '../../scripts/patterns.mjs';
import { hideSecrets } from '../../src/http/secrets.ts';
import { safeText, showUnseen } from '../../src/model/safe-text.ts';
import { visibleJson } from '../../src/output/json.ts';

interface Pattern {
  file: string;
  line: number;
  source: string;
  flags: string;
}

// What the scanner of `npm run patterns` cannot see is a text of several characters that repeats: here each pattern meets all pairs of the
// characters that it names, and then a megabyte of what took it longest.
const small = 20_000;
const large = 1_000_000;
const patienceMs = 20_000;

const code = `
const { parentPort } = require('node:worker_threads');
const time = (pattern, text) => {
  const started = performance.now();
  pattern.lastIndex = 0;
  text.replace(pattern, '');
  return performance.now() - started;
};
parentPort.on('message', ({ source, flags, texts, small, large }) => {
  const pattern = new RegExp(source, flags);
  let worst = { ms: -1, of: '' };
  for (const [head, unit, tail] of texts) {
    const of = [head, unit, tail];
    parentPort.postMessage({ of });
    const ms = time(pattern, head + unit.repeat(small / unit.length) + tail);
    if (ms > worst.ms) worst = { ms, of };
  }
  const [head, unit, tail] = worst.of;
  parentPort.postMessage({ of: worst.of });
  parentPort.postMessage({ done: time(pattern, head + unit.repeat(large / unit.length) + tail), of: worst.of });
});`;

/** Characters that the pattern names, and some of every kind. */
function alphabetOf({ source }: Pattern): string[] {
  const named = source.replaceAll(/\\(?:u[\da-fA-F]{4}|x[\da-fA-F]{2})/g, (text) =>
    String.fromCharCode(Number.parseInt(text.slice(2), 16)),
  );
  return [...new Set([...named.replaceAll(/\\[a-zA-Z]|[()|?*+^$]/g, ''), ...'a0 "\\\n/,é\u200d\u0301'])].slice(0, 40);
}

function textsOf(pattern: Pattern): [head: string, unit: string, tail: string][] {
  const alphabet = alphabetOf(pattern);
  const pairs = alphabet.flatMap((one) => alphabet.map((two) => (one === two ? one : one + two)));
  return pairs.flatMap((unit) => ['', '"', '['].map((head): [string, string, string] => [head, unit, '\u0000']));
}

/** Milliseconds for a megabyte of the worst text, or that text where it takes too long. */
async function worstOf(pattern: Pattern): Promise<number | string> {
  const worker = new Worker(code, { eval: true });
  try {
    return await new Promise((resolve, reject) => {
      let of: unknown;
      const late = () => resolve(`${pattern.file}:${pattern.line} /${pattern.source}/: many of ${JSON.stringify(of)}`);
      let timer = setTimeout(late, patienceMs);
      worker.on('error', reject);
      worker.on('message', (said: { done?: number; of: unknown }) => {
        clearTimeout(timer);
        timer = setTimeout(late, patienceMs);
        of = said.of;
        if (said.done === undefined) return;
        clearTimeout(timer);
        resolve(said.done);
      });
      worker.postMessage({ ...pattern, texts: textsOf(pattern), small, large });
    });
  } finally {
    await worker.terminate();
  }
}

test('no pattern of the source takes long over a megabyte of its worst characters', async () => {
  const { patterns } = patternsOf('src') as { patterns: Pattern[] };
  const slow: string[] = [];
  let longest = 0;
  for (const pattern of patterns) {
    const worst = await worstOf({ ...pattern, flags: pattern.flags.replace('y', '') });
    if (typeof worst === 'string') slow.push(worst);
    else longest = Math.max(longest, worst);
  }
  process.stdout.write(`${JSON.stringify({ patterns: patterns.length, longestMs: Math.round(longest) })}\n`);
  expect(slow).toEqual([]);
});

const wants = 'sk_live_Ab3/9+Zq%7';
const built: readonly [what: string, act: (text: string) => string][] = [
  ['what a terminal is spared', safeText],
  ['what JSON shows as escapes', visibleJson],
  ['what a preview spells out', (text) => showUnseen(text.slice(0, 500_000))],
  ['what hides a key', (text) => hideSecrets(text, wants)],
];

test.each(built)('%s takes no longer over ten megabytes of any characters', (_, act) => {
  for (const unit of [
    '\u001b]',
    '\u001b[',
    '\u0301',
    '\u200d',
    '\ufe0f',
    '\u{1F3F4}\u{E0067}',
    '\u{1F468}\u200d',
    'sk\u200b',
    's\\',
    '%25',
    '&amp;',
  ]) {
    const started = performance.now();
    act(unit.repeat(5_000_000 / unit.length));
    act(`${unit}${'a'.repeat(10_000_000)}`);
    expect([unit, performance.now() - started < 20_000]).toEqual([unit, true]);
  }
});
