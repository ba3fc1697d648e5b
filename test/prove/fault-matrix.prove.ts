import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { stub, temporaryFolder } from '../support/harness.ts';
import { checkRow, rows } from '../support/hostile/fault-table.ts';
import { againstLong, allFaults, inShort, pourMegabytes, serviceCommands } from '../support/hostile/faults.ts';

const line = (name: string, cells: readonly string[]) => process.stdout.write(`| ${[name, ...cells].join(' | ')} |\n`);

test('the whole table: every command that speaks to a service, against every fault', async () => {
  line('command, requests answered well', allFaults);
  line(
    '---',
    allFaults.map(() => '---'),
  );
  for (const { name, argv, stdin } of await serviceCommands()) {
    const command = { name, argv: argv.join(' '), wells: [0], stdin };
    const cells = await Promise.all(
      allFaults.map(async (fault) => {
        const { code, requests } = await againstLong(command, { fault, well: 0 }, '--json --retries 1');
        return `${code} ${inShort(requests)}`.trim();
      }),
    );
    line(name, cells);
    expect(cells.filter((cell) => /^1\b/.test(cell) || cell === '')).toEqual([]);
  }
  for (const row of rows) line(`${row.name}, ${row.well}`, await checkRow(row, allFaults));
});

/** Runs the built program against 100 MB of JSON; what it ended with, its largest memory in MB, and how much of the body went out. */
async function againstLarge(flags: string) {
  let sent = 0;
  const service = await stub((_, response) => {
    pourMegabytes(response, 100);
    response.on('close', () => {
      sent = response.socket?.bytesWritten ?? 0;
    });
  });
  const folder = temporaryFolder();
  const env = { ...service.env, SOTRA_CONFIG_DIR: folder, SOTRA_DATA_DIR: folder };
  const argv = ['bin/sotra.js', 'request', 'GET', '/large', ...flags.split(' ')];
  const child = spawn(process.execPath, argv, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let [err, out, peakMB] = ['', 0, 0];
  const watch = setInterval(() => {
    const peak = /VmHWM:\s+(\d+)/.exec(statusOf(child.pid))?.[1];
    peakMB = Math.max(peakMB, Number(peak ?? 0) / 1024);
  }, 20);
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.length;
  });
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  clearInterval(watch);
  return { flags, code, err, out, peakMB: Math.round(peakMB), sentMB: Math.round(sent / 2 ** 20) };
}

function statusOf(pid: number | undefined): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    return '';
  }
}

test('a body of 100 MB is stopped at 64 MB; memory is bounded', async () => {
  const { err, ...figures } = await againstLarge('--json');
  process.stdout.write(`${JSON.stringify(figures)}\n`);
  expect([figures.code, figures.out, JSON.parse(err).error.code]).toEqual([13, 0, 'bad-answer']);
  expect(figures.sentMB).toBeLessThan(80);
  expect(figures.peakMB).toBeLessThan(200);
});
