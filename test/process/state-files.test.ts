import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { type Outcome, run, stub, temporaryFolder } from '../support/harness.ts';
import { some } from '../support/size.ts';
import { degen, writeKeys } from '../support/traders.ts';

interface StateFile {
  argv: string;
  /** Runs what makes the file, and gives its path. */
  make: (act: (argv: string) => Promise<Outcome>, folder: string) => Promise<string>;
}

async function does(act: (argv: string) => Promise<Outcome>, argv: string): Promise<void> {
  const { code, err } = await act(argv);
  if (code !== 0) throw new Error(err);
}

const found = (folder: string, pattern: RegExp) => {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const name = names.find((each) => pattern.test(each));
  if (name === undefined) throw new Error(`no ${pattern} among ${names}`);
  return join(folder, name);
};

const upload = 'webhook register --url http://127.0.0.1:9/hook --file FOLDER/addresses.txt';

const files: Record<string, StateFile> = {
  settings: {
    argv: 'context set other --base-url https://b.example.com',
    make: async (act, folder) => {
      await does(act, 'context set own --base-url https://a.example.com');
      return join(folder, 'config.json');
    },
  },
  'upload state': {
    argv: upload,
    make: async (act, folder) => {
      writeFileSync(join(folder, 'addresses.txt'), `${degen}\n`);
      await does(act, upload);
      return found(folder, /uploads\/.*state\.json$/);
    },
  },
  'kept key': {
    argv: 'key export k --unencrypted --out FOLDER/plain.hex --password-file FOLDER/password',
    make: async (act, folder) => {
      await does(act, 'key import k --key-file FOLDER/evm.hex --password-file FOLDER/password');
      return join(folder, 'keys', 'k.json');
    },
  },
  'sandbox database': {
    argv: '--sandbox sandbox status',
    make: async (act, folder) => {
      await does(act, '--sandbox sandbox reset --empty');
      return join(folder, 'sandbox.db');
    },
  },
};

/** A newer sotra writes a higher number where this one writes its own. */
const newer = (text: string) => text.replace(/"(version|v)": ?\d+/, '"$1": 99');

const harms: Record<string, (file: string) => void> = {
  'overwritten with noise': (file) => writeFileSync(file, `\u0000\u0001 noise {{{\n${'x'.repeat(200)}\n`),
  'cut off in its first line': (file) => writeFileSync(file, `${readFileSync(file, 'utf8').slice(0, 12)}\n`),
  empty: (file) => writeFileSync(file, ''),
  'of a newer sotra': (file) => {
    const bytes = readFileSync(file);
    // Where SQLite keeps the user_version of a database.
    if (file.endsWith('.db')) bytes.writeUInt32BE(99, 60);
    writeFileSync(file, file.endsWith('.db') ? bytes : newer(bytes.toString()));
  },
  'a folder': (file) => {
    rmSync(file);
    mkdirSync(file);
  },
};

const cases = Object.entries(files).flatMap(([name, file]) =>
  Object.entries(harms)
    .filter(([harm]) => name !== 'sandbox database' || harm !== 'of a newer sotra')
    // These begin empty: a process may be killed before their first line.
    .filter(([harm]) => harm !== 'empty' || name !== 'sandbox database')
    .map(([harm, apply]) => ({ name, harm, apply, file })),
);

test.each(some(cases, 12))(
  'a $name that is $harm ends the command, is named, and stays as it is',
  async ({ apply, file }) => {
    const folder = temporaryFolder();
    writeKeys(folder);
    const hook = '{"uid":"u-1","destinationUrl":"http://127.0.0.1:9/hook","secret":"s"}';
    const service = await stub(({ method }, response) => response.end(method === 'GET' ? '[]' : hook));
    const all = { ...service.env, SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder };
    const act = (argv: string) => run(argv.replaceAll('FOLDER', folder), { env: all });
    const path = await file.make(act, folder);
    apply(path);
    // A database's last changes may be beside it; they would repair it.
    for (const beside of ['-wal', '-shm']) rmSync(path + beside, { force: true });
    const isFile = statSync(path).isFile();
    const [before, sent] = [isFile ? readFileSync(path) : undefined, service.requests.length];
    const { code, out, err } = await act(file.argv);
    expect([3, 11]).toContain(code);
    expect(err).toContain(path);
    expect(err).toContain('hint: ');
    expect(out).toBe('');
    expect(service.requests).toHaveLength(sent);
    if (before === undefined) expect(readdirSync(path)).toEqual([]);
    else expect(readFileSync(path).equals(before)).toBe(true);
  },
);

test.each(['null', '[]', '{"crypto": {"ciphertext": "deadbeef'])(
  'the stored key %s is reported by key list, and the other keys are shown',
  async (text) => {
    const folder = temporaryFolder();
    const keys = writeKeys(folder);
    const env = { SOTRA_CONFIG_DIR: folder };
    await run(['key', 'import', 'good', '--key-file', keys.evm, '--password-file', keys.password], { env });
    writeFileSync(join(folder, 'keys', 'bad.json'), text);
    const { code, out, err } = await run('key list --json', { env });
    expect([code, JSON.parse(out).map(({ name }: { name: string }) => name)]).toEqual([0, ['good']]);
    expect(err).toContain(join(folder, 'keys', 'bad.json'));
    expect(err).not.toContain('deadbeef');
    const exported = await run('key export bad', { env });
    expect([exported.code, exported.err]).toEqual([expect.toBeOneOf([3, 11]), expect.stringContaining('bad.json')]);
  },
);

const key = 'Zx9/echo+key-4711';

test.each([`{"contexts":{"a":{"apiKey":"${key}"}}`, `{"contexts":{"a":{"apiKey":${key}}}}`, key])(
  'damaged settings are reported without their contents: %s',
  async (text) => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'config.json'), text);
    const { code, err } = await run('context list --verbose', { env: { SOTRA_CONFIG_DIR: folder } });
    expect([code, err.includes('it is not JSON')]).toEqual([3, true]);
    expect(err).not.toMatch(/Zx9|4711/);
  },
);

function leave(folder: string, name: string, minutesAgo: number): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), '{"half');
  const at = Date.now() / 1000 - minutesAgo * 60;
  utimesSync(join(folder, name), at, at);
}

test('drafts that a killed process left go with the next change of the settings; young ones and what is not ours stay', async () => {
  const folder = temporaryFolder();
  const ours = ['config.json.tmp-5245811440579385', 'config.json.sotra-0a1b2c3d.tmp'];
  const theirs = ['notes.0a1b2c3d.tmp', 'sotra-0a1b2c3d.tmp.txt', 'other.json.tmp-5245811440579385'];
  for (const name of [...ours, ...theirs]) leave(folder, name, 60);
  leave(folder, 'config.json.sotra-99999999.tmp', 1);
  expect(
    await run('context set a --base-url https://a.example.com', { env: { SOTRA_CONFIG_DIR: folder } }),
  ).toMatchObject({
    code: 0,
  });
  expect(readdirSync(folder).sort()).toEqual(
    ['config.json', 'config.json.sotra-99999999.tmp', 'config.lock', ...theirs].sort(),
  );
  for (const name of theirs) expect(readFileSync(join(folder, name), 'utf8')).toBe('{"half');
});
