import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Kills } from '../support/state-kills.ts';
import { killSandbox, killSettings } from '../support/state-kills.ts';
import { degen, writeKeys } from '../support/traders.ts';
import { start } from '../support/webhook-kills.ts';

/** A service that keeps comments and answers each a few milliseconds later. */
async function slowComments(random: () => number) {
  const posted: { transactionHash: string; commentText: string }[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('error', () => undefined);
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', async () => {
      const { searchParams } = new URL(request.url ?? '', 'http://stub');
      const hash = searchParams.get('transactionHashes') ?? '';
      const comments = posted.filter(({ transactionHash }) => transactionHash === hash);
      let answer: unknown = { [hash]: { comments, insights: [] } };
      if (request.method === 'POST') {
        const { signature: _, ...sent } = JSON.parse(Buffer.concat(chunks).toString());
        answer = { uid: `c${posted.length}`, timestamp: 1, ...sent };
        posted.push(sent);
      }
      await delay(random() * 8);
      response.end(JSON.stringify(answer));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, posted, close };
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
        const { child, printed, ended } = start(['comment', 'post', '--from', file, ...key, '--format', 'ndjson'], env);
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
    service.close();
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
