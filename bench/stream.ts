// How fast and how small `profile positions --all --format ndjson` is over 100,000 cards, against a bare undici + JSON.parse loop over
// the same answers. The sandbox makes the answers once; a process of its own serves them, so that neither side waits for SQL.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { measureChild, startServer, type Usage } from './measure/child.ts';
import { report } from './measure/row.ts';
import { measureBare } from './stream/bare.ts';
import { recordAnswers } from './stream/record.ts';
import { serveAnswers } from './stream/serve.ts';

const wallet = '0x5117a60000000000000000000000000000000001';
const self = fileURLToPath(import.meta.url);
const program = process.env['SOTRA_TEST_PROGRAM'] ?? 'bin/sotra.js';
const rounds = 15;
const [role, ...rest] = process.argv.slice(2);

if (role === 'serve') serveAnswers(rest[0] ?? '', (url) => process.stdout.write(`${url}\n`));
else if (role === 'bare' || role === 'lines') await measureBare(rest[0] ?? '', wallet, Number(rest[1]), role);
else await main(Number(role ?? 100_000));

async function main(cards: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'sotra-bench-'));
  const file = join(folder, 'answers');
  const bytes = await recordAnswers({ file, cards });
  process.stderr.write(`${cards} cards, ${Math.round(bytes / 2 ** 20)} MB of answers\n`);
  const { url, server } = await startServer([self, 'serve', file]);
  try {
    const floor = (kind: 'bare' | 'lines') => measureChild([self, kind, url, String(cards)]);
    const taken: Record<'sotra' | 'tenth' | 'bare' | 'lines', Usage[]> = { sotra: [], tenth: [], bare: [], lines: [] };
    await sotra(url, folder, cards / 10);
    for (let round = 0; round < rounds; round += 1) {
      taken.bare.push(await floor('bare'));
      taken.sotra.push(await sotra(url, folder, cards));
      taken.lines.push(await floor('lines'));
      taken.tenth.push(await sotra(url, folder, cards / 10));
    }
    const rate = (each: readonly Usage[]) => each.map(({ seconds }) => cards / seconds);
    const time = (each: readonly Usage[]) => each.map(({ seconds }) => seconds);
    const cpu = (each: readonly Usage[]) => each.map(({ cpuSeconds }) => cpuSeconds);
    const peak = (each: readonly Usage[]) => each.map(({ peakMb }) => peakMb);
    const what = `--all --format ndjson of ${cards} cards`;
    report([
      {
        what: `${what}, undici + JSON.parse`,
        unit: 'items/s',
        floor: rate(taken.bare),
        measured: rate(taken.sotra),
        atLeast: 0.7,
      },
      { what: `${what}, the same by processor time`, unit: 's', floor: cpu(taken.bare), measured: cpu(taken.sotra) },
      {
        what: `${what}, with JSON.stringify`,
        unit: 's',
        floor: time(taken.lines),
        measured: time(taken.sotra),
        atMost: 1.4,
      },
      { what: `${what}, peak memory`, unit: 'MB', measured: peak(taken.sotra), atMost: 120 },
      {
        what: `${what}, peak against a tenth of them`,
        unit: 'MB',
        floor: peak(taken.tenth),
        measured: peak(taken.sotra),
        atMost: 1.1,
      },
      { what: `${what}, peak of undici + JSON.parse`, unit: 'MB', measured: peak(taken.bare) },
    ]);
  } finally {
    server.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function sotra(url: string, folder: string, items: number): Promise<Usage> {
  const argv = ['profile', 'positions', wallet, 'closed', '--max', String(items), '--format', 'ndjson', '--quiet'];
  const env = {
    SOTRA_BASE_URL: url,
    SOTRA_API_KEY: 'bench',
    SOTRA_CONFIG_DIR: folder,
    SOTRA_DATA_DIR: folder,
    XDG_CACHE_HOME: folder,
  };
  const taken = await measureChild([program, ...argv], env);
  if (taken.lines !== items) throw new Error(`${taken.lines} lines came out instead of ${items}`);
  return taken;
}
