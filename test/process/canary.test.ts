import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { publicKeyOf } from '../../src/keys/private-key.ts';
import { encodeBase58 } from '../../src/model/address.ts';
import { type Seen, stub, temporaryFolder } from '../support/harness.ts';
import { size, some } from '../support/size.ts';
import { degen, swaps } from '../support/traders.ts';

// Made for this test alone: wherever one of them turns up, something leaks.
const evmKey = 'c0ffee254729296a45a3885639ac7e10f9d54979a1b2c3d4e5f60718293a4b5c';
const seed = Buffer.from('5eed5eed5eed5eed1122334455667788990011223344556677889900aabbccdd', 'hex');
const pair = Buffer.concat([seed, publicKeyOf(seed)]);
const password = 'canary password 4711';
const apiKey = 'canary-api-key-0815';
const mint = 'So11111111111111111111111111111111111111112';

/** Every form in which a secret could show. */
const canaries = [
  evmKey,
  evmKey.toUpperCase(),
  Buffer.from(evmKey, 'hex').toString('base64').slice(0, 40),
  encodeBase58(Buffer.from(evmKey, 'hex')),
  [...Buffer.from(evmKey, 'hex')].join(','),
  BigInt(`0x${evmKey}`).toString(),
  seed.toString('hex'),
  encodeBase58(pair),
  encodeBase58(seed),
  [...seed].join(','),
  seed.toString('base64').slice(0, 40),
  password,
  Buffer.from(password).toString('base64'),
  apiKey,
];

function findCanary(text: string): string | undefined {
  return canaries.find((canary) => text.includes(canary));
}

interface Ran {
  code: number | null;
  shown: string;
  /** What other processes could see of it while it ran. */
  seen: string;
}

/** Runs the built program as a user would; what it reads from stdin comes only after others have had a look at it. */
function start(argv: readonly string[], env: Record<string, string>, stdin: string): Promise<Ran> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ['bin/sotra.js', ...argv], { env: { PATH: process.env['PATH'], ...env } });
    let shown = '';
    let seen = '';
    const look = () => {
      seen += spawnSync('ps', ['-ww', '-o', 'comm,args', '-p', String(child.pid)]).stdout?.toString() ?? '';
    };
    child.stdout.on('data', (chunk) => (shown += chunk));
    child.stderr.on('data', (chunk) => (shown += chunk));
    child.on('spawn', () => {
      look();
      child.stdin.on('error', () => undefined);
      child.stdin.end(stdin);
      look();
    });
    child.on('close', (code) => resolve({ code, shown, seen }));
  });
}

function filesUnder(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true, encoding: 'utf8' }).flatMap((entry) =>
    entry.isFile() ? [join(entry.parentPath, entry.name)] : [],
  );
}

test('no key, password or API key shows in any output, file or process list, whatever happens', async () => {
  const answers = { mode: 'take' };
  const service = await stub((seen: Seen, response) => {
    if (answers.mode === 'refuse') response.writeHead(400).end('{"error":"no"}');
    else if (answers.mode === 'deny') response.writeHead(401).end('{"error":"unknown API key"}');
    else if (answers.mode === 'drop') response.destroy();
    else if (seen.method === 'GET') response.end('{}');
    else if (answers.mode === 'change')
      response.end(JSON.stringify({ ...JSON.parse(seen.body), commentText: 'other' }));
    else response.end(JSON.stringify({ uid: 'u', timestamp: 1, ...JSON.parse(seen.body) }));
  });
  const folder = temporaryFolder();
  const inputs = join(folder, 'inputs');
  const outputs = join(folder, 'outputs');
  for (const each of [inputs, outputs]) mkdirSync(each);
  const file = (name: string, text: string) => {
    writeFileSync(join(inputs, name), text, { mode: 0o600 });
    return join(inputs, name);
  };
  const evmFile = file('evm.hex', `0x${evmKey}\n`);
  const solFile = file('id.json', JSON.stringify([...pair]));
  const passwordFile = file('pw', `${password}\n`);
  const wrongPassword = file('wrong', 'canary password 4711 but wrong\n');
  const damaged = file('damaged.json', JSON.stringify([...pair.subarray(0, 63), 0]));
  const many = file('many.ndjson', `${JSON.stringify({ chain: 'base', tx: swaps.good, token: degen, text: 'gm' })}\n`);
  const env = {
    SOTRA_CONFIG_DIR: join(outputs, 'config'),
    SOTRA_DATA_DIR: join(outputs, 'data'),
    SOTRA_BASE_URL: service.url,
    SOTRA_API_KEY: apiKey,
    CANARY_KEY: evmKey,
    CANARY_PAIR: encodeBase58(pair),
  };
  const base = ['--chain', 'base', '--tx', swaps.good, '--token', degen, '--text', 'gm', '--service-name', 'Example'];
  const solana = [
    '--chain',
    'solana',
    '--tx',
    swaps.solana,
    '--token',
    mint,
    '--text',
    'gm',
    '--service-name',
    'Example',
  ];
  const signed = join(outputs, 'signed.json');
  const trace = (name: string) => ['--trace-file', join(outputs, `${name}.har`)];
  const cases: { argv: string[]; code: number; stdin?: string; mode?: string }[] = [
    { argv: ['key', 'import', 'evm', '--key-file', evmFile, '--password-file', passwordFile], code: 0 },
    { argv: ['key', 'import', 'sol', '--key-env', 'CANARY_PAIR', '--password-file', passwordFile, '--json'], code: 0 },
    { argv: ['key', 'import', 'evm', '--key-file', evmFile, '--password-file', passwordFile], code: 2 },
    { argv: ['key', 'list'], code: 0 },
    { argv: ['key', 'export', 'evm'], code: 0 },
    { argv: ['key', 'export', 'evm', '--unencrypted'], code: 2 },
    { argv: ['comment', 'sign', ...base, '--key-file', evmFile], code: 0 },
    { argv: ['comment', 'sign', ...solana, '--key-file', solFile, '--json'], code: 0 },
    { argv: ['comment', 'sign', ...base, '--key-stdin', '--out', signed], code: 0, stdin: evmKey },
    { argv: ['comment', 'sign', ...solana, '--key-stdin'], code: 11, stdin: evmKey },
    { argv: ['comment', 'sign', ...base, '--key-env', 'CANARY_PAIR'], code: 11 },
    { argv: ['comment', 'sign', ...solana, '--key-file', damaged], code: 11 },
    { argv: ['comment', 'sign', ...base, '--key-stdin'], code: 11, stdin: `${evmKey}${evmKey}` },
    { argv: ['comment', 'sign', ...base, '--key', 'evm', '--password-file', passwordFile], code: 0 },
    { argv: ['comment', 'sign', ...base, '--key', 'evm', '--password-file', wrongPassword, '--json'], code: 11 },
    { argv: ['comment', 'sign', ...base, '--key', 'sol', '--password-file', passwordFile], code: 11 },
    { argv: ['comment', 'sign', ...base, '--key-env', 'CANARY_KEY', '--signer', degen], code: 11 },
    { argv: ['comment', 'sign', '--from', many, '--key-env', 'CANARY_KEY', '--service-name', 'Example'], code: 0 },
    { argv: ['comment', 'verify', '--signed', signed], code: 0 },
    { argv: ['comment', 'post', ...base, '--key-env', 'CANARY_KEY', ...trace('take')], code: 0 },
    { argv: ['comment', 'post', ...base, '--key-env', 'CANARY_KEY', '--dry-run'], code: 0 },
    { argv: ['comment', 'post', ...base, '--key-env', 'CANARY_KEY', '--curl'], code: 0 },
    { argv: ['comment', 'post', '--signed', signed, '--service-name', 'Example'], code: 0 },
    { argv: ['comment', 'post', ...base, '--key-stdin', ...trace('refuse')], code: 6, stdin: evmKey, mode: 'refuse' },
    { argv: ['comment', 'post', ...base, '--key-file', evmFile, '--json'], code: 4, mode: 'deny' },
    { argv: ['comment', 'post', ...base, '--key-file', evmFile, '--retries', '0'], code: 9, mode: 'drop' },
    { argv: ['comment', 'post', ...base, '--key-file', evmFile, '--json'], code: 12, mode: 'change' },
    {
      argv: ['comment', 'post', '--from', many, '--key-file', evmFile, '--service-name', 'Example', '--yes'],
      code: 10,
      mode: 'refuse',
    },
    {
      argv: ['comment', 'post', '--from', many, '--key-file', evmFile, '--service-name', 'Example', '--yes'],
      code: 0,
    },
  ];
  // Sealing a key takes seconds, and those after it use it.
  for (const { argv, code, stdin = '', mode = 'take' } of some(cases.slice(size(6, 0)), 4)) {
    answers.mode = mode;
    const ran = await start([...argv, '--verbose'], env, stdin);
    expect([argv, ran.code, ran.code === code ? '' : ran.shown]).toEqual([argv, code, '']);
    expect([argv, findCanary(ran.shown)]).toEqual([argv, undefined]);
    expect([argv, findCanary(ran.seen), ran.seen.includes('sotra')]).toEqual([argv, undefined, true]);
  }
  const written = filesUnder(outputs);
  expect(written.length).toBeGreaterThan(size(0, 5));
  for (const each of written) expect([each, findCanary(readFileSync(each, 'latin1'))]).toEqual([each, undefined]);
});

test('a private key in any argument is refused and not repeated', async () => {
  const env = { SOTRA_CONFIG_DIR: temporaryFolder(), SOTRA_DATA_DIR: temporaryFolder() };
  const base = ['--chain', 'base', '--tx', swaps.good, '--token', degen, '--text', 'gm', '--service-name', 'Example'];
  const { run } = await import('../support/harness.ts');
  const tried = [
    ['comment', 'sign', ...base, '--key', evmKey],
    ['comment', 'sign', ...base, `--key-file=0x${evmKey}`],
    ['comment', 'sign', ...base, '--private-key', evmKey],
    ['comment', 'sign', ...base, `--private-key=${evmKey}`],
    ['comment', 'sign', ...base, evmKey],
    ['comment', 'sign', ...base, '--key-env', encodeBase58(pair)],
    ['comment', 'sign', ...base, '--key', JSON.stringify([...pair])],
    ['comment', 'sign', ...base, '--key', pair.toString('hex')],
    ['comment', 'post', ...base, '--signature', `0x${evmKey}`, '--signer', degen],
    ['comment', 'post', '--text', evmKey],
    ['comment', 'verify', '--signer', evmKey],
    ['key', 'import', evmKey],
    ['key', 'import', 'k', '--key-file', evmKey, '--json'],
  ];
  for (const argv of tried) {
    const { code, out, err } = await run([...argv, '--verbose'], { env });
    expect([argv, code]).toEqual([argv, 2]);
    expect(err).toContain('looks like a ');
    expect(err).toContain('--key-file <file>');
    expect(findCanary(out + err)).toBeUndefined();
  }
  const hash = await run(['comment', 'sign', ...base, '--preview'], { env });
  expect(hash.code).toBe(0);
});
