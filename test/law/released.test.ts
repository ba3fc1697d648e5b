import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
// @ts-expect-error: a script without types.
import { readPromises } from '../../bin/released.mjs';
import { findBreaks, type Promises } from '../support/breaks.ts';

const released: Promises = JSON.parse(readFileSync('test/data/released.json', 'utf8'));
const now: Promises = await readPromises();

/** What the newest section of the changelog names as breaking: `- Breaking: \`webhook sync --exact\` ...`. */
function namedBreaks(): string[] {
  const [, newest = ''] = readFileSync('CHANGELOG.md', 'utf8').split(/^## /m);
  return [...newest.matchAll(/^- Breaking: ((?:.*\n)(?: {2}.*\n)*)/gm)].flatMap(([, text = '']) =>
    [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
  );
}

test(`what worked with ${released.version} works, or the changelog names it as breaking`, () => {
  const named = namedBreaks();
  expect(findBreaks(released, now).filter(({ name }) => !named.includes(name))).toEqual([]);
});

/** A copy with another value at a place, or none. */
function withChange(promises: Promises, path: readonly string[], value?: unknown): Promises {
  const copy: Promises = structuredClone(promises);
  const last = path.at(-1) ?? '';
  const holder = path
    .slice(0, -1)
    .reduce<Record<string, never>>((each, key) => each[key] ?? missing(path), copy as never);
  if (value === undefined) delete holder[last];
  else holder[last] = value as never;
  return copy;
}

function missing(path: readonly string[]): never {
  throw new Error(`nothing at ${path.join(' ')}`);
}

const list = ['commands', 'commands', 'leaderboard list'];
const limit = [...list, 'inputs', '--limit'];
const board = ['openapi', 'paths', '/v2/leaderboard', 'get'];
const answer = [...board, 'responses', '200', 'content', 'application/json', 'schema'];

test.each<[string, string, string[], unknown?]>([
  ['rate-limited', 'has another exit code', ['errors', 'rate-limited'], 8],
  ['why', 'is gone', ['commands', 'commands', 'why']],
  ['leaderboard list --limit', 'is gone', limit],
  ['leaderboard list --limit', 'has a lower maximum', [...limit, 'max'], 100],
  ['leaderboard list --limit', 'is required', [...limit, 'required'], true],
  ['leaderboard list --chains', 'takes one value', [...list, 'inputs', '--chains', 'list'], false],
  ['leaderboard list --timeframe', 'does not take 30d', [...list, 'inputs', '--timeframe', 'choices'], ['7d']],
  ['leaderboard list --json', 'is gone', [...list, 'globalFlags'], ['--jq']],
  ['GET /v2/leaderboard', 'is gone', board],
  ['GET /v2/leaderboard', 'chains is gone', [...board, 'parameters'], []],
  ['GET /v2/leaderboard', '200.traders is gone', [...answer, 'properties'], {}],
  ['GET /v2/leaderboard', '200.traders may be missing', [...answer, 'required'], []],
])('%s %s: that is found', (name, what, path, value) => {
  const found = findBreaks(now, withChange(now, path, value));
  expect(found).toContainEqual({ name, what });
  expect(new Set(found.map((one) => one.name))).toContain(name);
});

test.each([
  ['a method is gone', 'sotra', 'library/methods.d.ts', /^ +rank: .*\n/m, '', "Property 'rank' is missing"],
  [
    'a field of answers is gone',
    'sotra',
    'library/methods.d.ts',
    /^ {2}addresses: string\[\];\n/m,
    '',
    "'addresses' is missing",
  ],
  [
    'a type is gone',
    'sotra/sandbox',
    'library/sandbox.d.ts',
    /interface SandboxOptions/,
    'interface Options',
    'no exported member',
  ],
  [
    'an option is required',
    'sotra/sandbox',
    'library/sandbox.d.ts',
    /port\?: number \| undefined/,
    'port: number',
    'not assignable',
  ],
])('%s in the library: that is found', (_, name, file, from, to, says) => {
  const changed = now.types[file]?.replace(from, to) ?? '';
  expect(changed).not.toBe(now.types[file]);
  const found = findBreaks(now, { ...now, types: { ...now.types, [file]: changed } });
  expect(found.map((one) => one.name)).toContain(name);
  expect(found.map(({ what }) => what).join('\n')).toContain(says);
});

test('what is only more is no break', () => {
  const more = withChange(now, [...list, 'inputs', '--new'], { type: 'text', list: false, required: false });
  const wider = withChange(more, [...limit, 'max'], 1000);
  expect(findBreaks(now, wider)).toEqual([]);
});
