import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { stub } from '../support/harness.ts';
import { serve, start } from '../support/processes.ts';
import { degen, writeKeys } from '../support/traders.ts';

/** What a loop of kills came to; each failure is something that must never be. */
interface Kills {
  kills: number;
  /** Of the killed processes, how many had changed something. */
  changed: number;
  failures: string[];
}

/** The longest that a command of this kind ran to its end, so that kills fall anywhere in it. */
async function lengthOf(argv: readonly string[], env: Record<string, string>): Promise<number> {
  const from = performance.now();
  await start(argv, env).ended;
  return performance.now() - from;
}

/** Starts a command and kills it after a while; true when it had not ended before. */
async function killedAfter(ms: number, argv: readonly string[], env: Record<string, string>): Promise<boolean> {
  const { child, ended } = start(argv, env);
  await delay(ms);
  child.kill('SIGKILL');
  return (await ended) === null;
}

/**
 * Kills processes that change settings, aliases and kept keys at random moments. After each kill every file is whole: the old or the new one;
 * and the next command works.
 */
async function killSettings({ kills, random }: { kills: number; random: () => number }): Promise<Kills> {
  const folder = mkdtempSync(join(tmpdir(), 'sotra-state-'));
  const report: Kills = { kills: 0, changed: 0, failures: [] };
  try {
    const keys = writeKeys(folder);
    const env = { SOTRA_CONFIG_DIR: join(folder, 'config'), SOTRA_DATA_DIR: join(folder, 'data') };
    const kept = join(folder, 'config', 'keys', 'k.json');
    const commands = (name: string) => [
      ['context', 'set', name, '--base-url', `https://${name}.example.com`],
      ['alias', 'set', name, '0x4ed4e862860bed51a9570b96d89af5e1b0efefed'],
      ['key', 'import', 'k', '--key-file', keys.evm, '--password-file', keys.password, '--replace'],
    ];
    const lengths: number[] = [];
    for (const argv of commands('first')) lengths.push(await lengthOf(argv, env));
    const read = () => readFileSync(join(folder, 'config', 'config.json'), 'utf8');
    for (let round = 0; report.kills < kills; round += 1) {
      const before = [read(), readFileSync(kept, 'utf8')];
      const kind = round % 3;
      const argv = commands(`n${round}`)[kind] ?? [];
      const killed = await killedAfter(random() * 1.1 * (lengths[kind] ?? 0), argv, env);
      report.kills += killed ? 1 : 0;
      const after = [read(), readFileSync(kept, 'utf8')];
      if (after.some((text, index) => text !== before[index])) report.changed += killed ? 1 : 0;
      try {
        const settings = JSON.parse(after[0] ?? '');
        const wrong = Object.keys(JSON.parse(before[0] ?? '').contexts).filter((each) => !settings.contexts[each]);
        if (wrong.length > 0) report.failures.push(`round ${round}: contexts ${wrong} are lost`);
        JSON.parse(after[1] ?? '');
      } catch (error) {
        report.failures.push(`round ${round}: ${error}`);
      }
      if (round % 10 !== 9) continue;
      const next = start(['context', 'set', 'probe', '--base-url', `https://p${round}.example.com`], env);
      if ((await next.ended) !== 0 || !read().includes(`p${round}`)) report.failures.push(next.printed.err);
    }
    return report;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Writes to a served sandbox from several clients at once and kills it, again and again on one database. Every write that was answered is
 * there after the next start.
 */
async function killSandbox(options: { kills: number; clients: number; random: () => number }): Promise<Kills> {
  const folder = mkdtempSync(join(tmpdir(), 'sotra-sandbox-kills-'));
  const report: Kills = { kills: 0, changed: 0, failures: [] };
  const acknowledged = new Map<string, Set<string>>();
  try {
    let next = 0;
    const headers = { authorization: 'Bearer sandbox-key-a', 'content-type': 'application/json' };
    const followerOf = (client: number) => `0x${(client + 1).toString(16).padStart(40, '0')}`;
    for (; report.kills < options.kills; report.kills += 1) {
      const { url, child } = await serve(folder, ['--empty']);
      const ended = new Promise((resolve) => child.on('close', resolve));
      const path = (client: number) => `${url}/v1/addresses/${followerOf(client)}/follow`;
      const writing = Array.from({ length: options.clients }, async (_, client) => {
        const own = acknowledged.get(followerOf(client)) ?? new Set();
        acknowledged.set(followerOf(client), own);
        for (;;) {
          next += 1;
          const target = `0x${(next + 1_000_000).toString(16).padStart(40, '0')}`;
          const body = JSON.stringify({ targets: [target] });
          const answer = await fetch(path(client), { method: 'PUT', headers, body }).catch(() => undefined);
          if (answer === undefined) return;
          if (answer.ok) own.add(target);
          else report.failures.push(`${answer.status}: ${await answer.text()}`);
        }
      });
      // At least one write of them all is answered.
      while (report.failures.length === 0 && ![...acknowledged.values()].some((targets) => targets.size > 0))
        await delay(5);
      await delay(options.random() * 300);
      child.kill('SIGKILL');
      await ended;
      await Promise.all(writing);
      rmSync(join(folder, 'ready.json'), { force: true });
    }
    const { url, child } = await serve(folder, []);
    for (const [follower, targets] of acknowledged) {
      report.changed += targets.size;
      const held = await followsOf(url, follower);
      const lost = [...targets].filter((target) => !held.has(target));
      if (lost.length > 0) report.failures.push(`${follower}: ${lost.length} of ${targets.size} follows are lost`);
    }
    child.kill('SIGTERM');
    return report;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function followsOf(url: string, follower: string): Promise<Set<string>> {
  const argv = ['profile', 'follows', follower, '--format', 'ndjson', '--all'];
  const folder = mkdtempSync(join(tmpdir(), 'sotra-follows-'));
  const env = { SOTRA_BASE_URL: url, SOTRA_API_KEY: 'sandbox-key-a', SOTRA_CONFIG_DIR: folder, SOTRA_DATA_DIR: folder };
  const { printed, ended } = start(argv, env);
  await ended;
  rmSync(folder, { recursive: true, force: true });
  return new Set([...printed.out.matchAll(/0x[0-9a-fA-F]{40}/g)].map(([address]) => address.toLowerCase()));
}

/** A service that keeps comments and answers each a few milliseconds later. */
async function slowComments(random: () => number) {
  const posted: { transactionHash: string; commentText: string }[] = [];
  const service = await stub(async (request, response) => {
    const { searchParams } = new URL(request.url, 'http://stub');
    const hash = searchParams.get('transactionHashes') ?? '';
    const comments = posted.filter(({ transactionHash }) => transactionHash === hash);
    let answer: unknown = { [hash]: { comments, insights: [] } };
    if (request.method === 'POST') {
      const { signature: _, ...sent } = JSON.parse(request.body);
      answer = { uid: `c${posted.length}`, timestamp: 1, ...sent };
      posted.push(sent);
    }
    await delay(random() * 8);
    response.end(JSON.stringify(answer));
  });
  return { url: service.url, posted };
}

/** Kills the posting of a batch again and again, starting the same command anew, then lets it end: each comment was posted once. */
async function killBatches(options: {
  kills: number;
  comments: number;
  random: () => number;
}): Promise<Kills & { runs: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'sotra-batches-'));
  const service = await slowComments(options.random);
  const report = { kills: 0, changed: 0, runs: 0, failures: [] as string[] };
  try {
    writeKeys(folder);
    const file = join(folder, 'comments.ndjson');
    // On a busy machine a process needs longer until it posts anything; one killed before that gives the next more time.
    let longestMs = 500;
    while (report.kills < options.kills) {
      report.runs += 1;
      const texts = Array.from({ length: options.comments }, (_, index) => `batch ${report.runs}, comment ${index}`);
      const lines = texts.map((commentText, index) => {
        const number = report.runs * 10_000 + index;
        const transactionHash = `0x${number.toString(16).padStart(64, '0')}`;
        return `${JSON.stringify({ chain: 'base', transactionHash, tokenAddress: degen, commentText })}\n`;
      });
      writeFileSync(file, lines.join(''));
      const key = ['--key-file', join(folder, 'evm.hex'), '--service-name', 'Example'];
      const env = {
        SOTRA_BASE_URL: service.url,
        SOTRA_API_KEY: 'key',
        SOTRA_DATA_DIR: join(folder, 'data'),
        SOTRA_CONFIG_DIR: folder,
      };
      for (let code: number | null = null; code === null; ) {
        const before = service.posted.length;
        const { child, printed, ended } = start(['comment', 'post', '--file', file, ...key, '--format', 'ndjson'], env);
        const timer = delay(150 + options.random() * longestMs).then(() => child.kill('SIGKILL'));
        code = await ended;
        await timer;
        report.kills += code === null ? 1 : 0;
        if (code === null && service.posted.length === before) longestMs *= 1.2;
        report.changed += code === null && service.posted.length > before ? 1 : 0;
        if (code !== null && code !== 0) report.failures.push(`batch ${report.runs}: exit ${code}: ${printed.err}`);
      }
      const own = service.posted.map(({ commentText }) => commentText).filter((text) => texts.includes(text));
      if (JSON.stringify(own) !== JSON.stringify(texts))
        report.failures.push(
          `batch ${report.runs}: ${own.length} posts of ${new Set(own).size} of ${texts.length} comments`,
        );
    }
    return report;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const settingsKills = Number(process.env['PROVE_KILLS'] ?? 40);
const sandboxKills = Number(process.env['PROVE_SANDBOX_KILLS'] ?? 15);

test(`${settingsKills} kills at random moments of changes to settings, aliases and keys`, async () => {
  const report = await killSettings({ kills: settingsKills, random: Math.random });
  process.stdout.write(`${JSON.stringify(report)}\n`);
  expect(report.failures).toEqual([]);
});

test(`${sandboxKills} kills of a sandbox while eight clients write to it`, async () => {
  const report = await killSandbox({ kills: sandboxKills, clients: 8, random: Math.random });
  process.stdout.write(`${JSON.stringify(report)}\n`);
  expect(report.failures).toEqual([]);
});

test(`${Math.ceil(settingsKills / 3)} kills in batches of 20 comments, each taken up again to its end`, async () => {
  const report = await killBatches({ kills: Math.ceil(settingsKills / 3), comments: 20, random: Math.random });
  process.stdout.write(`${JSON.stringify(report)}\n`);
  expect(report.failures).toEqual([]);
});
