import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run, stub, temporaryFolder } from '../support/harness.ts';
import { start } from '../support/processes.ts';
import { size } from '../support/size.ts';
import { until } from '../support/until.ts';

const token = '0x4ed4e862860bed51a9570b96d89af5e1b0efefed';

/** A service whose lists never end, with pages of 40 KB. */
const servePages = () =>
  stub((_, response, count) => void response.end(JSON.stringify([{ itemId: `${count}`.padEnd(40_000) }])));

/** The lines of the log that are whole. */
function readLines(folder: string): { response: { status: number }; _sotra: { id: string } }[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.ndjson'))
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'))
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

test('fifty processes that write at once lose no line, and share no id', async () => {
  const service = await servePages();
  const folder = temporaryFolder();
  const env = { ...service.env, SOTRA_DATA_DIR: folder };
  const [processes, pages] = [size(4, 50), 20];
  const argv = `token positions base ${token} open --limit 1 --max ${pages} --format ndjson --quiet`;
  const codes = await Promise.all(Array.from({ length: processes }, () => start(argv, env).ended));
  expect(new Set(codes)).toEqual(new Set([0]));
  const history = join(folder, 'history');
  const lines = readLines(history);
  // Attempts that reached nobody are lines too.
  const answered = lines.filter(({ response }) => response.status === 200);
  expect([answered.length, service.requests.length]).toEqual([processes * pages, processes * pages]);
  expect(new Set(lines.map(({ _sotra }) => _sotra.id)).size).toBe(lines.length);
  for (const name of readdirSync(history)) expect(statSync(join(history, name)).mode & 0o777).toBe(0o600);
}, 120_000);

test('processes that are killed leave whole lines, and those that write meanwhile lose none', async () => {
  const service = await servePages();
  const folder = temporaryFolder();
  const env = { ...service.env, SOTRA_DATA_DIR: folder };
  const pages = size(50, 90);
  const argv = `token positions base ${token} open --limit 1 --max ${pages} --format ndjson --quiet`;
  const begun = Array.from({ length: size(2, 20) }, () => start(argv, env));
  const spared = start(argv, env);
  await until(() => service.requests.length > 20, 'the processes write');
  for (const { child } of begun) child.kill('SIGKILL');
  expect(await spared.ended).toBe(0);
  await Promise.all(begun.map(({ ended }) => ended));
  const calls = JSON.parse((await run('history --limit 100000 --json', { env })).out);
  expect(calls.filter(({ pid }: { pid: number }) => pid === spared.child.pid)).toHaveLength(pages);
  expect(await run('history --limit 1 --json', { env })).toMatchObject({ code: 0 });
}, 120_000);
