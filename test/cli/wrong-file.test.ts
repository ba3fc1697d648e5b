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
import { encodeBase58 } from '../../src/api/address.ts';
import { answering, failure, run, runJson, temporaryFolder } from '../support/harness.ts';
import {
  apiKey,
  evmKey,
  namedSecret,
  pair,
  password,
  phrase,
  secretsIn,
  webhookSecret,
} from '../support/hostile/canaries.ts';
import { type Outline, outlines } from '../support/outlines.ts';
import { size } from '../support/size.ts';

/** Files that hold a secret, as it is kept and as it is damaged by hand. */
const files: Readonly<Record<string, string>> = {
  'evm.hex': `0x${evmKey}\n`,
  'two.hex': `${evmKey}${evmKey}\n`,
  'quoted.hex': `"${evmKey}"\n`,
  'named.env': `PRIVATE_KEY=${evmKey}\n`,
  'id.json': JSON.stringify([...pair]),
  'cut.json': JSON.stringify([...pair]).slice(0, -9),
  'spaced.json': JSON.stringify([...pair]).replaceAll(',', ', '),
  'base58.txt': encodeBase58(pair),
  'all.json': JSON.stringify({ privateKey: evmKey, password, apiKey, secret: webhookSecret }),
  'broken.json': `{"privateKey":"${evmKey}" "apiKey":"${apiKey}"}`,
  'api.key': `${apiKey}\n`,
  'hook.secret': `${webhookSecret}\n${namedSecret}\n`,
  password: `${password}\n`,
  'phrase.txt': `${phrase}\n`,
  'phrase.lines': `${phrase.replaceAll(' ', '\n')}\n`,
  'phrase.numbered': `1. ${phrase.replaceAll(' ', '\n2. ')}\n`,
  'phrase.csv': `${phrase.replaceAll(' ', ',')}\n`,
  'phrase.json': JSON.stringify(phrase.split(' ')),
  'first.csv': `${evmKey},main\n`,
  'second.csv': `label,key\nmain,0x${evmKey}\n`,
  'word.json': `[${apiKey}]`,
  'key.lines': `${apiKey}\n0xb129d76820940a14c764df8b223d8e39cf94a122\n`,
};

/** Flags that name a file to read. */
const reading = ['file', 'signed', 'text-file', 'prices-file', 'data'];
/** Flags about files that are made, and those that name a secret or its file. */
const made = ['out', 'rejects', 'report', 'junit', 'undo-file', 'ready-file', 'db'];
const ofSecrets = ['show-secrets', 'with-key', 'secret-file', 'inbox-creds'];
const ofKeys = ['key', 'key-file', 'key-env', 'key-stdin', 'password-file', 'new-password-file'];
const known = [...reading, ...made, ...ofSecrets, ...ofKeys];

/** The line of a command's first example, with another file to read. */
function lineWith({ words, examples }: Outline, { label, flag }: Outline['fields'][number], file: string): string {
  const command = words.join(' ');
  if (label.startsWith('<')) return `${command} ${file}`;
  const typed = examples[0]?.argv.replace(/ < .*/, '').replaceAll(/ ?--(sandbox|dry-run|curl|json)\b/g, '') ?? '';
  const rivals = new RegExp(` --(${flag}|wallet-addresses|text|signature|signer) \\S+`, 'g');
  return `${typed.replaceAll(rivals, '')} --${flag} ${flag === 'data' && file !== '-' ? '@' : ''}${file}`;
}

test('every flag that may name a file is known here', () => {
  const unknown = outlines.flatMap(({ words, fields }) =>
    fields
      .filter(({ flag, help, kind }) => {
        const speaks = kind.type === 'text' && /\bfile\b|stdin/.test(help);
        return (speaks || /file|secret|password|key|stdin/.test(flag)) && !known.includes(flag);
      })
      .map(({ label }) => `${words.join(' ')} ${label}`),
  );
  expect(unknown).toEqual([]);
});

test('no command quotes a file with a secret that was given by mistake', async () => {
  const service = await answering({ error: 'no' }, 400);
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text, { mode: 0o600 });
  const env = { ...service.env, SOTRA_DATA_DIR: temporaryFolder(), CANARY_KEY: evmKey };
  const tried = new Set<string>();
  for (const outline of outlines)
    for (const field of outline.fields.filter(({ flag }) => reading.includes(flag))) {
      const command = outline.words.join(' ');
      tried.add(`${command} ${field.label}`);
      // Each file with some of the flags; each with each is for the proof.
      const given = Object.entries(files).filter((_, index) => (index + tried.size) % size(6, 1) === 0);
      for (const [name, text] of given) {
        for (const [file, more] of Object.entries({ [join(folder, name)]: '--verbose', '-': '--json' })) {
          const argv = `${lineWith(outline, field, file)} ${more} --retries 0`;
          const { out, err, code } = await run(argv, { env, stdin: text, skipWaits: true });
          const told = secretsIn(out + err);
          expect([argv, code, told, told.length === 0 ? '' : err]).toEqual([argv, expect.any(Number), [], '']);
          expect([argv, code === 1 ? err : '']).toEqual([argv, '']);
        }
      }
    }
  // Comments, bulk follows, prices, bodies, trades, lists of addresses.
  expect(tried.size).toBe(18);
});

test('a private key instead of a comment, or in its file, is not published', async () => {
  const service = await answering({ error: 'no' }, 400);
  const folder = temporaryFolder();
  const swap = `--chain base --tx 0x${'11'.repeat(32)} --token 0x${'22'.repeat(20)} --service-name Example`;
  for (const name of ['evm.hex', 'id.json', 'base58.txt', 'spaced.json']) {
    writeFileSync(join(folder, name), files[name] ?? '', { mode: 0o600 });
    for (const command of ['comment sign', 'comment post']) {
      const words = `${command} ${swap} --key-env CANARY_KEY`.split(' ');
      for (const text of [['--text-file', join(folder, name)], ['--text', files[name] ?? ''], [files[name] ?? '']]) {
        const refused = await run([...words, ...text], { env: { ...service.env, CANARY_KEY: evmKey } });
        expect(refused).toEqual(failure(2, 'holds a private key, and a comment is public'));
        expect(secretsIn(refused.err)).toEqual([]);
      }
    }
  }
  const last = ['comment', 'post', '--last', '--key-env', 'CANARY_KEY', '--service-name', 'Example', evmKey];
  expect((await run(last, { env: { ...service.env, CANARY_KEY: evmKey } })).code).toBe(2);
  expect(service.requests).toEqual([]);
});

const folder = '/proc/self/fd';

/** Whether this system tells which files a process has open. */
const tellsOpenFiles = existsSync(folder);

/** True if this process has a file open. */
function isOpen(file: string): boolean {
  return readdirSync(folder).some((handle) => {
    const at = join(folder, handle);
    return existsSync(at) && readlinkSync(at) === file;
  });
}

const row = '2026-11-20T00:00:00Z,base,0x1,0x2,buy,1,2\n';

test.each([
  ['--sandbox sandbox import FILE', `time,chain,trader,token,side,amount,usd\n${row}`],
  ['webhook register --url https://example.com/hook --file FILE --skip-invalid', '0x12\n'],
  ['webhook add-addresses u-1 --file FILE --skip-invalid', '0x12\n'],
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
      const refused = await run(`${command.replace('FILE', file)} --rejects ${rejects}`, { env });
      expect(refused).toEqual(failure(2, `error: --rejects ${rejects}: that is ${file}, which would be emptied\n`));
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
  const before = await runJson('sandbox status', { env });
  const refused = await run(`sandbox import ${file} --rejects ${folder}/sandbox.db`, { env });
  expect(refused).toEqual(failure(2, 'which would be emptied'));
  expect((await runJson('sandbox status', { env })).trades).toBe(before.trades);
});
