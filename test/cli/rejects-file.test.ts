import {
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { answering, run, temporaryFolder } from '../support/harness.ts';

const folder = '/proc/self/fd';

/** Whether this system tells which files a process has open. */
const tellsOpenFiles = existsSync(folder);

/** True where this process has a file open. */
function isOpen(file: string): boolean {
  return readdirSync(folder).some((handle) => {
    const at = join(folder, handle);
    return existsSync(at) && readlinkSync(at) === file;
  });
}

const row = '2026-11-20T00:00:00Z,base,0x1,0x2,buy,1,2\n';

test.each([
  ['--sandbox sandbox import FILE', `time,chain,trader,token,side,amount,usd\n${row}`],
  ['webhook register --url https://example.com/hook --addresses-file FILE --skip-invalid', '0x12\n'],
  ['webhook add-addresses u-1 --addresses-file FILE --skip-invalid', '0x12\n'],
])(
  '%s: --rejects that names the same file is refused and leaves it as it was, under any of its names',
  async (command, content) => {
    const folder = temporaryFolder();
    const service = await answering({});
    const env = { ...service.env, SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder };
    const file = join(folder, 'input');
    writeFileSync(file, content);
    symlinkSync(file, join(folder, 'symbolic'));
    linkSync(file, join(folder, 'hard'));
    for (const name of ['input', `../${folder.split('/').at(-1)}/input`, 'symbolic', 'hard']) {
      const rejects = `${folder}/${name}`;
      const { code, err } = await run(`${command.replace('FILE', file)} --rejects ${rejects}`, { env });
      expect([name, code, err]).toEqual([
        name,
        2,
        `error: --rejects ${rejects}: that is ${file}, which would be emptied\nhint: Name another file.\n`,
      ]);
      expect(readFileSync(file, 'utf8')).toBe(content);
    }
    expect(service.requests).toEqual([]);
    const other = join(folder, 'rejects');
    await run(`${command.replace('FILE', file)} --rejects ${other}`, { env });
    expect(readFileSync(other, 'utf8')).toContain('"line":');
    expect(statSync(other).mode & 0o777).toBe(0o600);
    expect(tellsOpenFiles && isOpen(other)).toBe(false);
  },
);

test('sandbox import: --rejects that names the database is refused', async () => {
  const folder = temporaryFolder();
  const env = { SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder };
  const file = join(folder, 'input');
  writeFileSync(file, `time,chain,trader,token,side,amount,usd\n${row}`);
  await run('sandbox reset', { env });
  const before = JSON.parse((await run('sandbox status --json', { env })).out);
  const { code, err } = await run(`sandbox import ${file} --rejects ${folder}/sandbox.db`, { env });
  expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining('which would be emptied') });
  expect(JSON.parse((await run('sandbox status --json', { env })).out).trades).toBe(before.trades);
});
