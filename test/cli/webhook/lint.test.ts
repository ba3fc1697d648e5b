import { expect, test } from 'vitest';
import { run, temporaryFolder } from '../../support/harness.ts';
import { ids, place } from '../../support/upload-place.ts';

const [one, two] = ['0x143cf5cccbc8447504a99413dec7ea93ec228432', '0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2'];
const mint = 'So11111111111111111111111111111111111111112';
const alone = 'webhook lint --file @list --sample 0 --json';
const brief = (out: string) =>
  JSON.parse(out).findings.map(({ line, level, kind }: Record<string, unknown>) => `${line} ${level} ${kind}`);

test('wrong lines are errors and exit 12, doubled ones warnings; nothing is asked of the service', async () => {
  const { sotra, write, sent } = place();
  write('list', `wallet,n\n${one},1\n${one.toUpperCase().replace('0X', '0x')},2\n${two.slice(0, 41)},3\n\n${one},4\n`);
  const { code, out } = await sotra(alone);
  expect([code, brief(out), sent]).toEqual([12, ['3 warning doubled', '4 error wrong', '6 warning doubled'], []]);
  expect(JSON.parse(out)).toMatchObject({ addresses: 1, errors: 1, warnings: 2, lookedUp: 0, eventsPerDay: 0 });
  expect(JSON.parse(out).findings[1]).toEqual({
    ...{ level: 'error', kind: 'wrong', line: 4, address: two.slice(0, 41) },
    why: 'wrong length: 39 hex digits: an EVM address has 40',
  });
});

test('warnings alone are exit 0, and a clean list says so', async () => {
  const { sotra, write } = place();
  write('list', `${one}\n${one}\n`);
  expect((await sotra(alone)).code).toBe(0);
  write('list', `${one}\n${two}\n`);
  const { code, out, err } = await sotra('webhook lint --file @list --sample 0');
  expect([code, out, err]).toEqual([
    0,
    '',
    'Nothing is wrong with the addresses.\n2 addresses (2 EVM): 0 errors, 0 warnings.\n',
  ]);
});

test('a checksum that is wrong is an error; what may be a private key is not shown', async () => {
  const { sotra, write } = place();
  const key = `0x${'4c0883a69102937d'.repeat(4)}`;
  write('list', `0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed\n${key}\n`);
  const { code, out } = await sotra(alone);
  expect([code, brief(out)]).toEqual([12, ['1 error wrong', '2 error wrong']]);
  expect(out).toContain('wrong EIP-55 checksum');
  expect(out).not.toContain(key.slice(6, 20));
});

test('the few addresses of one chain among many of another are named; a list of both is not', async () => {
  const { sotra, write } = place();
  const many = Array.from({ length: 30 }, (_, index) => `0x${String(index).padStart(40, '0')}\n`).join('');
  write('list', `${many}${mint}\n`);
  const { out } = await sotra(alone);
  expect(JSON.parse(out).findings).toEqual([
    { level: 'warning', kind: 'mixed', line: 31, address: mint, why: 'Solana, 30 are EVM' },
  ]);
  write('list', `${one}\n${mint}\n`);
  expect(brief((await sotra(alone)).out)).toEqual([]);
});

test('the service is asked about a sample, evenly spread, or with --all about each', async () => {
  const { sotra, write, sent } = place(() => [404, { error: 'unknown' }]);
  write('list', ids(200));
  const { code, out } = await sotra('webhook lint --file @list --json');
  expect([code, JSON.parse(out).lookedUp, sent.length]).toEqual([0, 50, 50]);
  expect(sent.slice(0, 2).map(({ url }) => decodeURIComponent(url.pathname))).toEqual([
    '/v1/addresses/ext:0/profile',
    '/v1/addresses/ext:4/profile',
  ]);
  await sotra('webhook lint --file @list --all');
  expect(sent).toHaveLength(250);
  expect((await sotra('webhook lint --file @list --all --sample 3')).code).toBe(2);
});

test('unknown addresses, several of one profile and silent ones are named, and how many events a day to expect', async () => {
  const env = { SOTRA_DATA_DIR: temporaryFolder() };
  const sotra = async (argv: string) => run(`--sandbox ${argv}`, { env });
  const profile = JSON.parse((await sotra(`profile get ${one} --json`)).out);
  const [first = '', second = ''] = profile.addresses;
  const nobody = `0x${'0'.repeat(40)}`;
  const told = await run('--sandbox webhook lint --file - --json', { env, stdin: [first, nobody, second].join('\n') });
  const result = JSON.parse(told.out);
  const found = (address: string) =>
    result.findings
      .filter((each: { address: string }) => each.address === address)
      .map(({ kind }: { kind: string }) => kind);
  expect([told.code, found(first), found(nobody), found(second)]).toEqual([0, [], ['unknown'], ['same-profile']]);
  expect(result.eventsPerDay).toBeGreaterThan(0);
});
